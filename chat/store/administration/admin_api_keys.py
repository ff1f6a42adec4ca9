"""Admin API keys: the rows of `admin_api_keys`. A key is there as SHA-256 only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs

from chat.classes import frozen
from chat.store.connections import texts


@frozen
class AdminApiKey:
    """One row of `admin_api_keys`. Times are Unix milliseconds."""

    id: int
    owner_id: int
    name: str
    key_hash: bytes = attrs.field(repr=False)
    acls: tuple[str, ...] = attrs.field(converter=texts)
    created_at: int
    expires_at: int | None = None
    last_used_at: int | None = None

    def is_expired(self, now_ms: int) -> bool:
        """Whether the key's time is over at this moment (Unix)."""
        return self.expires_at is not None and self.expires_at <= now_ms


_NAMES: Final = tuple(field.name for field in attrs.fields(AdminApiKey))
_COLUMNS: Final = ", ".join(_NAMES)
_BY_ID: Final = f"SELECT {_COLUMNS} FROM admin_api_keys WHERE id = ?"  # noqa: S608 - our own names
_OF_OWNER: Final = f"SELECT {_COLUMNS} FROM admin_api_keys WHERE owner_id = ? ORDER BY id"  # noqa: S608
_INSERT: Final = f"INSERT INTO admin_api_keys ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608


def by_id(connection: sqlite3.Connection, key_id: int) -> AdminApiKey | None:
    """The key with this snowflake, expired ones included."""
    row = connection.execute(_BY_ID, (key_id,)).fetchone()
    return None if row is None else AdminApiKey(*row)


def of_owner(connection: sqlite3.Connection, owner_id: int) -> list[AdminApiKey]:
    """The keys of this account, expired ones included, the oldest first."""
    return [AdminApiKey(*row) for row in connection.execute(_OF_OWNER, (owner_id,))]


def every(connection: sqlite3.Connection) -> list[AdminApiKey]:
    """Every key, expired ones included, the oldest first."""
    return [AdminApiKey(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM admin_api_keys ORDER BY id")]  # noqa: S608


def insert(connection: sqlite3.Connection, key: AdminApiKey) -> None:
    """Add a key; its owner exists already."""
    values: dict[str, object] = attrs.asdict(key, recurse=False)
    values["acls"] = json.dumps(key.acls)
    connection.execute(_INSERT, tuple(values[name] for name in _NAMES))


def change(connection: sqlite3.Connection, key_id: int, *, name: str, acls: Sequence[str]) -> None:
    """Give a key another name and other ACLs."""
    connection.execute(
        "UPDATE admin_api_keys SET name = ?, acls = ? WHERE id = ?", (name, json.dumps(list(acls)), key_id)
    )


def touch(connection: sqlite3.Connection, key_id: int, used_at: int) -> None:
    """Record when the key was last used; does nothing for a deleted key."""
    connection.execute("UPDATE admin_api_keys SET last_used_at = ? WHERE id = ?", (used_at, key_id))


def delete(connection: sqlite3.Connection, key_id: int) -> None:
    """Take a key back."""
    connection.execute("DELETE FROM admin_api_keys WHERE id = ?", (key_id,))


def delete_expired(connection: sqlite3.Connection, owner_id: int, now: int) -> None:
    """Delete those of the account's keys that had expired at this moment."""
    connection.execute("DELETE FROM admin_api_keys WHERE owner_id = ? AND expires_at <= ?", (owner_id, now))
