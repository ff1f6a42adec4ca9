"""Readers, and the writer's promises: group commit, order, isolation, cancellation, failure."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from chat.errors import OperatorError, StorageUnavailable
from chat.store.administration import instance
from chat.store.database import (
    GATHERING_TURNS,
    GROUP_LIMIT,
    QUEUE_LIMIT,
    ROOM_DEADLINE_SECONDS,
    Database,
    connect,
    open_database,
    to_signed,
    to_unsigned,
)
from chat.store.migrations import prepare
from chat.testing.server import fresh_database

Open = Callable[[], AbstractAsyncContextManager[Database]]


@pytest.fixture(params=["threads", "inline"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """A database in either mode: what it promises does not depend on it."""
    path = fresh_database(tmp_path / "chat.sqlite3")
    return partial(open_database, path, inline=request.param == "inline", durable=False)


@pytest.fixture
async def threaded(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(fresh_database(tmp_path / "chat.sqlite3"), durable=False) as database:
        yield database


async def test_a_schema_that_cannot_be_read_is_the_operators_matter(opened: Open, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "chat.sqlite3")) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = 'CREATE TABLE instance (' WHERE name = 'instance'")
    with pytest.raises(OperatorError, match=r"cannot use the database .*malformed database schema"):
        async with opened():
            pass


def remember(key: str, value: str = "") -> Callable[[sqlite3.Connection], str]:
    """A unit of work that stores one row and returns its key."""

    def unit(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO instance (key, value) VALUES (?, ?)", (key, value))
        return key

    return unit


def keys(connection: sqlite3.Connection) -> list[str]:
    return [key for (key,) in connection.execute("SELECT key FROM instance ORDER BY rowid")]


class HeldWriter:
    """Keeps the writer's thread busy, so that what is written meanwhile becomes one group."""

    def __init__(self) -> None:
        self._release = threading.Event()
        self._taken = threading.Event()

    def unit(self, _: sqlite3.Connection) -> None:
        self._taken.set()
        assert self._release.wait(20)

    async def taken(self) -> None:
        assert await trio.to_thread.run_sync(self._taken.wait, 20)

    def release(self) -> None:
        self._release.set()


async def test_a_write_returns_what_the_unit_returned_and_is_there_for_every_reader(opened: Open) -> None:
    async with opened() as database:
        assert await database.write(remember("a")) == "a"
        assert keys(database.reader) == ["a"]
        assert await database.read(keys) == ["a"]


async def test_the_loops_connection_refuses_other_threads(opened: Open) -> None:
    async with opened() as database:
        with pytest.raises(sqlite3.ProgrammingError, match="thread"):
            await trio.to_thread.run_sync(database.reader.execute, "SELECT 1")
        assert database.reader.execute("SELECT 1").fetchone() == (1,)


async def test_readers_cannot_write(opened: Open) -> None:
    async with opened() as database:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            remember("a")(database.reader)
        with pytest.raises((sqlite3.OperationalError, StorageUnavailable)):
            await database.read(remember("a"))
        assert keys(database.reader) == []


async def test_then_runs_with_the_result_before_the_caller_goes_on(opened: Open) -> None:
    said: list[str] = []
    async with opened() as database:
        said.append("returned " + await database.write(remember("a"), lambda key: said.append("then " + key)))
    assert said == ["then a", "returned a"]


async def test_then_finds_the_write_committed(opened: Open) -> None:
    async with opened() as database:
        seen: list[list[str]] = []
        await database.write(remember("a"), lambda _: seen.append(keys(database.reader)))
        assert seen == [["a"]]


async def test_an_error_in_a_unit_undoes_what_the_unit_did_and_is_raised_to_its_caller(opened: Open) -> None:
    def store_and_fail(connection: sqlite3.Connection) -> None:
        remember("b")(connection)
        raise LookupError("no such guild")

    async with opened() as database:
        await database.write(remember("a"))
        with pytest.raises(LookupError, match="no such guild"):
            await database.write(store_and_fail, lambda _: pytest.fail("nothing was written"))
        await database.write(remember("c"))
        assert keys(database.reader) == ["a", "c"]


async def test_a_broken_constraint_is_the_callers_own_error(opened: Open) -> None:
    async with opened() as database:
        await database.write(remember("a"))
        with pytest.raises(sqlite3.IntegrityError):
            await database.write(remember("a"))


async def test_an_error_of_then_reaches_the_caller_and_nobody_else(opened: Open) -> None:
    def stumble(_: str) -> None:
        raise ZeroDivisionError

    async with opened() as database:
        with pytest.raises(ZeroDivisionError):
            await database.write(remember("a"), stumble)
        assert await database.write(remember("b")) == "b"


async def test_a_failing_store_refuses_reads_and_writes_until_it_is_mended(opened: Open) -> None:
    async with opened() as database:
        database.failing = True
        with pytest.raises(StorageUnavailable):
            await database.write(remember("a"), lambda _: pytest.fail("nothing was written"))
        with pytest.raises(StorageUnavailable):
            await database.read(keys)
        database.failing = False
        await database.write(remember("b"))
        assert await database.read(keys) == ["b"]


