"""Background work: its ledger (administration.md, Jobs), and one change for many accounts or guilds as a durable job
(administration.md, Bulk jobs).

Each item of a bulk job goes the way of the single operation, with its rules, its events and its entry in the audit log,
in the unit that writes down that the item is done: so a server that ends under the job has done every item once or not
at all. The job's result says how many items were done, which were skipped because there was nothing to do, and which
were refused, each with the code that the single operation would have answered.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.classes import define, frozen
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.administration.account_closing import AdministeredDeletions, DeletionWish
from chat.domain.administration.account_fields import AdministeredAccounts
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog, in_the_name_of
from chat.domain.administration.administration_objects import optional_id
from chat.domain.administration.guild_contents import AdministeredGuildMembers
from chat.domain.administration.guilds import AdministeredGuilds, GuildWishes, require_guild
from chat.domain.standing.audit_log import INSTANCE
from chat.errors import ApiError, StorageUnavailable
from chat.jobs import JobRun, Jobs, Progress
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import JOB_KINDS, JobStatus, JobType
from chat.registries.reports import DeletionReason
from chat.store.administration import jobs
from chat.store.administration.jobs import Job
from chat.store.database import Database

SHOWN_ENTRIES: Final = 20
"""Entries of a list in a payload that the ledger shows; a shred may name a thousand."""


@define(kw_only=True, eq=False)
class JobLedger:
    _database: Database
    _orders: Jobs

    async def page(
        self, *, status: JobStatus | None, task_type: JobType | None, before: int | None, limit: int
    ) -> list[wire.Job]:
        """Jobs, the newest first."""
        found = await self._database.read(
            lambda connection: jobs.newest(connection, status=status, task_type=task_type, before=before, limit=limit)
        )
        return [job_object(job) for job in found]

    def get(self, job_id: int) -> wire.Job:
        """One job. Raises NOT_FOUND."""
        job = jobs.by_id(self._database.reader, job_id)
        if job is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        return job_object(job)

    async def cancel(self, acting: Acting, job_id: int) -> wire.Job:
        """End a job: at once if it waits, before its next step if it runs. What it has done stays done. Raises
        NOT_FOUND; CONFLICT for one that is over or must not be cancelled."""

        def unit(connection: sqlite3.Connection) -> Job:
            return self._orders.cancel_in(connection, job_id)

        return job_object(await self._database.write(unit, self._orders.cancelled, guard=acting.guard))


def job_object(job: Job) -> wire.Job:
    """A job as the wire has it."""
    return {
        "job_id": str(job.id),
        "task_type": str(job.task_type),
        "status": str(job.status),
        "progress_current": job.progress_current,
        "progress_total": job.progress_total,
        "progress_message": job.progress_message,
        "error_message": job.error_message,
        "created_at": iso_timestamp(job.created_at),
        "started_at": optional_timestamp(job.started_at),
        "completed_at": optional_timestamp(job.completed_at),
        "requested_by_user_id": optional_id(job.requested_by_user_id),
        "audit_log_reason": job.audit_log_reason,
        "attempts": job.attempts,
        "max_attempts": JOB_KINDS[job.task_type].max_attempts,
        "run_at": iso_timestamp(job.run_at),
        "cancel_requested": job.cancel_requested,
        "context_link": _context_link(job),
        "payload": {name: _shown(value) for name, value in job.payload.items()},
        "result": None if job.result is None else dict(job.result),
    }


def _context_link(job: Job) -> str | None:
    """The page of the console about the account or guild that the job is about."""
    if job.subject_id is not None:
        return f"/admin/users/{job.subject_id}"
    guild_id = job.payload.get("guild_id")
    return None if guild_id is None else f"/admin/guilds/{guild_id}"


def _shown(value: Any) -> Any:
    """A value of a payload in JSON that every client can read: ids as text, long lists cut short."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return [_shown(entry) for entry in value[:SHOWN_ENTRIES]]
    return value


ALREADY: Final = "ALREADY_DONE"
"""Why an item was skipped that is as it was asked for; the others carry the code of the refusal."""

