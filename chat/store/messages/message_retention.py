"""How long the messages of channels are kept: the ages that guilds and channels chose, and what is older."""

from __future__ import annotations

import sqlite3
from typing import Final

from chat.classes import frozen


@frozen
class KeptChannel:
    """A channel, and the oldest message that it has.

    `chosen_days` is the channel's own choice, or that of the channel that its thread is in, or else that of its guild;
    None where none of them made one, 0 for ever.
    """

    channel_id: int
    chosen_days: int | None
    oldest_id: int | None


_KEPT: Final = """
    SELECT channels.id,
           coalesce(channels.message_retention_days, above.message_retention_days, guilds.message_retention_days),
           (SELECT min(id) FROM messages WHERE channel_id = channels.id)
      FROM channels
           LEFT JOIN channels AS above ON above.id = channels.parent_id
           LEFT JOIN guilds ON guilds.id = channels.guild_id
"""
# Categories choose no age, so a channel in one has no choice above it but its guild's.


def by_id(connection: sqlite3.Connection, channel_id: int) -> KeptChannel | None:
    """One channel; None if it is gone."""
    row = connection.execute(f"{_KEPT} WHERE channels.id = ?", (channel_id,)).fetchone()
    return None if row is None else KeptChannel(*row)


def after(connection: sqlite3.Connection, channel_id: int, limit: int) -> list[KeptChannel]:
    """Up to `limit` channels and threads of all sorts, with ids above `channel_id`, ascending."""
    rows = connection.execute(f"{_KEPT} WHERE channels.id > ? ORDER BY channels.id LIMIT ?", (channel_id, limit))
    return [KeptChannel(*row) for row in rows]


def any_chosen(connection: sqlite3.Connection) -> bool:
    """Whether a guild or a channel chose an age of its own."""
    row = connection.execute(
        """
        SELECT EXISTS (SELECT 1 FROM guilds WHERE message_retention_days IS NOT NULL)
            OR EXISTS (SELECT 1 FROM channels WHERE message_retention_days IS NOT NULL)
        """
    ).fetchone()
    return bool(row[0])
