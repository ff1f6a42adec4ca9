"""What accounts have granted applications: the rows of `oauth2_grants`. A grant's tokens go with it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    """A column that holds a JSON list of text, or such a list itself."""
    return tuple(json.loads(value) if isinstance(value, str) else value)


@attrs.frozen
class Grant:
    """One row of `oauth2_grants`. Times are Unix milliseconds."""

    id: int
    application_id: int
    user_id: int
    scopes: tuple[str, ...] = attrs.field(converter=_texts)
    """In registry order."""
    public: bool = attrs.field(converter=bool)
    """Whether the client exchanged the code without a secret, and so refreshes without one."""
    code_hash: bytes = attrs.field(repr=False)
    created_at: int


_NAMES: Final = tuple(field.name for field in attrs.fields(Grant))
_COLUMNS: Final = ", ".join(_NAMES)
_BY_CODE: Final = f"SELECT {_COLUMNS} FROM oauth2_grants WHERE code_hash = ?"  # noqa: S608 - the names are our own
_INSERT: Final = f"INSERT INTO oauth2_grants ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608
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
    connection.execute(_INSERT, tuple(values[name] for name in _NAMES))


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
