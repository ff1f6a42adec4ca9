"""Calls that are going on: the rows of `active_calls`."""

from __future__ import annotations

import sqlite3


def insert(connection: sqlite3.Connection, channel_id: int, message_id: int) -> bool:
    """A call begins; False, and nothing changes, where one is going on."""
    cursor = connection.execute(
        "INSERT INTO active_calls (channel_id, message_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (channel_id, message_id),
    )
    return cursor.rowcount > 0


def delete(connection: sqlite3.Connection, channel_id: int, message_id: int) -> None:
    """The call that this message tells of is over."""
    connection.execute("DELETE FROM active_calls WHERE channel_id = ? AND message_id = ?", (channel_id, message_id))


def every(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """Channel and message of every call."""
    return connection.execute("SELECT channel_id, message_id FROM active_calls ORDER BY channel_id").fetchall()
