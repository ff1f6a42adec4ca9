"""Messages that are sent later: the rows of `scheduled_messages`. Their files are attachments of no message yet
(`chat.store.messages.attachments.of_scheduled`), and go with them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen

FORGOTTEN_AT_ONCE: Final = 100
"""Rows that one unit of the clean-up deletes."""


@frozen
class ScheduledMessage:
    """One row. Moments are Unix milliseconds, `local_at` and `timezone` as the author gave them; `body` is the message
    without its files, as JSON. `due_at` is when to try next; None once it is invalid."""

    id: int
    user_id: int
    channel_id: int
    scheduled_at: int
    local_at: str
    timezone: str
    body: Mapping[str, Any]
    due_at: int | None
    status_reason: str | None = None
    invalidated_at: int | None = None


_FIELDS: Final = tuple(field.name for field in attrs.fields(ScheduledMessage))
_COLUMNS: Final = ", ".join(_FIELDS)
_SELECT: Final = f"SELECT {_COLUMNS} FROM scheduled_messages"  # noqa: S608 - our own names, here and below
_REPLACE: Final = f"""
    INSERT INTO scheduled_messages ({_COLUMNS}) VALUES ({", ".join("?" * len(_FIELDS))})
        ON CONFLICT (id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _FIELDS[3:])}
"""  # noqa: S608


def of_user(connection: sqlite3.Connection, user_id: int) -> list[ScheduledMessage]:
    """The account's scheduled messages, the next one first."""
    return [
        _row(row) for row in connection.execute(f"{_SELECT} WHERE user_id = ? ORDER BY scheduled_at, id", (user_id,))
    ]


def by_id(connection: sqlite3.Connection, user_id: int, scheduled_id: int) -> ScheduledMessage | None:
    """One of the account's scheduled messages; None if missing."""
    row = connection.execute(f"{_SELECT} WHERE id = ? AND user_id = ?", (scheduled_id, user_id)).fetchone()
    return None if row is None else _row(row)


def count(connection: sqlite3.Connection, user_id: int) -> int:
    """How many the account has, invalid ones included."""
    row = connection.execute("SELECT count(*) FROM scheduled_messages WHERE user_id = ?", (user_id,)).fetchone()
    return int(row[0])


def put(connection: sqlite3.Connection, scheduled: ScheduledMessage) -> None:
    """Write a scheduled message. It replaces the one with the same id. The account must exist."""
    values = attrs.asdict(scheduled, recurse=False) | {"body": json.dumps(scheduled.body)}
    connection.execute(_REPLACE, tuple(values[name] for name in _FIELDS))


def delete(connection: sqlite3.Connection, user_id: int, scheduled_id: int) -> bool:
    """Remove one with the files that it still has; False when there was none."""
    cursor = connection.execute("DELETE FROM scheduled_messages WHERE id = ? AND user_id = ?", (scheduled_id, user_id))
    return cursor.rowcount > 0


def due(connection: sqlite3.Connection, now: int, limit: int) -> list[ScheduledMessage]:
    """The scheduled messages whose time has come, oldest first."""
    rows = connection.execute(f"{_SELECT} WHERE due_at <= ? ORDER BY due_at, id LIMIT ?", (now, limit))
    return [_row(row) for row in rows]


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the next one is to be tried; None where none waits."""
    row = connection.execute("SELECT min(due_at) FROM scheduled_messages WHERE due_at IS NOT NULL").fetchone()
    return None if row is None else row[0]


def any_invalid_since(connection: sqlite3.Connection, before: int) -> bool:
    """Whether one became invalid before this moment."""
    row = connection.execute("SELECT 1 FROM scheduled_messages WHERE invalidated_at < ? LIMIT 1", (before,)).fetchone()
    return row is not None


def forget_invalid(connection: sqlite3.Connection, before: int) -> None:
    """Remove those that became invalid before this moment, FORGOTTEN_AT_ONCE at most."""
    connection.execute(
        "DELETE FROM scheduled_messages WHERE id IN"
        " (SELECT id FROM scheduled_messages WHERE invalidated_at < ? LIMIT ?)",
        (before, FORGOTTEN_AT_ONCE),
    )


def _row(row: tuple[Any, ...]) -> ScheduledMessage:
    scheduled = ScheduledMessage(*row)
    return attrs.evolve(scheduled, body=json.loads(row[6]))
