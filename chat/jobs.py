"""Runs durable jobs: each a row of the store that says how far it has come (architecture.md, Durable jobs).

A job is done in steps. A step is one unit of writing that does a bounded part of the work and writes down, in the same
transaction, where to go on: so a server that ends at any moment, by `kill -9` too, has done every step once or not at
all, and the next one goes on from there. Work outside of the store (files) belongs between two steps and has to bear
being done twice.

What becomes of a job, and what may follow on what, stands in `chat.registries.jobs`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import attrs
import structlog
import trio

from chat.classes import define, frozen
from chat.clock import Clock
from chat.errors import ApiError, StorageUnavailable
from chat.registries.acls import Acl
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import JOB_KINDS, JobStatus, JobType
from chat.snowflake import SnowflakeGenerator
from chat.store.accounts import accounts
from chat.store.administration import jobs
from chat.store.administration.jobs import Job
from chat.store.database import Database
from chat.store.guard import UNGUARDED

T = TypeVar("T")

log: Final = structlog.get_logger("chat.jobs")

AT_ONCE: Final = 2
"""Jobs that run side by side; further ones wait their turn."""

LONGEST_WAIT_SECONDS: Final = 300.0
"""How long the runner sleeps at most; commands beside the server wake it by the notes that they leave."""

STORE_PAUSE_SECONDS: Final = 5.0

FIRST_PAUSE_MS: Final = 30_000
LONGEST_PAUSE_MS: Final = 6 * 3_600_000
"""Before a job that failed is tried again: doubled each time."""

KEPT_MS: Final = 30 * 24 * 3_600_000
"""How long the ledger shows jobs that are over."""

FORGOTTEN_AT_ONCE: Final = 500

ERROR_CHARACTERS: Final = 500

MILLISECONDS: Final = 1_000


@frozen(kw_only=True)
class Progress:
    """How far a step brought its job. What is None stays as it was."""

    state: Mapping[str, Any] | None = None
    current: int | None = None
    total: int | None = None
    message: str | None = None
    result: Mapping[str, Any] | None = None


class JobFailed(Exception):
    """Raised by a handler: the job cannot be done, and trying again would not help. The text goes into the ledger."""


class _JobCancelled(Exception):
    """The job was cancelled, or removed."""


@define(eq=False)
class JobRun:
    """One run of a job, as its handler sees it."""

    _database: Database
    _clock: Clock
    job: Job

    async def step(
        self, unit: Callable[[sqlite3.Connection], Progress], then: Callable[[], None] | None = None
    ) -> None:
        """Do one part of the work: `unit` and the word of its progress are one transaction.

        Nothing is done once the job is cancelled; then, as in everything that the handler does
        not catch, the run ends here.
        """

        def whole(connection: sqlite3.Connection) -> Job:
            current = self._going_on(connection)
            return self._advanced(connection, current, unit(connection))

        def after(job: Job) -> None:
            self.job = job
            if then is not None:
                then()

        await self._database.write(whole, after, guard=UNGUARDED)

    def advance_in(self, connection: sqlite3.Connection, progress: Progress) -> None:
        """In a caller's unit of writing: what else it does and the word of its progress are one
        transaction, a step of this job; `caught_up` is to follow its commit.

        As in `step`, the unit ends here, undone, once the job is cancelled.
        """
        self._advanced(connection, self._going_on(connection), progress)

    def caught_up(self) -> None:
        """After the commit of `advance_in`: `job` is what is stored."""
        job = jobs.by_id(self._database.reader, self.job.id)
        if job is not None:
            self.job = job

    def _going_on(self, connection: sqlite3.Connection) -> Job:
        current = jobs.by_id(connection, self.job.id)
        if current is None or current.status is not JobStatus.RUNNING or current.cancel_requested:
            raise _JobCancelled
        _require_held(connection, current)
        return current

    def _advanced(self, connection: sqlite3.Connection, current: Job, progress: Progress) -> Job:
        changed = attrs.evolve(
            current,
            state=current.state if progress.state is None else progress.state,
            progress_current=current.progress_current if progress.current is None else progress.current,
            progress_total=current.progress_total if progress.total is None else progress.total,
            progress_message=current.progress_message if progress.message is None else progress.message,
            result=current.result if progress.result is None else progress.result,
            changed_at=self._clock.now_ms(),
        )
        jobs.put(connection, changed)
        return changed


Handler = Callable[[JobRun], Awaitable[None]]


@frozen
class Ending:
    """What is to be done when a job is over, whichever way: for those who keep more about it than its row."""

    note: Callable[[sqlite3.Connection, Job], None]
    """In the unit that ends the job, with what became of it."""
    then: Callable[[], None]
    """After the commit, on the loop's thread."""


