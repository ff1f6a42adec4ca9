"""One attempt to back the instance up, and the note of what became of it."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import attrs

from chat.backup.contents import Tell
from chat.backup.making import BackupMaking, Wishes
from chat.backup.place import BUSY, Backup, BackupPlace
from chat.clock import Clock
from chat.errors import OperatorError
from chat.store.administration import backups
from chat.store.administration.backups import BackupRecord
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory


def attempt(data: DataDirectory, place: BackupPlace, wishes: Wishes, clock: Clock, tell: Tell) -> Backup:
    """Make a backup and note what became of it, which the server tells its administrators.

    Raises OperatorError where none was made, and where it is not whole.
    """
    began, before = time.monotonic(), _record(data)
    is_same = before is not None and before.directory == str(place.path)
    wishes = attrs.evolve(wishes, known_id=before.place_id if before is not None and is_same else None)
    known = before if before is not None and is_same else BackupRecord(directory=str(place.path), tried_at=0)
    known = attrs.evolve(known, tried_at=clock.now_ms(), failure=None)
    try:
        backup = BackupMaking(data, place, wishes, clock, tell).make()
        backup.require_whole()
    except OperatorError as error:
        if not str(error).startswith(BUSY):
            _note(data, attrs.evolve(known, failure=str(error)))
        raise
    made = attrs.evolve(
        known,
        place_id=place.place_id,
        made_at=backup.created_at,
        made_path=str(backup.path),
        made_bytes=backup.bytes,
        made_new_bytes=backup.new_bytes,
        made_files=backup.files,
        made_seconds=round(time.monotonic() - began, 1),
        made_remarks=backup.remarks,
        kept=len(place.backups()),
    )
    _note(data, made)
    return backup


def _record(data: DataDirectory) -> BackupRecord | None:
    with _opened(data.database, read_only=True) as connection:
        return backups.record(connection)


def _note(data: DataDirectory, known: BackupRecord) -> None:
    # A store that cannot be written is told by other means; the backup is there nevertheless.
    with contextlib.suppress(sqlite3.Error), _opened(data.database) as connection:
        connection.execute("BEGIN IMMEDIATE")
        backups.note(connection, known)
        connection.execute("COMMIT")


@contextlib.contextmanager
def _opened(database: Path, *, read_only: bool = False) -> Iterator[sqlite3.Connection]:
    try:
        with contextlib.closing(connect(database, read_only=read_only)) as connection:
            yield connection
    except sqlite3.Error as error:
        if not read_only:
            raise
        raise OperatorError(f"cannot read the database {database}: {error}") from error
