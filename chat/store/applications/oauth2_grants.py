"""What accounts have granted applications: the rows of `oauth2_grants`, and of `oauth2_tokens`, the access and refresh
tokens of a grant, which go with it. A token itself is never stored, its SHA-256 is.

A refresh token that was exchanged stays until its time is over: presented again it gives away that two parties hold it.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Final

import attrs

from chat.classes import frozen
from chat.store.accounts.accounts import Account, qualified_columns
from chat.store.connections import texts


@frozen
class Grant:
    """One row of `oauth2_grants`. Times are Unix milliseconds."""

    id: int
    application_id: int
    user_id: int
    scopes: tuple[str, ...] = attrs.field(converter=texts)
    """In registry order."""
    public: bool = attrs.field(converter=bool)
    """Whether the client exchanged the code without a secret, and so refreshes without one."""
    code_hash: bytes = attrs.field(repr=False)
    created_at: int


_NAMES: Final = tuple(field.name for field in attrs.fields(Grant))
_COLUMNS: Final = ", ".join(_NAMES)
_BY_CODE: Final = f"SELECT {_COLUMNS} FROM oauth2_grants WHERE code_hash = ?"  # noqa: S608 - the names are our own
_INSERT_GRANT: Final = f"INSERT INTO oauth2_grants ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608
_LIVING: Final = f"""
    SELECT {_COLUMNS}
      FROM oauth2_grants
     WHERE user_id = ?
       AND EXISTS (SELECT 1
                     FROM oauth2_tokens
                    WHERE oauth2_tokens.grant_id = oauth2_grants.id
                      AND oauth2_tokens.expires_at > ?
                      AND oauth2_tokens.used_at IS NULL)
     ORDER BY id
"""  # noqa: S608


def by_code(connection: sqlite3.Connection, code_hash: bytes) -> Grant | None:
    """The grant that was made from the authorisation code of this hash."""
    row = connection.execute(_BY_CODE, (code_hash,)).fetchone()
    return None if row is None else Grant(*row)


def living_of_user(connection: sqlite3.Connection, user_id: int, now: int) -> list[Grant]:
    """The account's grants of which a token is still good, the oldest first."""
    return [Grant(*row) for row in connection.execute(_LIVING, (user_id, now))]


def insert(connection: sqlite3.Connection, grant: Grant) -> None:
    """Record a grant."""
    values = {**attrs.asdict(grant, recurse=False), "scopes": json.dumps(grant.scopes)}
    connection.execute(_INSERT_GRANT, tuple(values[name] for name in _NAMES))


def delete(connection: sqlite3.Connection, grant_id: int) -> None:
    """End a grant and its tokens."""
    connection.execute("DELETE FROM oauth2_grants WHERE id = ?", (grant_id,))


def delete_of_application(connection: sqlite3.Connection, user_id: int, application_id: int) -> None:
    """End what the account has granted an application."""
    connection.execute("DELETE FROM oauth2_grants WHERE user_id = ? AND application_id = ?", (user_id, application_id))


def delete_of_user_since(connection: sqlite3.Connection, user_id: int, since: int) -> None:
    """End what the account has granted from a moment (Unix milliseconds) on."""
    connection.execute("DELETE FROM oauth2_grants WHERE user_id = ? AND created_at >= ?", (user_id, since))


def delete_of_user(connection: sqlite3.Connection, user_id: int) -> None:
    """End everything that the account has granted (administration.md, Scheduled deletion)."""
    connection.execute("DELETE FROM oauth2_grants WHERE user_id = ?", (user_id,))


ACCESS: Final = "access"
REFRESH: Final = "refresh"

PURGED_AT_ONCE: Final = 100
"""Expired rows that one insertion clears away: more than it adds, so the table shrinks back by itself."""


@frozen
class Token:
    """One row of `oauth2_tokens`. Times are Unix milliseconds."""

    token_hash: bytes = attrs.field(repr=False)
    grant_id: int
    kind: str
    """ACCESS or REFRESH."""
    created_at: int
    expires_at: int
    used_at: int | None = None


@frozen
class Bearer:
    """The account, application and scopes that an access token stands for."""

    account: Account
    application_id: int
    scopes: tuple[str, ...]
    expires_at: int


_TOKEN: Final = tuple(field.name for field in attrs.fields(Token))
_FIELDS: Final = (
    *(f"oauth2_tokens.{name}" for name in _TOKEN),
    *(f"oauth2_grants.{field.name}" for field in attrs.fields(Grant)),
)
_FIND_TOKEN: Final = f"""
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
_INSERT_TOKEN: Final = f"INSERT INTO oauth2_tokens ({', '.join(_TOKEN)}) VALUES ({', '.join('?' * len(_TOKEN))})"  # noqa: S608


def bearer(connection: sqlite3.Connection, token_hash: bytes, now: int) -> Bearer | None:
    """The bearer of an access token that has not expired."""
    row = connection.execute(_BEARER, (token_hash, now)).fetchone()
    if row is None:
        return None
    application_id, scopes, expires_at, *account = row
    return Bearer(Account(*account), application_id, tuple(json.loads(scopes)), expires_at)


def find_token(connection: sqlite3.Connection, token_hash: bytes, now: int) -> tuple[Token, Grant] | None:
    """The token of this hash with its grant, of either kind, until it expires: after that it may be forgotten."""
    row = connection.execute(_FIND_TOKEN, (token_hash, now)).fetchone()
    return None if row is None else (Token(*row[: len(_TOKEN)]), Grant(*row[len(_TOKEN) :]))


def insert_tokens(connection: sqlite3.Connection, *tokens: Token) -> None:
    """Record tokens of a grant, and forget some that have expired, with the grants that have nothing left."""
    for token in tokens:
        connection.execute(_INSERT_TOKEN, attrs.astuple(token))
    _forget_expired(connection, tokens[0].created_at)


def mark_used(connection: sqlite3.Connection, token_hash: bytes, used_at: int) -> None:
    """Record that a refresh token was exchanged."""
    connection.execute("UPDATE oauth2_tokens SET used_at = ? WHERE token_hash = ?", (used_at, token_hash))


def delete_token(connection: sqlite3.Connection, token_hash: bytes) -> None:
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
