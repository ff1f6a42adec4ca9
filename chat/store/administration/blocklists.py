"""What is blocked on the instance: the rows of `blocklists`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class BlockedValue:
    """One row of `blocklists`. `value` is in the form under which it is compared; times are Unix milliseconds."""

    list: str
    value: str
    reason: str | None
    added_by: int | None
    added_at: int


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(BlockedValue))


def add(connection: sqlite3.Connection, blocked: BlockedValue) -> bool:
    """Add an entry; False when the list has the value already, whose entry stays as it is."""
    cursor = connection.execute(
        f"INSERT OR IGNORE INTO blocklists ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608 - our own names
        attrs.astuple(blocked),
    )
    return cursor.rowcount > 0


def remove(connection: sqlite3.Connection, list_name: str, value: str) -> bool:
    """Take an entry away; whether there was one."""
    return connection.execute("DELETE FROM blocklists WHERE list = ? AND value = ?", (list_name, value)).rowcount > 0


def find(connection: sqlite3.Connection, list_name: str, value: str) -> BlockedValue | None:
    """The entry with this value."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM blocklists WHERE list = ? AND value = ?",  # noqa: S608
        (list_name, value),
    ).fetchone()
    return None if row is None else BlockedValue(*row)


def of_list(connection: sqlite3.Connection, list_name: str, after: str, limit: int) -> list[BlockedValue]:
    """Up to `limit` entries of a list in order of their values, those above `after`."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM blocklists WHERE list = ? AND value > ? ORDER BY value LIMIT ?",  # noqa: S608
        (list_name, after, limit),
    )
    return [BlockedValue(*row) for row in rows]


def count(connection: sqlite3.Connection, list_name: str) -> int:
    """How many entries a list has."""
    (number,) = connection.execute("SELECT count(*) FROM blocklists WHERE list = ?", (list_name,)).fetchone()
    return int(number)


def values_of(connection: sqlite3.Connection, list_name: str) -> Sequence[str]:
    """Every value of a list."""
    return [value for (value,) in connection.execute("SELECT value FROM blocklists WHERE list = ?", (list_name,))]
