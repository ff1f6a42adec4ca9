"""Admin API keys: the rows of `admin_api_keys`. A key is there as SHA-256 only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import attrs


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    """A column that holds a JSON list of text, or such a list itself."""
    return tuple(json.loads(value) if isinstance(value, str) else value)


@attrs.frozen
class AdminApiKey:
    """One row of `admin_api_keys`. Times are Unix milliseconds."""

    id: int
    owner_id: int
    name: str
    key_hash: bytes = attrs.field(repr=False)
    acls: tuple[str, ...] = attrs.field(converter=_texts)
    created_at: int
    expires_at: int | None = None
    last_used_at: int | None = None


_NAMES: Final = tuple(field.name for field in attrs.fields(AdminApiKey))
_BY_ID: Final = f"SELECT {', '.join(_NAMES)} FROM admin_api_keys WHERE id = ?"  # noqa: S608 - our own names
_INSERT: Final = f"INSERT INTO admin_api_keys ({', '.join(_NAMES)}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608


def by_id(connection: sqlite3.Connection, key_id: int) -> AdminApiKey | None:
    """The key with this snowflake."""
    row = connection.execute(_BY_ID, (key_id,)).fetchone()
    return None if row is None else AdminApiKey(*row)


def insert(connection: sqlite3.Connection, key: AdminApiKey) -> None:
    """Add a key; its owner exists already."""
    values: dict[str, Any] = attrs.asdict(key, recurse=False)
    values["acls"] = json.dumps(key.acls)
    connection.execute(_INSERT, tuple(values[name] for name in _NAMES))
