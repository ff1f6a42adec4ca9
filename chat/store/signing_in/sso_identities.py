"""Which account somebody of an OpenID Connect provider has here: the rows of `sso_identities`."""

from __future__ import annotations

import sqlite3

from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account


def account_of(connection: sqlite3.Connection, issuer: str, subject: str) -> Account | None:
    """The account of the provider's subject, deleted ones included."""
    row = connection.execute(
        "SELECT user_id FROM sso_identities WHERE issuer = ? AND subject = ?", (issuer, subject)
    ).fetchone()
    return None if row is None else accounts.by_id(connection, row[0])


def has_another(connection: sqlite3.Connection, issuer: str, subject: str, user_id: int) -> bool:
    """Whether the account belongs to another of the provider's subjects."""
    row = connection.execute(
        "SELECT 1 FROM sso_identities WHERE user_id = ? AND issuer = ? AND subject != ? LIMIT 1",
        (user_id, issuer, subject),
    ).fetchone()
    return row is not None


def put(connection: sqlite3.Connection, issuer: str, subject: str, user_id: int, now: int) -> None:
    """The provider's subject has this account from now on, in place of any other."""
    connection.execute(
        """
        INSERT INTO sso_identities (issuer, subject, user_id, created_at)
        VALUES (?, ?, ?, ?)
        ON CONFLICT (issuer, subject) DO UPDATE SET user_id = excluded.user_id, created_at = excluded.created_at
         WHERE user_id != excluded.user_id
        """,
        (issuer, subject, user_id, now),
    )
