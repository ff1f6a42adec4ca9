"""Backup codes of accounts: the rows of `backup_codes`. The codes are sealed; what opens them is not here."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs


@attrs.frozen
class BackupCode:
    """One row of `backup_codes`. Times are Unix milliseconds."""

    user_id: int
    position: int
    sealed_code: bytes = attrs.field(repr=False)
    consumed_at: int | None = None


def replace_all(connection: sqlite3.Connection, user_id: int, sealed_codes: Sequence[bytes]) -> None:
    """Give the account these codes, unused, in the place of all that it had."""
    delete_of_user(connection, user_id)
    connection.executemany(
        "INSERT INTO backup_codes (user_id, position, sealed_code) VALUES (?, ?, ?)",
        [(user_id, position, sealed) for position, sealed in enumerate(sealed_codes)],
    )


def of_user(connection: sqlite3.Connection, user_id: int) -> list[BackupCode]:
    """The account's codes, used ones included, in their order."""
    rows = connection.execute(
        """
        SELECT user_id, position, sealed_code, consumed_at
          FROM backup_codes
         WHERE user_id = ?
         ORDER BY position
        """,
        (user_id,),
    )
    return [BackupCode(*row) for row in rows]


def is_one_left(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether the account has an unused code."""
    row = connection.execute(
        "SELECT 1 FROM backup_codes WHERE user_id = ? AND consumed_at IS NULL LIMIT 1", (user_id,)
    ).fetchone()
    return row is not None


def consume(connection: sqlite3.Connection, user_id: int, position: int, now: int) -> bool:
    """Use a code up; False when it was used before."""
    cursor = connection.execute(
        "UPDATE backup_codes SET consumed_at = ? WHERE user_id = ? AND position = ? AND consumed_at IS NULL",
        (now, user_id, position),
    )
    return cursor.rowcount > 0


def delete_of_user(connection: sqlite3.Connection, user_id: int) -> None:
    """Forget the account's codes."""
    connection.execute("DELETE FROM backup_codes WHERE user_id = ?", (user_id,))
