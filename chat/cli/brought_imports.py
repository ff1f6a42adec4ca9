"""`chat import brought`: what the server has a process of its own do with an export that somebody brought along in the
browser (`chat.import_processes`)."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chat.cli.administration import Instance, administer
from chat.cli.imports import alone, carried_out, import_
from chat.cli.options import id_argument, instance_options
from chat.errors import OperatorError, StorageUnavailable

if TYPE_CHECKING:
    from chat.store.imports.brought_exports import BroughtExport


@import_.command("brought", hidden=True)
@instance_options
@id_argument("brought_id")
def brought_(data: Path, brought_id: int) -> None:
    """Do what is next with an export that the server has received: its row says what. A server starts this."""

    async def command(instance: Instance) -> None:
        await BroughtWork(instance, brought_id).do()

    administer(data, command)


class BroughtWork:
    """The work on one export. Each change of its row holds only while the row is in the state of the work: its owner
    may have cancelled it meanwhile."""

    def __init__(self, instance: Instance, brought_id: int) -> None:
        from chat.store.imports import brought_exports

        self._instance = instance
        found = brought_exports.by_id(instance.database.reader, brought_id)
        if found is None:
            raise OperatorError(f"there is no export {brought_id} that somebody brought along")
        self._brought: BroughtExport = found

    async def do(self) -> None:
        """Do what the state asks for; in others nothing."""
        from chat.registries.imports import BroughtState

        match self._brought.state:
            case BroughtState.READING:
                await self._read()
            case BroughtState.IMPORTING:
                with alone(self._instance, waits=True):
                    await self._import()
            case BroughtState.UNDOING:
                with alone(self._instance, waits=True):
                    await self._undo()
            case _:
                pass

    async def _change(self, **changes: Any) -> bool:
        """Whether the row was still in the state of this work."""
        import attrs

        from chat.store.guard import UNGUARDED
        from chat.store.imports import brought_exports

        def unit(connection: sqlite3.Connection) -> bool:
            current = brought_exports.by_id(connection, self._brought.id)
            if current is None or current.state is not self._brought.state:
                return False
            now = self._instance.clock.now_ms()
            brought_exports.put(connection, attrs.evolve(current, **changes, changed_at=now))
            return True

        return await self._instance.database.write(unit, guard=UNGUARDED)

    def _path(self) -> Path:
        from chat.domain.imports.brought_exports import export_path

        return export_path(self._instance.directory.path, self._brought)

    async def _read(self) -> None:
        """The dry run."""
        from chat.domain.imports.export_outline import ExportOutline
        from chat.domain.imports.import_preview import preview
        from chat.imports.export_files import open_export
        from chat.imports.sources import recognised
        from chat.imports.wishes import ReadingWish
        from chat.registries.imports import BroughtState, BroughtTrouble

        instance = self._instance
        refused = {"state": BroughtState.REFUSED}
        if not self._path().exists():
            await self._change(**refused, trouble=BroughtTrouble.GONE)
            return
        try:
            with contextlib.closing(open_export(self._path())) as files:
                found = recognised(files)
                if found is None:
                    await self._change(**refused, trouble=BroughtTrouble.UNKNOWN_EXPORT)
                    return
                source, export = found
                outline = ExportOutline()
                records = outline.watched(export.read(ReadingWish(), instance.clock.now_ms()))
                most = instance.settings.limits.attachment_max_size_premium
                report = preview(instance.database.reader, records, most, None)
        except OperatorError:
            await self._change(**refused, trouble=BroughtTrouble.NOT_READABLE)
            return
        await self._change(state=BroughtState.READY, preview=outline.kept(source, report))

    async def _import(self) -> None:
        from chat.imports.export_files import open_export
        from chat.imports.sources import READERS
        from chat.imports.wishes import ReadingWish
        from chat.registries.imports import BroughtState, BroughtTrouble, ImportSource, ImportState
        from chat.store.guilds import guilds
        from chat.store.imports import imports

        brought, instance = self._brought, self._instance
        wish, told, guild_id = brought.wish, brought.preview, brought.guild_id
        is_here = self._path().exists()
        if wish is None or told is None or guild_id is None or not is_here or not _is_guild(instance, guild_id):
            await self._change(state=BroughtState.FAILED, trouble=BroughtTrouble.GONE)
            return
        ledger, reader = instance.areas().imports.imports, instance.database.reader
        if not imports.made_by_any(reader, "guild", guild_id):
            await ledger.prepare_new_guild(guild_id)
        reading = ReadingWish(since=wish["since"], channels=frozenset(wish["channels"]), files=wish["files"])
        kept = {name: wish[name] for name in ("since", "channels", "files")}
        source = ImportSource(told["source"])
        with contextlib.closing(open_export(self._path())) as files:
            export = READERS[source](files)
            made = await ledger.begin(guild_id, source, brought.filename, kept)
            if not await self._change(import_id=made.id):
                await ledger.cancel(made.id)
            try:
                over = await carried_out(instance, files, export, made, reading, is_new=True)
            except StorageUnavailable:
                await self._change(state=BroughtState.FAILED, trouble=BroughtTrouble.NO_ROOM)
                raise
            except OperatorError:
                if guilds.by_id(reader, guild_id) is None:  # its owner has deleted it meanwhile
                    await self._change(state=BroughtState.FAILED, trouble=BroughtTrouble.GONE)
                    return
                raise
        ended = BroughtState.COMPLETED if over["state"] == ImportState.COMPLETED else BroughtState.CANCELLED
        await self._change(state=ended)

    async def _undo(self) -> None:
        from chat.registries.imports import BroughtState, BroughtTrouble, ImportState
        from chat.store.imports import imports

        made = imports.by_id(self._instance.database.reader, self._brought.import_id or 0)
        if made is None:
            await self._change(state=BroughtState.FAILED, trouble=BroughtTrouble.GONE)
            return
        if made.state is not ImportState.UNDONE:
            await self._instance.areas().imports.undoing.undo(made.id)
        await self._change(state=BroughtState.UNDONE)


def _is_guild(instance: Instance, guild_id: int) -> bool:
    from chat.store.guilds import guilds

    return guilds.by_id(instance.database.reader, guild_id) is not None
