"""Accounts that are to be erased at a date: the rows of `account_deletions`."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class AccountDeletion:
    """One row of `account_deletions`. Times are Unix milliseconds."""

    user_id: int
    due_at: int
    reason_code: int
    """Why (administration.md, Scheduled deletion)."""
    public_reason: str | None
    audit_log_reason: str | None
    scheduled_by: int | None
    """The administrator who scheduled it; None if the holder asked for it."""
    scheduled_at: int
    erasure_started_at: int | None = None
    """Once it is set, the erasure cannot be taken back."""
    erased_at: int | None = None
    """When the last of the account's data was deleted; the row stays and says why."""


_NAMES: Final = tuple(field.name for field in attrs.fields(AccountDeletion))
_COLUMNS: Final = ", ".join(_NAMES)


def put(connection: sqlite3.Connection, deletion: AccountDeletion) -> None:
    """Schedule an erasure, in place of any that is scheduled for the account."""
    connection.execute(
        f"INSERT OR REPLACE INTO account_deletions ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})",  # noqa: S608
        attrs.astuple(deletion),
    )


def of_user(connection: sqlite3.Connection, user_id: int) -> AccountDeletion | None:
    """The deletion that is scheduled for the account; None if there is none."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM account_deletions WHERE user_id = ?",  # noqa: S608 - the column names are our own
        (user_id,),
    ).fetchone()
    return None if row is None else AccountDeletion(*row)


def is_ordered(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether an administrator has scheduled the account's erasure: until then it cannot sign in."""
    ordered = "SELECT 1 FROM account_deletions WHERE user_id = ? AND scheduled_by IS NOT NULL"
    return connection.execute(ordered, (user_id,)).fetchone() is not None


def cancel_own(connection: sqlite3.Connection, user_id: int) -> bool:
    """Take back the erasure that the holder asked for; whether there was one. An administrator's stands."""
    cursor = connection.execute(
        "DELETE FROM account_deletions WHERE user_id = ? AND scheduled_by IS NULL AND erasure_started_at IS NULL",
        (user_id,),
    )
    return cursor.rowcount > 0


def delete(connection: sqlite3.Connection, user_id: int) -> None:
    """Take back what is scheduled for the account."""
    connection.execute("DELETE FROM account_deletions WHERE user_id = ?", (user_id,))


def due(connection: sqlite3.Connection, now_ms: int, *, begun_too: bool) -> list[AccountDeletion]:
    """The erasures whose moment has come, the longest overdue first; `begun_too` with those that were begun and not
    finished."""
    rows = connection.execute(
        f"""
        SELECT {_COLUMNS}
          FROM account_deletions
         WHERE erased_at IS NULL AND due_at <= ? AND (? OR erasure_started_at IS NULL)
         ORDER BY due_at
        """,  # noqa: S608
        (now_ms, begun_too),
    )
    return [AccountDeletion(*row) for row in rows]


def next_due(connection: sqlite3.Connection, now: int) -> int | None:
    """When, after `now`, the next erasure that has not begun is due (Unix milliseconds)."""
    row = connection.execute(
        """
        SELECT min(due_at) FROM account_deletions
         WHERE erased_at IS NULL AND erasure_started_at IS NULL AND due_at > ?
        """,
        (now,),
    ).fetchone()
    return None if row is None else row[0]
