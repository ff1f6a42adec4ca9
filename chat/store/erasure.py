"""Emptying the database, its schema and what the instance knows of itself aside (`/v1/_dev/reset`)."""

from __future__ import annotations

import sqlite3
from typing import Final

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
