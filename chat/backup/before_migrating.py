"""The backup that is made before a new version migrates the database: the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import structlog

from chat.backup.contents import schema_of
from chat.backup.making import BackupMaking, Wishes
from chat.backup.place import BESIDE, Backup, BackupPlace, directory_of
from chat.clock import SystemClock
from chat.config import Settings
from chat.errors import OperatorError
from chat.store.data_directory import DataDirectory
from chat.store.migrations import MIGRATIONS

KEPT_BESIDE: Final = 2
"""Backups in the data directory itself: that of this migration and the one before."""

log: Final = structlog.get_logger("chat.backup")


def back_up_before_migrating(
    data: DataDirectory, settings: Settings, settings_file: Path | None = None
) -> Backup | None:
    """Back up a database that is about to be migrated, if the settings want that; the backup.

    Raises OperatorError where it cannot be made, with what to do: then nothing is migrated.
    """
    if not settings.backup.before_migration or not data.database.is_file() or schema_of(data.database) == 0:
        return None
    configured = directory_of(settings, data.path)
    place = BackupPlace(data.path / BESIDE if configured is None else configured)
    wishes = Wishes(
        keep=KEPT_BESIDE if configured is None else max(settings.backup.keep, KEPT_BESIDE),
        spare_bytes=settings.backup.spare_bytes,
        reason="migration",
        settings_file=settings_file,
    )
    try:
        backup = BackupMaking(data, place, wishes, SystemClock(), lambda _words, _percent: None).make()
        backup.require_whole()
    except OperatorError as error:
        raise OperatorError(
            f"the database is of an older version and is backed up before it is migrated, which failed: {error} "
            "(backup.before_migration = false migrates without)"
        ) from error
    log.info("backed up before the migration", path=str(backup.path), schema=backup.schema, to=len(MIGRATIONS))
    return backup
