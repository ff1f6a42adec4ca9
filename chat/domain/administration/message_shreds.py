"""Shredding messages for administrators: listed ones, or all that an account wrote (administration.md, Messages and
shreds).

Both are jobs. A job for listed messages holds the list; a job for all of them holds the newest message that there was
when it was ordered, so that what is written later stays, and so that a million messages need no list.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from chat.clock import iso_timestamp
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.core import Core
from chat.domain.messages.message_deletion import Removed, announce_removed, remove_messages
from chat.domain.standing.channel_witness import ChannelWitness
from chat.jobs.runner import JobRun, Jobs, Progress
from chat.registries.admin_actions import AdminAction
from chat.registries.jobs import JobStatus, JobType
from chat.store.administration import jobs
from chat.store.administration.jobs import Job
from chat.store.messages import messages

BATCH_MESSAGES: Final = 100
"""Messages of one step, and of one event."""

COUNTED_AT_ONCE: Final = 200
"""Messages of one page of the count; the channels of each page are summed (administration.md, Messages and shreds)."""

STATUS_KEPT_MS: Final = 3_600_000
"""How long after its last word the state of a shred can be read (administration.md, Messages and shreds)."""

NOT_FOUND: Final[Mapping[str, Any]] = {"status": "not_found"}

WORDS: Final[Mapping[JobStatus, str]] = {
    JobStatus.PENDING: "in_progress",
    JobStatus.RUNNING: "in_progress",
    JobStatus.COMPLETED: "completed",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "failed",
}
"""How a shred calls the states of a job."""


@attrs.frozen
class Entry:
    """One message that is to go, as it was named."""

    channel_id: int
    message_id: int


@attrs.frozen
class Count:
    """What an account wrote. `channels` is summed by pages and so an upper bound; `last_id` is the newest."""

    channels: int
    messages: int
    last_id: int


class MessageShreds:
    """Orders shreds, does them, and tells how far they are."""

    def __init__(self, core: Core, witness: ChannelWitness, orders: Jobs, log: AdminAuditLog) -> None:
        self._core = core
        self._witness = witness
        self._orders = orders
        self._log = log
        orders.handle(JobType.MESSAGE_SHRED, self.run)

    async def order(self, acting: Acting, user_id: int, entries: Sequence[Entry]) -> dict[str, Any]:
        """Order the deletion of these messages, as far as the account wrote them; nothing is looked at yet."""
        payload = {"user_id": user_id, "entries": [[entry.channel_id, entry.message_id] for entry in entries]}

        def unit(connection: sqlite3.Connection) -> Job:
            return self._order(connection, acting, user_id, payload, len(entries))

        job = await self._core.database.write(unit, lambda _: self._orders.ordered())
        return {"success": True, "job_id": str(job.id), "requested": len(entries)}

    async def delete_all(self, acting: Acting, user_id: int, *, dry_run: bool) -> dict[str, Any]:
        """Count what the account wrote and, unless `dry_run`, order the deletion of it all."""
        count = await self._core.database.read(lambda connection: _count(connection, user_id))
        answer = {
            "success": True,
            "dry_run": dry_run,
            "channel_count": count.channels,
            "message_count": count.messages,
        }
        action = AdminAction.DELETE_ALL_USER_MESSAGES_DRY_RUN if dry_run else AdminAction.DELETE_ALL_USER_MESSAGES
        metadata = {
            "user_id": user_id,
            "channel_count": count.channels,
            "message_count": count.messages,
            "dry_run": dry_run,
        }

        def unit(connection: sqlite3.Connection) -> Job | None:
            self._log.record(connection, acting, action, user_id, metadata)
            if dry_run or not count.messages:
                return None
            payload = {"user_id": user_id, "last_id": count.last_id}
            return self._order(connection, acting, user_id, payload, count.messages)

        job = await self._core.database.write(unit, lambda _: self._orders.ordered())
        return answer if job is None else {**answer, "job_id": str(job.id)}

    def _order(
        self,
        connection: sqlite3.Connection,
        acting: Acting,
        user_id: int,
        payload: Mapping[str, Any],
        requested: int,
    ) -> Job:
        job = self._orders.order_in(
            connection,
            JobType.MESSAGE_SHRED,
            payload,
            subject_id=user_id,
            requested_by=acting.user_id,
            reason=acting.reason,
            total=requested,
        )
        metadata = {"user_id": user_id, "job_id": job.id, "requested_entries": requested}
        self._log.record(connection, acting, AdminAction.QUEUE_MESSAGE_SHRED, user_id, metadata)
        return job

    def status(self, job_id: int) -> Mapping[str, Any]:
        """How far a shred is; `not_found` for one that there is not, or that ended long ago."""
        job = jobs.by_id(self._core.database.reader, job_id)
        if job is None or job.task_type is not JobType.MESSAGE_SHRED:
            return NOT_FOUND
        if job.changed_at + STATUS_KEPT_MS <= self._core.clock.now_ms():
            return NOT_FOUND
        word = WORDS[job.status]
        shown: dict[str, Any] = {
            "status": word,
            "requested": job.progress_total or 0,
            "total": job.progress_total or 0,
            "processed": job.progress_current,
            "skipped": job.state.get("skipped", 0),
            "started_at": iso_timestamp(job.started_at or job.created_at),
        }
        if job.completed_at is not None:
            shown[f"{word}_at"] = iso_timestamp(job.completed_at)
        if word == "failed":
            shown["error"] = job.error_message or job.status.value
        return shown

    async def run(self, run: JobRun) -> None:
        """Do one shred."""
        entries = run.job.payload.get("entries")
        if entries is None:
            await self._shred_all(run)
        else:
            await self._shred_listed(run, _by_channel(entries))

    async def _shred_all(self, run: JobRun) -> None:
        user_id, last_id = run.job.payload["user_id"], run.job.payload["last_id"]
        left = True

        def unit(connection: sqlite3.Connection) -> tuple[Progress, Removed | None]:
            batch = messages.next_of_author(connection, user_id, last_id, BATCH_MESSAGES)
            if batch is None:
                # What its author, or somebody else, deleted meanwhile was counted and is not there.
                total = run.job.progress_total or 0
                return Progress(current=total, state={"skipped": total - run.job.progress_current}), None
            removed = remove_messages(connection, *batch)
            return Progress(current=run.job.progress_current + len(removed.message_ids)), removed

        while left:
            left = await self._step(run, unit)

    async def _shred_listed(self, run: JobRun, batches: Sequence[tuple[int, Sequence[int], int]]) -> None:
        user_id = run.job.payload["user_id"]
        while (position := run.job.state.get("position", 0)) < len(batches):
            channel_id, message_ids, named = batches[position]

            def unit(
                connection: sqlite3.Connection,
                position: int = position,
                channel_id: int = channel_id,
                message_ids: Sequence[int] = message_ids,
                named: int = named,
            ) -> tuple[Progress, Removed | None]:
                written = [
                    message.id
                    for message in messages.by_ids(connection, message_ids)
                    if message.channel_id == channel_id and message.author_id == user_id and message.webhook_id is None
                ]
                removed = remove_messages(connection, channel_id, written)
                skipped = run.job.state.get("skipped", 0) + named - len(removed.message_ids)
                state = {"position": position + 1, "skipped": skipped}
                return Progress(state=state, current=run.job.progress_current + named), removed

            await self._step(run, unit)

    async def _step(self, run: JobRun, unit: Callable[[sqlite3.Connection], tuple[Progress, Removed | None]]) -> bool:
        """One step of a shred; whether it was about any messages."""
        told: list[Removed | None] = []

        def whole(connection: sqlite3.Connection) -> Progress:
            told.clear()
            progress, removed = unit(connection)
            told.append(removed)
            return progress

        def then() -> None:
            (removed,) = told
            access = None if removed is None else self._witness.of(removed.channel_id)
            if removed is not None and access is not None:
                announce_removed(self._core.bus, access, removed)

        await run.step(whole, then)
        return told[0] is not None


def _count(connection: sqlite3.Connection, user_id: int) -> Count:
    channels, number, last_id = 0, 0, 0
    while page := messages.page_of_author(connection, user_id, last_id, COUNTED_AT_ONCE):
        channels += len({channel_id for _, channel_id in page})
        number += len(page)
        last_id = page[-1][0]
    return Count(channels, number, last_id)


def _by_channel(entries: Sequence[Sequence[int]]) -> list[tuple[int, Sequence[int], int]]:
    """The listed messages in batches of one channel each, with the number of entries that each batch stands for: an
    entry that was listed twice stands in one batch only, and counts in it twice."""
    found: dict[int, dict[int, int]] = {}
    for channel_id, message_id in entries:
        of_channel = found.setdefault(channel_id, {})
        of_channel[message_id] = of_channel.get(message_id, 0) + 1
    batches: list[tuple[int, Sequence[int], int]] = []
    for channel_id, counted in found.items():
        ids = list(counted)
        for start in range(0, len(ids), BATCH_MESSAGES):
            batch = ids[start : start + BATCH_MESSAGES]
            batches.append((channel_id, batch, sum(counted[message_id] for message_id in batch)))
    return batches
