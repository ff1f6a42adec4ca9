"""What administrators list of an account: questions that nobody else asks the store (administration.md, Account
lists)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from chat.registries.channel_types import ChannelType
from chat.snowflake import MAXIMUM

_IS_MEMBER: Final = "SELECT 1 FROM members WHERE user_id = ? AND guild_id = ?"


def is_member(connection: sqlite3.Connection, user_id: int, guild_id: int) -> bool:
    """Whether the account is in the guild."""
    return connection.execute(_IS_MEMBER, (user_id, guild_id)).fetchone() is not None


def guild_ids_between(
    connection: sqlite3.Connection, user_id: int, after: int | None, before: int | None, limit: int
) -> list[int]:
    """The account's guilds with ids in the window, lowest first."""
    rows = connection.execute(
        """
        SELECT guild_id FROM members
         WHERE user_id = ? AND guild_id > ? AND guild_id < ?
         ORDER BY guild_id
         LIMIT ?
        """,
        (user_id, -1 if after is None else after, MAXIMUM if before is None else before, limit),
    )
    return [guild_id for (guild_id,) in rows]


def direct_messages_of(
    connection: sqlite3.Connection, user_id: int, after: int | None, before: int | None, limit: int
) -> list[tuple[int, bool]]:
    """Conversations of two that the account is in, and whether each is open for it; the newest channel first.

    With `after`, those `limit` nearest above it.
    """
    rows = connection.execute(
        f"""
        SELECT own.channel_id, own.is_shown
          FROM private_channel_recipients AS own
          JOIN channels ON channels.id = own.channel_id AND channels.type = ?
         WHERE own.user_id = ? AND own.channel_id > ? AND own.channel_id < ?
         ORDER BY own.channel_id {"DESC" if after is None else ""}
         LIMIT ?
        """,  # noqa: S608 - the direction is our own
        (
            ChannelType.DM.value,
            user_id,
            -1 if after is None else after,
            MAXIMUM if before is None else before,
            limit,
        ),
    ).fetchall()
    return [(channel_id, bool(shown)) for channel_id, shown in (rows if after is None else reversed(rows))]


def groups_of(connection: sqlite3.Connection, user_id: int, limit: int) -> list[tuple[int, bool]]:
    """Groups that the account is in, and whether each is open for it; the newest channel first."""
    rows = connection.execute(
        """
        SELECT own.channel_id, own.is_shown
          FROM private_channel_recipients AS own
          JOIN channels ON channels.id = own.channel_id AND channels.type = ?
         WHERE own.user_id = ?
         ORDER BY own.channel_id DESC
         LIMIT ?
        """,
        (ChannelType.GROUP_DM.value, user_id, limit),
    )
    return [(channel_id, bool(shown)) for channel_id, shown in rows]


def ids_by_last_address(
    connection: sqlite3.Connection, address: str, limit: int, offset: int
) -> tuple[Sequence[int], int]:
    """Accounts that were last seen at exactly this address, oldest first, and how many there are in all."""
    (total,) = connection.execute("SELECT count(*) FROM users WHERE last_active_ip = ?", (address,)).fetchone()
    rows = connection.execute(
        "SELECT id FROM users WHERE last_active_ip = ? ORDER BY id LIMIT ? OFFSET ?", (address, limit, offset)
    )
    return [user_id for (user_id,) in rows], int(total)
