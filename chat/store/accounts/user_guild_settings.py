"""An account's settings for one guild: the rows of `user_guild_settings`. Guild 0 stands for direct messages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any


def of_user(connection: sqlite3.Connection, user_id: int) -> list[dict[str, Any]]:
    """The stored settings objects of the account (accounts.md, User guild settings), direct messages first, then by
    guild."""
    rows = connection.execute("SELECT body FROM user_guild_settings WHERE user_id = ? ORDER BY guild_id", (user_id,))
    return [json.loads(body) for (body,) in rows]


def get(connection: sqlite3.Connection, user_id: int, guild_id: int) -> dict[str, Any] | None:
    """The stored settings object of one guild."""
    row = connection.execute(
        "SELECT body FROM user_guild_settings WHERE user_id = ? AND guild_id = ?", (user_id, guild_id)
    ).fetchone()
    return None if row is None else json.loads(row[0])


def of_users(connection: sqlite3.Connection, user_ids: Sequence[int], guild_id: int) -> dict[int, dict[str, Any]]:
    """The stored settings objects of several accounts for one guild; those who never changed any are missing."""
    rows = connection.execute(
        """
        SELECT user_id, body FROM user_guild_settings
         WHERE user_id IN (SELECT value FROM json_each(?)) AND guild_id = ?
        """,
        (json.dumps(list(user_ids)), guild_id),
    )
    return {user_id: json.loads(body) for user_id, body in rows}


def delete(connection: sqlite3.Connection, user_id: int, guild_id: int) -> None:
    """Forget the account's settings for one guild."""
    connection.execute("DELETE FROM user_guild_settings WHERE user_id = ? AND guild_id = ?", (user_id, guild_id))


def put(connection: sqlite3.Connection, user_id: int, guild_id: int, body: dict[str, Any]) -> None:
    """Store the settings object of one guild in place of what was there."""
    connection.execute(
        """
        INSERT INTO user_guild_settings (user_id, guild_id, body) VALUES (?, ?, ?)
            ON CONFLICT (user_id, guild_id) DO UPDATE SET body = excluded.body
        """,
        (user_id, guild_id, json.dumps(body)),
    )
