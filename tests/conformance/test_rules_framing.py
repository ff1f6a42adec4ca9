"""Framing, said over a whole server: tables of messages in each representation, and what travels in which frame.

Area: conformance. Rules: 000.framing, 000.limits, 000.payload, 000.query.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest
import trio
import trio.testing
import zstandard

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient
from chat.testing.world import World
from tests.conformance.outcomes import Outcome, end, outcome, table
from tests.gateway.raw_websocket import client_frame
from tests.spec.gateway_tables import FRAMING, WITHOUT_D, rules_of
from tests.spec.ledger import proves

CASES: Final = table("framing_cases")
HEARTBEAT: Final = b'{"op":1,"d":null}'

DECODE_FAILED: Final = (4002, "Decode failed")
DECOMPRESSION_FAILED: Final = (4002, "Decompression failed")
TOO_LARGE: Final = (4002, "Payload too large")
BREACH: Final = (1002, "")

TEXT, BINARY = 1, 2
MIB: Final = 1_048_576


def message(case: dict[str, Any]) -> bytes:
    """What the client of a table's row sends, uncompressed."""
    return base64.b64decode(case["base64"]) if "base64" in case else case["text"].encode()


def expected(case: dict[str, Any]) -> Outcome:
    """How a socket without a session takes a message: a sound one still has to suit the state."""
    if case["verdict"] != "ok":
        code, reason = case["verdict"]
        return code, reason
    match json.loads(message(case))["op"]:
        case Opcode.HEARTBEAT:
            return Opcode.HEARTBEAT_ACK
        case Opcode.IDENTIFY | Opcode.RESUME:
            return (4004, "Invalid token")
        case _:
            return (4003, "Not authenticated")


async def say(client: GatewayClient, data: bytes, frame: int) -> None:
    """Send `data` as one whole frame of that type, compressed where that was negotiated."""
    await client.send_bytes(client_frame(frame, client.compress(data) if client.is_compressed else data))


@pytest.mark.parametrize(
    ("compressed", "frame"),
    [
        pytest.param(False, TEXT, id="text frames"),
        pytest.param(False, BINARY, id="binary frames", marks=pytest.mark.rule("000.framing.12")),
        pytest.param(
            True,
            BINARY,
            id="zstd-stream",
            marks=pytest.mark.rule("000.framing.5", "000.framing.11", "000.limits.2"),
        ),
        pytest.param(True, TEXT, id="zstd-stream in text frames", marks=pytest.mark.rule("000.framing.13")),
    ],
)
async def test_every_message_of_the_table_gets_its_verdict(
    chat_world: World, autojump_clock: trio.testing.MockClock, compressed: bool, frame: int
) -> None:
    got: dict[str, Outcome] = {}
    for case in CASES:
        client = await chat_world.bob.open(compressed=compressed, heartbeats=False)
        await say(client, message(case), frame)
        got[case["name"]] = await outcome(client)
        client.drop()
    for case in CASES:
        with proves(*rules_of(FRAMING, case["name"])):
            assert got[case["name"]] == expected(case), case["name"]
    assert got == {case["name"]: expected(case) for case in CASES}


