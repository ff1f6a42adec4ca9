"""Reads the intermediate form, as `chat export guild` writes it: a directory or a ZIP archive with the lines in
`community.jsonl`, and the files that they name beside it.

A file of that form may have been written by anybody. What has the shape of a record is looked at once more here: kinds
of channels and messages, parts of messages, the files that are named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final

import attrs

from chat.classes import define
from chat.errors import OperatorError
from chat.imports import form_lines
from chat.imports.export_files import BROKEN, ExportFiles
from chat.imports.form import (
    TROUBLES,
    ChannelRecord,
    ExpressionRecord,
    FileRecord,
    GuildRecord,
    MessageRecord,
    PersonRecord,
    Record,
    TroubleRecord,
)
from chat.imports.form_lines import NotTheForm
from chat.imports.wire_shapes import is_embed, is_snapshot, is_sticker
from chat.imports.wishes import ReadingWish
from chat.registries.channel_types import GUILD_CHANNEL_TYPES, THREAD_CHANNEL_TYPES, OverwriteType
from chat.registries.message_types import MessageFlag, MessageType
from chat.snowflake import snowflake_time_ms

LINES: Final = "community.jsonl"

CONTENT_CHARACTERS: Final = 4_000
FILES: Final = 10
"""Of a message."""

MESSAGE_TYPES: Final = frozenset(
    {
        MessageType.DEFAULT,
        MessageType.CHANNEL_PINNED_MESSAGE,
        MessageType.USER_JOIN,
        MessageType.CHANNEL_FOLLOW_ADD,
        MessageType.THREAD_CREATED,
        MessageType.REPLY,
        MessageType.THREAD_STARTER_MESSAGE,
    }
)
"""Kinds that stand in channels of a guild."""

MESSAGE_FLAGS: Final = (
    MessageFlag.SUPPRESS_EMBEDS
    | MessageFlag.HAS_THREAD
    | MessageFlag.SUPPRESS_NOTIFICATIONS
    | MessageFlag.VOICE_MESSAGE
    | MessageFlag.IS_COMPONENTS_V2
    | MessageFlag.COMPACT_ATTACHMENTS
)
"""Those that mean something in another place, too."""


WHATS: Final = frozenset(
    (
        *("category", "channel", "components", "emojis", "expression", "file", "line", "members", "message"),
        *("permission", "person", "picture", "reaction", "reference", "role", "setting", "stickers", "thread"),
    )
)
"""Things that an export may tell of that they do not come along."""


@define(eq=False)
class CommunityExport:
    """The records of an export."""

    _files: ExportFiles
    _read_bytes: int = attrs.field(default=0, init=False)

    @staticmethod
    def open(files: ExportFiles) -> CommunityExport:
        """Look at the first lines. Raises OperatorError where they are not of the form."""
        if files.find(LINES) is None:
            raise OperatorError(f"there is no {LINES} in it, as `chat export guild` writes it")
        try:
            with files.open(LINES) as file:
                first = next(form_lines.read_what_can_be(file), None)
        except (NotTheForm, *BROKEN) as error:
            raise OperatorError(f"{LINES}: {error}") from error
        if not isinstance(first, GuildRecord):
            raise OperatorError(f"{LINES}: line 2 is not the record of a guild")
        return CommunityExport(files)

    @property
    def percent_read(self) -> float:
        """How much of the lines was read, by their bytes."""
        return 100.0 * self._read_bytes / max(1, self._files.size(LINES))

    def read(self, wish: ReadingWish, now_ms: int) -> Iterator[Record]:
        """Every record, as they stand there; what is later than `now_ms` is from the future."""
        checks = _Checks(self._files, wish, now_ms)
        try:
            with self._files.open(LINES) as file:
                for record in form_lines.read_what_can_be(file):
                    if isinstance(record, NotTheForm):
                        yield TroubleRecord(what="line", name=str(record), reason="not readable")
                    else:
                        yield from checks.checked(record)
                    self._read_bytes = _place_in(file)
        except BROKEN:
            yield TroubleRecord(what="file", name=LINES, reason="not readable")


def _place_in(file: IO[bytes]) -> int:
    return file.tell()


def people_in(record: Record) -> set[int]:
    """Whom a record names, by their ids."""
    match record:
        case MessageRecord():
            author = () if record.webhook_name is not None else (record.author_id,)
            passed_on = map(int, (record.snapshot or {}).get("mentions", ()))
            return {*author, *record.mentions, *passed_on, *(one for each in record.reactions for one in each.user_ids)}
        case ChannelRecord():
            named = {one.target_id for one in record.overwrites if one.type == OverwriteType.MEMBER}
            owner_id = None if record.thread is None else record.thread.owner_id
            return named if owner_id is None else {*named, owner_id}
        case ExpressionRecord() if record.user_id is not None:
            return {record.user_id}
        case _:
            return set()


@define(eq=False)
class _Checks:
    """What of the records comes along."""

    _files: ExportFiles
    _wish: ReadingWish
    _now_ms: int
    _waiting: dict[int, ChannelRecord] = attrs.field(factory=dict, init=False)
    """Channels that nobody asked for; they come if something below them does."""
    _channels: set[int] = attrs.field(factory=set, init=False)
    """Those that were asked for."""
    _people: dict[int, PersonRecord] = attrs.field(factory=dict, init=False)
    """Where only some of it was asked for: who has not come yet. They come with what names them."""

    def checked(self, record: Record) -> Iterator[Record]:
        is_partial = bool(self._wish.since or self._wish.channels)
        for found in self._checked(record):
            if is_partial and isinstance(found, PersonRecord):
                self._people[found.id] = found
                continue
            if self._people:
                yield from (self._people.pop(one) for one in people_in(found) if one in self._people)
            yield found

    def _checked(self, record: Record) -> Iterator[Record]:
        match record:
            case GuildRecord():
                yield attrs.evolve(record, icon=self._picture(record.icon))
            case PersonRecord():
                yield attrs.evolve(record, avatar=self._picture(record.avatar))
            case ExpressionRecord():
                yield from self._expression(record)
            case ChannelRecord():
                yield from self._channel(record)
            case MessageRecord():
                yield from self._message(record)
            case TroubleRecord():
                what = record.what if record.what in WHATS else "line"
                reason = record.reason if record.reason in TROUBLES else "not readable"
                yield TroubleRecord(what=what, name=record.name, reason=reason)
            case _:
                yield record

    def _picture(self, path: str | None) -> str | None:
        return None if path is None or not self._wish.files else self._files.find(path)

    def _expression(self, record: ExpressionRecord) -> Iterator[Record]:
        if not self._wish.files:
            return
        path = self._files.find(record.path)
        if path is None or record.what not in ("emojis", "stickers"):
            reason = "file is missing" if path is None else "unknown kind"
            yield TroubleRecord(what="expression", name=record.name, reason=reason)
        else:
            yield attrs.evolve(record, path=path)

    def _channel(self, record: ChannelRecord) -> Iterator[Record]:
        is_thread = record.type in THREAD_CHANNEL_TYPES
        if record.type not in GUILD_CHANNEL_TYPES or is_thread != (record.thread is not None):
            yield TroubleRecord(what="channel", name=record.name, reason="unknown kind")
            return
        if not self._wish.takes_channel(record.id, record.name):
            self._waiting[record.id] = record
            return
        above = []
        place = record
        while place.parent_id in self._waiting:
            place = self._waiting.pop(place.parent_id)
            above.append(place)
        yield from reversed(above)
        self._channels.add(record.id)
        yield record

    def _message(self, record: MessageRecord) -> Iterator[Record]:
        moment = snowflake_time_ms(record.id)
        if moment < self._wish.since or (self._wish.channels and record.channel_id not in self._channels):
            return
        trouble = self._reason_against(record, moment)
        if trouble is not None:
            yield TroubleRecord(what="message", name=str(record.id), reason=trouble)
            return
        files: list[FileRecord] = []
        for file in record.files if self._wish.files else ():
            found = self._found(file)
            if found is None or len(files) == FILES:
                reason = "file is missing" if found is None else "no room"
                yield TroubleRecord(what="file", name=f"{record.id}/{file.name}"[:200], reason=reason)
            else:
                files.append(found)
        flags = record.flags & MESSAGE_FLAGS
        is_as_given = flags == record.flags and not (files or record.files)
        yield record if is_as_given else attrs.evolve(record, flags=flags, files=tuple(files))

    def _reason_against(self, record: MessageRecord, moment: int) -> str | None:
        if moment > self._now_ms:
            return "from the future"
        if record.type not in MESSAGE_TYPES:
            return "unknown kind"
        if len(record.content) > CONTENT_CHARACTERS:
            return "too large"
        is_shown = all(map(is_embed, record.embeds)) and all(map(is_sticker, record.stickers))
        if not is_shown or not (record.snapshot is None or is_snapshot(record.snapshot)):
            return "not readable"
        return None

    def _found(self, file: FileRecord) -> FileRecord | None:
        path = None if file.path is None else self._files.find(file.path)
        return None if path is None else attrs.evolve(file, path=path, size=self._files.size(path))
