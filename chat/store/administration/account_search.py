"""Finding accounts by the words of their names: the index `account_search`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from chat.store.connections import beginning_with

_NOBODY: Final = -1
"""The snowflake of nobody."""


def found(
    connection: sqlite3.Connection, text: str, limit: int, offset: int, *, without: int = _NOBODY
) -> tuple[Sequence[int], int]:
    """Accounts whose names have words that begin with those of the text, the newest first, and how many there are in
    all. A blank text finds every account. `without` is left out of the list, though it counts."""
    if not text.strip():
        (total,) = connection.execute("SELECT count(*) FROM users").fetchone()
        rows = connection.execute("SELECT id FROM users ORDER BY id DESC LIMIT ? OFFSET ?", (limit, offset))
        return [user_id for (user_id,) in rows], int(total)
    wanted = beginning_with(text)
    if wanted is None:
        return [], 0
    (total,) = connection.execute(
        "SELECT count(*) FROM account_search WHERE account_search MATCH ?", (wanted,)
    ).fetchone()
    rows = connection.execute(
        "SELECT rowid FROM account_search WHERE account_search MATCH ? AND rowid <> ?"
        " ORDER BY rowid DESC LIMIT ? OFFSET ?",
        (wanted, without, limit, offset),
    )
    return [user_id for (user_id,) in rows], int(total)


def finds(connection: sqlite3.Connection, text: str, user_id: int) -> bool:
    """Whether the text finds this account."""
    wanted = beginning_with(text)
    if wanted is None:
        return False
    row = connection.execute(
        "SELECT 1 FROM account_search WHERE account_search MATCH ? AND rowid = ?", (wanted, user_id)
    ).fetchone()
    return row is not None
