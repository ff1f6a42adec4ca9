"""Registrations that an administrator has not approved: the rows of `pending_registrations`."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class PendingRegistration:
    """One row of `pending_registrations`. Times are Unix milliseconds."""

    user_id: int
    address: str | None
    created_at: int
    rejected_at: int | None = None
    """When an administrator rejected it; the account stays, so that nobody else can take its name and address."""


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(PendingRegistration))


def insert(connection: sqlite3.Connection, registration: PendingRegistration) -> None:
    """Let an account wait for approval."""
    connection.execute(
        f"INSERT INTO pending_registrations ({_COLUMNS}) VALUES (?, ?, ?, ?)",  # noqa: S608 - our own column names
        attrs.astuple(registration),
    )


def of_user(connection: sqlite3.Connection, user_id: int) -> PendingRegistration | None:
    """The account's registration, if it is not approved."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM pending_registrations WHERE user_id = ?",  # noqa: S608
        (user_id,),
    ).fetchone()
    return None if row is None else PendingRegistration(*row)


def waiting(connection: sqlite3.Connection, limit: int = -1) -> list[PendingRegistration]:
    """The registrations that are not decided, the oldest first; at most `limit` unless that is negative."""
    rows = connection.execute(
        f"""
        SELECT {_COLUMNS} FROM pending_registrations WHERE rejected_at IS NULL ORDER BY created_at, user_id LIMIT ?
        """,  # noqa: S608
        (limit,),
    )
    return [PendingRegistration(*row) for row in rows]


def approve(connection: sqlite3.Connection, user_id: int) -> bool:
    """The account waits no longer; False when it did not."""
    return connection.execute("DELETE FROM pending_registrations WHERE user_id = ?", (user_id,)).rowcount > 0


def reject(connection: sqlite3.Connection, user_id: int, now: int) -> bool:
    """The account is turned down; False when it was not waiting."""
    cursor = connection.execute(
        "UPDATE pending_registrations SET rejected_at = ? WHERE user_id = ? AND rejected_at IS NULL", (now, user_id)
    )
    return cursor.rowcount > 0
