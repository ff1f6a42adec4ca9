"""Codes of accounts that count once: backup codes (sealed; what opens them is not here), the steps of an authenticator
that are used up, and recovery kits, one per account (of the code its SHA-256): the rows of `backup_codes`,
`used_totp_codes` and `recovery_kits`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from chat.classes import frozen


@frozen
class BackupCode:
    """One row of `backup_codes`. Times are Unix milliseconds."""

    user_id: int
    position: int
    sealed_code: bytes = attrs.field(repr=False)
    consumed_at: int | None = None


def replace_backup_codes(connection: sqlite3.Connection, user_id: int, sealed_codes: Sequence[bytes]) -> None:
    """Replace all of the account's backup codes by these, none of which is used yet."""
    delete_backup_codes(connection, user_id)
    connection.executemany(
        "INSERT INTO backup_codes (user_id, position, sealed_code) VALUES (?, ?, ?)",
        [(user_id, position, sealed) for position, sealed in enumerate(sealed_codes)],
    )


def backup_codes_of(connection: sqlite3.Connection, user_id: int) -> list[BackupCode]:
    """The account's codes, used ones included, in their order."""
    rows = connection.execute(
        "SELECT user_id, position, sealed_code, consumed_at FROM backup_codes WHERE user_id = ? ORDER BY position",
        (user_id,),
    )
    return [BackupCode(*row) for row in rows]


def is_backup_code_left(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether the account has an unused code."""
    left = "SELECT 1 FROM backup_codes WHERE user_id = ? AND consumed_at IS NULL LIMIT 1"
    return connection.execute(left, (user_id,)).fetchone() is not None


def consume_backup_code(connection: sqlite3.Connection, user_id: int, position: int, now: int) -> bool:
    """Use a code up; False when it was used before."""
    cursor = connection.execute(
        "UPDATE backup_codes SET consumed_at = ? WHERE user_id = ? AND position = ? AND consumed_at IS NULL",
        (now, user_id, position),
    )
    return cursor.rowcount > 0


def delete_backup_codes(connection: sqlite3.Connection, user_id: int) -> None:
    """Delete the account's backup codes."""
    connection.execute("DELETE FROM backup_codes WHERE user_id = ?", (user_id,))


def use_totp_step(connection: sqlite3.Connection, user_id: int, step: int, *, oldest: int) -> bool:
    """Use a step's code up; False when it was used before. The account's steps before `oldest` are forgotten: their
    codes are past."""
    connection.execute("DELETE FROM used_totp_codes WHERE user_id = ? AND step < ?", (user_id, oldest))
    cursor = connection.execute(
        "INSERT INTO used_totp_codes (user_id, step) VALUES (?, ?) ON CONFLICT DO NOTHING", (user_id, step)
    )
    return cursor.rowcount > 0


@frozen
class RecoveryKit:
    """One row of `recovery_kits`; `created_at` is Unix milliseconds."""

    user_id: int
    code_hash: bytes = attrs.field(repr=False)
    created_at: int


def put_recovery_kit(connection: sqlite3.Connection, kit: RecoveryKit) -> None:
    """Give the account a kit, in place of the one that it has."""
    connection.execute(
        "INSERT OR REPLACE INTO recovery_kits (user_id, code_hash, created_at) VALUES (?, ?, ?)", attrs.astuple(kit)
    )


def recovery_kit_of(connection: sqlite3.Connection, user_id: int) -> RecoveryKit | None:
    """The account's kit."""
    row = connection.execute(
        "SELECT user_id, code_hash, created_at FROM recovery_kits WHERE user_id = ?", (user_id,)
    ).fetchone()
    return None if row is None else RecoveryKit(*row)


def delete_recovery_kit(connection: sqlite3.Connection, user_id: int) -> None:
    """Make the account's kit useless, if it has one."""
    connection.execute("DELETE FROM recovery_kits WHERE user_id = ?", (user_id,))
