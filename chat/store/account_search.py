"""Finding accounts by the words of their names: the index `account_search`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import Final

WORDS_MAXIMUM: Final = 32
"""Words of one query; further ones are passed over."""

_WORD: Final = re.compile(r"\w", re.UNICODE)


def found(connection: sqlite3.Connection, text: str, limit: int, offset: int) -> tuple[Sequence[int], int]:
    """Accounts whose names have words that begin with those of the text, the newest first, and how many there are in
    all. A blank text finds every account."""
    if not text.strip():
        (total,) = connection.execute("SELECT count(*) FROM users").fetchone()
        rows = connection.execute("SELECT id FROM users ORDER BY id DESC LIMIT ? OFFSET ?", (limit, offset))
        return [user_id for (user_id,) in rows], int(total)
    wanted = _match(text)
    if wanted is None:
        return [], 0
    (total,) = connection.execute(
        "SELECT count(*) FROM account_search WHERE account_search MATCH ?", (wanted,)
    ).fetchone()
    rows = connection.execute(
        "SELECT rowid FROM account_search WHERE account_search MATCH ? ORDER BY rowid DESC LIMIT ? OFFSET ?",
        (wanted, limit, offset),
    )
    return [user_id for (user_id,) in rows], int(total)


def finds(connection: sqlite3.Connection, text: str, user_id: int) -> bool:
    """Whether the text finds this account."""
    wanted = _match(text)
    if wanted is None:
        return False
    row = connection.execute(
        "SELECT 1 FROM account_search WHERE account_search MATCH ? AND rowid = ?", (wanted, user_id)
    ).fetchone()
    return row is not None


def _match(text: str) -> str | None:
    """The text in the words of the index's own language, in which nothing of it can mean anything else; None where
    there is nothing in it to look for."""
    words = [word for word in text.replace("\0", " ").split() if _WORD.search(word)]
    if not words:
        return None
    return " ".join('"' + word.replace('"', '""') + '"*' for word in words[:WORDS_MAXIMUM])
