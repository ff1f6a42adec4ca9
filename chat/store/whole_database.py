"""The database as a whole: its highest id, a copy of it for a backup, and emptying it for `/v1/_dev/reset`."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chat.store.connections import connect

TABLES: Final = (
    "admin_api_keys",
    "admin_audit_log",
    "applications",
    "archives",
    "assets",
    "attachments",
    "channels",
    "expressions",
    "favorite_memes",
    "guild_audit_log",
    "guilds",
    "jobs",
    "messages",
    "oauth2_grants",
    "reports",
    "roles",
    "store_purchases",
    "users",
    "webhooks",
)
"""Tables whose `id` is a snowflake. Each has it as its key or in an index: asking for the highest reads one page."""

_QUERY: Final = f"SELECT max(id) FROM ({' UNION ALL '.join(f'SELECT max(id) AS id FROM {table}' for table in TABLES)})"  # noqa: S608 - our own names


def last_id(connection: sqlite3.Connection) -> int:
    """The highest snowflake of all, 0 in an empty database: new ones are above it, even if the clock was set back."""
    highest: int | None = connection.execute(_QUERY).fetchone()[0]
    return highest or 0


PAGES_AT_ONCE: Final = 4_096


def take_snapshot(database: Path, copy: Path, tell: Callable[[float], None]) -> None:
    """Copy the database as it is at one moment, while others write to it.

    A transaction that only reads sees one state of the database for as long as it lasts (WAL), and SQLite's own copying
    goes on under it: no task waits. `tell` hears how many percent are done. Raises sqlite3.Error.
    """
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


KEPT: Final = frozenset({"instance", "media_garbage", "media_usage"})
"""Tables that keep their rows. What is in `media_garbage` afterwards are the files whose rows went; `media_usage` has
come down to nothing with them."""


def erase_everything(connection: sqlite3.Connection) -> None:
    """Delete every row of this program's tables but those of `instance`.

    What was created last goes first, so that no row refers to one that is gone.
    """
    tables = connection.execute(
        """
        SELECT tables.name
          FROM pragma_table_list AS tables
          JOIN sqlite_master AS master ON master.type = 'table' AND master.name = tables.name
         WHERE tables.schema = 'main' AND tables.type = 'table'
           AND tables.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND tables.name NOT LIKE '\\_%' ESCAPE '\\'
         ORDER BY master.rowid DESC
        """
    ).fetchall()
    for (name,) in tables:
        if name not in KEPT:
            connection.execute(f"DELETE FROM {name}")  # noqa: S608 - the name is one of the schema's own
