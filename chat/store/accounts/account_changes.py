"""What addresses and tags accounts have had: the rows of `account_changes` (administration.md, Change log).

A row's number is its id on the wire. The store gives numbers from 1 on; rows that were put in from elsewhere without an
id have one below that.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs


@attrs.frozen
class AccountChange:
    """One row of `account_changes`, without its number, which the store gives."""

    user_id: int
    field: str
    """`email` or `service_tag`."""
    old_value: str | None
    new_value: str | None
    reason: str | None
    actor_user_id: int | None
    """The administrator; None where the holder did it."""
    changed_at: int


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(AccountChange))


def insert(connection: sqlite3.Connection, change: AccountChange) -> None:
    """Note a change."""
    connection.execute(
        f"INSERT INTO account_changes ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
        attrs.astuple(change),
    )


def page_of_user(
    connection: sqlite3.Connection, user_id: int, limit: int, before_id: int | None
) -> list[tuple[int, AccountChange]]:
    """Up to `limit` changes of an account, the newest first, each with its number; those before `before_id`."""
    rows = connection.execute(
        f"""
        SELECT id, {_COLUMNS} FROM account_changes
         WHERE user_id = ? AND (? IS NULL OR id < ?)
         ORDER BY id DESC
         LIMIT ?
        """,  # noqa: S608
        (user_id, before_id, before_id, limit),
    )
    return [(number, AccountChange(*rest)) for number, *rest in rows]
