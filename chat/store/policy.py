"""Avatars, icons and other images that have an owner: the rows of `assets`."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class StoredAsset:
    """One row of `assets`. An asset with a `source_url` lies on another server and has no file here."""

    kind: str
    owner_id: int
    hash: str
    id: int
    content_type: str
    size: int = 0
    width: int | None = None
    height: int | None = None
    source_url: str | None = attrs.field(default=None, repr=False)
    content_hash: str | None = None
    """The SHA-256 of the content in hexadecimal digits, if the content changed after `hash` was made from it."""

    @property
    def key(self) -> str:
        """The name of its file."""
        return f"assets/{self.id}"


_FIELDS: Final = tuple(field.name for field in attrs.fields(StoredAsset))
_COLUMNS: Final = ", ".join(_FIELDS)
_FIND: Final = f"SELECT {_COLUMNS} FROM assets WHERE kind = ? AND owner_id = ? AND hash = ?"  # noqa: S608 - our own names
_ONLY: Final = f"SELECT {_COLUMNS} FROM assets WHERE kind = ? AND owner_id = ? LIMIT 1"  # noqa: S608 - our own names
_INSERT: Final = f"INSERT OR IGNORE INTO assets ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608


def find(connection: sqlite3.Connection, kind: str, owner_id: int, name: str) -> StoredAsset | None:
    """The asset with this hash."""
    row = connection.execute(_FIND, (kind, owner_id, name)).fetchone()
    return None if row is None else StoredAsset(*row)


def only_of(connection: sqlite3.Connection, kind: str, owner_id: int) -> StoredAsset | None:
    """The asset of an owner that has one of this kind at most."""
    row = connection.execute(_ONLY, (kind, owner_id)).fetchone()
    return None if row is None else StoredAsset(*row)


def insert(connection: sqlite3.Connection, asset: StoredAsset) -> bool:
    """Add an asset; False when the owner has the same already."""
    return connection.execute(_INSERT, tuple(getattr(asset, name) for name in _FIELDS)).rowcount > 0


def delete(connection: sqlite3.Connection, kind: str, owner_id: int, name: str) -> None:
    """Remove an asset; its file goes with the next sweep."""
    connection.execute("DELETE FROM assets WHERE kind = ? AND owner_id = ? AND hash = ?", (kind, owner_id, name))


def delete_of(connection: sqlite3.Connection, kind: str, owner_id: int) -> None:
    """Remove every asset of an owner of one kind; the files go with the next sweep."""
    connection.execute("DELETE FROM assets WHERE kind = ? AND owner_id = ?", (kind, owner_id))
