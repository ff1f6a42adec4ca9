"""How much of the disk is used and by what, and cleaning up as a durable job (administration.md, Storage).

Nothing that somebody could still ask for is cleaned up: files that no row speaks of, renditions, which can be made
again, and what deleted accounts left behind. An order may be a dry run, which counts and deletes nothing.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import attrs
import trio

from chat import wire
from chat.classes import define, frozen
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.core import Core
from chat.jobs import JobRun, Jobs, Progress
from chat.media import clean_up
from chat.media.clean_up import FileCount
from chat.media.storage import ArchiveFiles, MediaStorage
from chat.registries.admin_actions import AdminAction
from chat.registries.jobs import CleanUp, JobType
from chat.snowflake import snowflake_at
from chat.store.administration import archives, backups, storage
from chat.store.administration.backups import BackupRecord
from chat.store.administration.jobs import Job
from chat.store.administration.storage import Share, StoragePart
from chat.store.messages import attachments

COUNTED_MS: Final = 30_000
"""How long what was counted is answered again."""

SHOWN: Final = 20
"""Guilds, and accounts, that are listed."""

UNDER_WAY_MS: Final = 3_600_000
"""A file this young may belong to something that is being sent."""

UNUSED_MS: Final = 30 * 86_400_000
"""A rendition is old when nobody has asked for it in this time."""

KEYS_AT_ONCE: Final = 1_000
ROWS_AT_ONCE: Final = 200


@frozen
class DiskRoom:
    """The disk of the data directory."""

    total_bytes: int
    free_bytes: int
    warn_bytes: int

    @property
    def is_low(self) -> bool:
        """Whether less is free than the settings ask for."""
        return self.free_bytes < self.warn_bytes


@define(kw_only=True, eq=False)
class Storage:
    """Tells what takes the room, and cleans up."""

    _core: Core
    _storage: MediaStorage
    _archive_files: ArchiveFiles
    _orders: Jobs
    _log: AdminAuditLog
    _counted: wire.Storage | None = attrs.field(init=False, default=None)
    _counted_at: int = attrs.field(init=False, default=0)
    _counting: trio.Lock = attrs.field(init=False, factory=trio.Lock)

    def __attrs_post_init__(self) -> None:
        self._orders.handle(JobType.STORAGE_CLEAN_UP, self.run)

    # What there is

    async def overview(self) -> wire.Storage:
        """How much of the disk is used and by what; up to COUNTED_MS old."""
        async with self._counting:
            now = self._core.clock.now_ms()
            if self._counted is None or not 0 <= now - self._counted_at < COUNTED_MS:
                self._counted, self._counted_at = await self._count(now), now
            return self._counted

    async def _count(self, now: int) -> wire.Storage:
        parts = await self._core.database.read(storage.parts)
        renditions = await self._storage.computed(clean_up.size_of_renditions, self._storage)
        parts = [*parts, StoragePart("renditions", renditions.bytes, renditions.files)]
        guilds = await self._core.database.read(partial(storage.largest_guilds, limit=SHOWN))
        people = await self._core.database.read(partial(storage.largest_accounts, limit=SHOWN))
        room = await self.room()
        return {
            "counted_at": iso_timestamp(now),
            "disk": cast("wire.StorageDisk", {**attrs.asdict(room), "is_low": room.is_low}),
            "parts": [
                cast("wire.StoragePart", attrs.asdict(part)) for part in sorted(parts, key=lambda part: -part.bytes)
            ],
            "guilds": [_guild(share) for share in guilds],
            "accounts": [_account(share) for share in people],
            "backup": backup_object(backups.record(self._core.database.reader)),
        }

    async def room(self) -> DiskRoom:
        """How much of the disk is left."""
        usage = await self._storage.computed(shutil.disk_usage, self._core.directory)
        return DiskRoom(usage.total, usage.free, self._core.settings.storage.warn_bytes)

    # Cleaning up

    async def order(self, acting: Acting, kinds: Sequence[CleanUp], *, dry_run: bool) -> wire.AdminCleanStorageAnswer:
        """Order a clean-up; the job that does it, or only counts."""
        wanted = sorted(set(kinds))

        def unit(connection: sqlite3.Connection) -> Job:
            job = self._orders.order_in(
                connection,
                JobType.STORAGE_CLEAN_UP,
                {"kinds": wanted, "dry_run": dry_run},
                requested_by=acting.user_id,
                reason=acting.reason,
                total=len(wanted),
            )
            metadata = {"job_id": job.id, "kinds": wanted, "dry_run": dry_run}
            self._log.record(connection, acting, AdminAction.CLEAN_STORAGE, NO_TARGET, metadata)
            return job

        job = await self._core.database.write(unit, lambda _: self._orders.ordered(), guard=acting.guard)
        return {"job_id": str(job.id)}

    async def run(self, run: JobRun) -> None:
        """Do one job, a step for each kind; of deleted accounts as many as their rows need."""
        payload = run.job.payload
        for place, name in enumerate(payload["kinds"]):
            if place < run.job.progress_current:
                continue
            kind = CleanUp(name)
            if kind is CleanUp.DELETED_ACCOUNTS and not payload["dry_run"]:
                while await self._delete_rows(run, place):
                    await trio.lowlevel.checkpoint()
                continue
            found = await self.found(kind, only_look=payload["dry_run"])
            await run.step(partial(_noted, run=run, kind=kind, found=found, done=place + 1))

    async def found(self, kind: CleanUp, *, only_look: bool) -> FileCount:
        """Counts the files of one kind that nothing needs, and deletes them unless `only_look`."""
        match kind:
            case CleanUp.ORPHANS:
                return await self._orphans(only_look=only_look)
            case CleanUp.OLD_RENDITIONS:
                before = (self._core.clock.now_ms() - UNUSED_MS) / 1_000
                clean = partial(clean_up.of_renditions, self._storage, before, only_look=only_look)
                return await self._storage.computed(clean)
            case CleanUp.DELETED_ACCOUNTS:
                left = await self._core.database.read(storage.left_by_deleted_accounts)
                return FileCount(left.files, left.bytes)

    async def _orphans(self, *, only_look: bool) -> FileCount:
        newest = snowflake_at(self._core.clock.now_ms() - UNDER_WAY_MS)
        found = FileCount()
        async with aclosing(self._storage.keys(KEYS_AT_ONCE)) as pages:
            async for keys in pages:
                old = [key for key in keys if int(key.partition("/")[2]) < newest]
                unowned = await self._core.database.read(partial(attachments.ownerless, keys=old))
                found += await self._storage.computed(
                    partial(clean_up.of_keys, self._storage, list(unowned), only_look=only_look)
                )
        files = [file for file in await self._storage.computed(self._archives_found) if file.archive_id < newest]
        ids = {file.archive_id for file in files}
        reader = self._core.database.reader
        wanted = archives.with_file(reader, ids) | archives.unfinished(reader, ids)
        for file in files:
            if file.archive_id not in wanted:
                found += FileCount(1, await self._storage.computed(partial(_removed, file.path, only_look=only_look)))
        return found

    def _archives_found(self) -> list[Any]:
        return list(self._archive_files.found())

    async def _delete_rows(self, run: JobRun, place: int) -> bool:
        """Delete some rows of deleted accounts; whether there may be more."""
        more = False

        def unit(connection: sqlite3.Connection) -> Progress:
            nonlocal more
            gone = storage.delete_left_by_deleted_accounts(connection, ROWS_AT_ONCE)
            more = gone.files > 0
            return _progress(run, CleanUp.DELETED_ACCOUNTS, FileCount(gone.files, gone.bytes), place + (not more))

        await run.step(unit)
        return more


def _removed(path: Path, *, only_look: bool) -> int:
    try:
        size = path.stat().st_size
        if not only_look:
            path.unlink()
    except FileNotFoundError:
        return 0
    return size


def _noted(_: sqlite3.Connection, *, run: JobRun, kind: CleanUp, found: FileCount, done: int) -> Progress:
    return _progress(run, kind, found, done)


def _progress(run: JobRun, kind: CleanUp, found: FileCount, done: int) -> Progress:
    """What was found so far, by kind, is the state and the result of the job."""
    known: dict[str, Mapping[str, int]] = dict(run.job.state)
    before = FileCount(**known[kind]) if kind in known else FileCount()
    known[kind] = attrs.asdict(before + found)
    return Progress(state=known, result=known, current=done)


def _guild(share: Share) -> wire.StorageGuild:
    return {
        "guild_id": str(share.id),
        "name": share.name,
        "icon": share.detail,
        "bytes": share.bytes,
        "files": share.files,
    }


def _account(share: Share) -> wire.StorageAccount:
    return {
        "user_id": str(share.id),
        "username": share.name,
        "discriminator": None if share.detail is None else f"{share.detail:04}",
        "bytes": share.bytes,
        "files": share.files,
    }


def backup_object(last: BackupRecord | None) -> wire.StorageBackup | None:
    """The result of the last backup, as a wire object."""
    if last is None:
        return None
    return {
        "directory": last.directory,
        "tried_at": iso_timestamp(last.tried_at),
        "failure": last.failure,
        "made_at": optional_timestamp(last.made_at),
        "bytes": last.made_bytes,
        "new_bytes": last.made_new_bytes,
        "files": last.made_files,
        "kept": last.kept,
        "remarks": list(last.made_remarks),
    }
