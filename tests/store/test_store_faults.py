"""Fail at step n, for every n: whatever statement of the writer fails, once or from then on, the promises hold.

The promises: who was told of success finds the row, who was told of failure does not, `then` ran exactly for the first,
and a store that is well again works.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from chat.errors import StorageUnavailable
from chat.store.connections import connect
from chat.store.database import open_database
from chat.store.migrations import prepare
from chat.store.writer import Writer, WriteRequest
from chat.testing.server import fresh_database


@attrs.define
class Fault:
    """Which statement fails: the `at`-th (from 1), and with `lasting` all that follow until `mended`."""

    at: int
    lasting: bool
    statements: int = 0
    mended: bool = False

    def strikes(self) -> bool:
        self.statements += 1
        if self.mended:
            return False
        return self.statements >= self.at if self.lasting else self.statements == self.at

    @property
    def was_reached(self) -> bool:
        return self.statements >= self.at


def connections_with(fault: Fault) -> type[sqlite3.Connection]:
    """Connections whose statements fail as `fault` says, before they reach SQLite."""

    class FaultyConnection(sqlite3.Connection):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            if fault.strikes():
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorcode = sqlite3.SQLITE_IOERR
                raise error
            return super().execute(*arguments)

    return FaultyConnection


def insert_two(connection: sqlite3.Connection, key: str) -> str:
    """A unit of two statements: either both rows are there or none."""
    connection.execute("INSERT INTO instance (key, value) VALUES (?, '')", (key,))
    connection.execute("INSERT INTO instance (key, value) VALUES (?, '')", (f"{key} again",))
    return key


def whole_pairs(path: Path) -> set[str]:
    """The keys that are there with their second row; fails when there is half a pair."""
    connection = connect(path)
    stored = {key for (key,) in connection.execute("SELECT key FROM instance")}
    connection.close()
    firsts = {key for key in stored if not key.endswith(" again")}
    assert stored == firsts | {f"{key} again" for key in firsts}
    return firsts


def faults(lasting: bool) -> Iterator[Fault]:
    """Faults at step 1, 2, 3 ... until an operation was through before its fault came."""
    for at in itertools.count(1):
        fault = Fault(at, lasting)
        yield fault
        if not fault.was_reached:
            return


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("inline", [False, True], ids=["threads", "inline"])
async def test_one_write_at_a_time(tmp_path: Path, inline: bool, lasting: bool) -> None:
    for fault in faults(lasting):
        path = fresh_database(tmp_path / f"{fault.at}.sqlite3")
        acknowledged: set[str] = set()
        told: set[str] = set()
        async with open_database(path, inline=inline, durable=False, factory=connections_with(fault)) as database:
            for key in "abc":
                try:
                    acknowledged.add(
                        await database.write(lambda connection, key=key: insert_two(connection, key), told.add)
                    )
                except StorageUnavailable:
                    assert fault.was_reached
            assert whole_pairs(path) == acknowledged == told
            assert lasting or len(acknowledged) >= 2
            fault.mended = True
            assert await database.write(lambda connection: insert_two(connection, "mended")) == "mended"
        assert whole_pairs(path) == acknowledged | {"mended"}


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_a_group(tmp_path: Path, lasting: bool) -> None:
    for fault in faults(lasting):
        path = fresh_database(tmp_path / f"{fault.at}.sqlite3")
        writer = Writer(lambda path=path, fault=fault: connect(path, durable=False, factory=connections_with(fault)))
        told: set[str] = set()
        groups = [
            [WriteRequest(lambda connection, key=key: insert_two(connection, key), told.add) for key in group]
            for group in ("ab", "cde")
        ]
        for group in groups:
            writer.run(group)
            for request in group:
                request.announce()
        acknowledged = {request.result for group in groups for request in group if request.error is None}
        for request in itertools.chain(*groups):
            assert request.error is None or (isinstance(request.error, StorageUnavailable) and request.result is None)
        assert whole_pairs(path) == acknowledged == told
        fault.mended = True
        after = WriteRequest(lambda connection: insert_two(connection, "mended"), None)
        writer.run([after])
        assert after.error is None
        writer.close()
        assert whole_pairs(path) == acknowledged | {"mended"}


async def test_when_the_commit_fails_every_unit_of_the_group_is_refused_and_none_is_stored(tmp_path: Path) -> None:
    class Uncommitting(sqlite3.Connection):
        def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
            if statement == "COMMIT":
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(statement, *arguments)

    path = tmp_path / "chat.sqlite3"
    prepare(path)
    writer = Writer(lambda: connect(path, factory=Uncommitting))
    group = [WriteRequest(lambda connection, key=key: insert_two(connection, key), pytest.fail) for key in "abc"]
    writer.run(group)
    for request in group:
        request.announce()
    assert [type(request.error) for request in group] == [StorageUnavailable] * 3
    assert len({id(request.error) for request in group}) == 3  # each caller raises one of its own
    assert whole_pairs(path) == set()
    writer.close()


async def test_a_unit_that_ends_the_transaction_takes_the_group_with_it(tmp_path: Path) -> None:
    def roll_everything_back(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        raise LookupError("its own mistake")

    path = tmp_path / "chat.sqlite3"
    prepare(path)
    writer = Writer(lambda: connect(path))
    before, culprit, after = group = [
        WriteRequest(lambda connection: insert_two(connection, "a"), None),
        WriteRequest(roll_everything_back, None),
        WriteRequest(lambda connection: insert_two(connection, "b"), None),
    ]
    writer.run(group)
    assert isinstance(culprit.error, LookupError)
    assert isinstance(before.error, StorageUnavailable)
    assert isinstance(after.error, StorageUnavailable)
    assert whole_pairs(path) == set()
    writer.close()


async def test_a_full_disk_is_told_as_such_and_leaves_the_neighbours_alone(tmp_path: Path) -> None:
    def fill(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # SQLite keeps it at the present size of the file
        connection.execute("INSERT INTO instance (key, value) VALUES ('large', ?)", ("x" * 100_000,))

    async with open_database(tmp_path / "chat.sqlite3") as database:
        await database.write(lambda connection: insert_two(connection, "a"))
        with pytest.raises(StorageUnavailable) as refusal:
            await database.write(fill)
        assert isinstance(refusal.value.__cause__, sqlite3.OperationalError)
        assert refusal.value.__cause__.sqlite_errorname == "SQLITE_FULL"
        await database.write(lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchone())
        await database.write(lambda connection: insert_two(connection, "b"))
    assert whole_pairs(tmp_path / "chat.sqlite3") == {"a", "b"}


async def test_a_mistake_in_a_statement_is_not_called_unavailable(tmp_path: Path) -> None:
    async with open_database(tmp_path / "chat.sqlite3", inline=True) as database:
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            await database.write(lambda connection: connection.execute("DELETE FROM nowhere"))
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            await database.read(lambda connection: connection.execute("SELECT * FROM nowhere"))
