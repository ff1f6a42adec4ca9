"""Writes the records of an export into a guild, in portions that hold the database's writer for milliseconds each.

A portion is one transaction: what it writes, and the report of the import with it. So an import that is killed has
written every portion whole or not at all. It keeps no place in the export: whoever goes on reads from the start, and
what is here already is known by its id. The same holds for a later export of the same place.

Nobody hears of single messages: no event, no mail, no webhook; nothing counts as unread, or as a mention.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import trio

from chat.classes import define
from chat.domain.core import Core
from chat.domain.imports.import_files import ImportFiles, without_missing
from chat.domain.imports.import_pictures import ImportPictures
from chat.domain.imports.import_place import ImportPlace, PlaceWriter
from chat.domain.imports.import_report import ImportReport
from chat.errors import ApiError
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
from chat.markdown.inline import mentions_in
from chat.snowflake import snowflake_at, snowflake_time_ms
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels
from chat.store.imports import imports, portions
from chat.store.imports.imports import Import
from chat.store.imports.portions import GivenReaction, ImportedMessage, Known
from chat.store.messages.attachments import Attachment
from chat.store.messages.message_search_entries import MessageSurroundings
from chat.store.messages.messages import Message, MessageExtra, MessageReference
from chat.store.messages.reactions import Emoji

UNIT_SECONDS: Final = 0.008
"""Processor time that a portion is to take; the writer is held for that and for the disk."""

FIRST_PORTION: Final = 64
PORTION_MAXIMUM: Final = 512
PORTION_MINIMUM: Final = 8
"""Messages of a portion."""

FILES_OF_A_PORTION: Final = 32
"""Files that are stored before their portion is written."""


class ImportCancelled(Exception):
    """Somebody wants the import to end, or its guild is gone."""


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
    _portion: int = attrs.field(default=FIRST_PORTION, init=False)

    async def write(self, records: Iterator[Record]) -> None:
        """Write all of it. Raises ImportCancelled; StorageUnavailable where the disk takes no more."""
        files = 0
        for record in records:
            if isinstance(record, MessageRecord):
                self._messages.append(record)
                files += len(record.files)
            elif isinstance(record, TroubleRecord):
                self._trouble(record)
            else:
                self._things.append(record)
            if (
                len(self._messages) >= self._portion
                or len(self._things) >= self._portion
                or files >= FILES_OF_A_PORTION
            ):
                await self._flush()
                files = 0
        await self._flush()

    def _trouble(self, record: TroubleRecord) -> None:
        self._report.trouble(record)

    async def _flush(self) -> None:
        things, self._things = self._things, []
        messages, self._messages = self._messages, []
        if things:  # first, since files are stored for those who wrote the messages
            await self._write(lambda connection: self._add_all(connection, things))
            for thing in things:
                if isinstance(thing, GuildRecord | PersonRecord | ExpressionRecord):
                    await self._pictures.bring(thing, self._place, self._report)
        if messages or not things:
            stored = await self._stored(messages)
            seconds = await self._write(lambda connection: self._write_messages(connection, messages, stored))
            if len(messages) >= self._portion:
                fitting = self._portion * UNIT_SECONDS / max(seconds, 1e-6)
                self._portion = int(
                    min(PORTION_MAXIMUM, max(PORTION_MINIMUM, fitting, self._portion / 2), self._portion * 2)
                )
        self._tell(self._report)
        await trio.lowlevel.checkpoint()

    async def _write(self, portion: Callable[[sqlite3.Connection], None]) -> float:
        """One unit, with the report as it is then; the processor time that it took, in seconds."""

        def unit(connection: sqlite3.Connection) -> float:
            began = time.thread_time()
            if imports.is_to_end(connection, self._made.id):
                raise ImportCancelled
            portion(connection)
            now = self._core.clock.now_ms()
            imports.put(connection, attrs.evolve(self._made, report=self._report.kept(), changed_at=now))
            return time.thread_time() - began

        return await self._core.database.write(unit, guard=UNGUARDED)

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

    async def _stored(self, messages: Sequence[MessageRecord]) -> dict[int, list[Attachment | None]]:
        """The files of those messages that are not here, stored, by message."""
        with_files = [record for record in messages if record.files]
        if not with_files:
            return {}
        known = portions.known_among(self._core.database.reader, [record.id for record in with_files])
        stored: dict[int, list[Attachment | None]] = {}
        for record in with_files:
            if record.id not in known.channels and record.id not in known.imports:
                user_id = self._place.account_of(record.author_id)
                stored[record.id] = [
                    await self._files.attachment(file, record.channel_id, record.id, user_id, position)
                    for position, file in enumerate(record.files)
                    if file.path is not None
                ]
        return stored

    def _write_messages(
        self,
        connection: sqlite3.Connection,
        records: Sequence[MessageRecord],
        stored: dict[int, list[Attachment | None]],
    ) -> None:
        if not records:
            return
        known = portions.known_among(connection, [record.id for record in records])
        portion: dict[int, ImportedMessage] = {}
        for record in records:
            if record.id not in portion and self._is_new(record, known):
                message = self._message(record, stored.get(record.id, ()))
                if message is not None:
                    portion[record.id] = message
        if not portion:
            return
        for channel_id in {one.message.channel_id for one in portion.values()}:
            if str(channel_id) not in self._report.unread:
                self._report.unread[str(channel_id)] = channels.last_message_of(connection, channel_id)
        portions.insert(connection, self._made.id, list(portion.values()))
        came = self._report.came
        came["messages"] += len(portion)
        for one in portion.values():
            came["reactions"] += len(one.reactions)
            came["files"] += len(one.message.attachments)
            self._report.bytes += sum(file.size for file in one.message.attachments)

    def _is_new(self, record: MessageRecord, known: Known) -> bool:
        by = known.imports.get(record.id)
        if by in self._siblings:  # here, or deleted here since
            if by != self._made.id:
                self._report.present["messages"] += 1
            return False
        if record.id in known.channels:
            self._refuse(record, "id is taken")
            return False
        channel = self._place.channels.get(record.channel_id)
        if channel is None or not channel.takes_messages:
            self._refuse(record, "no channel")
            return False
        if record.id >= snowflake_at(self._core.clock.now_ms() + 1):
            self._refuse(record, "from the future")
            return False
        return True

    def _refuse(self, record: MessageRecord, reason: str) -> None:
        self._trouble(TroubleRecord(what="message", name=str(record.id), reason=reason))

    def _message(self, record: MessageRecord, stored: Sequence[Attachment | None]) -> ImportedMessage | None:
        try:
            self._core.blocked.require_text(record.content)
        except ApiError:
            self._refuse(record, "blocked")
            return None
        place, channel = self._place, self._place.channels[record.channel_id]
        author_id = place.account_of(record.author_id)
        is_webhook = record.webhook_name is not None
        files = without_missing(list(stored))
        reactions = tuple(self._reactions(record))
        pinned_at = snowflake_time_ms(record.id) if record.pinned else None
        message = Message(
            id=record.id,
            channel_id=record.channel_id,
            author_id=record.author_id if is_webhook else author_id,
            type=record.type,
            content=self._content(record.content),
            flags=record.flags,
            webhook_id=record.author_id if is_webhook else None,
            edited_at=record.edited_at,
            pinned_at=pinned_at,
            mention_everyone=record.mention_everyone,
            reference=self._reference(record),
            extra=_extra(record, len(files)),
            has_reactions=bool(reactions),
            mentioned_user_ids=tuple(sorted({place.account_of(person) for person in record.mentions})),
            mentioned_role_ids=tuple(sorted({place.role_ids.get(role, role) for role in record.mention_roles})),
            attachments=files,
        )
        parent_id = channel.parent_id if channel.is_thread else None
        around = MessageSurroundings(place.guild_id, channel.type, parent_id, record.author_id in place.bots)
        return ImportedMessage(message, reactions, record.author_id, around, channel.is_thread)

    def _content(self, text: str) -> str:
        """The text with everybody's present id: under the old one somebody else may be here."""
        if "<@" not in text:
            return text
        said: list[str] = []
        at = 0
        for mention in mentions_in(text):
            if mention.kind in ("user", "role"):
                old = int(mention.value)
                is_role = mention.kind == "role"
                new = self._place.role_ids.get(old, old) if is_role else self._place.account_of(old)
                said += (text[at : mention.start], f"<@&{new}>" if is_role else f"<@{new}>")
                at = mention.end
        return "".join([*said, text[at:]])

    def _reference(self, record: MessageRecord) -> MessageReference | None:
        reference = record.reference
        if reference is None:
            return None
        guild_id = self._place.guild_id if reference.channel_id in self._place.channels else None
        return MessageReference(reference.channel_id, reference.message_id, guild_id, reference.type)

    def _reactions(self, record: MessageRecord) -> Iterator[GivenReaction]:
        for reaction in record.reactions:
            people = tuple(sorted({self._place.account_of(person) for person in reaction.user_ids}))
            if people:
                yield GivenReaction(Emoji(reaction.name, reaction.emoji_id, reaction.animated), people)
            else:
                self._trouble(
                    TroubleRecord(what="reaction", name=f"{record.id}/{reaction.name}", reason="nobody is named")
                )


def _extra(record: MessageRecord, files: int) -> MessageExtra | None:
    given: Mapping[str, Any] = {
        "webhook_name": record.webhook_name,
        "attachments": files,
        "embeds": record.embeds,
        "stickers": record.stickers,
        "snapshots": () if record.snapshot is None else (record.snapshot,),
    }
    return MessageExtra(**given) if any(given.values()) else None
