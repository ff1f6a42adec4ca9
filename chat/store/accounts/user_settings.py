"""An account's settings: the rows of `user_settings`. Only what differs from the defaults need be stored."""

from __future__ import annotations

import json
import sqlite3
from typing import Any


def of_user(connection: sqlite3.Connection, user_id: int) -> dict[str, Any]:
    """What is stored of the account's settings; empty when it never changed any."""
    row = connection.execute("SELECT body FROM user_settings WHERE user_id = ?", (user_id,)).fetchone()
    return {} if row is None else json.loads(row[0])


def put(connection: sqlite3.Connection, user_id: int, body: dict[str, Any]) -> None:
    """Store the account's settings in place of what was there."""
    connection.execute(
        """
        INSERT INTO user_settings (user_id, body) VALUES (?, ?)
            ON CONFLICT (user_id) DO UPDATE SET body = excluded.body
        """,
        (user_id, json.dumps(body)),
    )
