"""Pictures that an import brings, once their owners are written: of people, of the guild, its emojis and stickers."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import define
from chat.domain.core import Core
from chat.domain.imports.import_files import ImportFiles, expression_name
from chat.domain.imports.import_place import ImportPlace
from chat.domain.imports.import_report import ImportReport
from chat.domain.policy import images
from chat.domain.policy.images import AVATARS, ICONS
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.imports.form import ExpressionRecord, GuildRecord, PersonRecord, TroubleRecord
from chat.store import policy
from chat.store.accounts import accounts
from chat.store.guard import UNGUARDED
from chat.store.guilds import expressions, guilds
from chat.store.guilds.expressions import Expression
from chat.store.imports import imports

NOBODY: Final = 0
"""Made an emoji of which nothing is told."""


@define(eq=False)
class ImportPictures:
    """Brings pictures along, for those who have none here."""

    _core: Core
    _media: MediaLibrary
    _files: ImportFiles
    is_wanted: bool

    async def bring(
        self, record: GuildRecord | PersonRecord | ExpressionRecord, place: ImportPlace, report: ImportReport
    ) -> None:
        """The picture of a record, if it has one and it is wanted."""
        if not self.is_wanted:
            return
        match record:
            case GuildRecord() if record.icon is not None:
                await self._icon(record.icon, place)
            case PersonRecord() if record.avatar is not None:
                await self._avatar(record, record.avatar, place)
            case ExpressionRecord():
                await self._expression(record, place, report)

    async def _icon(self, path: str, place: ImportPlace) -> None:
        known = guilds.by_id(self._core.database.reader, place.guild_id)
        if known is None or known.icon is not None:
            return
        picture = await self._files.picture(ICONS, place.guild_id, path, known.name)
        if picture is None:
            return

        def unit(connection: sqlite3.Connection) -> None:
            guild = guilds.by_id(connection, place.guild_id)
            if guild is not None and guild.icon is None:
                guilds.replace(connection, attrs.evolve(guild, icon=picture.hash))
                images.store(connection, picture)

        async with self._media.kept(picture, guard=UNGUARDED):
            await self._core.database.write(unit, guard=UNGUARDED)

    async def _avatar(self, record: PersonRecord, path: str, place: ImportPlace) -> None:
        """Of a placeholder that has none; who claimed it has a picture of their own."""
        user_id = place.people.get(record.id)
        account = None if user_id is None else accounts.by_id(self._core.database.reader, user_id)
        is_ours = user_id is not None and imports.made_by_any(self._core.database.reader, "person", user_id)
        if account is None or account.avatar is not None or account.is_deleted or not is_ours:
            return
        picture = await self._files.picture(AVATARS, account.id, path, record.name)
        if picture is None:
            return

        def unit(connection: sqlite3.Connection) -> None:
            known = accounts.by_id(connection, account.id)
            if known is not None and known.avatar is None:
                accounts.replace(connection, attrs.evolve(known, avatar=picture.hash))
                images.store(connection, picture)

        async with self._media.kept(picture, guard=UNGUARDED):
            await self._core.database.write(unit, guard=UNGUARDED)

    async def _expression(self, record: ExpressionRecord, place: ImportPlace, report: ImportReport) -> None:
        kind = STICKERS if record.what == STICKERS else EMOJIS
        known = expressions.place_of(self._core.database.reader, record.id)
        if known == (kind, place.guild_id):
            report.present[kind] += not imports.made_by(
                self._core.database.reader, "expression", record.id, place.import_id
            )
            return
        if known is not None or record.id > place.latest_id:
            report.trouble(TroubleRecord(what=kind, name=record.name, reason="id is taken"))
            return
        present = expressions.of_guild(self._core.database.reader, place.guild_id)
        limits = self._core.settings.limits
        most = limits.max_guild_stickers if kind == STICKERS else limits.max_guild_emojis
        if sum(one.kind == kind for one in present) >= most:
            report.trouble(TroubleRecord(what=kind, name=record.name, reason="no room"))
            return
        picture = await self._files.picture(kind, record.id, record.path, record.name)
        if picture is None:
            return
        left = policy.only_of(self._core.database.reader, kind, record.id)
        if left is not None and left.hash != picture.hash:  # of one that was deleted: old messages show it
            report.trouble(TroubleRecord(what=kind, name=record.name, reason="id is taken"))
            return
        made = Expression(
            record.id,
            kind,
            place.guild_id,
            NOBODY if record.user_id is None else place.account_of(record.user_id),
            expression_name(record),
            picture.is_animated,
            record.description[:500],
            tuple(word[:30] for word in record.keywords[:10]),
        )

        def unit(connection: sqlite3.Connection) -> None:
            expressions.insert(connection, made)
            images.store(connection, picture)
            imports.note_thing(connection, "expression", record.id, place.import_id)

        async with self._media.kept(picture, guard=UNGUARDED):
            await self._core.database.write(unit, guard=UNGUARDED)
        report.came[kind] += 1