async def test_with_a_session_attached_faults_of_a_message_close_alike(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    faults = [case for case in CASES if case["verdict"] != "ok"]
    got: dict[str, Outcome] = {}
    for case in faults:
        client = await chat_world.bob.connect(heartbeats=False)
        await say(client, message(case), TEXT)
        got[case["name"]] = await end(client)
        # Sessions of dropped sockets are retained and count among the hundred.
        await chat_world.anyone.fault("end_session", {"user_id": chat_world.bob.id})
    for case in faults:
        with proves(*rules_of(WITHOUT_D, case["name"])):
            assert got[case["name"]] == expected(case), case["name"]
    assert got == {case["name"]: expected(case) for case in faults}


async def conversation(world: World, *, compressed: bool) -> list[GatewayClient]:
    """Sockets that together have heard every opcode of the server's."""
    bob = await world.bob.connect(compressed=compressed, heartbeats=False)
    for number in range(20):
        (await world.alice.rest.send_message(world.channel_id, f"{number} " + "wide ✉ " * 50)).expect(200)
    await bob.expect("MESSAGE_CREATE", where=lambda data: data["content"].startswith("19 "))
    await bob.heartbeat()
    await bob.expect_opcode(Opcode.HEARTBEAT_ACK)
    await bob.expect_opcode(Opcode.HEARTBEAT, seconds=60)
    await bob.heartbeat(None)
    again = await world.bob.resume(bob, compressed=compressed, heartbeats=False, sequence=bob.sequence)
    await again.expect("RESUMED")
    await bob.expect_opcode(Opcode.RECONNECT)
    await world.anyone.fault("end_session", {"session_id": again.session_id})
    await again.expect_opcode(Opcode.INVALID_SESSION)
    return [bob, again]


async def test_without_compression_everything_comes_in_text_frames_one_payload_each(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    # The client takes binary frames for compressed ones, which end the conversation here.
    with proves("000.framing.1", "000.framing.10", "000.query.11", "000.query.3"):
        spoken = [payload for client in await conversation(chat_world, compressed=False) for payload in client.payloads]
        assert {payload.op for payload in spoken} == {0, 1, 7, 9, 10, 11}
    # The client decodes each message as one JSON text, so two in one, or one in two, would have failed there.
    with proves("000.framing.10", "000.query.15"):
        assert not any(payload.binary for payload in spoken)


async def test_with_compression_everything_from_hello_on_comes_in_binary_frames_of_one_stream(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    clients = await conversation(chat_world, compressed=True)
    for client in clients:
        with proves("000.framing.18"):
            assert client.payloads[0].op == Opcode.HELLO
        # The client has one decompressor for the connection; with any frame left out the rest would be unreadable.
        with proves("000.framing.18", "000.query.15", "000.query.6"):
            assert all(payload.binary for payload in client.payloads)
    with proves("000.framing.1", "000.framing.16", "000.framing.17"):
        assert {payload.op for client in clients for payload in client.payloads} == {0, 1, 7, 9, 10, 11}


@pytest.mark.rule("000.framing.11")
async def test_text_frames_without_compression_and_binary_frames_with_it_are_understood(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    plain = await chat_world.bob.open(heartbeats=False)
    await plain.send_message(HEARTBEAT.decode())
    assert await outcome(plain) == Opcode.HEARTBEAT_ACK
    compressed = await chat_world.bob.open(compressed=True, heartbeats=False)
    for _ in range(3):
        await compressed.send_message(compressed.compress(HEARTBEAT))
        assert await outcome(compressed) == Opcode.HEARTBEAT_ACK


@pytest.mark.rule("000.framing.6", "000.framing.14")
@pytest.mark.parametrize("data", [HEARTBEAT, b"\x00", b"\x28\xb5\x2f\xfd" + b"\xff" * 32, bytes(64)])
async def test_what_does_not_continue_the_stream_cannot_be_decompressed(
    chat_world: World, autojump_clock: trio.testing.MockClock, data: bytes
) -> None:
    for frame in (TEXT, BINARY):
        client = await chat_world.bob.open(compressed=True, heartbeats=False)
        await client.send_bytes(client_frame(frame, data))
        assert await end(client) == DECOMPRESSION_FAILED


@pytest.mark.rule("000.framing.6")
async def test_a_piece_left_out_of_the_stream_is_noticed(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    client = await chat_world.bob.open(compressed=True, heartbeats=False)
    client.compress(HEARTBEAT)
    await client.send_message(client.compress(HEARTBEAT))
    assert await end(client) == DECOMPRESSION_FAILED


@pytest.mark.rule("000.framing.15")
async def test_compressed_bytes_on_an_uncompressed_connection_are_no_json(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    client = await chat_world.bob.open(heartbeats=False)
    await client.send_message(zstandard.compress(HEARTBEAT))
    assert await end(client) == DECODE_FAILED


@pytest.mark.rule("000.framing.7")
async def test_an_empty_message_decompresses_to_nothing(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    for compressed in (False, True):
        client = await chat_world.bob.open(compressed=compressed, heartbeats=False)
        await client.send_message(b"")
        assert await end(client) == DECODE_FAILED


@pytest.mark.rule("000.framing.8", "000.framing.9")
async def test_windows_up_to_8_mib_and_frame_after_frame(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    client = await chat_world.bob.open(compressed=True, heartbeats=False)
    for window_log in (10, 20, 23):
        await client.send_message(whole_frame(HEARTBEAT, window_log))
        assert await outcome(client) == Opcode.HEARTBEAT_ACK
    await client.send_message(whole_frame(HEARTBEAT, 24))
    assert await end(client) == DECOMPRESSION_FAILED


def whole_frame(data: bytes, window_log: int) -> bytes:
    """A zstd frame that asks for a window of that size, from its beginning to its end."""
    parameters = zstandard.ZstdCompressionParameters(window_log=window_log, write_content_size=False)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return compressor.compress(data) + compressor.flush()


def padded(length: int) -> bytes:
    """A Heartbeat of `length` bytes that hardly compress, so that the compressed message has about the same size."""
    noise = random.Random(1).randbytes(length).hex()
    head = b'{"op":1,"d":null,"pad":"'
    return head + noise[: length - len(head) - 2].encode() + b'"}'


async def test_16384_bytes_are_enough_and_one_more_is_too_many(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    for compressed in (False, True):
        client = await chat_world.bob.open(compressed=compressed, heartbeats=False)
        for _ in range(3):
            await say(client, padded(16_384), BINARY)
            with proves("000.limits.1", "000.limits.2"):
                assert await outcome(client) == Opcode.HEARTBEAT_ACK
        await say(client, padded(16_385), BINARY)
        with proves("000.framing.4", "000.framing.5"):
            assert await end(client) == TOO_LARGE


@pytest.mark.rule("000.framing.4", "000.framing.28")
@pytest.mark.parametrize("length", [16_385, 65_535, 65_536, MIB, 2**40])
async def test_the_16385th_byte_is_refused_whatever_it_says_and_however_many_are_to_follow(
    chat_world: World, autojump_clock: trio.testing.MockClock, length: int
) -> None:
    for compressed in (False, True):
        client = await chat_world.bob.open(compressed=compressed, heartbeats=False)
        await client.send_bytes(client_frame(BINARY, b"\xff" * 16_384, length=length))
        await client.expect_silence(1)
        await client.send_bytes(b"\xff")
        assert await end(client) == TOO_LARGE


@pytest.mark.rule("000.framing.4")
async def test_fragments_count_together(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    for length, told in ((16_384, Opcode.HEARTBEAT_ACK), (16_385, TOO_LARGE)):
        client = await chat_world.bob.open(heartbeats=False)
        data = padded(length)
        pieces = [data[start : start + 5_000] for start in range(0, len(data), 5_000)]
        for number, piece in enumerate(pieces):
            last = number == len(pieces) - 1
            await client.send_bytes(client_frame(0 if number else TEXT, piece, fin=last))
        assert await outcome(client) == told


@pytest.mark.rule("000.framing.29")
@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(client_frame(TEXT, HEARTBEAT, reserved=4), id="RSV1, as if compressed by an extension"),
        pytest.param(client_frame(TEXT, HEARTBEAT, reserved=1), id="RSV3"),
        pytest.param(client_frame(TEXT, HEARTBEAT, masked=False), id="no mask"),
        pytest.param(client_frame(3, HEARTBEAT), id="an opcode that nobody defined"),
        pytest.param(client_frame(0, HEARTBEAT), id="a continuation of nothing"),
        pytest.param(client_frame(TEXT, b"{", fin=False) + client_frame(TEXT, HEARTBEAT), id="two at once"),
        pytest.param(client_frame(9, bytes(126)), id="a long ping"),
        pytest.param(client_frame(9, b"", fin=False), id="a ping in pieces"),
        pytest.param(client_frame(8, b"\x03"), id="half a close code"),
        pytest.param(client_frame(8, (1005).to_bytes(2, "big")), id="a close code that is never sent"),
    ],
)
async def test_what_breaks_websocket_is_closed_with_1002_and_no_reason(
    chat_world: World, autojump_clock: trio.testing.MockClock, frame: bytes
) -> None:
    client = await chat_world.bob.connect(heartbeats=False)
    await client.send_bytes(frame)
    assert await end(client) == BREACH
    session = await chat_world.session_of(client)
    assert session is not None
    assert not session["attached"]


NUMBERS: Final = frozenset(
    {
        "s", "op", "version", "flags", "member_count", "online_count", "heartbeat_interval", "position", "type",
        "system_channel_flags", "profile_flags", "mention_count", "color", "afk_timeout", "message_flags",
        "disabled_operations", "verification_level", "rate_limit_per_user", "channel_type",
    }
)  # fmt: skip
"""Members that are sequences, counts, versions, bit fields or numbers of another kind."""

TEXTS: Final = frozenset({"session_id", "connection_id", "auth_session_id_hash"})
"""Members whose names end like an id's and that are none."""


NAMED_OTHERWISE: Final = frozenset({"guild_folders", "rtc_regions"})
"""Lists whose entries have an `id` of their own kind: a number of the account's, a name."""


def members(value: object) -> Iterator[tuple[str, object]]:
    """Every member at every depth."""
    match value:
        case dict():
            for name, member in value.items():
                yield name, member
                if name not in NAMED_OTHERWISE:
                    yield from members(member)
        case list():
            for member in value:
                yield from members(member)
        case _:
            pass


def is_id(name: str) -> bool:
    return name not in TEXTS and (name in {"id", "ids"} or name.endswith(("_id", "_ids")))


async def test_ids_are_decimal_strings_and_sequences_counts_and_bit_fields_are_numbers(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    bot = await chat_world.bot.connect(heartbeats=False)
    await bot.expect("GUILD_CREATE")
    said = (await chat_world.alice.rest.send_message(chat_world.channel_id, f"hello <@{chat_world.bob.id}>")).expect(
        200
    )
    await chat_world.alice.rest.start_typing(chat_world.channel_id)
    await chat_world.alice.rest.delete_message(chat_world.channel_id, said["id"])
    await chat_world.carol.connect()
    await bob.send(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": [chat_world.guild_id]})
    await bob.send(Opcode.LAZY_REQUEST, {"subscriptions": {chat_world.guild_id: {"sync": True}}})
    await bob.expect("GUILD_SYNC")
    await bob.heartbeat()
    await bob.expect_opcode(Opcode.HEARTBEAT_ACK)
    spoken = [payload.members for client in (bob, bot) for payload in client.payloads]
    ids = 0
    seen: set[str] = set()
    for name, value in (pair for payload in spoken for pair in members(payload)):
        if name in NUMBERS and value is not None:
            with proves("000.framing.31"):
                assert type(value) is int, (name, value)
            seen.add(name)
        if is_id(name) and value not in (None, "all"):
            for member in value if isinstance(value, list) else [value]:
                with proves("000.framing.30"):
                    assert isinstance(member, str), (name, value)
                    assert member.isascii(), (name, value)
                    assert member.isdigit(), (name, value)
                ids += 1
    assert ids > 50
    with proves("000.framing.31"):
        assert seen >= {"s", "op", "version", "flags", "member_count", "online_count", "system_channel_flags"}
    for payload in spoken:
        with proves("000.payload.1"):
            assert type(payload["op"]) is int
        if payload["op"] == Opcode.DISPATCH:
            with proves("000.payload.5"):
                assert payload["s"] >= 1
            with proves("000.payload.6"):
                assert isinstance(payload["t"], str)
        else:
            with proves("000.payload.5", "000.payload.6"):
                assert not {"s", "t"} & payload.keys()
