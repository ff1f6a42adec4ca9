"""Which steps of its authenticator an account has used up: the rows of `used_totp_codes`."""

from __future__ import annotations

import sqlite3


def use(connection: sqlite3.Connection, user_id: int, step: int, *, oldest: int) -> bool:
    """Use a step's code up; False when it was used before. The account's steps before `oldest` are forgotten: their
    codes are past."""
    connection.execute("DELETE FROM used_totp_codes WHERE user_id = ? AND step < ?", (user_id, oldest))
    cursor = connection.execute(
        "INSERT INTO used_totp_codes (user_id, step) VALUES (?, ?) ON CONFLICT DO NOTHING", (user_id, step)
    )
    return cursor.rowcount > 0
