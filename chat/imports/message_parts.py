"""Finishes messages of services whose own are longer than ours: the mentions of the text, and a message more where one
is too short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import attrs

from chat.imports.discord_values import shown_text
from chat.imports.form import ChannelRecord, MessageRecord, ThreadRecord, TroubleRecord
from chat.markdown.inline import mentions_in
from chat.registries.channel_types import ChannelType
from chat.snowflake import EPOCH_MS

CONTENT_CHARACTERS: Final = 4_000
FILES: Final = 10
LONGEST: Final = 128_000
"""Characters of a message that becomes several; what is longer yet is no talk."""

_FENCE: Final = re.compile(r"^(`{3,})\S*", re.MULTILINE)
_MARKUP: Final = re.compile(r"<[^>\s]*>|[*_~`|\\]|^[#>\- ]+", re.MULTILINE)
THREAD_NAME: Final = "Thread"


def finished(record: MessageRecord) -> Iterator[MessageRecord | TroubleRecord]:
    """The message, with the mentions of its text; what goes beyond the bounds of one follows as messages of the next
    ids."""
    if len(record.content) > LONGEST:
        yield TroubleRecord(what="message", name=str(record.original_id or record.id), reason="too large")
        return
    texts = [*_pieces(record.content)] or [""]
    files = [record.files[at : at + FILES] for at in range(0, len(record.files), FILES)] or [()]
    for place in range(max(len(texts), len(files))):
        content = texts[place] if place < len(texts) else ""
        named = list(mentions_in(content)) if "<@" in content or "@everyone" in content or "@here" in content else []
        part = attrs.evolve(
            record,
            content=content,
            files=files[place] if place < len(files) else (),
            mentions=tuple(sorted({int(one.value) for one in named if one.kind == "user"})),
            mention_everyone=any(one.kind == "all" for one in named),
        )
        if place:
            part = attrs.evolve(
                part,
                id=record.id + place,
                type=0,
                reference=None,
                embeds=(),
                reactions=(),
                pinned=False,
                pinned_at=None,
            )
        yield part


def thread_under(root: MessageRecord, channel_id: int, *, is_root: bool = True) -> ChannelRecord:
    """The thread of a message; where that did not come along, of the first one that answers it."""
    return ChannelRecord(
        id=root.id if is_root else root.channel_id,
        type=int(ChannelType.PUBLIC_THREAD),
        name=thread_name(root.content),
        parent_id=channel_id,
        thread=ThreadRecord(owner_id=root.author_id if is_root and root.webhook_name is None else None, archived=True),
    )


def of_old_times(name: str, moment_ms: int) -> Iterator[TroubleRecord]:
    """Tells of a message that its id, which is its moment here, cannot tell the moment of."""
    if moment_ms < EPOCH_MS:
        yield TroubleRecord(what="message", name=name, reason="before 2015")


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces, cut between lines or words where that is possible; code that is cut is closed and opened
    again."""
    opened = ""
    while True:
        most = CONTENT_CHARACTERS - 2 * len(opened) - 16
        if len(opened) + len(text) + 1 <= CONTENT_CHARACTERS:
            most = len(text)
        piece, text = _cut(text, most)
        whole = f"{opened}\n{piece}" if opened else piece
        opened = ""
        for fence in _FENCE.finditer(whole):
            opened = "" if opened else fence[1]
        if not text.strip():
            yield whole
            return
        yield f"{whole}\n{opened}" if opened else whole


def _cut(text: str, most: int) -> tuple[str, str]:
    if len(text) <= most:
        return text, ""
    for sign in ("\n", " "):
        at = text.rfind(sign, most // 2, most)
        if at > 0:
            return text[:at], text[at + 1 :]
    return text[:most], text[most:]


def thread_name(content: str) -> str:
    """What a thread is called that has no name of its own: the beginning of the text that it hangs on."""
    return shown_text(_MARKUP.sub("", content)) or THREAD_NAME
