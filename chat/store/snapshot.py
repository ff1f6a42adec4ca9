"""A copy of the database as it is at one moment, while others write to it; for backups.

A transaction that only reads sees one state of the database for as long as it lasts (WAL), and SQLite's own copying
goes on under it: nobody waits, and what was committed before it began is in the copy.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chat.store.connections import connect

PAGES_AT_ONCE: Final = 4_096


def take_snapshot(database: Path, copy: Path, tell: Callable[[float], None]) -> None:
    """Copy the database to a new file; `tell` hears how many percent are done. Raises sqlite3.Error."""
    with (
        contextlib.closing(connect(database, read_only=True)) as source,
        contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as target,
    ):
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # from here on it sees one state
        source.backup(
            target,
            pages=PAGES_AT_ONCE,
            progress=lambda _, left, total: tell(100.0 * (total - left) / max(1, total)),
            sleep=0.0,
        )
        # A file alone, without a log beside it; a server that opens it makes its own again.
        target.execute("PRAGMA journal_mode = DELETE")
