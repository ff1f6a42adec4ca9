"""Durable background work: the rows of `jobs`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.jobs import JobStatus, JobType


@frozen(kw_only=True)
class Job:
    """One row of `jobs`; times are Unix milliseconds."""

    id: int
    task_type: JobType
    status: JobStatus = JobStatus.PENDING
    subject_id: int | None = None
    requested_by_user_id: int | None = None
    audit_log_reason: str | None = None
    payload: Mapping[str, Any]
    state: Mapping[str, Any] = attrs.field(factory=dict)
    progress_current: int = 0
    progress_total: int | None = None
    progress_message: str | None = None
    result: Mapping[str, Any] | None = None
    error_message: str | None = None
    attempts: int = 0
    cancel_requested: bool = False
    run_at: int
    created_at: int
    started_at: int | None = None
    changed_at: int
    completed_at: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens to it."""
        return self.completed_at is not None


_NAMES: Final = tuple(field.name for field in attrs.fields(Job))
_COLUMNS: Final = ", ".join(_NAMES)
_JSON: Final = frozenset({"payload", "state", "result"})
_INSERT: Final = f"INSERT INTO jobs ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608 - our own names
_SELECT: Final = f"SELECT {_COLUMNS} FROM jobs"  # noqa: S608
_UPDATE: Final = f"UPDATE jobs SET {', '.join(f'{name} = ?' for name in _NAMES)} WHERE id = ?"  # noqa: S608


def insert(connection: sqlite3.Connection, job: Job) -> None:
    """Add a job."""
    connection.execute(_INSERT, _values(job))


def put(connection: sqlite3.Connection, job: Job) -> None:
    """Replace a job by what became of it."""
    connection.execute(_UPDATE, (*_values(job), job.id))


def by_id(connection: sqlite3.Connection, job_id: int) -> Job | None:
    """The job with this id."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (job_id,)).fetchone()
    return None if row is None else _job(row)


def next_due(connection: sqlite3.Connection, now_ms: int) -> Job | None:
    """The job whose turn it is: of those that are due the one that waits longest."""
    row = connection.execute(
        f"{_SELECT} WHERE status = 'pending' AND run_at <= ? ORDER BY run_at, id LIMIT 1", (now_ms,)
    ).fetchone()
    return None if row is None else _job(row)


def next_run_at(connection: sqlite3.Connection) -> int | None:
    """When the next job is due."""
    row = connection.execute("SELECT min(run_at) FROM jobs WHERE status = 'pending'").fetchone()
    return None if row is None else row[0]


def left_behind(connection: sqlite3.Connection, except_ids: Collection[int]) -> bool:
    """Whether other jobs than these are marked as running: an earlier process left them."""
    rows = connection.execute("SELECT id FROM jobs WHERE status = 'running'")
    return any(job_id not in except_ids for (job_id,) in rows)


def any_over(connection: sqlite3.Connection, before_ms: int) -> bool:
    """Whether there are jobs that were over before this moment."""
    return connection.execute("SELECT 1 FROM jobs WHERE completed_at < ? LIMIT 1", (before_ms,)).fetchone() is not None


def take_up_again(connection: sqlite3.Connection, except_ids: Collection[int] = ()) -> int:
    """Other jobs than these that are marked as running wait again; the number of them."""
    return connection.execute(
        "UPDATE jobs SET status = 'pending' WHERE status = 'running' AND id NOT IN (SELECT value FROM json_each(?))",
        (json.dumps(list(except_ids)),),
    ).rowcount


def newest(
    connection: sqlite3.Connection,
    *,
    status: JobStatus | None = None,
    task_type: JobType | None = None,
    before: int | None = None,
    limit: int,
) -> list[Job]:
    """Up to `limit` jobs below the id `before`, the newest first."""
    rows = connection.execute(
        f"""{_SELECT}
         WHERE (:status IS NULL OR status = :status)
           AND (:task_type IS NULL OR task_type = :task_type)
           AND (:before IS NULL OR id < :before)
         ORDER BY id DESC
         LIMIT :limit""",
        {"status": status, "task_type": task_type, "before": before, "limit": limit},
    )
    return [_job(row) for row in rows]


def unfinished_about(connection: sqlite3.Connection, subject_id: int, task_type: JobType) -> Job | None:
    """A job of this type about the account that is not over."""
    row = connection.execute(
        f"{_SELECT} WHERE subject_id = ? AND task_type = ? AND completed_at IS NULL ORDER BY id LIMIT 1",
        (subject_id, task_type),
    ).fetchone()
    return None if row is None else _job(row)


def any_waits(connection: sqlite3.Connection, task_type: JobType) -> bool:
    """Whether a job of this type waits."""
    row = connection.execute(
        "SELECT 1 FROM jobs WHERE status = 'pending' AND task_type = ? LIMIT 1", (task_type,)
    ).fetchone()
    return row is not None


def delete_over(connection: sqlite3.Connection, before_ms: int, limit: int) -> int:
    """Delete up to `limit` jobs that ended before this moment; returns how many."""
    return connection.execute(
        "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE completed_at < ? ORDER BY completed_at LIMIT ?)",
        (before_ms, limit),
    ).rowcount


def _values(job: Job) -> tuple[Any, ...]:
    return tuple(
        json.dumps(value) if name in _JSON and value is not None else value
        for name, value in zip(_NAMES, (getattr(job, name) for name in _NAMES), strict=True)
    )


def _job(row: tuple[Any, ...]) -> Job:
    values = dict(zip(_NAMES, row, strict=True))
    for name in _JSON:
        values[name] = None if values[name] is None else json.loads(values[name])
    values["task_type"] = JobType(values["task_type"])
    values["status"] = JobStatus(values["status"])
    values["cancel_requested"] = bool(values["cancel_requested"])
    return Job(**values)