@define(eq=False)
class Jobs:
    _database: Database
    _clock: Clock
    _snowflakes: SnowflakeGenerator
    _handlers: dict[JobType, Handler] = attrs.field(factory=dict, init=False)
    _endings: dict[JobType, Ending] = attrs.field(factory=dict, init=False)
    _running: set[int] = attrs.field(factory=set, init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)

    def handle(self, task_type: JobType, handler: Handler, ending: Ending | None = None) -> None:
        """Who does jobs of this type; said once, when the server is put together."""
        self._handlers[task_type] = handler
        if ending is not None:
            self._endings[task_type] = ending

    @property
    def handled(self) -> frozenset[JobType]:
        """The types with a handler."""
        return frozenset(self._handlers)

    def order_in(
        self,
        connection: sqlite3.Connection,
        task_type: JobType,
        payload: Mapping[str, Any],
        *,
        subject_id: int | None = None,
        requested_by: int | None = None,
        reason: str | None = None,
        run_at: int | None = None,
        total: int | None = None,
        message: str | None = None,
    ) -> Job:
        """In a unit of writing: order a job, at once or for `run_at` (Unix ms); `ordered` is to follow its commit."""
        now = self._clock.now_ms()
        job = Job(
            id=self._snowflakes(),
            task_type=task_type,
            subject_id=subject_id,
            requested_by_user_id=requested_by,
            audit_log_reason=reason,
            payload=payload,
            progress_total=total,
            progress_message=message,
            run_at=now if run_at is None else run_at,
            created_at=now,
            changed_at=now,
        )
        jobs.insert(connection, job)
        return job

    def ordered(self) -> None:
        """After the commit: look for something to do."""
        self._wake.set()

    def cancel_in(self, connection: sqlite3.Connection, job_id: int) -> Job:
        """In a unit of writing: a job that waits is over, one that runs ends before its next step; `cancelled` is to
        follow its commit. Raises NOT_FOUND; CONFLICT for one that is over, and for one that must not be cancelled."""
        job = jobs.by_id(connection, job_id)
        if job is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        if job.is_over or not JOB_KINDS[job.task_type].can_be_cancelled:
            raise ApiError(ErrorCode.CONFLICT)
        now = self._clock.now_ms()
        if job.status is JobStatus.PENDING:
            changed = attrs.evolve(
                job, status=JobStatus.CANCELLED, cancel_requested=True, changed_at=now, completed_at=now
            )
        else:
            changed = attrs.evolve(job, cancel_requested=True, changed_at=now)
        jobs.put(connection, changed)
        self._note_end(connection, changed)
        return changed

    def cancelled(self, job: Job) -> None:
        """After the commit of `cancel_in`."""
        self._after_end(job)

    def _note_end(self, connection: sqlite3.Connection, job: Job) -> None:
        ending = self._endings.get(job.task_type)
        if ending is not None and job.is_over:
            ending.note(connection, job)

    def _after_end(self, job: Job | None) -> None:
        ending = None if job is None else self._endings.get(job.task_type)
        if job is not None and ending is not None and job.is_over:
            ending.then()

    async def run(self) -> None:
        """Do jobs for ever; those that a server left unfinished first."""
        async with trio.open_nursery() as nursery:
            while True:
                self._wake = trio.Event()
                try:
                    await self._tidy()
                    while (job := await self._take_next()) is not None:
                        nursery.start_soon(self._do, job)
                    pause = self._seconds_to_next()
                except StorageUnavailable:
                    log.warning("jobs wait for the store")
                    pause = STORE_PAUSE_SECONDS
                with trio.move_on_after(pause):
                    await self._wake.wait()

    async def _tidy(self) -> None:
        """Only this task runs jobs: what runs in the store and not here was left behind."""
        running = set(self._running)
        before = self._clock.now_ms() - KEPT_MS

        def unit(connection: sqlite3.Connection) -> None:
            jobs.take_up_again(connection, running)
            jobs.delete_over(connection, before, FORGOTTEN_AT_ONCE)

        reader = self._database.reader
        if jobs.left_behind(reader, running) or jobs.any_over(reader, before):
            await self._database.write(unit, guard=UNGUARDED)

    async def _take_next(self) -> Job | None:
        """The next job, which runs from now on; None where none is due, or where there is no place for one."""
        if len(self._running) >= AT_ONCE or jobs.next_due(self._database.reader, self._clock.now_ms()) is None:
            return None

        def unit(connection: sqlite3.Connection) -> Job | None:
            now = self._clock.now_ms()
            due = jobs.next_due(connection, now)
            if due is None:
                return None
            job = attrs.evolve(due, status=JobStatus.RUNNING, started_at=due.started_at or now, changed_at=now)
            jobs.put(connection, job)
            return job

        def then(job: Job | None) -> None:
            if job is not None:
                self._running.add(job.id)

        return await self._database.write(unit, then, guard=UNGUARDED)

    def _seconds_to_next(self) -> float:
        if len(self._running) >= AT_ONCE:
            return LONGEST_WAIT_SECONDS  # a job that ends wakes this task
        due = jobs.next_run_at(self._database.reader)
        if due is None:
            return LONGEST_WAIT_SECONDS
        return min(LONGEST_WAIT_SECONDS, max(0.0, (due - self._clock.now_ms()) / MILLISECONDS))

    async def _do(self, job: Job) -> None:
        run = JobRun(self._database, self._clock, job)
        try:
            await self._finish(job, await self._outcome(run))
        finally:
            self._running.discard(job.id)
            self._wake.set()

    async def _outcome(self, run: JobRun) -> Callable[[Job, int], Job]:
        """Run the handler; what becomes of the row."""
        fields = {"job_id": run.job.id, "task_type": run.job.task_type}
        try:
            await self._handlers[run.job.task_type](run)
        except _JobCancelled:
            log.info("job cancelled", **fields)
            return _cancelled
        except StorageUnavailable:
            log.warning("a job waits for the store", **fields)
            return _waiting
        except JobFailed as error:
            log.warning("job failed", **fields, error=str(error))
            return _failed(str(error))
        except Exception as error:  # a fault of ours ends this job, and nothing else
            log.exception("job failed", **fields)
            return _tried(type(error).__name__)
        log.info("job completed", **fields)
        return _completed

    async def _finish(self, job: Job, outcome: Callable[[Job, int], Job]) -> None:
        def unit(connection: sqlite3.Connection) -> Job | None:
            current = jobs.by_id(connection, job.id)
            if current is None or current.status is not JobStatus.RUNNING:
                return None
            changed = outcome(current, self._clock.now_ms())
            jobs.put(connection, changed)
            self._note_end(connection, changed)
            return changed

        while True:
            try:
                await self._database.write(unit, self._after_end, guard=UNGUARDED)
            except StorageUnavailable:
                await trio.sleep(STORE_PAUSE_SECONDS)
            else:
                return


