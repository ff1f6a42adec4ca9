"""Sign-ins: the rows of `auth_sessions`. The token itself is never stored, its SHA-256 is the key."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

import attrs

from chat.store.accounts import Account, qualified_columns


@attrs.frozen
class AuthSession:
    """One row of `auth_sessions`. Times are Unix milliseconds."""

    token_hash: bytes = attrs.field(repr=False)
    user_id: int
    created_at: int
    last_used_at: int
    address: str | None = None
    user_agent: str | None = None
    client_os: str | None = None
    client_platform: str | None = None


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(AuthSession))
_OF_USER: Final = f"SELECT {_COLUMNS} FROM auth_sessions WHERE user_id = ? ORDER BY last_used_at DESC, token_hash"  # noqa: S608
_ACCOUNT: Final = f"""
    SELECT {qualified_columns("users")}
      FROM auth_sessions
      JOIN users ON users.id = auth_sessions.user_id
     WHERE auth_sessions.token_hash = ?
"""  # noqa: S608 - the column names are our own


def account_of(connection: sqlite3.Connection, token_hash: bytes) -> Account | None:
    """The account that signed in with the token of this hash."""
    row = connection.execute(_ACCOUNT, (token_hash,)).fetchone()
    return None if row is None else Account(*row)


def of_user(connection: sqlite3.Connection, user_id: int) -> list[AuthSession]:
    """The account's sign-ins, the most recently used first."""
    return [AuthSession(*row) for row in connection.execute(_OF_USER, (user_id,))]


def insert(connection: sqlite3.Connection, session: AuthSession) -> None:
    """Record a sign-in."""
    connection.execute(
        f"INSERT INTO auth_sessions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        attrs.astuple(session),
    )


def delete(connection: sqlite3.Connection, user_id: int, token_hashes: Iterable[bytes]) -> list[bytes]:
    """End those of the account's sign-ins that are named; returns the hashes of those that there were."""
    return [
        token_hash
        for token_hash in token_hashes
        if connection.execute(
            "DELETE FROM auth_sessions WHERE token_hash = ? AND user_id = ?", (token_hash, user_id)
        ).rowcount
    ]


def delete_of_user(connection: sqlite3.Connection, user_id: int) -> int:
    """End every sign-in of the account; returns how many there were."""
    return connection.execute("DELETE FROM auth_sessions WHERE user_id = ?", (user_id,)).rowcount


def touch(connection: sqlite3.Connection, token_hash: bytes, used_at: int, address: str) -> None:
    """Note a use at this moment from this address; a sign-in that has ended stays ended."""
    connection.execute(
        "UPDATE auth_sessions SET last_used_at = ?, address = ? WHERE token_hash = ?", (used_at, address, token_hash)
    )
