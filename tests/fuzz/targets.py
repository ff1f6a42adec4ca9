"""What is fuzzed: one function for each reader of untrusted bytes, with the invariant that no input may break.

A target takes bytes and returns nothing; it fails by raising. `tests/fuzz/corpus/<name>/` holds inputs worth keeping:
seeds, and every input that once failed. `python -m tests.fuzz.run --seconds 5` searches for more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
import zstandard

from chat.domain.messages.links import LINKS_MAXIMUM, links_in
from chat.domain.policy.embeds import require_embeds
from chat.domain.webhooks.built_embeds import fitting, text_at
from chat.domain.webhooks.dialects.alertmanager import alertmanager_embed
from chat.domain.webhooks.dialects.github import github_embed
from chat.domain.webhooks.dialects.gitlab import gitlab_embed
from chat.domain.webhooks.dialects.grafana import grafana_embed
from chat.domain.webhooks.dialects.instatus import instatus_embed
from chat.domain.webhooks.dialects.sentry import sentry_embed
from chat.domain.webhooks.dialects.slack import slack_message
from chat.domain.webhooks.dialects.slack_markup import in_our_markup
from chat.media.content_types import IMAGE_TYPES, MOVING_TYPES, content_type
from chat.media.image_header import image_header
from chat.media.image_intake import SVG, LengthRefused, SizeRefused, decoded, intake_header
from chat.media.metadata.removal import without_metadata
from chat.media.moving_header import moving_header
from chat.media.outside_addresses import as_asked_for
from chat.media.outside_fetching import OutsidePage
from chat.media.page_embed import TITLE_CHARACTERS, embed_of_page, page_head
from chat.protocol.commands import (
    ConnectionQuery,
    Identify,
    Resume,
    parse_connection_query,
    parse_identify,
    parse_resume,
)
from chat.protocol.machine import Machine, Opened, Received, SessionStarted
from chat.protocol.payload import Payload, decode_payload
from chat.protocol.presence import PresenceUpdate, parse_custom_status, parse_presence_update
from chat.protocol.requests import (
    parse_channel_member_counts,
    parse_forum_unreads,
    parse_guild_counts,
    parse_lazy_request,
    parse_member_request,
)
from chat.protocol.transitions import State
from chat.protocol.voice import parse_voice_state
from chat.protocol.zstd_stream import Decompressor
from chat.registries.close_codes import (
    CLOSES,
    DECODE_FAILED,
    DECOMPRESSION_FAILED,
    INVALID_PAYLOAD,
    PAYLOAD_TOO_LARGE,
    Close,
)
from chat.registries.limits import HEARTBEAT_INTERVAL_MS, INBOUND_MESSAGE_BYTES
from tests.fuzz.authorization_target import authorization_parser
from tests.fuzz.voice_targets import voice_datagrams, voice_descriptions, voice_signalling

Target = Callable[[bytes], None]

IDENTIFY: Final = Payload(2, True, {"token": "t", "properties": {"os": "", "browser": "", "device": ""}})


def payload_decoder(data: bytes) -> None:
    """Any message is a payload that every state of the machine can take, or one of three closes."""
    outcome = decode_payload(data)
    if not isinstance(outcome, Payload):
        assert outcome in (DECODE_FAILED, INVALID_PAYLOAD, PAYLOAD_TOO_LARGE)
        assert (outcome is PAYLOAD_TOO_LARGE) is (len(data) > INBOUND_MESSAGE_BYTES)
        return
    assert type(outcome.op) is int
    assert outcome.has_d or outcome.d is None
    assert decode_payload(b" " + data[: INBOUND_MESSAGE_BYTES - 1]) == outcome or len(data) == INBOUND_MESSAGE_BYTES
    for beginning in ((), (Received(IDENTIFY),), (Received(IDENTIFY), SessionStarted())):
        machine = Machine(HEARTBEAT_INTERVAL_MS, 0.0)
        for event in (Opened(True, True, True), *beginning, Received(outcome)):
            machine.handle(event, 1.0)
            while machine.handle_waiting(1.0):
                assert machine.state is not State.STARTING
        assert machine.state is not State.OPENING


def _messages(data: bytes) -> Iterator[bytes]:
    """The messages of an input: each has its length before it, in two bytes; the last may be cut short."""
    while data:
        end = 2 + int.from_bytes(data[:2], "big")
        yield data[2:end]
        data = data[end:]


def zstd_stream(data: bytes) -> None:
    """Messages inflate to 16,384 bytes at most each, and together to what the library makes of the whole stream."""
    decompressor = Decompressor()
    reference = zstandard.ZstdDecompressor(max_window_size=2**23).decompressobj(read_across_frames=True)
    for message in _messages(data):
        outcome = decompressor.decompress(message)
        if isinstance(outcome, Close):
            assert outcome in (DECODE_FAILED, DECOMPRESSION_FAILED, PAYLOAD_TOO_LARGE)
            assert decompressor.decompress(message) is outcome
            return
        assert 0 < len(outcome) <= INBOUND_MESSAGE_BYTES
        assert reference.decompress(message) == outcome


def query_parser(data: bytes) -> None:
    """No query string raises; what comes first counts, and unknown parameters count for nothing."""
    query_string = data.decode("latin-1")
    query = parse_connection_query(query_string)
    assert isinstance(query, ConnectionQuery)
    assert parse_connection_query(f"v=1&{query_string}").version_accepted
    assert not parse_connection_query(f"v=2&{query_string}").version_accepted
    assert not parse_connection_query(f"stream=0&{query_string}").compressed
    assert parse_connection_query(f"unknown=%00&{query_string}") == query
    if query.version_accepted:
        assert parse_connection_query(f"{query_string}&v=2").version_accepted


def identify_parser(data: bytes) -> None:
    """Whatever JSON stands in `d`, Identify and Resume become a command or a registered close."""
    payload = decode_payload(b'{"op":2,"d":%b}' % data)
    if isinstance(payload, Close):
        return
    for outcome in (parse_identify(payload.d), parse_resume(payload.d)):
        assert isinstance(outcome, Identify | Resume) or outcome in CLOSES


def session_commands(data: bytes) -> None:
    """Whatever JSON stands in `d`, the commands of a session are read, dropped or refused."""
    payload = decode_payload(b'{"op":8,"d":%b}' % data)
    if isinstance(payload, Close):
        return
    d: Any = payload.d
    update = parse_presence_update(d)
    assert isinstance(update, PresenceUpdate) or update in CLOSES
    for is_bot in (False, True):
        request = parse_member_request(d, is_bot)
        assert request is None or (request.guild_ids and 0 <= request.limit <= 100)
    parse_custom_status(d, 0)
    parse_voice_state(d)
    parse_lazy_request(d)
    parse_guild_counts(d)
    parse_channel_member_counts(d)
    parse_forum_unreads(d)


def image_intake(data: bytes) -> None:
    """Any bytes are an image of a known format or none; what is told of a part holds for no more than it does."""
    header = intake_header(data)
    assert header is None or (header.width >= 0 and header.height >= 0)
    assert header is None or header.content_type in {*IMAGE_TYPES, SVG}
    glance = image_header(data)
    assert glance is None or glance.content_type == content_type(data)
    text = data.decode("latin-1")
    payload = text[text.find(",") + 1 :]
    try:
        assert decoded(text, 64) != b""
    except LengthRefused:
        assert payload == ""
    except SizeRefused:
        assert len(payload) > 64


def outside_page(data: bytes) -> None:
    """Any bytes are a page; whatever is shown of it fits into an embed, and leads to the web."""
    page = OutsidePage("https://page.example/a", "text/html", None, data)
    embed = embed_of_page(page.url, page, page_head(page.text()), {})
    if embed is None:
        return
    assert len(embed.get("title", "")) <= TITLE_CHARACTERS
    assert 0 <= embed.get("color", 0) <= 0xFFFFFF
    for member in ("thumbnail", "video"):
        assert embed.get(member, {"url": "http"})["url"].startswith("http")


def message_links(data: bytes) -> None:
    """Every link of a text is an address as it is asked for, of a host that could be one."""
    found = links_in(data.decode("utf-8", "replace"))
    assert len(found) == len(set(found)) <= LINKS_MAXIMUM
    for link in found:
        assert as_asked_for(link) == link
        assert link.isascii()
        assert not set(urlsplit(link).netloc) & set("'\"()<>@%\\`| ")


def moving_files(data: bytes) -> None:
    """Any bytes give a film's or a sound's size and length, or unknown ones."""
    descriptor = os.memfd_create("moving")
    try:
        os.write(descriptor, data)
        for kind in MOVING_TYPES:
            header = moving_header(Path(f"/proc/self/fd/{descriptor}"), kind)
            assert all(value is None or value > 0 for value in (header.width, header.height, header.duration))
    finally:
        os.close(descriptor)


def metadata(data: bytes) -> None:
    """Whatever metadata goes out of a file, it stays one of its kind, gets no longer, and is clean then."""
    kind = content_type(data)
    kept = without_metadata(data, kind)
    assert len(kept) <= len(data)
    assert content_type(kept) == kind
    assert without_metadata(kept, kind) == kept


def webhook_dialects(data: bytes) -> None:
    """Whatever JSON is told, what is made of it fits into a message."""
    try:
        told = orjson.loads(data)
    except orjson.JSONDecodeError:
        in_our_markup(data.decode("utf-8", "replace"))
        return
    if isinstance(told, dict):
        content, embeds = slack_message(told, 2_000, 10)
        assert len(content) <= 2_000
        require_embeds(embeds, 10)
        shown = [github_embed(text_at(told, "event"), told), sentry_embed(text_at(told, "resource"), told)]
        shown += [show(told) for show in (instatus_embed, gitlab_embed, alertmanager_embed, grafana_embed)]
        require_embeds(fitting(shown, 10), 10)


TARGETS: Final[dict[str, Target]] = {
    "payload_decoder": payload_decoder,
    "zstd_stream": zstd_stream,
    "query_parser": query_parser,
    "identify_parser": identify_parser,
    "session_commands": session_commands,
    "authorization_parser": authorization_parser,
    "image_intake": image_intake,
    "outside_page": outside_page,
    "message_links": message_links,
    "moving_files": moving_files,
    "metadata": metadata,
    "webhook_dialects": webhook_dialects,
    "voice_datagrams": voice_datagrams,
    "voice_descriptions": voice_descriptions,
    "voice_signalling": voice_signalling,
}
"""Every target by the name of its corpus."""
