"""The result of the last attempt to back the instance up, and the last backup that succeeded: one text in the table
`instance`, which the process that makes backups writes and the server reads."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.store.administration import instance

KEY: Final = "backups"


@frozen(kw_only=True)
class BackupRecord:
    """Moments are Unix milliseconds. What begins with `made_` is of the last backup that is whole."""

    directory: str
    place_id: str | None = None
    """Identifies the directory of the backups; None before the first backup."""
    tried_at: int
    failure: str | None = None
    """Why the last attempt did not make a complete backup."""
    made_at: int | None = None
    made_path: str | None = None
    made_bytes: int = 0
    made_new_bytes: int = 0
    made_files: int = 0
    made_seconds: float = 0.0
    made_remarks: tuple[str, ...] = ()
    kept: int = 0
    """Backups in the directory after the last attempt."""


def record(connection: sqlite3.Connection) -> BackupRecord | None:
    """The stored record; None before the first attempt, and for text that this program did not write."""
    text = instance.value_of(connection, KEY)
    try:
        return None if text is None else _record(json.loads(text))
    except (TypeError, ValueError):
        return None


def _record(members: Mapping[str, Any]) -> BackupRecord:
    return BackupRecord(**{**members, "made_remarks": tuple(members.get("made_remarks", ()))})


def note(connection: sqlite3.Connection, known: BackupRecord) -> None:
    """In a unit of writing: this became of it."""
    instance.set_value(connection, KEY, json.dumps(attrs.asdict(known)))
