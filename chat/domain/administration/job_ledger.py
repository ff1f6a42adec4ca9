"""The ledger of background work, for administrators (administration.md, Jobs)."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import attrs

from chat.clock import iso_timestamp
from chat.domain.administration.admin_audit_log import Acting
from chat.errors import ApiError
from chat.jobs.runner import Jobs
from chat.registries.jobs import JOB_KINDS, JobStatus, JobType
from chat.store.administration import jobs
from chat.store.administration.jobs import Job
from chat.store.database import Database

SHOWN_ENTRIES: Final = 20
"""Entries of a list in a payload that the ledger shows; a shred may name a thousand."""


@attrs.define(kw_only=True, eq=False)
class JobLedger:
    """Reads and cancels jobs."""

    _database: Database
    _orders: Jobs

    async def page(
        self, *, status: JobStatus | None, task_type: JobType | None, before: int | None, limit: int
    ) -> list[dict[str, Any]]:
        """Jobs, the newest first."""
        found = await self._database.read(
            lambda connection: jobs.newest(connection, status=status, task_type=task_type, before=before, limit=limit)
        )
        return [job_object(job) for job in found]

    def get(self, job_id: int) -> dict[str, Any]:
        """One job.

        :raises ApiError: NOT_FOUND.
        """
        job = jobs.by_id(self._database.reader, job_id)
        if job is None:
            raise ApiError("NOT_FOUND")
        return job_object(job)

    async def cancel(self, acting: Acting, job_id: int) -> dict[str, Any]:
        """End a job: at once if it waits, before its next step if it runs. What it has done stays done.

        :raises ApiError: NOT_FOUND; CONFLICT for one that is over or must not be cancelled.
        """

        def unit(connection: sqlite3.Connection) -> Job:
            return self._orders.cancel_in(connection, job_id)

        return job_object(await self._database.write(unit, self._orders.cancelled))


def job_object(job: Job) -> dict[str, Any]:
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
        "started_at": _timestamp(job.started_at),
        "completed_at": _timestamp(job.completed_at),
        "requested_by_user_id": None if job.requested_by_user_id is None else str(job.requested_by_user_id),
        "audit_log_reason": job.audit_log_reason,
        "attempts": job.attempts,
        "max_attempts": JOB_KINDS[job.task_type].max_attempts,
        "run_at": iso_timestamp(job.run_at),
        "cancel_requested": job.cancel_requested,
        "context_link": _context_link(job),
        "payload": {name: _shown(value) for name, value in job.payload.items()},
        "result": job.result,
    }


def _context_link(job: Job) -> str | None:
    """The page of the console about the account or guild that the job is about."""
    if job.subject_id is not None:
        return f"/admin/users/{job.subject_id}"
    guild_id = job.payload.get("guild_id")
    return None if guild_id is None else f"/admin/guilds/{guild_id}"


def _timestamp(moment: int | None) -> str | None:
    return None if moment is None else iso_timestamp(moment)


def _shown(value: Any) -> Any:
    """A value of a payload in JSON that every client can read: ids as text, long lists cut short."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return [_shown(entry) for entry in value[:SHOWN_ENTRIES]]
    return value
