"""Memberships that last as long as their account is connected: the rows of `temporary_members`."""

from __future__ import annotations

import sqlite3


def insert(connection: sqlite3.Connection, guild_id: int, user_id: int) -> None:
    """Mark a membership, which must be there."""
    connection.execute("INSERT INTO temporary_members (user_id, guild_id) VALUES (?, ?)", (user_id, guild_id))


def delete(connection: sqlite3.Connection, guild_id: int, user_id: int) -> None:
    """The membership lasts."""
    connection.execute("DELETE FROM temporary_members WHERE user_id = ? AND guild_id = ?", (user_id, guild_id))


def guilds_of(connection: sqlite3.Connection, user_id: int) -> list[int]:
    """The guilds that the account is a temporary member of."""
    rows = connection.execute("SELECT guild_id FROM temporary_members WHERE user_id = ?", (user_id,))
    return [guild_id for (guild_id,) in rows]


def user_ids(connection: sqlite3.Connection) -> list[int]:
    """Every account that is a temporary member somewhere."""
    return [user_id for (user_id,) in connection.execute("SELECT DISTINCT user_id FROM temporary_members")]
