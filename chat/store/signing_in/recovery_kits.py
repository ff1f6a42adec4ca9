"""Recovery kits: the rows of `recovery_kits`, one per account. The code is never stored, its SHA-256 is."""

from __future__ import annotations

import sqlite3

import attrs


@attrs.frozen
class RecoveryKit:
    """One row of `recovery_kits`; `created_at` is Unix milliseconds."""

    user_id: int
    code_hash: bytes = attrs.field(repr=False)
    created_at: int


def put(connection: sqlite3.Connection, kit: RecoveryKit) -> None:
    """Give the account a kit, in place of the one that it has."""
    connection.execute(
        "INSERT OR REPLACE INTO recovery_kits (user_id, code_hash, created_at) VALUES (?, ?, ?)",
        (kit.user_id, kit.code_hash, kit.created_at),
    )


def of_user(connection: sqlite3.Connection, user_id: int) -> RecoveryKit | None:
    """The account's kit."""
    row = connection.execute(
        "SELECT user_id, code_hash, created_at FROM recovery_kits WHERE user_id = ?", (user_id,)
    ).fetchone()
    return None if row is None else RecoveryKit(*row)


def delete(connection: sqlite3.Connection, user_id: int) -> None:
    """Make the account's kit useless, if it has one."""
    connection.execute("DELETE FROM recovery_kits WHERE user_id = ?", (user_id,))
