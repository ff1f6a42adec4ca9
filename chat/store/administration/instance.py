"""What the instance remembers about itself: a few named texts (the seeded world's marker, the instance's identity), and
the settings that the operator has chosen while the server ran; and how much there is of everything: counts that scan,
for a reader's thread."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from chat.classes import frozen
from chat.registries.user_flags import UserFlag
from chat.store.messages.attachments import INSTANCE

TOUCHED: Final = "touched"
"""A bit that changes with each test of whether the database can be written."""

NODES_EPOCH: Final = "nodes_epoch"

NEWEST_DELETED: Final = "newest_deleted_message"
"""The key of the highest id of a message that was the newest of all when it was deleted."""

CONFIGURED: Final = "setup_configured"
"""The key of the mark that the instance is set up. Triggers on `users.acls` write it."""


def value_of(connection: sqlite3.Connection, key: str) -> str | None:
    """The text stored under `key`; None when there is none."""
    row = connection.execute("SELECT value FROM instance WHERE key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def set_value(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Store `value` under `key`, in place of what was there."""
    connection.execute(
        """
        INSERT INTO instance (key, value) VALUES (?, ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
        """,
        (key, value),
    )


def touch(connection: sqlite3.Connection) -> None:
    """Write something that was not there before."""
    set_value(connection, TOUCHED, "0" if value_of(connection, TOUCHED) == "1" else "1")


def remove_value(connection: sqlite3.Connection, key: str) -> None:
    """Delete the text that is stored under `key`."""
    connection.execute("DELETE FROM instance WHERE key = ?", (key,))


def next_epoch(connection: sqlite3.Connection, at_least: int) -> int:
    """Begin a life of the core of gateway nodes: the number is greater than those of all lives before."""
    epoch = max(int(value_of(connection, NODES_EPOCH) or 0) + 1, at_least)
    set_value(connection, NODES_EPOCH, str(epoch))
    return epoch


def note_deleted(connection: sqlite3.Connection, message_id: int) -> None:
    """A message is deleted: where it was the newest of all, nothing else says that its id was given."""
    connection.execute(
        """
        INSERT INTO instance (key, value) SELECT ?1, ?2 WHERE ?2 > (SELECT coalesce(max(id), 0) FROM messages)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value + 0 < excluded.value + 0
        """,
        (NEWEST_DELETED, message_id),
    )


def newest_deleted(connection: sqlite3.Connection) -> int:
    """The highest id that `note_deleted` noted, 0 for none."""
    return int(value_of(connection, NEWEST_DELETED) or 0)


def chosen_settings(connection: sqlite3.Connection) -> Mapping[str, object]:
    """The settings that the operator has chosen, by their dotted names."""
    rows = connection.execute("SELECT name, value FROM chosen_settings")
    return {name: json.loads(value) for name, value in rows}


def choose_settings(connection: sqlite3.Connection, chosen: Mapping[str, object]) -> None:
    """This is chosen, and nothing else."""
    connection.execute("DELETE FROM chosen_settings")
    connection.executemany(
        "INSERT INTO chosen_settings (name, value) VALUES (?, ?)",
        [(name, json.dumps(value)) for name, value in chosen.items()],
    )


def chosen_settings_in_file(path: Path) -> Mapping[str, object]:
    """The chosen settings in a database file that is not open otherwise, even while a server runs on it; empty if there
    is no database, or one of an older version."""
    if not path.is_file():
        return {}
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return chosen_settings(connection)
        finally:
            connection.close()
    except sqlite3.Error:
        return {}


@frozen
class StoredFigures:
    """Sizes and counts of the store. `upload_bytes` counts all files and images, `database_bytes` the database's
    pages."""

    people: int
    bots: int
    deleted_accounts: int
    guilds: int
    channels: int
    messages: int
    upload_bytes: int
    database_bytes: int
    waiting_jobs: int


@frozen
class WaitingFigures:
    """Counts of work that waits and of rows that were stored; reading them is cheap."""

    pending_jobs: int
    running_jobs: int
    mails: int
    upload_bytes: int


def waiting_figures(connection: sqlite3.Connection) -> WaitingFigures:
    """Count what is still to be done."""
    row = connection.execute(
        """
        SELECT (SELECT count(*) FROM jobs WHERE status = 'pending'),
               (SELECT count(*) FROM jobs WHERE status = 'running'),
               (SELECT count(*) FROM mail_outbox),
               coalesce((SELECT bytes FROM media_usage WHERE user_id = ?1), 0)
        """,
        (INSTANCE,),
    ).fetchone()
    return WaitingFigures(*row)


def stored_figures(connection: sqlite3.Connection) -> StoredFigures:
    """Count everything once."""
    row = connection.execute(
        """
        SELECT (SELECT count(*) FROM users WHERE NOT bot AND NOT flags & ?1),
               (SELECT count(*) FROM users WHERE bot AND NOT flags & ?1),
               (SELECT count(*) FROM users WHERE flags & ?1),
               (SELECT count(*) FROM guilds),
               (SELECT count(*) FROM channels),
               (SELECT count(*) FROM messages),
               coalesce((SELECT bytes FROM media_usage WHERE user_id = ?2), 0),
               (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size()),
               (SELECT count(*) FROM jobs WHERE status IN ('pending', 'running'))
        """,
        (int(UserFlag.DELETED), INSTANCE),
    ).fetchone()
    return StoredFigures(*row)
