"""What the instance remembers about itself: a few named texts (the seeded world's marker, the instance's identity)."""

from __future__ import annotations

import sqlite3
from typing import Final

TOUCHED: Final = "touched"
"""A bit that changes whenever somebody wants to know whether the database can be written."""

CONFIGURED: Final = "setup_configured"
"""The key of the mark that the instance is set up. Triggers on `users.acls` write it."""


def value_of(connection: sqlite3.Connection, key: str) -> str | None:
    """The text stored under `key`; None when there is none."""
    row = connection.execute("SELECT value FROM instance WHERE key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def set_value(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Store `value` under `key`, in place of what was there."""
    connection.execute(
        """
        INSERT INTO instance (key, value) VALUES (?, ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
        """,
        (key, value),
    )


def touch(connection: sqlite3.Connection) -> None:
    """Write something that was not there before."""
    set_value(connection, TOUCHED, "0" if value_of(connection, TOUCHED) == "1" else "1")


def remove_value(connection: sqlite3.Connection, key: str) -> None:
    """Forget what is stored under `key`."""
    connection.execute("DELETE FROM instance WHERE key = ?", (key,))
