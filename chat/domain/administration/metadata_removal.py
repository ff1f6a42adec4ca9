"""Takes metadata out of files that were stored while it was left in (media.md, Metadata): a durable job, which a
migration orders, or a start of the server after the setting was changed.

A file without its metadata is a new file under a new key, so what is read meanwhile is the old one or the new one. The
rows change in the job's step; the old file has no owner then, and goes as others without one do. A server that ends in
between leaves a new file without an owner.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Final

import attrs
import structlog
import trio

from chat.classes import define
from chat.domain.core import Core
from chat.domain.policy.media_library import MediaLibrary
from chat.errors import StorageUnavailable
from chat.jobs import JobRun, Jobs, Progress
from chat.registries.jobs import JobType
from chat.store.administration import instance, stored_files
from chat.store.administration.stored_files import ATTACHMENTS, KINDS, FileRow, NewContent
from chat.store.guard import UNGUARDED

FILES_AT_ONCE: Final = 20
"""Files of one step."""

REST_SECONDS: Final = 5.0
"""After each step the job rests for as long as the step took, up to so long: the disk is left to others."""

LEFT_IN: Final = "metadata_left_in"
"""The instance's value that says that files were stored with their metadata since the last job."""

log: Final = structlog.get_logger("chat.media")


@define(kw_only=True, eq=False)
class MetadataRemoval:
    _core: Core
    _media: MediaLibrary
    _orders: Jobs

    def __attrs_post_init__(self) -> None:
        self._orders.handle(JobType.METADATA_REMOVAL, self.run)

    async def begin(self) -> None:
        """At the start of the server: note that metadata is left in, or order its removal where it was until now."""
        is_noted = instance.value_of(self._core.database.reader, LEFT_IN) is not None
        if is_noted is self._leaves_in:
            return

        def unit(connection: sqlite3.Connection) -> None:
            if self._leaves_in:
                instance.set_value(connection, LEFT_IN, "1")
            else:
                instance.remove_value(connection, LEFT_IN)
                self._orders.order_in(connection, JobType.METADATA_REMOVAL, {})

        try:
            await self._core.database.write(unit, lambda _: self._orders.ordered(), guard=UNGUARDED)
        except StorageUnavailable:
            log.warning("whether metadata is left in could not be noted")

    @property
    def _leaves_in(self) -> bool:
        return self._core.settings.media.metadata == "keep"

    async def run(self, run: JobRun) -> None:
        """Do the job: all files once, attachments first."""
        if self._leaves_in:  # `begin` has noted it, and orders another one when it is to be done
            return
        if run.job.progress_total is None:
            total = await self._core.database.read(stored_files.count)
            await run.step(lambda _: Progress(total=total))
        for kind in KINDS[KINDS.index(run.job.state.get("kind", ATTACHMENTS)) :]:
            while await self._some(run, kind):
                await trio.lowlevel.checkpoint()

    async def _some(self, run: JobRun, kind: str) -> bool:
        """Do one step; whether there may be more files of this kind."""
        began, state = trio.current_time(), run.job.state
        after = state["after"] if state.get("kind") == kind else 0
        query = partial(stored_files.rows_after, kind=kind, row_id=after, limit=FILES_AT_ONCE)
        rows = await self._core.database.read(query)
        if not rows:
            return False
        changed = [new for row in rows if (new := await self._without_metadata(row)) is not None]

        def unit(connection: sqlite3.Connection) -> Progress:
            for new in changed:
                stored_files.put(connection, new)
            done = run.job.progress_current + len(rows)  # an image with a new key has its turn once more
            total = max(run.job.progress_total or 0, done)
            return Progress(state={"kind": kind, "after": rows[-1].row_id}, current=done, total=total)

        await run.step(unit)
        await trio.sleep(min(REST_SECONDS, trio.current_time() - began))
        return True

    async def _without_metadata(self, row: FileRow) -> NewContent | None:
        """The file without metadata; None if nothing changes, the file is gone, or it is blocked and nobody is served
        it."""
        blocked = self._core.blocked
        if blocked.blocks_file(row.content_hash) or blocked.blocks_image(row.content_hash or ""):
            return None
        file_id = self._core.snowflakes()
        made = await self._media.storage.copy_without_metadata(row.key, f"{row.kind}/{file_id}", row.content_type)
        if made is None:
            return None
        width, height = row.width, row.height
        if made.size is not None and width is not None:  # a picture without a size is none that can be drawn
            width, height = made.size
        new = NewContent(row, width=width, height=height)
        if made.content_hash:
            new = attrs.evolve(new, file_id=file_id, size=made.bytes, content_hash=made.content_hash)
        return new if made.content_hash or (width, height) != (row.width, row.height) else None
