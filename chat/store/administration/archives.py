"""Archives of accounts and guilds: the rows of `archives`. The files lie in `chat.media.storage`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.jobs import ArchiveSubject

SWEPT_AT_ONCE: Final = 200
"""Rows that one unit of the sweep deals with."""


@frozen(kw_only=True)
class Archive:
    """One row of `archives`; times are Unix milliseconds, the size is bytes."""

    id: int
    subject_type: ArchiveSubject = attrs.field(converter=ArchiveSubject)
    subject_id: int
    requested_by: int
    requested_at: int
    include_attachments: bool = attrs.field(converter=bool)
    started_at: int | None = None
    completed_at: int | None = None
    failed_at: int | None = None
    file_size: int | None = None
    progress_percent: int = 0
    progress_step: str | None = None
    error_message: str | None = None
    download_url_expires_at: int | None = None
    expires_at: int

    @property
    def is_over(self) -> bool:
        """Whether the archive is complete or has failed."""
        return self.completed_at is not None or self.failed_at is not None


_NAMES: Final = tuple(field.name for field in attrs.fields(Archive))
_COLUMNS: Final = ", ".join(_NAMES)
_SELECT: Final = f"SELECT {_COLUMNS} FROM archives"  # noqa: S608 - our own names, here and below
_INSERT: Final = f"INSERT INTO archives ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608
_UNFINISHED: Final = "(completed_at IS NULL AND failed_at IS NULL)"
_UPDATE: Final = f"UPDATE archives SET {', '.join(f'{name} = ?' for name in _NAMES)} WHERE id = ?"  # noqa: S608


def insert(connection: sqlite3.Connection, archive: Archive) -> None:
    """Add an archive."""
    connection.execute(_INSERT, _values(archive))


def put(connection: sqlite3.Connection, archive: Archive) -> None:
    """Replace an archive by what became of it."""
    connection.execute(_UPDATE, (*_values(archive), archive.id))


def by_id(connection: sqlite3.Connection, archive_id: int) -> Archive | None:
    """The archive with this id."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (archive_id,)).fetchone()
    return None if row is None else _archive(row)


def own(connection: sqlite3.Connection, user_id: int) -> Archive | None:
    """The last archive of this account that its holder ordered."""
    found = newest(connection, subject_type=ArchiveSubject.USER, subject_id=user_id, requested_by=user_id, limit=1)
    return found[0] if found else None


def newest(
    connection: sqlite3.Connection,
    *,
    subject_type: ArchiveSubject | None = None,
    subject_id: int | None = None,
    requested_by: int | None = None,
    not_expired_at: int | None = None,
    limit: int,
) -> list[Archive]:
    """Up to `limit` archives, the newest first; those that hold beyond a moment, where one is given."""
    rows = connection.execute(
        f"""{_SELECT}
         WHERE (:subject_type IS NULL OR subject_type = :subject_type)
           AND (:subject_id IS NULL OR subject_id = :subject_id)
           AND (:requested_by IS NULL OR requested_by = :requested_by)
           AND (:not_expired_at IS NULL OR expires_at > :not_expired_at)
         ORDER BY id DESC
         LIMIT :limit""",
        {
            "subject_type": subject_type,
            "subject_id": subject_id,
            "requested_by": requested_by,
            "not_expired_at": not_expired_at,
            "limit": limit,
        },
    )
    return [_archive(row) for row in rows]


def expired(connection: sqlite3.Connection, now_ms: int) -> list[int]:
    """Archives that have a file and hold no longer."""
    rows = connection.execute(
        "SELECT id FROM archives WHERE expires_at <= ? AND file_size IS NOT NULL LIMIT ?", (now_ms, SWEPT_AT_ONCE)
    )
    return [archive_id for (archive_id,) in rows]


def forget_files(connection: sqlite3.Connection, archive_ids: Iterable[int]) -> None:
    """These archives have no file any more; that there was one stays to be seen."""
    connection.execute(
        "UPDATE archives SET file_size = NULL, download_url_expires_at = NULL"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(archive_ids)),),
    )


def any_before(connection: sqlite3.Connection, before_ms: int) -> bool:
    """Whether there are archives that expired before this moment."""
    return (
        connection.execute("SELECT 1 FROM archives WHERE expires_at < ? LIMIT 1", (before_ms,)).fetchone() is not None
    )


def delete_before(connection: sqlite3.Connection, before_ms: int) -> int:
    """Delete the rows of archives that have no file and expired before this moment; returns how many."""
    return connection.execute(
        """
        DELETE FROM archives
         WHERE id IN (SELECT id FROM archives WHERE expires_at < ? AND file_size IS NULL LIMIT ?)
        """,
        (before_ms, SWEPT_AT_ONCE),
    ).rowcount


def with_file(connection: sqlite3.Connection, archive_ids: Iterable[int]) -> set[int]:
    """The archives among these ids that have a complete file or are still being made."""
    return _among(connection, archive_ids, f"(file_size IS NOT NULL OR {_UNFINISHED})")


def unfinished(connection: sqlite3.Connection, archive_ids: Iterable[int]) -> set[int]:
    """The archives among these ids that are neither complete nor failed."""
    return _among(connection, archive_ids, _UNFINISHED)


def _among(connection: sqlite3.Connection, archive_ids: Iterable[int], condition: str) -> set[int]:
    rows = connection.execute(
        f"SELECT id FROM archives WHERE id IN (SELECT value FROM json_each(?)) AND {condition}",  # noqa: S608
        (json.dumps(list(archive_ids)),),
    )
    return {archive_id for (archive_id,) in rows}


def files(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """Every archive that has a file, with its bytes."""
    return connection.execute("SELECT id, file_size FROM archives WHERE file_size IS NOT NULL").fetchall()


def _values(archive: Archive) -> tuple[Any, ...]:
    return tuple(getattr(archive, name) for name in _NAMES)


def _archive(row: tuple[Any, ...]) -> Archive:
    return Archive(**dict(zip(_NAMES, row, strict=True)))