async def test_a_closed_store_refuses_reads_and_writes(opened: Open) -> None:
    async with opened() as database:
        pass
    with pytest.raises(StorageUnavailable):
        await database.write(remember("a"))
    with pytest.raises(StorageUnavailable):
        await database.read(keys)
    await database.aclose()


async def test_a_cancelled_caller_queues_nothing(opened: Open) -> None:
    async with opened() as database:
        with trio.CancelScope() as scope:
            scope.cancel()
            await database.write(remember("a"))
        assert keys(database.reader) == []


async def test_reading_and_writing_give_other_tasks_a_turn(opened: Open) -> None:
    async with opened() as database:
        with trio.testing.assert_checkpoints():
            await database.write(remember("a"))
        with trio.testing.assert_checkpoints():
            await database.read(keys)


async def test_units_that_wait_together_share_one_commit(threaded: Database, tmp_path: Path) -> None:
    held = HeldWriter()
    watcher = connect(tmp_path / "chat.sqlite3", read_only=True)
    seen_by_units: list[list[str]] = []

    def look_from_outside(_: sqlite3.Connection) -> None:
        seen_by_units.append(keys(watcher))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(threaded.write, held.unit)
        await held.taken()
        for number in range(5):
            nursery.start_soon(threaded.write, remember(str(number)))
            await wait_all_tasks_blocked()
        nursery.start_soon(threaded.write, look_from_outside)
        await wait_all_tasks_blocked()
        held.release()
    assert seen_by_units == [[]]  # the fifth was written, and none was committed yet
    assert keys(watcher) == ["0", "1", "2", "3", "4"]
    watcher.close()


async def test_thens_run_in_commit_order_and_all_before_any_caller_goes_on(threaded: Database) -> None:
    held = HeldWriter()
    said: list[str] = []

    async def write(key: str) -> None:
        await threaded.write(remember(key), lambda key: said.append(f"then {key}"))
        said.append("a caller goes on")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(threaded.write, held.unit)
        await held.taken()
        for key in "abc":
            nursery.start_soon(write, key)
            await wait_all_tasks_blocked()
        held.release()
    assert said == ["then a", "then b", "then c", *["a caller goes on"] * 3]
    assert keys(threaded.reader) == ["a", "b", "c"]


async def test_a_unit_that_fails_leaves_its_neighbours_in_the_group_alone(threaded: Database) -> None:
    held = HeldWriter()
    told: list[str] = []

    async def write_again(key: str) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            await threaded.write(remember(key), told.append)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(threaded.write, held.unit)
        await held.taken()
        for act, key in ((threaded.write, "a"), (write_again, "a"), (threaded.write, "b")):
            nursery.start_soon(act, remember(key) if act == threaded.write else key)
            await wait_all_tasks_blocked()
        held.release()
    assert keys(threaded.reader) == ["a", "b"]
    assert told == []


async def test_units_that_come_within_two_turns_of_the_loop_share_a_transaction(threaded: Database) -> None:
    groups: list[int] = []
    threaded.observe_writing(lambda units, _, __: groups.append(units))

    async def write_later(turns: int) -> None:
        for _ in range(turns):
            await trio.lowlevel.checkpoint()
            time.sleep(0.02)  # noqa: ASYNC251 -- the writer's thread would begin with what it has
        await threaded.write(remember(str(turns)))

    async with trio.open_nursery() as nursery:
        for turns in range(GATHERING_TURNS):
            nursery.start_soon(write_later, turns)
    assert groups == [GATHERING_TURNS]


async def test_a_caller_cancelled_before_the_writer_got_its_unit_does_not_stop_it(threaded: Database) -> None:
    told: list[str] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(threaded.write, remember("a"), told.append)
        while not threaded.queued:
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    await threaded.write(remember("b"))
    assert told == ["a"]
    assert keys(threaded.reader) == ["a", "b"]


async def test_closing_commits_what_the_writer_had_not_got_yet(tmp_path: Path) -> None:
    told: list[str] = []
    async with trio.open_nursery() as nursery:
        async with open_database(fresh_database(tmp_path / "chat.sqlite3"), durable=False) as database:
            nursery.start_soon(database.write, remember("a"), told.append)
            while not database.queued:
                await trio.lowlevel.checkpoint()
        assert told == ["a"]


async def test_cancelling_a_caller_stops_neither_its_unit_nor_its_then(threaded: Database) -> None:
    held = HeldWriter()
    told: list[str] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(threaded.write, held.unit)
        await held.taken()
        async with trio.open_nursery() as impatient:
            impatient.start_soon(threaded.write, remember("a"), told.append)
            await wait_all_tasks_blocked()
            impatient.cancel_scope.cancel()
        assert told == []
        held.release()
    await threaded.write(remember("b"))
    assert told == ["a"]
    assert keys(threaded.reader) == ["a", "b"]


