"""Settings that the operator has chosen while the server ran: the rows of `chosen_settings`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def every(connection: sqlite3.Connection) -> dict[str, Any]:
    """What is chosen, by the dotted names of settings."""
    rows = connection.execute("SELECT name, value FROM chosen_settings")
    return {name: json.loads(value) for name, value in rows}


def replace(connection: sqlite3.Connection, chosen: Mapping[str, Any]) -> None:
    """This is chosen, and nothing else."""
    connection.execute("DELETE FROM chosen_settings")
    connection.executemany(
        "INSERT INTO chosen_settings (name, value) VALUES (?, ?)",
        [(name, json.dumps(value)) for name, value in chosen.items()],
    )


def in_file(path: Path) -> dict[str, Any]:
    """What is chosen in a database that is not opened otherwise, with or without a server on it; nothing where there is
    no database, or one of an older version."""
    if not path.is_file():
        return {}
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return every(connection)
        finally:
            connection.close()
    except sqlite3.Error:
        return {}
