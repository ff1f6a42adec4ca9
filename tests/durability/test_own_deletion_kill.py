"""A wish that everything one has written goes outlives the process that took it, and one that was fulfilling it."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest
import trio

from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.messages.messages import Message, insert
from tests.durability.server_process import running

pytestmark = pytest.mark.long

WRITTEN = 5_000
DAY_MS = 86_400_000
DELETION = "/v1/users/@me/messages/delete"


def write(data: Path, name: str, count: int) -> None:
    """Write `count` messages of an account in the oldest text channel, straight into the store of a server that is
    down."""
    connection = connect(DataDirectory(data).database)
    try:
        (author_id,) = connection.execute("SELECT id FROM users WHERE username = ?", (name,)).fetchone()
        (channel_id,) = connection.execute("SELECT min(id) FROM channels WHERE type = 0").fetchone()
        (newest,) = connection.execute("SELECT coalesce(max(id), ?) FROM messages", (channel_id,)).fetchone()
        connection.execute("BEGIN")
        for number in range(1, count + 1):
            insert(connection, Message(newest + number, channel_id, author_id, 0, f"{number}"))
        connection.execute("COMMIT")
    finally:
        connection.close()


def left_by(data: Path, name: str) -> int:
    """How many messages of an account the store has."""
    connection = sqlite3.connect(f"file:{DataDirectory(data).database}?mode=ro", uri=True)
    try:
        row = connection.execute(
            "SELECT count(*) FROM messages JOIN users ON users.id = author_id WHERE username = ?", (name,)
        ).fetchone()
    finally:
        connection.close()
    return int(row[0])


async def test_a_kill_in_the_middle_of_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.end(signal.SIGTERM)
    write(tmp_path, "bob", WRITTEN)
    write(tmp_path, "alice", 3)
    async with running(tmp_path) as server:
        password = server.world["users"][1]["password"]
        told = (await server.bob.post(DELETION, {"password": password})).expect(200)
        assert told["message_count"] == WRITTEN
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.bob.advance_clock, DAY_MS)
            with trio.fail_after(30):
                while left_by(tmp_path, "bob") == WRITTEN:  # noqa: ASYNC110 - it is another process
                    await trio.sleep(0.001)
            nursery.cancel_scope.cancel()
        await server.end(signal.SIGKILL)
    async with running(tmp_path) as server:
        # The clock of the new process is where the old one's was before it was moved.
        assert (await server.bob.get("/v1/users/@me")).expect(200)["pending_bulk_message_deletion"] is not None
        assert left_by(tmp_path, "bob") % 100 == 0  # whole batches
        await server.bob.advance_clock(DAY_MS)
        with trio.fail_after(30):
            while left_by(tmp_path, "bob"):  # noqa: ASYNC110 - it is another process
                await trio.sleep(0.05)
        assert left_by(tmp_path, "alice") == 3
        own = (await server.bob.get("/v1/users/@me")).expect(200)
        assert own["pending_bulk_message_deletion"] is None
