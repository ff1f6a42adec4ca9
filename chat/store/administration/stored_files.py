"""Every stored file with what its rows say of it, and a new file in place of an old one."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from chat.classes import frozen

ATTACHMENTS: Final = "attachments"
ASSETS: Final = "assets"
KINDS: Final = (ATTACHMENTS, ASSETS)
"""The kinds of files, in the order in which they are gone through."""


@frozen
class FileRow:
    """One row that has a file: its kind, its id, the number in the file's key, and the columns that describe the
    file."""

    kind: str
    row_id: int
    file_id: int
    content_type: str
    content_hash: str | None
    width: int | None
    height: int | None

    @property
    def key(self) -> str:
        """The name of its file."""
        return f"{self.kind}/{self.file_id}"


@frozen
class NewContent:
    """The new content of a file: its new number (None if the file stayed), its size, its SHA-256, and its pixels as
    they are shown."""

    row: FileRow
    file_id: int | None = None
    size: int = 0
    content_hash: str = ""
    width: int | None = None
    height: int | None = None


_ROWS: Final[Mapping[str, str]] = {
    ATTACHMENTS: """
        SELECT id, coalesce(file_id, id), content_type, content_hash, width, height
          FROM attachments WHERE id > ? AND stored ORDER BY id LIMIT ?
    """,
    ASSETS: """
        SELECT id, id, content_type, hash, width, height
          FROM assets WHERE id > ? AND source_url IS NULL ORDER BY id LIMIT ?
    """,
}


def count(connection: sqlite3.Connection) -> int:
    """How many rows there are with a file."""
    found: int = connection.execute(
        """
        SELECT (SELECT count(*) FROM attachments WHERE stored) + (SELECT count(*) FROM assets WHERE source_url IS NULL)
        """
    ).fetchone()[0]
    return found


def rows_after(connection: sqlite3.Connection, kind: str, row_id: int, limit: int) -> list[FileRow]:
    """The next rows of a kind behind an id."""
    return [FileRow(kind, *row) for row in connection.execute(_ROWS[kind], (row_id, limit))]


def put(connection: sqlite3.Connection, new: NewContent) -> None:
    """Every row that has the file has what became of it. The old file has no owner then, and goes as such."""
    row = new.row
    size = {"width": new.width, "height": new.height, "old": row.file_id}
    if row.kind == ATTACHMENTS:
        shared = "((id = :old AND file_id IS NULL) OR file_id = :old)"
        connection.execute(f"UPDATE attachments SET width = :width, height = :height WHERE {shared}", size)  # noqa: S608
    else:
        shared = "id = :old"
        connection.execute(f"UPDATE assets SET width = :width, height = :height WHERE {shared}", size)  # noqa: S608
    if new.file_id is None:
        return
    column = "file_id" if row.kind == ATTACHMENTS else "id"
    connection.execute(
        f"""
        UPDATE {row.kind} SET {column} = :new, size = :size, content_hash = :content_hash WHERE {shared}
        """,  # noqa: S608 - our own names
        {"new": new.file_id, "size": new.size, "content_hash": new.content_hash, "old": row.file_id},
    )
