"""Archives of accounts and guilds: ordering them, reading how far they are, handing them out, and what becomes of them
(administration.md, Archives; accounts.md, One's own archive).

An archive is a row and, once it is whole, a file. A job builds the file step by step
(`chat.domain.administration.archive_building`); with each step it writes down how far it is, so that after the end of a
server the next one goes on from there. A file goes when its archive has expired; the row stays for as long again, to be
listed.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import structlog
import trio

from chat import wire
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.administration.account_fields import found
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administration.archive_building import ArchiveBuild, ArchiveWish, BuildState, NoRoom
from chat.domain.administration.archive_objects import OWN_PAUSE_MS, archive_object, own_archive_object
from chat.domain.administration.guilds import require_guild
from chat.domain.core import Core
from chat.errors import ApiError, RateLimited, StorageUnavailable
from chat.jobs import Ending, JobFailed, JobRun, Jobs, Progress
from chat.media.storage import ArchiveFiles, MediaStorage
from chat.media.zip_writing import PositionLost, ZipWriter
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import ArchiveSubject, JobStatus, JobType
from chat.store.administration import archives
from chat.store.administration.archive_tables import PROTECTING
from chat.store.administration.archives import Archive
from chat.store.administration.jobs import Job
from chat.store.guard import UNGUARDED, Guard

DAY_MS: Final = 24 * 3_600_000

KEPT_MS: Final = 365 * DAY_MS
"""How long an archive can be had (administration.md, Archives), and how long it is listed after that."""

OWN_KEPT_MS: Final = 14 * DAY_MS
"""How long somebody can have the archive of the own account; the next one takes its place."""


ADDRESS_MS: Final = 3_600_000
"""How long a URL holds under which an archive is downloaded."""

SWEEP_SECONDS: Final = 600.0
"""How often expired archives and files without an archive are deleted."""

QUEUED: Final = "Queued"
COMPLETED: Final = "Completed"
CANCELLED: Final = "Cancelled"
WHOLE: Final = 100

NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

_JOBS: Final[Mapping[ArchiveSubject, JobType]] = {
    ArchiveSubject.USER: JobType.USER_ARCHIVE,
    ArchiveSubject.GUILD: JobType.GUILD_ARCHIVE,
}
_ACTIONS: Final[Mapping[ArchiveSubject, AdminAction]] = {
    ArchiveSubject.USER: AdminAction.TRIGGER_USER_ARCHIVE,
    ArchiveSubject.GUILD: AdminAction.TRIGGER_GUILD_ARCHIVE,
}

log: Final = structlog.get_logger("chat.archives")


@define(eq=False)
class Archives:
    """Takes orders for archives, builds them, hands them out and clears them away."""

    _core: Core
    _orders: Jobs
    _log: AdminAuditLog
    _storage: MediaStorage
    _files: ArchiveFiles
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)

    def __attrs_post_init__(self) -> None:
        ending = Ending(self._note_end, lambda: self._wake.set())
        for task_type in _JOBS.values():
            self._orders.handle(task_type, self.build, ending)

    # Ordering and reading

    async def order(
        self, acting: Acting, kind: ArchiveSubject, subject_id: int, *, include_attachments: bool
    ) -> wire.Archive:
        """Order an archive; the archive object, of which nothing is done yet. What the administrator may not see of an
        account is not in it (administration.md, Redaction). Raises UNKNOWN_USER or UNKNOWN_GUILD."""

        def unit(connection: sqlite3.Connection) -> Archive:
            if kind is ArchiveSubject.USER:
                found(connection, subject_id)
            else:
                require_guild(connection, subject_id)
            now = self._core.clock.now_ms()
            archive = Archive(
                id=self._core.snowflakes(),
                subject_type=kind,
                subject_id=subject_id,
                requested_by=acting.user_id,
                requested_at=now,
                include_attachments=include_attachments,
                progress_step=QUEUED,
                expires_at=now + KEPT_MS,
            )
            self._order_in(connection, archive, _withheld(acting, kind, subject_id), acting.reason)
            metadata = {"archive_id": archive.id, "include_attachments": include_attachments}
            self._log.record(connection, acting, _ACTIONS[kind], subject_id, metadata)
            return archive

        return archive_object(
            await self._core.database.write(unit, lambda _: self._orders.ordered(), guard=acting.guard)
        )

    def _order_in(
        self, connection: sqlite3.Connection, archive: Archive, withheld: list[str], reason: str | None
    ) -> None:
        archives.insert(connection, archive)
        kind, subject_id = archive.subject_type, archive.subject_id
        self._orders.order_in(
            connection,
            _JOBS[kind],
            {
                "archive_id": archive.id,
                f"{kind}_id": subject_id,
                "include_attachments": archive.include_attachments,
                "withheld": withheld,
            },
            subject_id=subject_id if kind is ArchiveSubject.USER else None,
            requested_by=archive.requested_by,
            reason=reason,
            total=WHOLE,
            message=QUEUED,
        )

    async def order_own(self, user_id: int, guard: Guard, *, include_attachments: bool) -> wire.OwnArchive:
        """Order the archive of one's own account, whole; it takes the place of an earlier one. The object of it.

        :raises RateLimited: within a day of the last one that did not fail.
        """

        def unit(connection: sqlite3.Connection) -> Archive:
            now, last = self._core.clock.now_ms(), archives.own(connection, user_id)
            if last is not None and last.failed_at is None:
                wait = last.requested_at + OWN_PAUSE_MS - now
                if wait > 0:
                    raise RateLimited(wait / 1_000)
                archives.put(connection, attrs.evolve(last, expires_at=min(last.expires_at, now)))
            archive = Archive(
                id=self._core.snowflakes(),
                subject_type=ArchiveSubject.USER,
                subject_id=user_id,
                requested_by=user_id,
                requested_at=now,
                include_attachments=include_attachments,
                progress_step=QUEUED,
                expires_at=now + OWN_KEPT_MS,
            )
            self._order_in(connection, archive, [], None)
            return archive

        return own_archive_object(await self._core.database.write(unit, lambda _: self._orders.ordered(), guard=guard))

    def own(self, user_id: int) -> wire.OwnArchive | None:
        """The last archive of one's own account; None before the first, and for long after it has expired."""
        archive = archives.own(self._core.database.reader, user_id)
        return None if archive is None else own_archive_object(archive)

    def one_of_own(self, user_id: int, archive_id: int) -> wire.OwnArchive:
        """An archive that somebody ordered of the own account. Raises UNKNOWN_HARVEST."""
        return own_archive_object(self._own(user_id, archive_id))

    def require_own_file(self, user_id: int, archive_id: int) -> None:
        """Return if there is a file to fetch. Raises UNKNOWN_HARVEST; HARVEST_NOT_READY, HARVEST_FAILED,
        HARVEST_EXPIRED."""
        _require_file(self._own(user_id, archive_id), self._core.clock.now_ms())

    def _own(self, user_id: int, archive_id: int | None) -> Archive:
        """This archive of the own account, or the last one."""
        reader = self._core.database.reader
        archive = archives.own(reader, user_id) if archive_id is None else archives.by_id(reader, archive_id)
        about = None if archive is None else (archive.subject_type, archive.subject_id, archive.requested_by)
        if archive is None or about != (ArchiveSubject.USER, user_id, user_id):
            raise ApiError(ErrorCode.UNKNOWN_HARVEST)
        return archive

    async def page(
        self,
        acting: Acting,
        *,
        kind: ArchiveSubject | None,
        subject_id: int | None,
        requested_by: int | None,
        include_expired: bool,
        limit: int,
    ) -> list[wire.Archive]:
        """Archives that the administrator may see, the newest first: their own, and with `archive:view_all` those that
        others asked for."""
        if not acting.holds(Acl.ARCHIVE_VIEW_ALL):
            if requested_by not in {None, acting.user_id}:
                return []
            requested_by = acting.user_id
        query = partial(
            archives.newest,
            subject_type=kind,
            subject_id=subject_id,
            requested_by=requested_by,
            not_expired_at=None if include_expired else self._core.clock.now_ms(),
            limit=limit,
        )
        return [archive_object(archive) for archive in await self._core.database.read(query)]

    def find(self, acting: Acting, kind: ArchiveSubject, subject_id: int, archive_id: int) -> wire.Archive | None:
        """One archive; None if there is none that the administrator may see."""
        archive = self._visible(acting, kind, subject_id, archive_id)
        return None if archive is None else archive_object(archive)

    def _visible(self, acting: Acting, kind: ArchiveSubject, subject_id: int, archive_id: int) -> Archive | None:
        archive = archives.by_id(self._core.database.reader, archive_id)
        if archive is None or (archive.subject_type, archive.subject_id) != (kind, subject_id):
            return None
        if archive.requested_by != acting.user_id and not acting.holds(Acl.ARCHIVE_VIEW_ALL):
            return None
        return archive

    def _is_closed_to(self, acting: Acting, archive: Archive) -> bool:
        """Whether the archive holds more of an account than the administrator may see: an archive of one's own account
        is whole."""
        is_own = archive.subject_type is ArchiveSubject.USER and archive.requested_by == archive.subject_id
        return is_own and bool(_withheld(acting, archive.subject_type, archive.subject_id))

    # Handing out

    async def address(
        self, acting: Acting, kind: ArchiveSubject, subject_id: int, archive_id: int
    ) -> wire.ArchiveAddress:
        """A URL under which the archive is found for a while, and until when. Raises UNKNOWN_HARVEST;
        HARVEST_NOT_READY, HARVEST_FAILED, HARVEST_EXPIRED."""
        visible = self._visible(acting, kind, subject_id, archive_id)
        if visible is None or self._is_closed_to(acting, visible):
            raise ApiError(ErrorCode.UNKNOWN_HARVEST)
        url, until = await self._address(archive_id, acting.guard)
        return {"downloadUrl": url, "expiresAt": iso_timestamp(until)}

    async def own_address(self, user_id: int, guard: Guard, archive_id: int | None = None) -> wire.OwnArchiveAddress:
        """As `address`, for this archive of one's own account, or the last one."""
        url, until = await self._address(self._own(user_id, archive_id).id, guard)
        return {"download_url": url, "expires_at": iso_timestamp(until)}

    async def _address(self, archive_id: int, guard: Guard) -> tuple[str, int]:
        def unit(connection: sqlite3.Connection) -> Archive:
            archive, now = archives.by_id(connection, archive_id), self._core.clock.now_ms()
            if archive is None:
                raise ApiError(ErrorCode.UNKNOWN_HARVEST)
            _require_file(archive, now)
            # Whole seconds, as the URL has it.
            until = min(now + ADDRESS_MS, archive.expires_at) // 1000 * 1000
            changed = attrs.evolve(archive, download_url_expires_at=until)
            archives.put(connection, changed)
            return changed

        archive = await self._core.database.write(unit, guard=guard)
        until = archive.download_url_expires_at or 0
        return self._core.media_addresses.archive(archive.id, file_name_of(archive), until), until

    def downloadable(self, archive_id: int, name: str, ex: str | None, hm: str | None) -> Archive:
        """The archive behind a URL that was handed out. Raises NOT_FOUND, the same for a wrong signature, an expired
        one and a file that is gone."""
        is_signed = self._core.media_addresses.is_of_archive(archive_id, ex, hm)
        archive = archives.by_id(self._core.database.reader, archive_id) if is_signed else None
        if archive is None or archive.file_size is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        if archive.expires_at <= self._core.clock.now_ms() or name != file_name_of(archive):
            raise ApiError(ErrorCode.NOT_FOUND)
        return archive

    def path_of(self, archive: Archive) -> Path:
        """The path of a finished archive's file."""
        return self._files.whole(archive.id)

    # Building

    async def build(self, run: JobRun) -> None:
        """Do one job. Raises JobFailed when what is to be archived is gone, and when the disk is full."""
        archive = archives.by_id(self._core.database.reader, run.job.payload["archive_id"])
        if archive is None or archive.is_over:
            raise JobFailed("The archive is not wanted any more.")
        try:
            await self._finish(run, await self._built(run, archive))
        except NoRoom as error:
            raise JobFailed(str(error)) from error
        except OSError as error:
            if error.errno in NO_ROOM:
                raise JobFailed("The disk has no room left.") from error
            raise

    async def _built(self, run: JobRun, archive: Archive) -> int:
        """Make the file of the archive, or go on with it; its bytes."""
        at_work, archive_id = self._storage.computed, archive.id
        if run.job.state:
            size = await at_work(self._files.size, archive_id)
            if size is not None:
                return size  # a server ended before it could say so
        else:
            await at_work(self._files.delete, archive_id)  # of an earlier life of a development server
        wish = ArchiveWish(
            kind=archive.subject_type,
            subject_id=archive.subject_id,
            include_attachments=archive.include_attachments,
            withheld=frozenset(run.job.payload.get("withheld", ())),
        )
        build = ArchiveBuild(wish, self._storage.path_of)
        writer, state = await self._opened(run, build, archive_id)
        began_at = archive.started_at or self._core.clock.now_ms()
        try:
            await self._note(run, build, state)
            while not build.is_done(state):
                page = await self._core.database.read(partial(self._read, build, state))
                write = partial(build.write, writer, state, page, spare_bytes=self._core.settings.archives.spare_bytes)
                state = await at_work(partial(write, folder=self._files.directory, now_ms=self._core.clock.now_ms()))
                await self._note(run, build, state)
            finish = partial(build.finish, writer, state, began_at=began_at, now_ms=self._core.clock.now_ms())
            size = await at_work(finish)
        finally:
            writer.close()
        await at_work(self._files.keep, archive_id)
        return size

    async def _opened(self, run: JobRun, build: ArchiveBuild, archive_id: int) -> tuple[ZipWriter, BuildState]:
        at_work, path = self._storage.computed, self._files.partial(archive_id)
        await at_work(self._files.make_directory)
        if run.job.state:
            state = BuildState.of(run.job.state)
            try:
                return await at_work(ZipWriter, path, state.position), state
            except PositionLost:  # as after the restoring of a backup: what was begun is not there
                log.info("an archive is begun anew", archive_id=archive_id)
        return await at_work(ZipWriter, path), await self._core.database.read(build.begun)

    @staticmethod
    def _read(build: ArchiveBuild, state: BuildState, connection: sqlite3.Connection) -> Any:
        if not build.subject_exists(connection):
            raise JobFailed(f"The {build.wish.kind} is gone.")
        return build.read(connection, state)

    async def _note(self, run: JobRun, build: ArchiveBuild, state: BuildState) -> None:
        percent, step = build.percent(state), build.step_name(state)

        def unit(connection: sqlite3.Connection) -> Progress:
            self._change(connection, run, progress_percent=percent, progress_step=step)
            return Progress(state=state.kept(), current=percent, message=step)

        await run.step(unit)

    async def _finish(self, run: JobRun, size: int) -> None:
        def unit(connection: sqlite3.Connection) -> Progress:
            self._change(
                connection,
                run,
                progress_percent=WHOLE,
                progress_step=COMPLETED,
                completed_at=self._core.clock.now_ms(),
                file_size=size,
            )
            return Progress(state={}, current=WHOLE, message=COMPLETED, result={"file_size": size})

        await run.step(unit)

    def _change(self, connection: sqlite3.Connection, run: JobRun, **changes: Any) -> None:
        archive = archives.by_id(connection, run.job.payload["archive_id"])
        if archive is None:
            raise JobFailed("The archive is not wanted any more.")
        started_at = archive.started_at or run.job.started_at
        archives.put(connection, attrs.evolve(archive, started_at=started_at, **changes))

    def _note_end(self, connection: sqlite3.Connection, job: Job) -> None:
        """The job is over, and so is the archive."""
        archive = archives.by_id(connection, job.payload["archive_id"])
        if archive is None or archive.is_over:
            return
        message = CANCELLED if job.status is JobStatus.CANCELLED else job.error_message
        archives.put(connection, attrs.evolve(archive, failed_at=job.completed_at, error_message=message))

    # Clearing away

    async def run(self) -> None:
        """Delete what expired and what failed left behind, until cancelled."""
        while True:
            self._wake = trio.Event()
            try:
                await self.sweep()
            except (StorageUnavailable, OSError):
                log.warning("archives could not be tidied up")
            with trio.move_on_after(SWEEP_SECONDS):
                await self._wake.wait()

    async def sweep(self) -> None:
        """Delete the files of archives that expired, files that belong to no archive, and rows of long ago."""
        now, reader = self._core.clock.now_ms(), self._core.database.reader
        while expired := archives.expired(reader, now):
            await self._delete_files(expired)
            await self._core.database.write(partial(archives.forget_files, archive_ids=expired), guard=UNGUARDED)
        files = await self._storage.computed(lambda: list(self._files.found()))
        whole = {file.archive_id for file in files if file.is_whole}
        partial_ = {file.archive_id for file in files if not file.is_whole}
        # Asked after the files were listed: what was ordered since has none among them.
        wanted = archives.with_file(reader, whole) | archives.unfinished(reader, partial_)
        await self._delete_files((whole | partial_) - wanted)
        while archives.any_before(reader, now - KEPT_MS):
            if not await self._core.database.write(
                partial(archives.delete_before, before_ms=now - KEPT_MS), guard=UNGUARDED
            ):
                return

    async def _delete_files(self, archive_ids: Any) -> None:
        for archive_id in archive_ids:
            await self._storage.computed(self._files.delete, archive_id)


def file_name_of(archive: Archive) -> str:
    """The name under which browsers save the archive."""
    return f"{archive.subject_type}-{archive.subject_id}-{archive.id}.zip"


def _withheld(acting: Acting, kind: ArchiveSubject, subject_id: int) -> list[str]:
    """The ACLs whose data the archive leaves out. Administrators see their own account whole (administration.md, Admin
    user object)."""
    if kind is ArchiveSubject.GUILD or subject_id == acting.user_id:
        return []
    return [str(acl) for acl in PROTECTING if not acting.holds(acl)]


def _require_file(archive: Archive, now_ms: int) -> None:
    if archive.failed_at is not None:
        raise ApiError(ErrorCode.HARVEST_FAILED)
    if archive.completed_at is None:
        raise ApiError(ErrorCode.HARVEST_NOT_READY)
    if archive.file_size is None or archive.expires_at <= now_ms:
        raise ApiError(ErrorCode.HARVEST_EXPIRED)