async def test_closing_commits_what_is_queued(tmp_path: Path) -> None:
    held = HeldWriter()
    told: list[str] = []
    async with trio.open_nursery() as nursery:
        async with open_database(fresh_database(tmp_path / "chat.sqlite3"), durable=False) as database:
            nursery.start_soon(database.write, held.unit)
            await held.taken()
            for number in range(GROUP_LIMIT + 10):
                nursery.start_soon(database.write, remember(str(number)), told.append)
            await wait_all_tasks_blocked()
            held.release()
        assert len(told) == GROUP_LIMIT + 10
    async with open_database(tmp_path / "chat.sqlite3") as database:
        assert keys(database.reader) == told


async def test_callers_wait_for_room_in_the_order_in_which_they_came(threaded: Database) -> None:
    held = HeldWriter()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(threaded.write, held.unit)
        await held.taken()
        for number in range(QUEUE_LIMIT + 200):
            nursery.start_soon(threaded.write, remember(str(number)))
        await wait_all_tasks_blocked()
        held.release()
    assert len(keys(threaded.reader)) == QUEUE_LIMIT + 200
    assert await threaded.write(remember("last")) == "last"


async def test_who_finds_no_room_in_time_is_told_that_the_store_is_unavailable(
    threaded: Database, mock_clock: MockClock
) -> None:
    held = HeldWriter()
    refused: list[str] = []

    async def write_too_late() -> None:
        with pytest.raises(StorageUnavailable):
            await threaded.write(remember("late"))
        refused.append("late")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(threaded.write, held.unit)
        await held.taken()
        for number in range(QUEUE_LIMIT - 1):
            nursery.start_soon(threaded.write, remember(str(number)))
        await wait_all_tasks_blocked()
        nursery.start_soon(write_too_late)
        await wait_all_tasks_blocked()
        mock_clock.jump(ROOM_DEADLINE_SECONDS - 0.1)
        await wait_all_tasks_blocked()
        assert refused == []
        mock_clock.jump(0.2)
        await wait_all_tasks_blocked()
        assert refused == ["late"]
        held.release()
    assert len(keys(threaded.reader)) == QUEUE_LIMIT - 1


async def test_who_waits_for_room_while_the_store_closes_is_refused(tmp_path: Path) -> None:
    held = HeldWriter()

    async def write_too_late() -> None:
        with pytest.raises(StorageUnavailable):
            await database.write(remember("late"))

    async with (
        trio.open_nursery() as nursery,
        open_database(fresh_database(tmp_path / "chat.sqlite3"), durable=False) as database,
    ):
        nursery.start_soon(database.write, held.unit)
        await held.taken()
        for number in range(QUEUE_LIMIT - 1):
            nursery.start_soon(database.write, remember(str(number)))
        await wait_all_tasks_blocked()
        nursery.start_soon(write_too_late)
        await wait_all_tasks_blocked()
        held.release()


async def test_a_read_sees_one_state_however_many_questions_it_asks(opened: Open, tmp_path: Path) -> None:
    async with opened() as database:
        outside = connect(tmp_path / "chat.sqlite3")

        def ask_twice(connection: sqlite3.Connection) -> tuple[list[str], list[str]]:
            before = keys(connection)
            remember("a")(outside)
            return before, keys(connection)

        assert await database.read(ask_twice) == ([], [])
        assert await database.read(keys) == ["a"]
        outside.close()


async def test_reads_run_beside_each_other_up_to_the_number_of_readers(threaded: Database) -> None:
    meeting = threading.Barrier(2)

    def meet(_: sqlite3.Connection) -> None:
        meeting.wait(20)

    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(threaded.read, meet)


async def test_a_write_waits_for_another_process_to_finish_its_own(opened: Open, tmp_path: Path) -> None:
    async with opened() as database:
        outside = connect(tmp_path / "chat.sqlite3")
        outside.execute("BEGIN IMMEDIATE")
        instance.set_value(outside, "outside", "1")
        finish = threading.Timer(0.2, outside.execute, ("COMMIT",))
        finish.start()
        await database.write(remember("a"))
        finish.join()
        assert keys(database.reader) == ["outside", "a"]
        outside.close()


def test_64_bits_go_into_the_database_and_come_back() -> None:
    for value, stored in ((0, 0), (2**63 - 1, 2**63 - 1), (2**63, -(2**63)), (2**64 - 1, -1)):
        assert to_signed(value) == stored
        assert to_unsigned(stored) == value


@pytest.mark.parametrize("value", [-1, 2**64])
def test_a_number_that_is_not_unsigned_64_bit_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="unsigned"):
        to_signed(value)


@pytest.mark.parametrize("value", [-(2**63) - 1, 2**63])
def test_a_number_that_is_not_signed_64_bit_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="signed"):
        to_unsigned(value)


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", 5000)]
)
def test_a_connection_is_durable_and_checks_references(tmp_path: Path, pragma: str, value: object) -> None:
    prepare(tmp_path / "chat.sqlite3")
    connection = connect(tmp_path / "chat.sqlite3")
    assert connection.execute(f"PRAGMA {pragma}").fetchone() == (value,)
    connection.close()
