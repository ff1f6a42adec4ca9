"""Words of which accounts want to hear as of a mention: the rows of `notification_words`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence


def of_user(connection: sqlite3.Connection, user_id: int) -> list[str]:
    """The account's words, in its order."""
    row = connection.execute("SELECT words FROM notification_words WHERE user_id = ?", (user_id,)).fetchone()
    return [] if row is None else list(json.loads(row[0]))


def of_users(connection: sqlite3.Connection, user_ids: Iterable[int]) -> dict[int, list[str]]:
    """The words of those of these accounts that have any."""
    rows = connection.execute(
        "SELECT user_id, words FROM notification_words WHERE user_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(user_ids)),),
    )
    return {user_id: json.loads(words) for user_id, words in rows}


def put(connection: sqlite3.Connection, user_id: int, words: Sequence[str]) -> None:
    """Replace the account's words by these. The account must exist."""
    if words:
        connection.execute(
            "INSERT INTO notification_words (user_id, words) VALUES (?, ?)"
            " ON CONFLICT (user_id) DO UPDATE SET words = excluded.words",
            (user_id, json.dumps(list(words))),
        )
    else:
        connection.execute("DELETE FROM notification_words WHERE user_id = ?", (user_id,))
