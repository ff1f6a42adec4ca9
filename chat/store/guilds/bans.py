"""Bans: the rows of `bans`. One whose time is over counts as none, and goes when the next ban is made."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class Ban:
    """One row of `bans`. Times are Unix milliseconds."""

    guild_id: int
    user_id: int
    moderator_id: int
    reason: str | None
    banned_at: int
    expires_at: int | None = None
    network: str | None = None
    """The network from which the account came last: an IPv4 address, or an IPv6 /64."""


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(Ban))
_STANDING: Final = "(expires_at IS NULL OR expires_at > ?)"
_BY_ID: Final = f"SELECT {_COLUMNS} FROM bans WHERE guild_id = ? AND user_id = ? AND {_STANDING}"  # noqa: S608 - our own
_OF_GUILD: Final = f"""
    SELECT {_COLUMNS} FROM bans WHERE guild_id = ? AND user_id > ? AND {_STANDING} ORDER BY user_id LIMIT ?
"""  # noqa: S608


def by_id(connection: sqlite3.Connection, guild_id: int, user_id: int, now: int) -> Ban | None:
    """The ban of an account that stands now."""
    row = connection.execute(_BY_ID, (guild_id, user_id, now)).fetchone()
    return None if row is None else Ban(*row)


def of_guild(connection: sqlite3.Connection, guild_id: int, now: int, *, after: int, limit: int) -> list[Ban]:
    """Bans that stand now, in order of the accounts' ids."""
    return [Ban(*row) for row in connection.execute(_OF_GUILD, (guild_id, after, now, limit))]


def is_network_banned(connection: sqlite3.Connection, guild_id: int, network: str, now: int) -> bool:
    """Whether an account from this network is banned now."""
    row = connection.execute(
        f"SELECT 1 FROM bans WHERE guild_id = ? AND network = ? AND {_STANDING} LIMIT 1",  # noqa: S608
        (guild_id, network, now),
    ).fetchone()
    return row is not None


def put(connection: sqlite3.Connection, ban: Ban) -> None:
    """Ban an account, in place of a ban that it has."""
    connection.execute(
        f"INSERT OR REPLACE INTO bans ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        attrs.astuple(ban),
    )


def delete(connection: sqlite3.Connection, guild_id: int, user_id: int) -> bool:
    """Lift a ban; returns whether there was one, whether it stood or not."""
    return connection.execute("DELETE FROM bans WHERE guild_id = ? AND user_id = ?", (guild_id, user_id)).rowcount > 0


def delete_expired(connection: sqlite3.Connection, guild_id: int, now: int) -> None:
    """Delete the guild's bans that have expired."""
    connection.execute("DELETE FROM bans WHERE guild_id = ? AND expires_at <= ?", (guild_id, now))
