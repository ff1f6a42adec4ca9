"""Work that requests have begun and not finished: the rows of `errands`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from chat.classes import frozen


@frozen
class StoredErrand:
    id: int
    kind: str
    state: Mapping[str, Any]


def insert(connection: sqlite3.Connection, kind: str, state: Mapping[str, Any]) -> int:
    """Add an errand; its id."""
    cursor = connection.execute("INSERT INTO errands (kind, state) VALUES (?, ?)", (kind, json.dumps(state)))
    assert cursor.lastrowid is not None, "a row was inserted"  # noqa: S101
    return cursor.lastrowid


def put(connection: sqlite3.Connection, errand_id: int, state: Mapping[str, Any]) -> None:
    """Write down how far it has come."""
    connection.execute("UPDATE errands SET state = ? WHERE id = ?", (json.dumps(state), errand_id))


def delete(connection: sqlite3.Connection, errand_id: int) -> None:
    connection.execute("DELETE FROM errands WHERE id = ?", (errand_id,))


def by_id(connection: sqlite3.Connection, errand_id: int) -> StoredErrand | None:
    """One errand; None if it is done."""
    row = connection.execute("SELECT id, kind, state FROM errands WHERE id = ?", (errand_id,)).fetchone()
    return None if row is None else StoredErrand(row[0], row[1], json.loads(row[2]))


def ids(connection: sqlite3.Connection) -> list[int]:
    """Every errand, oldest first."""
    return [errand_id for (errand_id,) in connection.execute("SELECT id FROM errands ORDER BY id")]


def add_guild_accounts(connection: sqlite3.Connection, errand_id: int, guild_id: int) -> int:
    """Give the errand every account whose settings may know the guild, members now or once; how many there are."""
    return connection.execute(
        """
        INSERT INTO errand_accounts (errand_id, user_id)
        SELECT ?1, user_id FROM members WHERE guild_id = ?2
         UNION
        SELECT ?1, user_id FROM user_guild_settings WHERE guild_id = ?2
        """,
        (errand_id, guild_id),
    ).rowcount


def some_accounts(connection: sqlite3.Connection, errand_id: int, limit: int) -> list[int]:
    """Up to `limit` accounts whose turn is still to come."""
    rows = connection.execute(
        "SELECT user_id FROM errand_accounts WHERE errand_id = ? ORDER BY user_id LIMIT ?", (errand_id, limit)
    )
    return [user_id for (user_id,) in rows]


def forget_accounts(connection: sqlite3.Connection, errand_id: int, user_ids: Sequence[int]) -> None:
    """These accounts have had their turn."""
    connection.executemany(
        "DELETE FROM errand_accounts WHERE errand_id = ? AND user_id = ?",
        [(errand_id, user_id) for user_id in user_ids],
    )
