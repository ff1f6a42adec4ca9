"""Messages of which accounts want to be reminded: the rows of `reminders`."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class Reminder:
    """One row. Moments are Unix milliseconds; `told_at` is None until the reminder has fallen due."""

    user_id: int
    message_id: int
    channel_id: int
    remind_at: int
    told_at: int | None = None


_SELECT: Final = "SELECT user_id, message_id, channel_id, remind_at, told_at FROM reminders"


def of_user(connection: sqlite3.Connection, user_id: int) -> list[Reminder]:
    """The account's reminders by their moments, the earliest first."""
    rows = connection.execute(f"{_SELECT} WHERE user_id = ? ORDER BY remind_at, message_id", (user_id,))
    return [Reminder(*row) for row in rows]


def get(connection: sqlite3.Connection, user_id: int, message_id: int) -> Reminder | None:
    """The account's reminder of a message; None if missing."""
    row = connection.execute(f"{_SELECT} WHERE user_id = ? AND message_id = ?", (user_id, message_id)).fetchone()
    return None if row is None else Reminder(*row)


def put(connection: sqlite3.Connection, reminder: Reminder) -> None:
    """Write a reminder. It replaces the account's earlier one of the same message. The account must exist."""
    connection.execute(
        "INSERT OR REPLACE INTO reminders (user_id, message_id, channel_id, remind_at, told_at) VALUES (?, ?, ?, ?, ?)",
        attrs.astuple(reminder),
    )


def delete(connection: sqlite3.Connection, user_id: int, message_id: int) -> bool:
    """Remove one; False when there was none."""
    cursor = connection.execute("DELETE FROM reminders WHERE user_id = ? AND message_id = ?", (user_id, message_id))
    return cursor.rowcount > 0


def due(connection: sqlite3.Connection, now: int, limit: int) -> list[Reminder]:
    """The reminders whose time has come and that were not told, the earliest first."""
    rows = connection.execute(
        f"{_SELECT} WHERE told_at IS NULL AND remind_at <= ? ORDER BY remind_at LIMIT ?", (now, limit)
    )
    return [Reminder(*row) for row in rows]


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the next one falls due; None where none waits."""
    row = connection.execute("SELECT min(remind_at) FROM reminders WHERE told_at IS NULL").fetchone()
    return None if row is None else row[0]
