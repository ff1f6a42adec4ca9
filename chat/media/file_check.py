"""Whether the uploaded files are in order: each that rows speak of is there and whole, and no other is.

For `chat check`, beside a running server too: what was sent or deleted while the files were looked at is not told.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from chat.media.storage import ArchiveFiles, MediaStorage, stored_keys
from chat.snowflake import snowflake_at
from chat.store.administration import archives
from chat.store.messages import attachments
from chat.store.whole_database import StoredFile, few, stored_files

UNDER_WAY_MS: Final = 3_600_000
"""A file this young may belong to a message that is being sent."""

AT_ONCE: Final = 1_000


def missing_files(connection: sqlite3.Connection, files: Iterable[StoredFile], uploads: Path) -> Iterator[str]:
    """Files that rows speak of and that are gone, or shorter or longer than they were."""
    return few(_of_rows(connection, files, uploads))


def unowned_files(connection: sqlite3.Connection, uploads: Path, now_ms: int) -> Iterator[str]:
    """Files that no row speaks of."""
    return few(f"{key} belongs to nothing" for key in _unowned(connection, uploads, now_ms))


def missing_archives(connection: sqlite3.Connection, directory: Path) -> Iterator[str]:
    """Archives that rows speak of and that are gone, or shorter or longer than they were."""
    return few(_of_archives(connection, ArchiveFiles(directory)))


def unowned_archives(connection: sqlite3.Connection, directory: Path, now_ms: int) -> Iterator[str]:
    """Archives, and parts of such, that no row speaks of."""
    found = [file for file in ArchiveFiles(directory).found() if file.archive_id < snowflake_at(now_ms - UNDER_WAY_MS)]
    whole = archives.with_file(connection, {file.archive_id for file in found})
    unfinished = archives.unfinished(connection, {file.archive_id for file in found})
    return few(
        f"archives/{file.path.name} belongs to nothing"
        for file in sorted(found, key=lambda file: file.path)
        if file.archive_id not in (whole if file.is_whole else unfinished) and file.path.exists()
    )


def _of_archives(connection: sqlite3.Connection, files: ArchiveFiles) -> Iterator[str]:
    for archive_id, size in archives.files(connection):
        found = files.size(archive_id)
        if found is None:
            if archives.with_file(connection, [archive_id]):
                yield f"archives/{archive_id}.zip is missing"
        elif found != size:
            yield f"archives/{archive_id}.zip has {found} bytes instead of {size}"


def changed_files(connection: sqlite3.Connection, uploads: Path) -> Iterator[str]:
    """Files whose content is not what arrived: reads all of them."""
    return few(_changed(connection, MediaStorage(uploads, in_threads=False)))


def _changed(connection: sqlite3.Connection, storage: MediaStorage) -> Iterator[str]:
    for file in stored_files(connection):
        if file.digest is None:
            continue
        try:
            with storage.path_of(file.key).open("rb") as content:
                found = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError:  # told by `missing_files`
            continue
        if not found.startswith(file.digest):
            yield f"{file.key} was changed or damaged"


def _of_rows(connection: sqlite3.Connection, files: Iterable[StoredFile], uploads: Path) -> Iterator[str]:
    storage = MediaStorage(uploads, in_threads=False)
    for file in files:
        try:
            size = storage.path_of(file.key).stat().st_size
        except OSError:
            if not attachments.unreferenced(connection, [file.key]):
                yield f"{file.key} is missing"
            continue
        if size != file.size:
            yield f"{file.key} has {size} bytes instead of {file.size}"


def _unowned(connection: sqlite3.Connection, uploads: Path, now_ms: int) -> Iterator[str]:
    storage, newest = MediaStorage(uploads, in_threads=False), snowflake_at(now_ms - UNDER_WAY_MS)
    batch: list[str] = []
    for key in stored_keys(uploads):
        if int(key.partition("/")[2]) < newest:
            batch.append(key)
        if len(batch) == AT_ONCE:
            yield from _still_unowned(connection, storage, batch)
            batch = []
    yield from _still_unowned(connection, storage, batch)


def _still_unowned(connection: sqlite3.Connection, storage: MediaStorage, keys: list[str]) -> Iterator[str]:
    for key in attachments.ownerless(connection, keys):
        if storage.path_of(key).exists():
            yield key
