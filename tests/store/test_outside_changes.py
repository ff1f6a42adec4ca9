"""What the command line did beside a server reaches the server, once, in order."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from chat.store import outside_changes
from chat.store.connections import connect
from chat.store.database import Database, open_database
from chat.store.outside_changes import CREDENTIALS_REVOKED, OutsideChange
from chat.testing.server import fresh_database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(fresh_database(tmp_path / "chat.sqlite3"), inline=True, durable=False) as database:
        yield database


@pytest.fixture
def command_line(database: Database, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(tmp_path / "chat.sqlite3")
    yield connection
    connection.close()


async def test_the_server_acts_on_each_change_once_and_in_order(
    database: Database, command_line: sqlite3.Connection, autojump_clock: MockClock
) -> None:
    acted: list[OutsideChange] = []

    async def act(change: OutsideChange) -> None:
        acted.append(change)

    outside_changes.record(command_line, CREDENTIALS_REVOKED, {"user_id": 1}, 1_700_000_000_000)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(outside_changes.follow, database, act)
        await trio.sleep(1)
        assert [change.body for change in acted] == [{"user_id": 1}]  # left while no server ran
        for user_id in range(2, 30):
            outside_changes.record(command_line, CREDENTIALS_REVOKED, {"user_id": user_id}, 1_700_000_000_001)
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert [change.body["user_id"] for change in acted] == list(range(1, 30))
    assert acted[1].kind == CREDENTIALS_REVOKED
    assert acted[1].created_at == 1_700_000_000_001
    assert not outside_changes.exist(command_line)


async def test_what_the_command_line_undoes_is_never_heard_of(
    database: Database, command_line: sqlite3.Connection, autojump_clock: MockClock
) -> None:
    command_line.execute("BEGIN")
    outside_changes.record(command_line, CREDENTIALS_REVOKED, {"user_id": 1}, 0)
    command_line.execute("ROLLBACK")
    assert not outside_changes.exist(database.reader)


async def test_while_the_store_is_unavailable_a_change_waits(
    database: Database, command_line: sqlite3.Connection, autojump_clock: MockClock
) -> None:
    acted: list[OutsideChange] = []

    async def act(change: OutsideChange) -> None:
        acted.append(change)

    outside_changes.record(command_line, CREDENTIALS_REVOKED, {"user_id": 1}, 0)
    database.failing = True
    async with trio.open_nursery() as nursery:
        nursery.start_soon(outside_changes.follow, database, act)
        await trio.sleep(1)
        assert acted == []
        database.failing = False
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert len(acted) == 1
