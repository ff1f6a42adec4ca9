"""Writes the records of an export into a guild, in portions that hold the database's writer for milliseconds each.

A portion is one transaction: what it writes, and the report of the import with it. So an import that is killed has
written every portion whole or not at all. It keeps no place in the export: whoever goes on reads from the start, and
what is here already is known by its id. The same holds for a later export of the same place.

Nobody hears of single messages: no event, no mail, no webhook; nothing counts as unread, or as a mention.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs
import trio

from chat.classes import define
from chat.domain.core import Core
from chat.domain.imports.import_files import ImportFiles, without_missing
from chat.domain.imports.import_messages import MessageMaking
from chat.domain.imports.import_pictures import ImportPictures
from chat.domain.imports.import_place import ImportPlace, PlaceWriter
from chat.domain.imports.import_report import ImportReport
from chat.imports.form import (
    ChannelRecord,
    ExpressionRecord,
    GuildRecord,
    MessageRecord,
    PersonRecord,
    Record,
    RoleRecord,
    TroubleRecord,
)
from chat.snowflake import snowflake_at
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels
from chat.store.imports import imports, portions
from chat.store.imports.imports import Import
from chat.store.imports.portions import ImportedMessage, Known, PortionRows
from chat.store.messages.attachments import Attachment

HELD_SECONDS: Final = 0.009
"""Processor time for which a portion is to hold the writer, its commit included; one that takes longer makes the next
ones smaller. The disk takes its own time beside that, and hardly less for smaller ones."""

FIRST_PORTION: Final = 64
PORTION_MAXIMUM: Final = 1_024
PORTION_MINIMUM: Final = 16

SLOWLY: Final = 4
"""By this part of the difference what is known of the cost follows the cost of a portion."""

FILES_OF_A_PORTION: Final = 32
"""Files that are stored before their portion is written."""

PEOPLE_OF_A_MESSAGE: Final = 16
"""Who is mentioned or reacted costs as much as a message, by this many."""


class ImportCancelled(Exception):
    """Somebody wants the import to end, or its guild is gone."""


@define(eq=False)
class PortionSize:
    """How much is written at once."""

    size: int = FIRST_PORTION
    _cost: float = HELD_SECONDS / FIRST_PORTION
    """Seconds for one thing of weight 1, of late."""

    def took(self, weight: float, seconds: float) -> None:
        """As much held the writer for that time. A single one changes little."""
        if weight >= self.size / 2:
            self._cost += (min(seconds / weight, 2 * self._cost) - self._cost) / SLOWLY
            self.size = int(min(PORTION_MAXIMUM, max(PORTION_MINIMUM, HELD_SECONDS / self._cost)))


@define(eq=False, kw_only=True)
class ImportWriting:
    """One run of an import. `tell` hears after each portion what came so far."""

    _core: Core
    _made: Import
    _place: ImportPlace
    _writer: PlaceWriter
    _files: ImportFiles
    _pictures: ImportPictures
    _report: ImportReport
    _siblings: frozenset[int]
    """The imports into the same guild."""
    _tell: Callable[[ImportReport], None]
    _things: list[Record] = attrs.field(factory=list, init=False)
    _messages: list[MessageRecord] = attrs.field(factory=list, init=False)
    _things_at_once: PortionSize = attrs.field(factory=PortionSize, init=False)
    _messages_at_once: PortionSize = attrs.field(factory=PortionSize, init=False)
    _making: MessageMaking = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._making = MessageMaking(self._core, self._place, self._report)

    async def write(self, records: Iterator[Record]) -> None:
        """Write all of it. Raises ImportCancelled; StorageUnavailable where the disk takes no more."""
        files, weight = 0, 0.0
        for record in records:
            if isinstance(record, MessageRecord):
                self._messages.append(record)
                files += len(record.files)
                weight += _weight(record)
            elif isinstance(record, TroubleRecord):
                self._report.trouble(record)
            else:
                self._things.append(record)
            if (
                weight >= self._messages_at_once.size
                or len(self._things) >= self._things_at_once.size
                or files >= FILES_OF_A_PORTION
            ):
                await self._flush(weight)
                files, weight = 0, 0.0
        await self._flush(weight)

    async def _flush(self, weight: float) -> None:
        things, self._things = self._things, []
        messages, self._messages = self._messages, []
        if things:  # first, since files are stored for those who wrote the messages
            seconds = await self._write(lambda connection: self._add_all(connection, things))
            self._things_at_once.took(len(things), seconds)
            for thing in things:
                if isinstance(thing, GuildRecord | PersonRecord | ExpressionRecord):
                    await self._pictures.bring(thing, self._place, self._report)
        if messages or not things:
            portion = await self._prepared(messages)
            rows = portions.rows_of(self._made.id, portion)
            seconds = await self._write(lambda connection: self._insert(connection, portion, rows))
            self._messages_at_once.took(weight, seconds)
            self._files.forget_given()
        self._tell(self._report)
        await trio.lowlevel.checkpoint()

    async def _write(self, portion: Callable[[sqlite3.Connection], None]) -> float:
        """One unit, with the report as it is then; for how many seconds of processor time it held the writer."""
        before = self._report.came.copy(), self._report.bytes

        def unit(connection: sqlite3.Connection) -> float:
            began = time.thread_time()
            if imports.is_to_end(connection, self._made.id):
                raise ImportCancelled
            portion(connection)
            now = self._core.clock.now_ms()
            imports.put(connection, attrs.evolve(self._made, report=self._report.kept(), changed_at=now))
            return began

        try:
            began = await self._core.database.write(unit, guard=UNGUARDED)
        except BaseException:
            self._report.came, self._report.bytes = before  # nothing of it is there
            raise
        return time.thread_time() - began

    def _add_all(self, connection: sqlite3.Connection, things: Sequence[Record]) -> None:
        for thing in things:
            self._add(connection, thing)

    def _add(self, connection: sqlite3.Connection, thing: Record) -> None:
        match thing:
            case GuildRecord():
                self._place.source_guild_id = thing.id
                self._place.role_ids[thing.id] = self._place.guild_id
            case RoleRecord():
                self._writer.add_role(connection, self._place, thing, self._report)
            case ChannelRecord():
                self._writer.add_channel(connection, self._place, thing, self._report)
            case PersonRecord():
                self._writer.add_person(connection, self._place, thing, self._report)
            case _:
                pass  # pictures come after the unit

    # Messages

    async def _prepared(self, records: Sequence[MessageRecord]) -> list[ImportedMessage]:
        """The messages that are not here, with their files stored: all that the writer need not be held for. Nobody
        else writes messages of these ids meanwhile, since one import is done at a time."""
        reader = self._core.database.reader
        known = portions.known_among(reader, [record.id for record in records])
        made: dict[int, ImportedMessage] = {}
        for record in records:
            if record.id not in made and self._is_new(record, known):
                message = self._making.message(record, await self._stored(record) if record.files else ())
                if message is not None:
                    made[record.id] = message
        for channel_id in {one.message.channel_id for one in made.values()} - self._place.made_channels:
            if str(channel_id) not in self._report.unread:
                self._report.unread[str(channel_id)] = channels.last_message_of(reader, channel_id)
        return list(made.values())

    async def _stored(self, record: MessageRecord) -> tuple[Attachment, ...]:
        user_id = self._making.author_of(record)
        return without_missing(
            [
                await self._files.attachment(file, record.channel_id, record.id, user_id, position)
                for position, file in enumerate(record.files)
                if file.path is not None
            ]
        )

    def _insert(self, connection: sqlite3.Connection, portion: Sequence[ImportedMessage], rows: PortionRows) -> None:
        if not portion:
            return
        wanted = {move.channel_id for move in rows.moves}
        gone = wanted - portions.channels_among(connection, wanted)
        if gone:  # somebody has deleted them since
            for one in portion:
                if one.message.channel_id in gone:
                    self._report.trouble(TroubleRecord(what="message", name=str(one.message.id), reason="no channel"))
                    self._place.channels.pop(one.message.channel_id, None)
            rows = portions.rows_of(self._made.id, [one for one in portion if one.message.channel_id not in gone])
        portions.insert(connection, rows)
        self._report.came["messages"] += len(rows.ids)
        self._report.came["reactions"] += len(rows.reactions)
        self._report.came["files"] += len(rows.files)
        self._report.bytes += sum(file.size for file in rows.files)

    def _is_new(self, record: MessageRecord, known: Known) -> bool:
        by = known.imports.get(record.id)
        if by in self._siblings:  # here, or deleted here since
            if by != self._made.id:
                self._report.present["messages"] += 1
            return False
        channel = self._place.channels.get(record.channel_id)
        if record.id in known.channels:
            reason = "id is taken"
        elif channel is None or not channel.takes_messages:
            reason = "no channel"
        elif record.id >= snowflake_at(self._core.clock.now_ms() + 1):
            reason = "from the future"
        else:
            return True
        self._making.refuse(record, reason)
        return False


def _weight(record: MessageRecord) -> float:
    people = len(record.mentions) + sum(len(reaction.user_ids) for reaction in record.reactions)
    return 1 + people / PEOPLE_OF_A_MESSAGE
