"""OAuth2 access and refresh tokens: the rows of `oauth2_tokens`. A token itself is never stored, its SHA-256 is.

A refresh token that was exchanged stays until its time is over: presented again it gives away that two parties hold it.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Final

import attrs

from chat.store.accounts.accounts import Account, qualified_columns
from chat.store.applications.oauth2_grants import Grant

ACCESS: Final = "access"
REFRESH: Final = "refresh"

PURGED_AT_ONCE: Final = 100
"""Expired rows that one insertion clears away: more than it adds, so the table shrinks back by itself."""


@attrs.frozen
class Token:
    """One row of `oauth2_tokens`. Times are Unix milliseconds."""

    token_hash: bytes = attrs.field(repr=False)
    grant_id: int
    kind: str
    """ACCESS or REFRESH."""
    created_at: int
    expires_at: int
    used_at: int | None = None


@attrs.frozen
class Bearer:
    """What an access token stands for."""

    account: Account
    application_id: int
    scopes: tuple[str, ...]
    expires_at: int


_TOKEN: Final = tuple(field.name for field in attrs.fields(Token))
_FIELDS: Final = (
    *(f"oauth2_tokens.{name}" for name in _TOKEN),
    *(f"oauth2_grants.{field.name}" for field in attrs.fields(Grant)),
)
_FIND: Final = f"""
    SELECT {", ".join(_FIELDS)}
      FROM oauth2_tokens
      JOIN oauth2_grants ON oauth2_grants.id = oauth2_tokens.grant_id
     WHERE oauth2_tokens.token_hash = ? AND oauth2_tokens.expires_at > ?
"""  # noqa: S608 - the column names are our own
_BEARER: Final = f"""
    SELECT oauth2_grants.application_id, oauth2_grants.scopes, oauth2_tokens.expires_at, {qualified_columns("users")}
      FROM oauth2_tokens
      JOIN oauth2_grants ON oauth2_grants.id = oauth2_tokens.grant_id
      JOIN users ON users.id = oauth2_grants.user_id
     WHERE oauth2_tokens.token_hash = ? AND oauth2_tokens.kind = 'access' AND oauth2_tokens.expires_at > ?
"""  # noqa: S608
_INSERT: Final = f"INSERT INTO oauth2_tokens ({', '.join(_TOKEN)}) VALUES ({', '.join('?' * len(_TOKEN))})"  # noqa: S608


def bearer(connection: sqlite3.Connection, token_hash: bytes, now: int) -> Bearer | None:
    """Whom an access token that has not expired stands for."""
    row = connection.execute(_BEARER, (token_hash, now)).fetchone()
    if row is None:
        return None
    application_id, scopes, expires_at, *account = row
    return Bearer(Account(*account), application_id, tuple(json.loads(scopes)), expires_at)


def find(connection: sqlite3.Connection, token_hash: bytes, now: int) -> tuple[Token, Grant] | None:
    """The token of this hash with its grant, whatever its kind, until it expires: after that it may be forgotten."""
    row = connection.execute(_FIND, (token_hash, now)).fetchone()
    return None if row is None else (Token(*row[: len(_TOKEN)]), Grant(*row[len(_TOKEN) :]))


def insert(connection: sqlite3.Connection, *tokens: Token) -> None:
    """Record tokens of a grant, and forget some that have expired, with the grants that have nothing left."""
    for token in tokens:
        connection.execute(_INSERT, attrs.astuple(token))
    _forget_expired(connection, tokens[0].created_at)


def mark_used(connection: sqlite3.Connection, token_hash: bytes, used_at: int) -> None:
    """Note that a refresh token was exchanged."""
    connection.execute("UPDATE oauth2_tokens SET used_at = ? WHERE token_hash = ?", (used_at, token_hash))


def delete(connection: sqlite3.Connection, token_hash: bytes) -> None:
    """End one token."""
    connection.execute("DELETE FROM oauth2_tokens WHERE token_hash = ?", (token_hash,))


def _forget_expired(connection: sqlite3.Connection, now: int) -> None:
    rows = connection.execute(
        """
        DELETE FROM oauth2_tokens
         WHERE token_hash IN (SELECT token_hash FROM oauth2_tokens WHERE expires_at <= ? LIMIT ?)
        RETURNING grant_id
        """,
        (now, PURGED_AT_ONCE),
    ).fetchall()
    connection.executemany(
        """
        DELETE FROM oauth2_grants
         WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM oauth2_tokens WHERE grant_id = ?1)
        """,
        [(grant_id,) for grant_id in {grant_id for (grant_id,) in rows}],
    )
