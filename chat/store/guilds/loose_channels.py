"""Channels of guilds that are gone, and groups that nobody is in: in no guild, of a type that only guilds have, seen by
nobody."""

from __future__ import annotations

import sqlite3
from typing import Final

from chat.registries.channel_types import PRIVATE_CHANNEL_TYPES, THREAD_CHANNEL_TYPES, ChannelType

_PRIVATE: Final = ", ".join(str(int(kind)) for kind in sorted(PRIVATE_CHANNEL_TYPES))
_THREADS: Final = ", ".join(str(int(kind)) for kind in sorted(THREAD_CHANNEL_TYPES))
_ONE_LOOSE: Final = f"""
    SELECT id FROM channels INDEXED BY channels_loose
     WHERE guild_id IS NULL AND type NOT IN ({_PRIVATE})
     LIMIT 1
"""  # noqa: S608


def cut_loose(connection: sqlite3.Connection, guild_id: int) -> None:
    """Take the guild's channels out of it; messages stay in them for `sweep`."""
    connection.execute("UPDATE channels SET guild_id = NULL, parent_id = NULL WHERE guild_id = ?", (guild_id,))


def cut_channel_loose(connection: sqlite3.Connection, channel_id: int) -> None:
    """Take one channel out of its guild, with the threads below it; what a category held comes to the root."""
    connection.execute(
        f"UPDATE channels SET guild_id = NULL WHERE parent_id = ? AND type IN ({_THREADS})",  # noqa: S608
        (channel_id,),
    )
    connection.execute("UPDATE channels SET parent_id = NULL WHERE parent_id = ?", (channel_id,))
    connection.execute("UPDATE channels SET guild_id = NULL, parent_id = NULL WHERE id = ?", (channel_id,))
    connection.execute("DELETE FROM invites WHERE channel_id = ?", (channel_id,))
    connection.execute("DELETE FROM webhooks WHERE channel_id = ?", (channel_id,))


def cut_group_loose(connection: sqlite3.Connection, channel_id: int) -> None:
    """Nobody is in a group any more: it becomes a channel like those that guilds leave behind."""
    connection.execute(
        "UPDATE channels SET type = ?, owner_id = NULL, icon = NULL WHERE id = ?", (ChannelType.GUILD_TEXT, channel_id)
    )
    connection.execute("DELETE FROM private_channel_recipients WHERE channel_id = ?", (channel_id,))
    connection.execute("DELETE FROM invites WHERE channel_id = ?", (channel_id,))


def sweep(connection: sqlite3.Connection, limit: int) -> bool:
    """Delete up to `limit` messages of a loose channel, and the channel once none is left; returns whether there was
    anything to do."""
    row = connection.execute(_ONE_LOOSE).fetchone()
    if row is None:
        return False
    sweep_channel(connection, row[0], limit)
    return True


def sweep_channel(connection: sqlite3.Connection, channel_id: int, limit: int) -> bool:
    """Delete up to `limit` messages of this loose channel, and the channel once none is left; returns whether there is
    more to do."""
    deleted = connection.execute(
        "DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE channel_id = ? LIMIT ?)", (channel_id, limit)
    ).rowcount
    if deleted < limit:
        connection.execute("DELETE FROM channels WHERE id = ?", (channel_id,))
    return deleted == limit
