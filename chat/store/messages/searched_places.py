"""Where an account may have written and read beyond the channels of its guilds, for a search over all of it."""

from __future__ import annotations

import sqlite3

from chat.registries.channel_types import ChannelType


def conversations(connection: sqlite3.Connection, user_id: int, *, shown_only: bool) -> list[int]:
    """The conversations that the account is in, its notes to itself included; with `shown_only` those in its list."""
    rows = connection.execute(
        """
        SELECT channel_id FROM private_channel_recipients WHERE user_id = ? AND is_shown >= ?
         UNION
        SELECT id FROM channels WHERE id = ? AND type = ?
        """,
        (user_id, shown_only, user_id, int(ChannelType.DM_PERSONAL_NOTES)),
    )
    return [channel_id for (channel_id,) in rows]


def private_threads(connection: sqlite3.Connection, user_id: int) -> list[tuple[int, int, int]]:
    """The private threads that the account is in: thread, channel above, guild."""
    return connection.execute(
        """
        SELECT channels.id, channels.parent_id, channels.guild_id
          FROM thread_members JOIN channels ON channels.id = thread_members.thread_id
         WHERE thread_members.user_id = ? AND channels.type = ?
           AND channels.parent_id IS NOT NULL AND channels.guild_id IS NOT NULL
        """,
        (user_id, int(ChannelType.PRIVATE_THREAD)),
    ).fetchall()
