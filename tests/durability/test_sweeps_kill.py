"""Work that falls due by itself and stands in no ledger: what says that it is due is what is left to be done, so a
server that is killed in the middle of it leaves the rest to the next one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.store.database import Database
from chat.testing.server import ChatServer
from chat.testing.world import World

MESSAGES: Final = 1_200
"""More than one transaction of a sweep deletes."""


class Killer:
    """Stops the server from writing after a number of writes."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.left: int | None = None
        self.killed = trio.Event()
        write = Database.write
        killer = self

        async def counted(
            database: Database,
            unit: Callable[[sqlite3.Connection], Any],
            then: Callable[[Any], None] | None = None,
            **named: Any,
        ) -> Any:
            if killer.left is None:
                return await write(database, unit, then, **named)
            if killer.left == 0:
                await trio.sleep_forever()
            killer.left -= 1
            is_last = killer.left == 0
            result = await write(database, unit, None if is_last else then, **named)
            if is_last:
                killer.killed.set()
                await trio.sleep_forever()
            return result

        patch.setattr(Database, "write", counted)


def make_work(connection: sqlite3.Connection, server: ChatServer, world: World) -> None:
    """A deleted guild's messages, an upload that nobody took, a wish that one's messages go, a status that is over, a
    thread to be archived, messages that have reached their age."""
    now = server.clock.now_ms()
    bob, carol, guild, channel = (
        int(text) for text in (world.bob.id, world.carol.id, world.guild_id, world.channel_id)
    )
    connection.execute("INSERT INTO channels (id, guild_id, type) VALUES (21, NULL, 0)")
    connection.executemany(
        "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, ?, ?, 0, 'x')",
        [(1_000 + number, 21, carol) for number in range(MESSAGES)]
        + [(10_000 + number, channel, bob) for number in range(MESSAGES // 4)],
    )
    connection.execute(
        "INSERT INTO attachments (id, channel_id, user_id, filename, content_type, size, stored, expires_at)"
        " VALUES (31, ?, ?, 'a', 'text/plain', 3, 1, ?)",
        (channel, carol, now),
    )
    connection.execute("UPDATE users SET pending_bulk_message_deletion_at = ? WHERE id = ?", (now, bob))
    connection.execute(
        "INSERT OR REPLACE INTO user_settings VALUES (?, json(?))",
        (carol, '{"status": "dnd", "status_resets_at": "2020-01-01T00:00:00.000Z"}'),
    )
    connection.execute("INSERT OR REPLACE INTO settings_due VALUES (?, 'status', ?)", (carol, now))
    connection.execute(
        "INSERT INTO channels (id, guild_id, type, name, message_retention_days) VALUES (51, ?, 0, 'brief', 1)",
        (guild,),
    )
    connection.executemany(
        "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, 51, ?, 0, 'x')",
        [(30_000 + number, carol) for number in range(MESSAGES // 8)],
    )
    connection.execute("INSERT INTO channels (id, guild_id, type, parent_id) VALUES (41, ?, 11, ?)", (guild, channel))
    connection.execute(
        "INSERT INTO threads (id, guild_id, parent_id, auto_archive_duration, archive_timestamp, created_at,"
        " archive_at)"
        " VALUES (41, ?, ?, 60, 1, 1, ?)",
        (guild, channel, now),
    )


def left_to_do(server: ChatServer) -> dict[str, Any]:
    counts = {
        "loose": "SELECT count(*) FROM channels WHERE id = 21",
        "loose messages": "SELECT count(*) FROM messages WHERE channel_id = 21",
        "own messages": "SELECT count(*) FROM messages WHERE id BETWEEN 10000 AND 20000",
        "aged messages": "SELECT count(*) FROM messages WHERE channel_id = 51",
        "wishes": "SELECT count(*) FROM users WHERE pending_bulk_message_deletion_at IS NOT NULL",
        "uploads": "SELECT count(*) FROM attachments WHERE id = 31",
        "files": "SELECT count(*) FROM media_garbage",
        "settings": "SELECT count(*) FROM settings_due",
        "threads": "SELECT count(*) FROM threads WHERE id = 41 AND archived = 0",
    }
    return {name: server.database.reader.execute(query).fetchone()[0] for name, query in counts.items()}


async def test_what_falls_due_is_done_whenever_servers_are_killed(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    killer = Killer(monkeypatch)
    await chat_server.database.write(lambda connection: make_work(connection, chat_server, chat_world))
    seen, kills = [left_to_do(chat_server)], 0
    assert all(seen[0][name] for name in seen[0] if name != "files")
    while any(left_to_do(chat_server).values()):
        await chat_server.stop()
        await trio.sleep(10)
        killer.left, killer.killed = 3 + kills % 4, trio.Event()
        with trio.move_on_after(1_300):  # a start has writes of its own, after which it may be killed
            await chat_server.start()
            await killer.killed.wait()
        kills += 1
        now = left_to_do(chat_server)
        # What is done stays done; files are noted down when their rows go.
        assert all(now[name] <= seen[-1][name] for name in now if name != "files"), (seen[-1], now)
        seen.append(now)
        assert kills < 40, now
    killer.left = None
    assert kills >= 5
    assert chat_server.database.reader.execute("SELECT body FROM user_settings").fetchall()
    (body,) = chat_server.database.reader.execute(
        "SELECT body FROM user_settings WHERE user_id = ?", (int(chat_world.carol.id),)
    ).fetchone()
    assert '"online"' in body
