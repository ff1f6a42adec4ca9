"""Whatever units do, and however they are grouped: each leaves all of its rows or none, and the error is its caller's.

A unit that is alone in its transaction has no savepoint; nobody may see a difference.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.errors import StorageUnavailable
from chat.store.connections import connect
from chat.store.migrations import prepare
from chat.store.writer import Writer, WriteRequest
from tests.store.test_store_faults import Fault, connections_with

TAKEN: Final = "taken"
"""The key of a row that is there before."""

INSERT: Final = "INSERT INTO instance (key, value) VALUES (?, '')"


@attrs.define
class Effort:
    """What a unit has done until now: its rows, and the cursors that it has not read to their ends."""

    name: str
    rows: list[str] = attrs.field(factory=list)
    cursors: list[sqlite3.Cursor] = attrs.field(factory=list)

    def key(self) -> str:
        self.rows.append(f"{self.name}/{len(self.rows)}")
        return self.rows[-1]


def a_row(connection: sqlite3.Connection, effort: Effort) -> None:
    connection.execute(INSERT, (effort.key(),))


def a_refused_row(connection: sqlite3.Connection, _: Effort) -> None:
    """The unit catches the error of one statement and goes on."""
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(INSERT, (TAKEN,))


def a_statement_refused_at_its_second_row(connection: sqlite3.Connection, effort: Effort) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO instance (key, value) VALUES (?, ''), (?, '')", (f"{effort.name}/never", TAKEN))


def a_savepoint(connection: sqlite3.Connection, effort: Effort) -> None:
    connection.execute("SAVEPOINT inner")
    a_row(connection, effort)
    connection.execute("RELEASE inner")


def a_savepoint_rolled_back(connection: sqlite3.Connection, effort: Effort) -> None:
    connection.execute("SAVEPOINT inner")
    connection.execute(INSERT, (f"{effort.name}/undone",))
    connection.execute("ROLLBACK TO inner")
    connection.execute("RELEASE inner")


def a_savepoint_left_open(connection: sqlite3.Connection, effort: Effort) -> None:
    connection.execute("SAVEPOINT inner")
    a_row(connection, effort)


def a_cursor_left_open(connection: sqlite3.Connection, effort: Effort) -> None:
    effort.cursors.append(connection.execute("SELECT key FROM instance UNION ALL SELECT 'another'"))
    effort.cursors[-1].fetchone()


def the_end_of_the_transaction(connection: sqlite3.Connection, _: Effort) -> None:
    """SQLite rolls all of it back; so it does by itself after some errors of the disk."""
    connection.execute("INSERT OR ROLLBACK INTO instance (key, value) VALUES (?, '')", (TAKEN,))


def a_caught_end_of_the_transaction(connection: sqlite3.Connection, effort: Effort) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        the_end_of_the_transaction(connection, effort)


Act = Callable[[sqlite3.Connection, Effort], None]

ACTS: Final[tuple[Act, ...]] = (
    a_row,
    a_refused_row,
    a_statement_refused_at_its_second_row,
    a_savepoint,
    a_savepoint_rolled_back,
    a_savepoint_left_open,
)
LAST_ACTS: Final[tuple[Act | None, ...]] = (*(None,) * 6, the_end_of_the_transaction, a_caught_end_of_the_transaction)


@attrs.frozen
class Plan:
    """What a unit does, and whether it then fails by itself. What ends the transaction comes last: behind it there is
    no transaction to speak of."""

    acts: tuple[Act, ...] = (a_row,)
    last: Act | None = None
    fails: bool = False

    @property
    def ends_the_transaction(self) -> bool:
        return self.last is not None

    def unit(self, effort: Effort) -> Callable[[sqlite3.Connection], str]:
        def unit(connection: sqlite3.Connection) -> str:
            for act in self.acts if self.last is None else (*self.acts, self.last):
                act(connection, effort)
            if self.fails:
                raise LookupError(effort.name)
            return effort.name

        return unit


def groups_of(acts: tuple[Act, ...], last: tuple[Act | None, ...]) -> st.SearchStrategy[list[list[Plan]]]:
    """Groups one after the other, of up to three units each."""
    done = st.lists(st.sampled_from(acts), max_size=4).map(tuple)
    plans = st.builds(Plan, done, st.sampled_from(last), st.booleans())
    return st.lists(st.lists(plans, min_size=1, max_size=3), min_size=1, max_size=4)


@attrs.define
class Sent:
    """A group that the writer had."""

    plans: list[Plan]
    efforts: list[Effort]
    requests: list[WriteRequest]
    told: list[str]

    @property
    def written(self) -> set[str]:
        """The rows of those who were told of success."""
        pairs = zip(self.requests, self.efforts, strict=True)
        return {row for request, effort in pairs if request.error is None for row in effort.rows}


def sent(writer: Writer, number: int, group: list[Plan]) -> Sent:
    """Have the writer run a group, and announce it."""
    told: list[str] = []
    efforts = [Effort(f"{number}.{place}") for place in range(len(group))]
    requests = [WriteRequest(plan.unit(effort), told.append) for plan, effort in zip(group, efforts, strict=True)]
    writer.run(requests)
    for request in requests:
        request.announce()
    assert told == [request.result for request in requests if request.error is None]
    assert all(request.result is None for request in requests if request.error is not None)
    return Sent(group, efforts, requests, told)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("units") / "chat.sqlite3"
    prepare(path)
    return path


@pytest.fixture(scope="module")
def outside(path: Path) -> Iterator[sqlite3.Connection]:
    """What somebody else sees, who waits for nobody."""
    connection = connect(path)
    connection.execute("PRAGMA busy_timeout = 0")
    yield connection
    connection.close()


def begin_anew(outside: sqlite3.Connection) -> None:
    outside.execute("DELETE FROM instance")
    outside.execute(INSERT, (TAKEN,))


def found(outside: sqlite3.Connection) -> set[str]:
    """The rows that were written; no transaction is left open behind them."""
    outside.execute("BEGIN IMMEDIATE")
    outside.execute("ROLLBACK")
    return {key for (key,) in outside.execute("SELECT key FROM instance")} - {TAKEN}


@given(groups=groups_of((*ACTS, a_cursor_left_open), LAST_ACTS))
@example(groups=[[Plan(fails=True)], [Plan()]])
@example(groups=[[Plan(last=the_end_of_the_transaction)], [Plan()]])
@example(groups=[[Plan(last=a_caught_end_of_the_transaction)], [Plan()]])
@example(groups=[[Plan((a_savepoint_left_open, a_cursor_left_open), fails=True)], [Plan()]])
def test_a_unit_writes_all_or_nothing_alone_and_among_others(
    path: Path, outside: sqlite3.Connection, groups: list[list[Plan]]
) -> None:
    begin_anew(outside)
    writer = Writer(lambda: connect(path, durable=False))
    expected: set[str] = set()
    for number, group in enumerate(groups):
        had = sent(writer, number, group)
        is_given_up = any(plan.ends_the_transaction for plan in group)
        assert (writer.failure is not None) == is_given_up
        behind_the_end = False
        for plan, request in zip(group, had.requests, strict=True):
            if behind_the_end:  # it did not run any more
                assert request.error is not None
            elif plan.last is the_end_of_the_transaction:
                assert isinstance(request.error, sqlite3.IntegrityError)
            elif plan.fails:
                assert isinstance(request.error, LookupError)
            else:
                assert isinstance(request.error, StorageUnavailable) == is_given_up
                assert (request.error is None) != is_given_up
            behind_the_end = behind_the_end or plan.ends_the_transaction
        expected |= had.written
        assert found(outside) == expected
    writer.close()


@given(groups=groups_of(ACTS, (None,)), at=st.integers(1, 40), lasting=st.booleans())
@example(groups=[[Plan(fails=True)], [Plan()]], at=3, lasting=False)
@example(groups=[[Plan(fails=True)], [Plan()]], at=3, lasting=True)
@example(groups=[[Plan()], [Plan()]], at=3, lasting=True)
def test_whatever_statement_fails_who_was_told_of_success_finds_the_rows_and_nobody_else(
    path: Path, outside: sqlite3.Connection, groups: list[list[Plan]], at: int, lasting: bool
) -> None:
    """No cursor is left open here: where ROLLBACK fails the connection is closed, which ends with the last cursor."""
    begin_anew(outside)
    fault = Fault(at, lasting)
    writer = Writer(lambda: connect(path, durable=False, factory=connections_with(fault)))
    expected: set[str] = set()
    for number, group in enumerate(groups):
        expected |= sent(writer, number, group).written
        assert found(outside) == expected
    fault.mended = True
    expected |= sent(writer, len(groups), [Plan()]).written
    assert writer.failure is None
    assert found(outside) == expected
    assert f"{len(groups)}.0/0" in expected
    writer.close()
