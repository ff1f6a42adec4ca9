"""What accounts set: their settings (only what differs from the defaults need be stored), the moments at which these
change by themselves, their settings for guilds (guild 0 stands for direct messages), and notes about others: the rows
of `user_settings`, `settings_due`, `user_guild_settings` and `user_notes`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from chat import wire


# `dict[str, Any]`: some of the members of wire.UserSettings, those that the account has changed.
def of_user(connection: sqlite3.Connection, user_id: int) -> dict[str, Any]:
    """The account's settings as they are stored; empty if it has never changed any."""
    row = connection.execute("SELECT body FROM user_settings WHERE user_id = ?", (user_id,)).fetchone()
    return {} if row is None else json.loads(row[0])


def put(connection: sqlite3.Connection, user_id: int, body: Mapping[str, object]) -> None:
    """Store the account's settings in place of what was there."""
    connection.execute(
        """
        INSERT INTO user_settings (user_id, body) VALUES (?, ?)
            ON CONFLICT (user_id) DO UPDATE SET body = excluded.body
        """,
        (user_id, json.dumps(body)),
    )


def put_due(connection: sqlite3.Connection, user_id: int, setting: str, due_at: int | None) -> None:
    """The account's setting changes at this moment (Unix milliseconds), not at the one that was noted before; None: it
    stays as it is."""
    if due_at is None:
        connection.execute("DELETE FROM settings_due WHERE user_id = ? AND setting = ?", (user_id, setting))
        return
    connection.execute(
        """
        INSERT INTO settings_due (user_id, setting, due_at) VALUES (?, ?, ?)
            ON CONFLICT (user_id, setting) DO UPDATE SET due_at = excluded.due_at
        """,
        (user_id, setting, due_at),
    )


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the next setting changes (Unix milliseconds)."""
    row = connection.execute("SELECT min(due_at) FROM settings_due").fetchone()
    return None if row is None else row[0]


def due(connection: sqlite3.Connection, now_ms: int, limit: int) -> list[tuple[int, str]]:
    """Accounts and settings whose moment has come, the earliest first, at most `limit`."""
    return connection.execute(
        "SELECT user_id, setting FROM settings_due WHERE due_at <= ? ORDER BY due_at, user_id LIMIT ?", (now_ms, limit)
    ).fetchall()


def of_all_guilds(connection: sqlite3.Connection, user_id: int) -> list[wire.UserGuildSettings]:
    """The stored settings objects of the account (accounts.md, User guild settings), direct messages first, then by
    guild."""
    rows = connection.execute("SELECT body FROM user_guild_settings WHERE user_id = ? ORDER BY guild_id", (user_id,))
    return [json.loads(body) for (body,) in rows]


def of_guild(connection: sqlite3.Connection, user_id: int, guild_id: int) -> wire.UserGuildSettings | None:
    """The stored settings object of one guild."""
    row = connection.execute(
        "SELECT body FROM user_guild_settings WHERE user_id = ? AND guild_id = ?", (user_id, guild_id)
    ).fetchone()
    return None if row is None else json.loads(row[0])


def of_guild_by_users(
    connection: sqlite3.Connection, user_ids: Sequence[int], guild_id: int
) -> dict[int, wire.UserGuildSettings]:
    """The stored settings objects of several accounts for one guild; those who never changed any are missing."""
    rows = connection.execute(
        """
        SELECT user_id, body FROM user_guild_settings
         WHERE user_id IN (SELECT value FROM json_each(?)) AND guild_id = ?
        """,
        (json.dumps(list(user_ids)), guild_id),
    )
    return {user_id: json.loads(body) for user_id, body in rows}


def delete_of_guild(connection: sqlite3.Connection, user_id: int, guild_id: int) -> None:
    """Delete the account's settings for one guild."""
    connection.execute("DELETE FROM user_guild_settings WHERE user_id = ? AND guild_id = ?", (user_id, guild_id))


def put_of_guild(connection: sqlite3.Connection, user_id: int, guild_id: int, body: Mapping[str, object]) -> None:
    """Store the settings object of one guild in place of what was there."""
    connection.execute(
        """
        INSERT INTO user_guild_settings (user_id, guild_id, body) VALUES (?, ?, ?)
            ON CONFLICT (user_id, guild_id) DO UPDATE SET body = excluded.body
        """,
        (user_id, guild_id, json.dumps(body)),
    )


def notes_of(connection: sqlite3.Connection, user_id: int) -> list[tuple[int, str]]:
    """The account's notes, by the ids of those whom they are about."""
    rows = connection.execute("SELECT target_id, note FROM user_notes WHERE user_id = ? ORDER BY target_id", (user_id,))
    return list(rows)


def note_about(connection: sqlite3.Connection, user_id: int, target_id: int) -> str | None:
    """The account's note about another one."""
    row = connection.execute(
        "SELECT note FROM user_notes WHERE user_id = ? AND target_id = ?", (user_id, target_id)
    ).fetchone()
    return None if row is None else row[0]


def count_notes(connection: sqlite3.Connection, user_id: int) -> int:
    """How many notes the account has."""
    row = connection.execute("SELECT count(*) FROM user_notes WHERE user_id = ?", (user_id,)).fetchone()
    return int(row[0])


def put_note(connection: sqlite3.Connection, user_id: int, target_id: int, note: str) -> None:
    """Store the note that an account keeps about another one, in place of an earlier note."""
    connection.execute(
        """
        INSERT INTO user_notes (user_id, target_id, note) VALUES (?, ?, ?)
            ON CONFLICT (user_id, target_id) DO UPDATE SET note = excluded.note
        """,
        (user_id, target_id, note),
    )


def delete_note(connection: sqlite3.Connection, user_id: int, target_id: int) -> None:
    """Take a note away."""
    connection.execute("DELETE FROM user_notes WHERE user_id = ? AND target_id = ?", (user_id, target_id))
