"""The runner of durable jobs, on a real store and a virtual clock."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.clock import TrioClock
from chat.errors import ApiError
from chat.jobs import AT_ONCE, Handler, JobFailed, JobRun, Jobs, Progress
from chat.registries.jobs import JOB_KINDS, JobStatus, JobType
from chat.snowflake import SnowflakeGenerator
from chat.store.administration import jobs
from chat.store.administration.jobs import Job
from chat.store.database import Database, open_database
from chat.testing.server import fresh_database

START_MS = 1_800_000_000_000
STEPS = 5

JOB_TRANSITIONS = {
    JobStatus.PENDING: frozenset({JobStatus.RUNNING, JobStatus.CANCELLED}),
    JobStatus.RUNNING: frozenset({JobStatus.PENDING, JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED}),
    JobStatus.COMPLETED: frozenset(),
    JobStatus.FAILED: frozenset(),
    JobStatus.CANCELLED: frozenset(),
}
"""What may follow on what. A running job waits again after a failure that is to be retried, and after a restart."""


class Work:
    """A handler of five steps, each of which leaves a row; `fails_at` and `crashes_at` count steps of all runs."""

    def __init__(self) -> None:
        self.runs = 0
        self.steps = 0
        self.side_by_side = 0
        self.most_side_by_side = 0
        self.fails_at: set[int] = set()
        self.hopeless = False
        self.pause = 1.0

    async def __call__(self, run: JobRun) -> None:
        self.runs += 1
        self.side_by_side += 1
        self.most_side_by_side = max(self.most_side_by_side, self.side_by_side)
        try:
            while run.job.progress_current < STEPS:
                await trio.sleep(self.pause)
                await run.step(lambda connection: self._step(connection, run))
        finally:
            self.side_by_side -= 1

    def _step(self, connection: sqlite3.Connection, run: JobRun) -> Progress:
        number = run.job.progress_current + 1
        connection.execute("INSERT INTO done VALUES (?, ?)", (run.job.id, number))
        self.steps += 1
        if self.steps in self.fails_at:
            if self.hopeless:
                raise JobFailed("there is no such thing")
            raise RuntimeError("a fault")
        return Progress(current=number, state={"number": number}, message=f"step {number}")


@contextlib.asynccontextmanager
async def store(path: Path) -> AsyncIterator[Database]:
    async with open_database(fresh_database(path), inline=True, durable=False) as database:
        await database.write(
            lambda connection: void(connection.execute("CREATE TABLE IF NOT EXISTS done (job, number)"))
        )
        yield database


def void(_: object) -> None:
    return None


@contextlib.asynccontextmanager
async def running(database: Database, handler: Handler, *, clock: TrioClock) -> AsyncIterator[Jobs]:
    orders = Jobs(database, clock, SnowflakeGenerator(clock))
    for task_type in JobType:
        orders.handle(task_type, handler)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(orders.run)
        yield orders
        nursery.cancel_scope.cancel()


async def order(database: Database, orders: Jobs, task_type: JobType, run_at: int | None = None) -> int:
    job = await database.write(
        lambda connection: orders.order_in(connection, task_type, {"of": "work"}, total=STEPS, run_at=run_at),
        lambda _: orders.ordered(),
    )
    return job.id


async def over(database: Database, job_id: int) -> Job:
    while True:
        job = jobs.by_id(database.reader, job_id)
        assert job is not None
        if job.is_over:
            return job
        await trio.sleep(0.5)


def done(database: Database, job_id: int) -> list[int]:
    rows = database.reader.execute("SELECT number FROM done WHERE job = ? ORDER BY rowid", (job_id,))
    return [number for (number,) in rows]


async def test_a_job_is_done_step_by_step(tmp_path: Path, autojump_clock: MockClock) -> None:
    clock = TrioClock(START_MS)
    async with store(tmp_path / "db") as database, running(database, Work(), clock=clock) as orders:
        job = await over(database, await order(database, orders, JobType.USER_ARCHIVE))
    assert (job.status, job.progress_current, job.progress_total, job.progress_message) == (
        JobStatus.COMPLETED,
        STEPS,
        STEPS,
        "step 5",
    )
    assert (job.state, job.payload, job.attempts, job.error_message) == ({"number": 5}, {"of": "work"}, 0, None)
    assert (job.started_at, job.completed_at) == (START_MS, START_MS + 5_000)


@settings(max_examples=25)
@given(ends=st.lists(st.floats(min_value=0.1, max_value=4.0), max_size=6))
def test_whenever_the_server_ends_every_step_is_done_once(
    tmp_path_factory: pytest.TempPathFactory, ends: list[float]
) -> None:
    path = tmp_path_factory.mktemp("jobs") / "db"

    async def whole() -> None:
        clock = TrioClock(START_MS)
        async with store(path) as database:
            job_id = 0
            for end in ends:
                with trio.move_on_after(end):
                    async with running(database, Work(), clock=clock) as orders:
                        job_id = job_id or await order(database, orders, JobType.MESSAGE_SHRED)
                        await trio.sleep_forever()
            async with running(database, Work(), clock=clock) as orders:
                job_id = job_id or await order(database, orders, JobType.MESSAGE_SHRED)
                job = await over(database, job_id)
            assert (job.status, job.attempts) == (JobStatus.COMPLETED, 0)
            assert done(database, job_id) == [1, 2, 3, 4, 5]

    trio.run(whole, clock=MockClock(autojump_threshold=0))


async def test_a_fault_undoes_its_step_and_the_job_is_tried_again_later(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    clock = TrioClock(START_MS)
    work = Work()
    work.fails_at = {3, 4}
    async with store(tmp_path / "db") as database, running(database, work, clock=clock) as orders:
        job_id = await order(database, orders, JobType.USER_ARCHIVE)
        job = await over(database, job_id)
        assert done(database, job_id) == [1, 2, 3, 4, 5]
    assert (job.status, job.attempts, work.runs) == (JobStatus.COMPLETED, 2, 3)
    assert job.completed_at is not None
    assert job.completed_at >= START_MS + 30_000 + 60_000  # twice as long the second time


async def test_who_has_no_attempt_left_has_failed(tmp_path: Path, autojump_clock: MockClock) -> None:
    clock = TrioClock(START_MS)
    work = Work()
    work.fails_at = {3}
    async with store(tmp_path / "db") as database, running(database, work, clock=clock) as orders:
        job = await over(database, await order(database, orders, JobType.MESSAGE_SHRED))
        assert done(database, job.id) == [1, 2]
    assert (job.status, job.attempts, job.error_message) == (JobStatus.FAILED, 1, "RuntimeError")
    assert JOB_KINDS[JobType.MESSAGE_SHRED].max_attempts == 1


async def test_what_cannot_be_done_is_not_tried_again(tmp_path: Path, autojump_clock: MockClock) -> None:
    clock = TrioClock(START_MS)
    work = Work()
    work.fails_at, work.hopeless = {2}, True
    async with store(tmp_path / "db") as database, running(database, work, clock=clock) as orders:
        job = await over(database, await order(database, orders, JobType.USER_ARCHIVE))
    assert (job.status, job.error_message, work.runs) == (JobStatus.FAILED, "there is no such thing", 1)


async def test_a_job_waits_for_its_time_and_for_its_turn(tmp_path: Path, autojump_clock: MockClock) -> None:
    clock = TrioClock(START_MS)
    work = Work()
    async with store(tmp_path / "db") as database, running(database, work, clock=clock) as orders:
        later = await order(database, orders, JobType.USER_ARCHIVE, run_at=START_MS + 3_600_000)
        crowd = [await order(database, orders, JobType.USER_ARCHIVE) for _ in range(7)]
        for job_id in crowd:
            assert (await over(database, job_id)).status is JobStatus.COMPLETED
        assert work.most_side_by_side == AT_ONCE
        job = await over(database, later)
    assert job.started_at is not None
    assert START_MS + 3_600_000 <= job.started_at < START_MS + 3_601_000


async def test_cancelling(tmp_path: Path, autojump_clock: MockClock) -> None:
    clock = TrioClock(START_MS)
    async with store(tmp_path / "db") as database, running(database, Work(), clock=clock) as orders:
        waiting = await order(database, orders, JobType.USER_ARCHIVE, run_at=START_MS + 1_000_000)
        cancelled = await database.write(lambda connection: orders.cancel_in(connection, waiting))
        assert (cancelled.status, cancelled.is_over) == (JobStatus.CANCELLED, True)

        under_way = await order(database, orders, JobType.USER_ARCHIVE)
        await trio.sleep(2.5)
        asked = await database.write(lambda connection: orders.cancel_in(connection, under_way))
        assert (asked.status, asked.cancel_requested) == (JobStatus.RUNNING, True)
        assert (await over(database, under_way)).status is JobStatus.CANCELLED
        assert done(database, under_way) == [1, 2]

        erasure = await order(database, orders, JobType.ACCOUNT_ERASURE)
        for job_id, code in ((waiting, "CONFLICT"), (under_way, "CONFLICT"), (erasure, "CONFLICT"), (5, "NOT_FOUND")):
            with pytest.raises(ApiError) as refusal:
                await database.write(lambda connection, job_id=job_id: orders.cancel_in(connection, job_id))
            assert refusal.value.code == code
        assert (await over(database, erasure)).status is JobStatus.COMPLETED


async def test_a_store_that_cannot_be_written_costs_no_attempt(tmp_path: Path, autojump_clock: MockClock) -> None:
    clock = TrioClock(START_MS)
    async with store(tmp_path / "db") as database, running(database, Work(), clock=clock) as orders:
        job_id = await order(database, orders, JobType.MESSAGE_SHRED)
        await trio.sleep(2.5)
        database.failing = True
        await trio.sleep(60)
        database.failing = False
        job = await over(database, job_id)
        assert done(database, job_id) == [1, 2, 3, 4, 5]
    assert (job.status, job.attempts) == (JobStatus.COMPLETED, 0)


async def test_the_ledger_forgets_after_thirty_days(tmp_path: Path, autojump_clock: MockClock) -> None:
    clock = TrioClock(START_MS)
    async with store(tmp_path / "db") as database:
        async with running(database, Work(), clock=clock) as orders:
            job_id = await order(database, orders, JobType.USER_ARCHIVE)
            await over(database, job_id)
        for left, known in ((60, True), (-180, False)):
            await trio.sleep(START_MS / 1000 + 30 * 86_400 - left - clock.now_ms() / 1000)
            async with running(database, Work(), clock=clock):
                await trio.sleep(10)
                assert (jobs.by_id(database.reader, job_id) is not None) is known


def test_every_kind_has_its_row_and_nothing_follows_on_the_end() -> None:
    assert JOB_KINDS.keys() == set(JobType)
    assert JOB_TRANSITIONS.keys() == set(JobStatus)
    for status, following in JOB_TRANSITIONS.items():
        assert (not following) == (status in {JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED})
