"""The ledger of imports, and carrying them out (manual, Moving in).

An import is done by the process of the command that orders it: parsing five million messages would take the server's
loop away from everybody. What it has written stands in the same transaction as what it says of itself, so that the same
command goes on with an import that broke off. A running server hears of the end alone, and sends the guild anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from chat.classes import define
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.administration import server_notes
from chat.domain.core import Core
from chat.domain.guilds.claims import begin_moving
from chat.domain.imports.import_files import ImportFiles
from chat.domain.imports.import_pictures import ImportPictures
from chat.domain.imports.import_place import ImportPlace, PlaceWriter
from chat.domain.imports.import_report import ImportFields, ImportReport, report_fields
from chat.domain.imports.import_writing import ImportCancelled, ImportWriting
from chat.domain.messages.uploads import Uploads
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.policy.profiles import Usernames
from chat.errors import OperatorError, StorageUnavailable
from chat.imports.export_files import ExportFiles
from chat.imports.form import Record
from chat.registries.imports import UNFINISHED, ImportSource, ImportState
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels, guilds
from chat.store.imports import imports, placeholders, portions
from chat.store.imports.imports import Import

if TYPE_CHECKING:
    from chat.domain.imports.guild_export import GuildExport

NO_IMPORT: Final = 0
"""Stands for the import that a guild was made for, which begins later."""

MEMBERS_AT_ONCE: Final = 500
CHANNELS_AT_ONCE: Final = 50
"""How much counts as read in one unit: channels, and members of all of them together."""


@define(eq=False)
class Imports:
    """Begins, carries out, lists and cancels imports."""

    _core: Core
    _media: MediaLibrary
    _uploads: Uploads

    async def prepare_new_guild(self, guild_id: int) -> None:
        """A guild was made to import into: it has no channels but those that come."""

        def unit(connection: sqlite3.Connection) -> None:
            for channel in channels.of_guild(connection, guild_id):
                channels.delete(connection, channel.id)
            guild = guilds.by_id(connection, guild_id)
            if guild is not None:
                guilds.replace(connection, attrs.evolve(guild, system_channel_id=None))
            imports.note_thing(connection, "guild", guild_id, NO_IMPORT)
            now = self._core.clock.now_ms()
            server_notes.leave(connection, server_notes.guild_imported(guild_id), now)

        await self._core.database.write(unit, guard=UNGUARDED)

    async def begin(self, guild_id: int, source: ImportSource, place: str, wish: Mapping[str, Any]) -> Import:
        """The import that is to be carried out: one that broke off, where the same was asked for, or a new one."""

        def unit(connection: sqlite3.Connection) -> Import:
            now = self._core.clock.now_ms()
            for known in imports.of_guild(connection, guild_id):
                if known.state in UNFINISHED and (known.source, known.place, known.wish) == (source, place, wish):
                    again = attrs.evolve(known, state=ImportState.RUNNING, changed_at=now, completed_at=None)
                    imports.put(connection, again)
                    imports.request_cancel(connection, known.id, wanted=False)
                    return again
            made = Import(
                id=self._core.snowflakes(),
                guild_id=guild_id,
                source=source,
                place=place,
                wish=wish,
                created_at=now,
                changed_at=now,
            )
            imports.insert(connection, made)
            return made

        return await self._core.database.write(unit, guard=UNGUARDED)

    async def carry_out(
        self,
        made: Import,
        files: ExportFiles,
        records: Iterator[Record],
        tell: Callable[[ImportReport], None],
        *,
        is_new: bool = False,
        with_files: bool = True,
    ) -> Import:
        """Write the records; the import as it is then, completed or cancelled. With `is_new` the guild was made for it,
        and the export says what everyone may do there.

        :raises StorageUnavailable: where the disk takes no more: what came stays, and the import can go on.
        """
        database = self._core.database
        # What came is counted on; what was in the way is told anew, since all of the export is read again.
        earlier = ImportReport.of(made.report)
        report = ImportReport(
            came=earlier.came, bytes=earlier.bytes, unread=earlier.unread, made_unread=earlier.made_unread
        )
        now_ms = self._core.clock.now_ms()
        place = ImportPlace.read(database.reader, made.guild_id, made.id, self._core.snowflakes, now_ms)
        place.is_new = is_new
        if report.made_unread:
            place.made_channels.update(imports.things_of(database.reader, "channel", made.id))
        stored = ImportFiles(self._core, self._media, self._uploads, files, report.trouble)
        usernames = Usernames(self._core.settings, self._core.chance)
        writing = ImportWriting(
            core=self._core,
            made=made,
            place=place,
            writer=PlaceWriter(
                settings=self._core.settings,
                snowflakes=self._core.snowflakes,
                usernames=usernames,
                now_ms=now_ms,
            ),
            files=stored,
            pictures=ImportPictures(self._core, self._media, stored, with_files),
            report=report,
            siblings=frozenset(one.id for one in imports.of_guild(database.reader, made.guild_id)),
            tell=tell,
        )
        state = ImportState.FAILED
        try:
            await writing.write(records)
            state = ImportState.COMPLETED
        except ImportCancelled:
            state = ImportState.CANCELLED
        finally:
            if state is ImportState.FAILED:
                await self._note_failure(made, report)
        return await self._finish(made, report, state)

    async def _note_failure(self, made: Import, report: ImportReport) -> None:
        """As far as the disk lets it: an import that only says that it is running goes on all the same."""
        with trio.CancelScope(shield=True):
            try:
                await self._finish(made, report, ImportState.FAILED)
            except StorageUnavailable:
                return

    async def _finish(self, made: Import, report: ImportReport, state: ImportState) -> Import:
        """What came counts as read; the import is over, and a running server sends the guild anew."""
        if imports.by_id(self._core.database.reader, made.id) is None:
            raise OperatorError(f"the guild {made.guild_id} is gone")
        unread = {int(channel_id): before for channel_id, before in report.unread.items()}
        if report.made_unread:
            unread |= dict.fromkeys(imports.things_of(self._core.database.reader, "channel", made.id), 0)
        await self._mark_read(list(unread.items()))

        def unit(connection: sqlite3.Connection) -> Import:
            now = self._core.clock.now_ms()
            report.unread.clear()
            report.made_unread = False
            over = attrs.evolve(made, state=state, report=report.kept(), changed_at=now, completed_at=now)
            imports.put(connection, over)
            for known in placeholders.claimed_in(connection, made.guild_id):
                begin_moving(connection, known)
            server_notes.leave(connection, server_notes.guild_imported(made.guild_id), now)
            return over

        return await self._core.database.write(unit, guard=UNGUARDED)

    async def _mark_read(self, unread: list[tuple[int, int]]) -> None:
        """Have channels count as read up to their newest messages, by those who had read up to another one."""

        def unit(connection: sqlite3.Connection) -> None:
            left = MEMBERS_AT_ONCE
            for _ in range(min(CHANNELS_AT_ONCE, len(unread))):
                left -= portions.mark_read(connection, *unread[-1], left)
                if left <= 0:
                    return  # the same channel may have more members
                unread.pop()

        while unread:
            await self._core.database.write(unit, guard=UNGUARDED)

    def export_of(self, guild_id: int, folder: Path) -> GuildExport:
        """The export of a guild into an empty directory, to be written."""
        from chat.domain.imports.guild_export import GuildExport

        return GuildExport(self._core, self._media.storage, guild_id, folder)

    def every(self) -> list[ImportFields]:
        """All imports, the newest first, as they are printed."""
        return [import_fields(made) for made in imports.every(self._core.database.reader)]

    def find(self, import_id: int) -> Import:
        """One import. Raises OperatorError."""
        made = imports.by_id(self._core.database.reader, import_id)
        if made is None:
            raise OperatorError(f"there is no import {import_id}")
        return made

    async def cancel(self, import_id: int) -> Import:
        """Have an import end before its next portion; what came stays. Raises OperatorError for one that is over."""

        def unit(connection: sqlite3.Connection) -> Import:
            made = imports.by_id(connection, import_id)
            if made is None or made.state is not ImportState.RUNNING:
                raise OperatorError(f"there is no import {import_id} that is being done")
            imports.request_cancel(connection, import_id, wanted=True)
            return attrs.evolve(made, cancel_requested=True)

        return await self._core.database.write(unit, guard=UNGUARDED)


def import_fields(made: Import) -> ImportFields:
    """An import as it is printed."""
    return {
        "id": str(made.id),
        "guild_id": str(made.guild_id),
        "source": str(made.source),
        "path": made.place,
        "state": str(made.state),
        "cancel_requested": made.cancel_requested,
        **report_fields(ImportReport.of(made.report)),
        "created_at": iso_timestamp(made.created_at),
        "changed_at": iso_timestamp(made.changed_at),
        "completed_at": optional_timestamp(made.completed_at),
    }
