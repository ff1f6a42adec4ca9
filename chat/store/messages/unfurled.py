"""Embeds of links, kept for a while: the rows of `unfurled`."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Final

from chat.classes import frozen

ROWS_MAXIMUM: Final = 10_000
"""Links that are remembered; those that expire first go when there are more."""

PURGED_AT_ONCE: Final = 500


@frozen
class Unfurled:
    """The embed of a link; None for a link that shows none."""

    embed: dict[str, object] | None


def find(connection: sqlite3.Connection, url: str, now: int) -> Unfurled | None:
    """What is stored about a link."""
    row = connection.execute(
        "SELECT embed FROM unfurled WHERE url_hash = ? AND expires_at > ?", (_hash(url), now)
    ).fetchone()
    return None if row is None else Unfurled(None if row[0] is None else json.loads(row[0]))


def store(connection: sqlite3.Connection, url: str, embed: Mapping[str, object] | None, expires_at: int) -> None:
    """Remember what is shown of a link."""
    connection.execute(
        "INSERT OR REPLACE INTO unfurled (url_hash, embed, expires_at) VALUES (?, ?, ?)",
        (_hash(url), None if embed is None else json.dumps(embed), expires_at),
    )


def delete_expired(connection: sqlite3.Connection, now: int) -> int:
    """Delete rows that have expired or are beyond ROWS_MAXIMUM, at most PURGED_AT_ONCE; returns how many."""
    surplus = connection.execute("SELECT count(*) FROM unfurled").fetchone()[0] - ROWS_MAXIMUM
    cursor = connection.execute(
        """
        DELETE FROM unfurled WHERE url_hash IN (
            SELECT url_hash FROM unfurled WHERE expires_at <= ? LIMIT ?
        )
        """,
        (now, PURGED_AT_ONCE),
    )
    if cursor.rowcount > 0 or surplus <= 0:
        return cursor.rowcount
    cursor = connection.execute(
        """
        DELETE FROM unfurled WHERE url_hash IN (
            SELECT url_hash FROM unfurled ORDER BY expires_at LIMIT ?
        )
        """,
        (min(surplus, PURGED_AT_ONCE),),
    )
    return cursor.rowcount


def _hash(url: str) -> bytes:
    return hashlib.sha256(url.encode()).digest()
