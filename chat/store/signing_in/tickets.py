"""Short-lived secrets of every kind, and those that mails carry: the rows of `tickets` and `email_tokens`. Of a secret
its SHA-256 is stored, which is the key.

A ticket is a promise with a date: the one who shows the secret in time gets on with what `body` describes. One table
serves login tickets, WebAuthn challenges, authorisation codes and their like, so that expiry and single use are right
once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.store.accounts.accounts import email_key

PURGED_AT_ONCE: Final = 100
"""Expired rows that one insertion clears away: more than it adds, so the table shrinks back by itself."""


def _members(value: str | Mapping[str, Any]) -> dict[str, object]:
    """A column that holds a JSON object, or such an object itself."""
    return json.loads(value) if isinstance(value, str) else dict(value)


@frozen
class Ticket:
    """One row of `tickets`. Times are Unix milliseconds."""

    secret_hash: bytes = attrs.field(repr=False)
    kind: str
    user_id: int | None
    body: dict[str, Any] = attrs.field(converter=_members, repr=False)  # each kind of ticket has members of its own
    created_at: int
    expires_at: int
    attempts: int = 0


_COLUMNS: Final = "secret_hash, kind, user_id, body, created_at, expires_at, attempts"
_VALID: Final = "secret_hash = ? AND kind = ? AND expires_at > ?"
_FIND: Final = f"SELECT {_COLUMNS} FROM tickets WHERE {_VALID}"  # noqa: S608 - all of it is our own
_TAKE: Final = f"DELETE FROM tickets WHERE {_VALID} RETURNING {_COLUMNS}"  # noqa: S608


def insert(connection: sqlite3.Connection, ticket: Ticket) -> None:
    """Remember a ticket, and forget some that have expired."""
    connection.execute(
        """
        DELETE FROM tickets
         WHERE secret_hash IN (SELECT secret_hash FROM tickets WHERE expires_at <= ? LIMIT ?)
        """,
        (ticket.created_at, PURGED_AT_ONCE),
    )
    connection.execute(
        f"INSERT INTO tickets ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        tuple({**attrs.asdict(ticket, recurse=False), "body": json.dumps(ticket.body)}.values()),
    )


def find(connection: sqlite3.Connection, kind: str, secret_hash: bytes, now: int) -> Ticket | None:
    """The ticket of this kind with this hash that has not expired."""
    row = connection.execute(_FIND, (secret_hash, kind, now)).fetchone()
    return None if row is None else Ticket(*row)


def take(connection: sqlite3.Connection, kind: str, secret_hash: bytes, now: int) -> Ticket | None:
    """As `find`, but uses the ticket up: it is not found a second time."""
    row = connection.execute(_TAKE, (secret_hash, kind, now)).fetchone()
    return None if row is None else Ticket(*row)


def replace_body(
    connection: sqlite3.Connection, secret_hash: bytes, body: Mapping[str, Any], *, user_id: int | None = None
) -> bool:
    """Write down how far it has come, and whose it is from now on, if that was not known; False when the ticket is
    gone."""
    cursor = connection.execute(
        "UPDATE tickets SET body = ?, user_id = ifnull(?, user_id) WHERE secret_hash = ?",
        (json.dumps(dict(body)), user_id, secret_hash),
    )
    return cursor.rowcount > 0


def count_attempt(connection: sqlite3.Connection, secret_hash: bytes, most: int) -> int:
    """Count a wrong attempt; returns how many there were. The last allowed one deletes the ticket."""
    row = connection.execute(
        "UPDATE tickets SET attempts = attempts + 1 WHERE secret_hash = ? RETURNING attempts", (secret_hash,)
    ).fetchone()
    attempts: int = most if row is None else row[0]
    if attempts >= most:
        delete(connection, secret_hash)
    return attempts


def delete(connection: sqlite3.Connection, secret_hash: bytes) -> None:
    """Delete one ticket."""
    connection.execute("DELETE FROM tickets WHERE secret_hash = ?", (secret_hash,))


def delete_of_user(connection: sqlite3.Connection, user_id: int, *kinds: str) -> None:
    """Delete the account's tickets of these kinds, or all of them if no kind is named."""
    if not kinds:
        connection.execute("DELETE FROM tickets WHERE user_id = ?", (user_id,))
    for kind in kinds:
        connection.execute("DELETE FROM tickets WHERE user_id = ? AND kind = ?", (user_id, kind))


@frozen
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


_EMAIL_TOKENS_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(EmailToken))


def insert_email_token(connection: sqlite3.Connection, token: EmailToken) -> None:
    """Remember a token that goes out, and forget those that have expired."""
    connection.execute("DELETE FROM email_tokens WHERE expires_at <= ?", (token.created_at,))
    key = None if token.email is None else email_key(token.email)
    connection.execute(
        f"INSERT INTO email_tokens ({_EMAIL_TOKENS_COLUMNS}, email_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
        (*attrs.astuple(token), key),
    )


def email_token(connection: sqlite3.Connection, kind: str, token_hash: bytes) -> EmailToken | None:
    """The token of this kind with this hash, expired or not."""
    row = connection.execute(
        f"SELECT {_EMAIL_TOKENS_COLUMNS} FROM email_tokens WHERE token_hash = ? AND kind = ?",  # noqa: S608
        (token_hash, kind),
    ).fetchone()
    return None if row is None else EmailToken(*row)


def email_tokens_since(connection: sqlite3.Connection, kind: str, email: str, since: int) -> list[int]:
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


def accounts_of_email_tokens(connection: sqlite3.Connection, kind: str, email: str, now: int) -> set[int]:
    """The accounts that have an unexpired token of this kind about an address, in any letter case."""
    rows = connection.execute(
        "SELECT user_id FROM email_tokens WHERE email_key = ? AND kind = ? AND expires_at > ?",
        (email_key(email), kind, now),
    )
    return {row[0] for row in rows}


def delete_email_tokens(connection: sqlite3.Connection, kind: str, user_id: int, since: int = 0) -> None:
    """Make the tokens of this kind that the account was sent, from a moment on, useless."""
    connection.execute(
        "DELETE FROM email_tokens WHERE user_id = ? AND kind = ? AND created_at >= ?", (user_id, kind, since)
    )
