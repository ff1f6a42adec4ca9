"""Writes a guild in the intermediate form: a directory with `community.jsonl` and the files that it names.

It is read page by page while others write; a page is what the guild was when it was read.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final

import attrs

from chat.classes import define
from chat.domain.core import Core
from chat.domain.imports.guild_records import (
    channel_record,
    file_record,
    left_behind,
    left_of_message,
    message_record,
    role_record,
)
from chat.domain.policy.images import AVATARS, ICONS
from chat.imports import form_lines
from chat.imports.community import LINES, MESSAGE_TYPES, people_in
from chat.imports.form import (
    KIND_OF,
    ExpressionRecord,
    FileRecord,
    GuildRecord,
    MessageRecord,
    PersonRecord,
    Record,
    TroubleRecord,
)
from chat.media.storage import MediaStorage
from chat.registries.channel_types import ChannelType
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.store import policy, threads
from chat.store.accounts import accounts
from chat.store.guilds import channels, expressions, guilds, members, roles
from chat.store.imports import exporting
from chat.store.messages import messages
from chat.store.threads import Thread

PAGE: Final = 500
"""Messages that are read at once."""


@define(eq=False)
class GuildExport:
    """One export into a directory that exists and is empty."""

    _core: Core
    _storage: MediaStorage
    _guild_id: int
    _folder: Path
    counts: Counter[str] = attrs.field(factory=Counter, init=False)
    _people: set[int] = attrs.field(factory=set, init=False)

    async def write(self) -> None:
        """Write all of it. Raises OSError where the disk is at fault."""
        with (self._folder / LINES).open("wb") as file:
            lines = form_lines.written(())
            file.write(next(iter(lines)))
            places = await self._core.database.read(lambda connection: self._beginning(connection, file))
            for channel_id in places:
                after: int | None = 0
                while after is not None:
                    after = await self._page(channel_id, after, file)

    async def _page(self, channel_id: int, after: int, file: IO[bytes]) -> int | None:
        def read(connection: sqlite3.Connection) -> int | None:
            found = messages.above(connection, channel_id, PAGE, after=after)[::-1]
            self._put(file, self._messages(connection, found))
            return found[-1].id if len(found) == PAGE else None

        return await self._core.database.read(read)

    def _put(self, file: IO[bytes], records: Iterable[Record]) -> None:
        for record in records:
            self.counts[KIND_OF[type(record)]] += 1
            file.write(form_lines.line_of(record))

    def _beginning(self, connection: sqlite3.Connection, file: IO[bytes]) -> list[int]:
        """Everything but messages; the channels that may have some."""
        guild = guilds.by_id(connection, self._guild_id)
        if guild is None:
            return []
        icon = None if guild.icon is None else self._picture(connection, ICONS, guild.id, guild.icon)
        self._put(file, [GuildRecord(id=guild.id, name=guild.name, icon=icon)])
        own = attrs.evolve(guild, features=guild.features - NEW_GUILD_FEATURES)  # a new guild has the others
        self._put(file, left_behind(own, "setting", guild.name))
        self._put(file, self._left_of_guild(connection))
        self._put(file, map(role_record, roles.of_guild(connection, guild.id)))
        found = channels.of_guild(connection, guild.id)
        found.sort(key=lambda channel: (channel.type != ChannelType.GUILD_CATEGORY, channel.id))
        places = sorted(thread_id for thread_id, _, _ in threads.places_of_guild(connection, guild.id))
        below = [thread for _, thread in sorted(threads.by_ids(connection, places).items())]
        for channel in found:
            record = channel_record(channel)
            self._put(file, self._named(connection, people_in(record)))
            self._put(file, [record, *left_behind(channel, "channel", channel.name or "?")])
        for thread in below:
            record = channel_record(thread.channel, thread)
            self._put(file, self._named(connection, people_in(record)))
            self._put(file, [record, *self._left_of_thread(thread)])
        self._put(file, self._expressions(connection))
        return [*(channel.id for channel in found), *(thread.id for thread in below)]

    def _left_of_guild(self, connection: sqlite3.Connection) -> Iterator[TroubleRecord]:
        """What stays behind as a whole: accounts are those of this instance, and addresses lead to it."""
        for what, count in exporting.left_of(connection, self._guild_id).items():
            if count:
                yield TroubleRecord(what="members", name=f"{count} {what}", reason="stays behind")

    @staticmethod
    def _left_of_thread(thread: Thread) -> Iterator[TroubleRecord]:
        """Who is in a private thread: until then those see it who manage threads."""
        if thread.is_private and thread.member_count:
            name = f"{thread.member_count} of {thread.channel.name}"
            yield TroubleRecord(what="members", name=name, reason="stays behind")

    def _expressions(self, connection: sqlite3.Connection) -> Iterator[Record]:
        for one in expressions.of_guild(connection, self._guild_id):
            yield from self._named(connection, [one.user_id] if one.user_id else [])
            asset = policy.only_of(connection, one.kind, one.id)
            path = None if asset is None else self._picture(connection, one.kind, one.id, asset.hash)
            if path is None:
                yield TroubleRecord(what="expression", name=one.name, reason="file is missing")
            else:
                yield ExpressionRecord(
                    id=one.id,
                    what=one.kind,
                    name=one.name,
                    path=path,
                    animated=one.animated,
                    description=one.description,
                    keywords=one.tags,
                    user_id=one.user_id or None,
                )

    def _named(self, connection: sqlite3.Connection, user_ids: Iterable[int]) -> Iterator[PersonRecord]:
        """People who were not named so far. Who is erased stays without a name."""
        for user_id in sorted(set(user_ids) - self._people):
            self._people.add(user_id)
            account = accounts.by_id(connection, user_id)
            if account is None or account.is_deleted:
                continue
            member = members.by_id(connection, self._guild_id, user_id)
            nick = None if member is None else member.nick
            avatar = account.avatar
            yield PersonRecord(
                id=user_id,
                name=nick or account.global_name or account.username,
                username=account.username,
                bot=account.bot,
                avatar=None if avatar is None else self._picture(connection, AVATARS, user_id, avatar),
            )

    def _messages(self, connection: sqlite3.Connection, found: list[messages.Message]) -> Iterator[Record]:
        reactions = exporting.reactions_of(connection, [one.id for one in found if one.has_reactions])
        for message in found:
            if message.type not in MESSAGE_TYPES:
                yield TroubleRecord(what="message", name=str(message.id), reason="unknown kind")
                continue
            record = message_record(message, reactions.get(message.id, ()))
            yield from self._named(connection, people_in(record))
            yield from left_of_message(message)
            yield from self._with_files(record, message)

    def _with_files(self, record: MessageRecord, message: messages.Message) -> Iterator[Record]:
        files: list[FileRecord] = []
        for one in message.attachments:
            is_blocked = self._core.blocked.blocks_file(one.content_hash)
            path = None if is_blocked else self._copied(one.key)
            if path is None:
                reason = "blocked" if is_blocked else "file is missing"
                yield TroubleRecord(what="file", name=f"{message.id}/{one.filename}", reason=reason)
            else:
                files.append(file_record(one, path))
        yield attrs.evolve(record, files=tuple(files))

    def _picture(self, connection: sqlite3.Connection, kind: str, owner_id: int, name: str) -> str | None:
        asset = policy.find(connection, kind, owner_id, name)
        is_here = asset is not None and asset.source_url is None and not self._core.blocked.blocks_image(name)
        return self._copied(asset.key) if asset is not None and is_here else None

    def _copied(self, key: str) -> str | None:
        """The path of a file of the storage in the export; None where it is gone."""
        place = self._folder / key
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            try:
                shutil.copyfile(self._storage.path_of(key), place)
            except FileNotFoundError:
                return None
        return key