def _require_held(connection: sqlite3.Connection, job: Job) -> None:
    """Raise JobFailed unless the account that ordered the job may still do so; the command line, without one, may."""
    acl, orderer_id = JOB_KINDS[job.task_type].held_by_orderer, job.requested_by_user_id
    if acl is None or orderer_id is None:
        return
    orderer = accounts.by_id(connection, orderer_id)
    if orderer is not None and {acl, Acl.EVERYTHING}.isdisjoint(orderer.acls):
        raise JobFailed("Whoever ordered this may not do so any more.")


def _completed(job: Job, now: int) -> Job:
    return attrs.evolve(job, status=JobStatus.COMPLETED, error_message=None, changed_at=now, completed_at=now)


def _cancelled(job: Job, now: int) -> Job:
    return attrs.evolve(job, status=JobStatus.CANCELLED, changed_at=now, completed_at=now)


def _waiting(job: Job, now: int) -> Job:
    return attrs.evolve(
        job, status=JobStatus.PENDING, run_at=now + round(STORE_PAUSE_SECONDS * MILLISECONDS), changed_at=now
    )


def _failed(reason: str) -> Callable[[Job, int], Job]:
    def outcome(job: Job, now: int) -> Job:
        return attrs.evolve(
            job,
            status=JobStatus.FAILED,
            attempts=job.attempts + 1,
            error_message=reason[:ERROR_CHARACTERS],
            changed_at=now,
            completed_at=now,
        )

    return outcome


def _tried(reason: str) -> Callable[[Job, int], Job]:
    """A failure that may pass: the job waits for another attempt, if it has one left."""

    def outcome(job: Job, now: int) -> Job:
        failed = _failed(reason)(job, now)
        if failed.attempts >= JOB_KINDS[job.task_type].max_attempts:
            return failed
        pause = min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failed.attempts - 1))
        return attrs.evolve(failed, status=JobStatus.PENDING, run_at=now + pause, completed_at=None)

    return outcome
