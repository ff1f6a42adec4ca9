"""Applications for public discovery: the rows of `discovery_applications`, at most one of each guild."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class DiscoveryApplication:
    """One row. `category` and `status` are of `chat.registries.guild_values`; times are Unix milliseconds."""

    guild_id: int
    category: int
    description: str
    status: str
    applied_by: int
    applied_at: int
    reviewed_by: int | None = None
    reviewed_at: int | None = None
    review_reason: str | None = None


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(DiscoveryApplication))
_BY_GUILD: Final = f"SELECT {_COLUMNS} FROM discovery_applications WHERE guild_id = ?"  # noqa: S608 - our own names


def find(connection: sqlite3.Connection, guild_id: int) -> DiscoveryApplication | None:
    row = connection.execute(_BY_GUILD, (guild_id,)).fetchone()
    return None if row is None else DiscoveryApplication(*row)


def put(connection: sqlite3.Connection, application: DiscoveryApplication) -> None:
    """Write a guild's application, in place of the one that it has."""
    connection.execute(
        f"INSERT OR REPLACE INTO discovery_applications ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        attrs.astuple(application),
    )


def delete(connection: sqlite3.Connection, guild_id: int) -> None:
    connection.execute("DELETE FROM discovery_applications WHERE guild_id = ?", (guild_id,))


def with_status(
    connection: sqlite3.Connection, status: str, limit: int, offset: int
) -> tuple[list[DiscoveryApplication], int]:
    """A page of the applications that stand so, the oldest first, and how many there are in all."""
    (total,) = connection.execute("SELECT count(*) FROM discovery_applications WHERE status = ?", (status,)).fetchone()
    rows = connection.execute(
        f"""
        SELECT {_COLUMNS} FROM discovery_applications
         WHERE status = ?
         ORDER BY applied_at, guild_id
         LIMIT ? OFFSET ?
        """,  # noqa: S608
        (status, limit, offset),
    )
    return [DiscoveryApplication(*row) for row in rows], int(total)
