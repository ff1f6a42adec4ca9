"""Accounts that changed in a way that callers are judged by: the rows of `caller_changes`, which the schema writes."""

from __future__ import annotations

import sqlite3


def newest(connection: sqlite3.Connection) -> int:
    """The number of the last change; 0 before the first."""
    [number] = connection.execute("SELECT coalesce(max(number), 0) FROM caller_changes").fetchone()
    return int(number)


def after(connection: sqlite3.Connection, number: int) -> list[tuple[int, int]]:
    """The changes behind the one with this number, each with its own number and the account's id, in order. One that is
    not the next to `number` says that others between are forgotten."""
    return connection.execute(
        "SELECT number, user_id FROM caller_changes WHERE number > ? ORDER BY number", (number,)
    ).fetchall()
