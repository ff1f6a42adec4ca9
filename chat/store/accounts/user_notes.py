"""What accounts noted of each other: the rows of `user_notes`."""

from __future__ import annotations

import sqlite3


def of_user(connection: sqlite3.Connection, user_id: int) -> list[tuple[int, str]]:
    """The account's notes, by the ids of those whom they are about."""
    rows = connection.execute("SELECT target_id, note FROM user_notes WHERE user_id = ? ORDER BY target_id", (user_id,))
    return list(rows)


def by_id(connection: sqlite3.Connection, user_id: int, target_id: int) -> str | None:
    """The account's note about another one."""
    row = connection.execute(
        "SELECT note FROM user_notes WHERE user_id = ? AND target_id = ?", (user_id, target_id)
    ).fetchone()
    return None if row is None else row[0]


def count(connection: sqlite3.Connection, user_id: int) -> int:
    """How many notes the account has."""
    row = connection.execute("SELECT count(*) FROM user_notes WHERE user_id = ?", (user_id,)).fetchone()
    return int(row[0])


def put(connection: sqlite3.Connection, user_id: int, target_id: int, note: str) -> None:
    """Note something about an account in place of what was noted."""
    connection.execute(
        """
        INSERT INTO user_notes (user_id, target_id, note) VALUES (?, ?, ?)
            ON CONFLICT (user_id, target_id) DO UPDATE SET note = excluded.note
        """,
        (user_id, target_id, note),
    )


def delete(connection: sqlite3.Connection, user_id: int, target_id: int) -> None:
    """Take a note away."""
    connection.execute("DELETE FROM user_notes WHERE user_id = ? AND target_id = ?", (user_id, target_id))
