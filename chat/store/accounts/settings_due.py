"""Settings that change by themselves at a moment: the rows of `settings_due`."""

from __future__ import annotations

import sqlite3


def put(connection: sqlite3.Connection, user_id: int, setting: str, due_at: int | None) -> None:
    """The account's setting changes at this moment (Unix milliseconds), not at the one that was noted before; None: it
    stays as it is."""
    if due_at is None:
        connection.execute("DELETE FROM settings_due WHERE user_id = ? AND setting = ?", (user_id, setting))
        return
    connection.execute(
        """
        INSERT INTO settings_due (user_id, setting, due_at) VALUES (?, ?, ?)
            ON CONFLICT (user_id, setting) DO UPDATE SET due_at = excluded.due_at
        """,
        (user_id, setting, due_at),
    )


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the next setting changes (Unix milliseconds)."""
    row = connection.execute("SELECT min(due_at) FROM settings_due").fetchone()
    return None if row is None else row[0]


def due(connection: sqlite3.Connection, now_ms: int, limit: int) -> list[tuple[int, str]]:
    """Accounts and settings whose moment has come, the earliest first, at most `limit`."""
    return connection.execute(
        "SELECT user_id, setting FROM settings_due WHERE due_at <= ? ORDER BY due_at, user_id LIMIT ?", (now_ms, limit)
    ).fetchall()
