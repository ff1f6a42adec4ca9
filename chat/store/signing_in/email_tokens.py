"""Secrets that mails carry: the rows of `email_tokens`. Only their SHA-256 is kept."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.store.accounts.accounts import email_key


@attrs.frozen
class EmailToken:
    """One row of `email_tokens`. Times are Unix milliseconds; `kind` is that of the mail."""

    token_hash: bytes = attrs.field(repr=False)
    kind: str
    user_id: int
    email: str | None
    """The address that the token is about, as it was when the mail went out; None for one that no mail carries."""
    created_at: int
    expires_at: int
    totp_hash: bytes | None = attrs.field(default=None, repr=False)
    """SHA-256 of the account's sealed TOTP secret at that time, for the tokens that need to know it."""


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(EmailToken))


def insert(connection: sqlite3.Connection, token: EmailToken) -> None:
    """Remember a token that goes out, and forget those that have expired."""
    connection.execute("DELETE FROM email_tokens WHERE expires_at <= ?", (token.created_at,))
    key = None if token.email is None else email_key(token.email)
    connection.execute(
        f"INSERT INTO email_tokens ({_COLUMNS}, email_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
        (*attrs.astuple(token), key),
    )


def by_hash(connection: sqlite3.Connection, kind: str, token_hash: bytes) -> EmailToken | None:
    """The token of this kind with this hash, expired or not."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM email_tokens WHERE token_hash = ? AND kind = ?",  # noqa: S608
        (token_hash, kind),
    ).fetchone()
    return None if row is None else EmailToken(*row)


def sent_since(connection: sqlite3.Connection, kind: str, email: str, since: int) -> list[int]:
    """When tokens of this kind were mailed to an address, in any letter case, from a moment on, oldest first."""
    rows = connection.execute(
        """
        SELECT created_at FROM email_tokens
         WHERE email_key = ? AND kind = ? AND created_at > ?
         ORDER BY created_at
        """,
        (email_key(email), kind, since),
    )
    return [row[0] for row in rows]


def accounts_of(connection: sqlite3.Connection, kind: str, email: str, now: int) -> set[int]:
    """The accounts that have an unexpired token of this kind about an address, in any letter case."""
    rows = connection.execute(
        "SELECT user_id FROM email_tokens WHERE email_key = ? AND kind = ? AND expires_at > ?",
        (email_key(email), kind, now),
    )
    return {row[0] for row in rows}


def delete_of_user(connection: sqlite3.Connection, kind: str, user_id: int, since: int = 0) -> None:
    """Make the tokens of this kind that the account was sent, from a moment on, useless."""
    connection.execute(
        "DELETE FROM email_tokens WHERE user_id = ? AND kind = ? AND created_at >= ?", (user_id, kind, since)
    )
