"""Interactions and the answers that one person alone sees: the rows of `interactions` and `ephemeral_messages`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen

FORGOTTEN_AT_ONCE: Final = 200
"""Rows that one unit of the clean-up deletes."""


def _parsed(value: str | Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A column that holds an object as JSON, or the object itself."""
    parsed: Mapping[str, Any] | None = json.loads(value) if isinstance(value, str) else value
    return parsed


@frozen
class Interaction:
    """One row of `interactions`. Moments are Unix milliseconds."""

    id: int
    application_id: int
    user_id: int
    type: int
    channel_id: int
    guild_id: int | None
    message_id: int | None
    token_hash: bytes = attrs.field(repr=False)
    session_id: str | None
    nonce: str | None
    name: str | None
    created_at: int
    due_at: int | None
    answered_with: int | None = None
    answer_id: int | None = None
    opened_by: Mapping[str, Any] | None = attrs.field(default=None, converter=_parsed)
    """Of a submitted form: the interaction that was answered with it, as the extra of a message has it."""
    form: Mapping[str, Any] | None = attrs.field(default=None, converter=_parsed)


_NAMES: Final = tuple(field.name for field in attrs.fields(Interaction))
_COLUMNS: Final = ", ".join(_NAMES)
_SELECT: Final = f"SELECT {_COLUMNS} FROM interactions"  # noqa: S608 - our own names, here and below
_INSERT: Final = f"INSERT INTO interactions ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608


def insert(connection: sqlite3.Connection, interaction: Interaction) -> None:
    """Add an interaction; its application and its account exist."""
    opened_by = None if interaction.opened_by is None else json.dumps(interaction.opened_by)
    connection.execute(_INSERT, (*(getattr(interaction, name) for name in _NAMES[:-2]), opened_by, None))


def by_id(connection: sqlite3.Connection, interaction_id: int) -> Interaction | None:
    """The interaction with this snowflake."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (interaction_id,)).fetchone()
    return None if row is None else Interaction(*row)


def by_token(connection: sqlite3.Connection, application_id: int, token_hash: bytes) -> Interaction | None:
    """The interaction of the application that this token belongs to."""
    row = connection.execute(
        f"{_SELECT} WHERE application_id = ? AND token_hash = ?", (application_id, token_hash)
    ).fetchone()
    return None if row is None else Interaction(*row)


def latest(connection: sqlite3.Connection, since: int, limit: int) -> list[Interaction]:
    """Those made since a moment, the newest first, up to `limit`."""
    rows = connection.execute(
        f"{_SELECT} WHERE created_at >= ? ORDER BY created_at DESC, id DESC LIMIT ?", (since, limit)
    )
    return [Interaction(*row) for row in rows]


def answer(
    connection: sqlite3.Connection,
    interaction_id: int,
    answered_with: int,
    *,
    answer_id: int | None = None,
    form: Mapping[str, Any] | None = None,
) -> bool:
    """Note the first answer; False where there is one already, or where it counts as not answered."""
    cursor = connection.execute(
        """
        UPDATE interactions SET due_at = NULL, sealed_delivery = NULL, answered_with = ?, answer_id = ?, form = ?
         WHERE id = ? AND answered_with IS NULL AND due_at IS NOT NULL
        """,
        (answered_with, answer_id, None if form is None else json.dumps(form), interaction_id),
    )
    return cursor.rowcount > 0


def give_up(connection: sqlite3.Connection, now: int, limit: int) -> list[Interaction]:
    """The interactions that count as not answered from this moment on."""
    rows = connection.execute(f"{_SELECT} WHERE due_at <= ? ORDER BY due_at, id LIMIT ?", (now, limit)).fetchall()
    found = [Interaction(*row) for row in rows]
    connection.executemany(
        "UPDATE interactions SET due_at = NULL, sealed_delivery = NULL WHERE id = ?", [(each.id,) for each in found]
    )
    return found


def keep_delivery(connection: sqlite3.Connection, interaction_id: int, sealed: bytes) -> None:
    """Keep what the application's endpoint is told, until it has answered."""
    connection.execute("UPDATE interactions SET sealed_delivery = ? WHERE id = ?", (sealed, interaction_id))


def waiting_deliveries(connection: sqlite3.Connection, now: int) -> list[tuple[Interaction, bytes]]:
    """The interactions that endpoints were told, or were to be, and have not answered; with what was kept for each."""
    rows = connection.execute(
        f"SELECT {_COLUMNS}, sealed_delivery FROM interactions "  # noqa: S608 - our own names
        "WHERE due_at > ? AND sealed_delivery IS NOT NULL ORDER BY due_at, id",
        (now,),
    ).fetchall()
    return [(Interaction(*row[:-1]), row[-1]) for row in rows]


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the next one counts as not answered; None where none waits."""
    row = connection.execute("SELECT min(due_at) FROM interactions WHERE due_at IS NOT NULL").fetchone()
    return None if row is None else row[0]


def oldest(connection: sqlite3.Connection) -> int | None:
    """When the oldest one was made; None where there is none."""
    row = connection.execute("SELECT min(created_at) FROM interactions").fetchone()
    return None if row is None else row[0]


def forget_older(connection: sqlite3.Connection, before: int) -> None:
    """Remove those from before this moment, FORGOTTEN_AT_ONCE at most."""
    connection.execute(
        "DELETE FROM interactions WHERE id IN (SELECT id FROM interactions WHERE created_at < ? LIMIT ?)",
        (before, FORGOTTEN_AT_ONCE),
    )


def put_ephemeral(
    connection: sqlite3.Connection, interaction_id: int, message_id: int, body: Mapping[str, Any]
) -> None:
    """Write an answer that one person alone sees. It replaces the one with the same id."""
    connection.execute(
        """
        INSERT INTO ephemeral_messages (id, interaction_id, body) VALUES (?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET body = excluded.body
        """,
        (message_id, interaction_id, json.dumps(body)),
    )


def ephemeral(connection: sqlite3.Connection, message_id: int) -> tuple[int, Mapping[str, Any]] | None:
    """The interaction and the message object of such an answer; None if there is none."""
    row = connection.execute(
        "SELECT interaction_id, body FROM ephemeral_messages WHERE id = ?", (message_id,)
    ).fetchone()
    return None if row is None else (row[0], json.loads(row[1]))


def delete_ephemeral(connection: sqlite3.Connection, message_id: int) -> None:
    """Remove such an answer."""
    connection.execute("DELETE FROM ephemeral_messages WHERE id = ?", (message_id,))
