"""Time-outs of accounts that are no members now: the rows of `kept_timeouts`. Times are Unix milliseconds."""

from __future__ import annotations

import sqlite3


def put(connection: sqlite3.Connection, guild_id: int, user_id: int, *, until: int, left_at: int) -> None:
    """Keep a time-out in place of one that is kept already."""
    connection.execute(
        """
        INSERT INTO kept_timeouts (guild_id, user_id, until, left_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (guild_id, user_id) DO UPDATE SET until = excluded.until, left_at = excluded.left_at
        """,
        (guild_id, user_id, until, left_at),
    )


def take(connection: sqlite3.Connection, guild_id: int, user_id: int) -> tuple[int, int] | None:
    """When the time-out ends and when its member left; it is kept no longer."""
    row = connection.execute(
        "DELETE FROM kept_timeouts WHERE guild_id = ? AND user_id = ? RETURNING until, left_at", (guild_id, user_id)
    ).fetchone()
    return None if row is None else (row[0], row[1])


def delete_over(connection: sqlite3.Connection, guild_id: int, now: int) -> None:
    """Forget the guild's time-outs that have ended."""
    connection.execute("DELETE FROM kept_timeouts WHERE guild_id = ? AND until <= ?", (guild_id, now))