Mark = Callable[[sqlite3.Connection], None]
"""In the unit that does an item: record that it is done."""

Act = Callable[[Acting, int, Mark], Awaitable[object]]
"""Does one item; False where there was nothing to do, and `Mark` was not called."""


@define(kw_only=True, eq=False)
class BulkJobs:
    """Orders changes of many accounts and guilds, and makes them. Each order returns the job as the ledger has it."""

    _database: Database
    _orders: Jobs
    _log: AdminAuditLog
    _accounts: AdministeredAccounts
    _deletions: AdministeredDeletions
    _guilds: AdministeredGuilds
    _members: AdministeredGuildMembers

    def __attrs_post_init__(self) -> None:
        self._orders.handle(JobType.UPDATE_USER_FLAGS, self._update_user_flags)
        self._orders.handle(JobType.UPDATE_GUILD_FEATURES, self._update_guild_features)
        self._orders.handle(JobType.ADD_GUILD_MEMBERS, self._add_guild_members)
        self._orders.handle(JobType.SCHEDULE_USER_DELETIONS, self._schedule_user_deletions)

    # Ordering

    async def order_user_flags(
        self, acting: Acting, user_ids: Sequence[int], add: Sequence[int], remove: Sequence[int]
    ) -> wire.Job:
        """Order one change of flags for these accounts."""
        flags = {"add_flags": list(add), "remove_flags": list(remove)}
        metadata = {"user_count": len(set(user_ids)), **flags}
        return await self._order(
            acting, JobType.UPDATE_USER_FLAGS, AdminAction.BULK_UPDATE_USER_FLAGS, user_ids, flags, metadata
        )

    async def order_guild_features(
        self, acting: Acting, guild_ids: Sequence[int], add: Sequence[str], remove: Sequence[str]
    ) -> wire.Job:
        """Order one change of features for these guilds."""
        features = {"add_features": sorted(set(add)), "remove_features": sorted(set(remove))}
        metadata = {"guild_count": len(set(guild_ids)), **features}
        return await self._order(
            acting, JobType.UPDATE_GUILD_FEATURES, AdminAction.BULK_UPDATE_GUILD_FEATURES, guild_ids, features, metadata
        )

    async def order_guild_members(self, acting: Acting, guild_id: int, user_ids: Sequence[int]) -> wire.Job:
        """Order these accounts into a guild. Raises UNKNOWN_GUILD."""

        return await self._order(
            acting,
            JobType.ADD_GUILD_MEMBERS,
            AdminAction.BULK_ADD_GUILD_MEMBERS,
            user_ids,
            {"guild_id": guild_id},
            {"user_count": len(set(user_ids))},
            target_id=guild_id,
            first=lambda connection: require_guild(connection, guild_id),
        )

    async def order_user_deletions(self, acting: Acting, user_ids: Sequence[int], wish: DeletionWish) -> wire.Job:
        """Order that the erasure of these accounts is scheduled. What is pending already is not replaced."""
        asked = {
            "reason_code": int(wish.reason),
            "public_reason": wish.public_reason,
            "days": wish.days,
            "notify_user": wish.notify,
        }
        metadata = {**asked, "user_count": len(set(user_ids)), "days": wish.effective_days}
        return await self._order(
            acting, JobType.SCHEDULE_USER_DELETIONS, AdminAction.BULK_SCHEDULE_DELETION, user_ids, asked, metadata
        )

    async def _order(
        self,
        acting: Acting,
        task_type: JobType,
        action: AdminAction,
        ids: Sequence[int],
        asked: Mapping[str, Any],
        metadata: Mapping[str, Any],
        *,
        target_id: int = NO_TARGET,
        first: Callable[[sqlite3.Connection], None] | None = None,
    ) -> wire.Job:
        each_once = list(dict.fromkeys(ids))

        def unit(connection: sqlite3.Connection) -> Job:
            if first is not None:
                first(connection)
            job = self._orders.order_in(
                connection,
                task_type,
                {"ids": each_once, **asked},
                requested_by=acting.user_id,
                reason=acting.reason,
                total=len(each_once),
            )
            self._log.record(connection, acting, action, target_id, {"job_id": job.id, **metadata})
            return job

        return job_object(await self._database.write(unit, lambda _: self._orders.ordered(), guard=acting.guard))

    # Doing

    async def _update_user_flags(self, run: JobRun) -> None:
        add, remove = run.job.payload["add_flags"], run.job.payload["remove_flags"]
        await self._each(
            run, lambda acting, user_id, mark: self._accounts.put_flags(acting, user_id, add, remove, mark)
        )

    async def _update_guild_features(self, run: JobRun) -> None:
        wishes = GuildWishes(
            changes_features=True,
            add_features=frozenset(run.job.payload["add_features"]),
            remove_features=frozenset(run.job.payload["remove_features"]),
        )
        await self._each(run, lambda acting, guild_id, mark: self._guilds.change(acting, guild_id, wishes, mark))

    async def _add_guild_members(self, run: JobRun) -> None:
        guild_id = run.job.payload["guild_id"]
        await self._each(run, lambda acting, user_id, mark: self._members.put(acting, guild_id, user_id, mark))

    async def _schedule_user_deletions(self, run: JobRun) -> None:
        asked = run.job.payload
        reason = DeletionReason(asked["reason_code"])
        wish = DeletionWish(
            reason=reason, days=asked["days"], public_reason=asked["public_reason"], notify=asked["notify_user"]
        )
        await self._each(run, lambda acting, user_id, mark: self._deletions.put(acting, user_id, wish, mark))

    async def _each(self, run: JobRun, act: Act) -> None:
        """Do what is left of the items, one after the other."""
        # Whether the administrator may was asked with the order, and is asked again with every item
        # (`chat.registries.jobs`).
        acting = in_the_name_of(run.job.requested_by_user_id or INSTANCE, run.job.audit_log_reason)
        ids: list[int] = run.job.payload["ids"]
        while (position := run.job.state.get("position", 0)) < len(ids):
            item_id = ids[position]
            outcome = _JobOutcome.of(run.job)

            def mark(connection: sqlite3.Connection, outcome: _JobOutcome = outcome, position: int = position) -> None:
                run.advance_in(connection, outcome.one_more().progress(position + 1))

            try:
                was_done = await act(acting, item_id, mark) is not False
            except StorageUnavailable:  # no refusal of this item: the job waits, and goes on with it
                raise
            except ApiError as refusal:
                kind = "skipped" if refusal.code == ErrorCode.CONFLICT else "failed"
                await self._listed(run, outcome.listing(kind, item_id, refusal.code), position)
                continue
            if was_done:
                run.caught_up()
            else:
                await self._listed(run, outcome.listing("skipped", item_id, ALREADY), position)

    async def _listed(self, run: JobRun, outcome: _JobOutcome, position: int) -> None:
        await run.step(lambda _: outcome.progress(position + 1))


@frozen
class _JobOutcome:
    """The results of the items so far, in the form of the job's result."""

    done: int
    skipped: Sequence[Mapping[str, str]]
    failed: Sequence[Mapping[str, str]]

    @classmethod
    def of(cls, job: Job) -> _JobOutcome:
        """The results of the items that the job has done."""
        result = job.result or {"done": 0, "skipped": [], "failed": []}
        return cls(result["done"], result["skipped"], result["failed"])

    def one_more(self) -> _JobOutcome:
        """The results with one more item done."""
        return attrs.evolve(self, done=self.done + 1)

    def listing(self, kind: str, item_id: int, code: str) -> _JobOutcome:
        """The results with one more item that was `skipped`, because nothing had to be done, or `failed`, because it
        was refused."""
        # `dict[str, Any]`: `kind` says which of the fields with lists it is.
        listed: dict[str, Any] = {kind: [*getattr(self, kind), {"id": str(item_id), "code": code}]}
        return attrs.evolve(self, **listed)

    def progress(self, position: int) -> Progress:
        """The progress that the job's row shows."""
        return Progress(state={"position": position}, current=position, result=attrs.asdict(self, recurse=False))
