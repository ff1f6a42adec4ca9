"""Secrets that mails carry: the rows of `email_tokens`. Only their SHA-256 is kept."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs


@attrs.frozen
class EmailToken:
    """One row of `email_tokens`. Times are Unix milliseconds; `kind` is that of the mail."""

    token_hash: bytes = attrs.field(repr=False)
    kind: str
    user_id: int
    email: str | None
    """The address that the token is about, as it was when the mail went out."""
    created_at: int
    expires_at: int


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(EmailToken))


def insert(connection: sqlite3.Connection, token: EmailToken) -> None:
    """Remember a token that goes out."""
    connection.execute(
        f"INSERT INTO email_tokens ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - the column names are our own
        attrs.astuple(token),
    )


def by_hash(connection: sqlite3.Connection, kind: str, token_hash: bytes) -> EmailToken | None:
    """The token of this kind with this hash, expired or not."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM email_tokens WHERE token_hash = ? AND kind = ?",  # noqa: S608
        (token_hash, kind),
    ).fetchone()
    return None if row is None else EmailToken(*row)


def issued_since(connection: sqlite3.Connection, kind: str, user_id: int, since: int) -> list[int]:
    """When tokens of this kind were made for the account, from a moment on, oldest first."""
    rows = connection.execute(
        """
        SELECT created_at FROM email_tokens
         WHERE user_id = ? AND kind = ? AND created_at > ?
         ORDER BY created_at
        """,
        (user_id, kind, since),
    )
    return [row[0] for row in rows]


def delete_of_user(connection: sqlite3.Connection, kind: str, user_id: int) -> None:
    """Make every token of this kind that the account was sent useless."""
    connection.execute("DELETE FROM email_tokens WHERE user_id = ? AND kind = ?", (user_id, kind))


def delete_expired(connection: sqlite3.Connection, now: int) -> None:
    """Forget tokens that have expired."""
    connection.execute("DELETE FROM email_tokens WHERE expires_at <= ?", (now,))
