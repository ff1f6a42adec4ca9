"""Whether the uploaded files are in order: each that rows speak of is there and whole, and no other is.

For `chat check`, beside a running server too: what was sent or deleted while the files were looked at is not told.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from chat.media.storage import MediaStorage, stored_keys
from chat.snowflake import snowflake_at
from chat.store import attachments
from chat.store.consistency import StoredFile, few

UNDER_WAY_MS: Final = 3_600_000
"""A file this young may belong to a message that is being sent."""

AT_ONCE: Final = 1_000


def missing_files(connection: sqlite3.Connection, files: Iterable[StoredFile], uploads: Path) -> Iterator[str]:
    """Files that rows speak of and that are gone, or shorter or longer than they were."""
    return few(_of_rows(connection, files, uploads))


def unowned_files(connection: sqlite3.Connection, uploads: Path, now_ms: int) -> Iterator[str]:
    """Files that no row speaks of."""
    return few(f"{key} belongs to nothing" for key in _unowned(connection, uploads, now_ms))


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
