"""Followed announcement channels and the copies of what is published in them: the rows of `channel_follows`,
`crosspost_copies` and `crosspost_deliveries`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

import attrs

from chat.classes import frozen


@frozen
class Follow:
    """One row of `channel_follows`: the channel whose messages a webhook of type 2 brings."""

    webhook_id: int
    source_guild_id: int
    source_channel_id: int


@frozen
class FollowedSource:
    """A followed channel as those see it who follow it."""

    guild_id: int
    guild_name: str
    guild_icon: str | None
    channel_id: int
    channel_name: str | None


@frozen
class CrosspostDelivery:
    """One row of `crosspost_deliveries`: the copy that a webhook has of a message is out of date. `is_first` until
    there is a copy; `attempts` counts failures."""

    source_id: int
    webhook_id: int
    source_channel_id: int
    attempts: int
    is_first: bool = attrs.field(converter=bool)


def insert_follow(connection: sqlite3.Connection, follow: Follow) -> None:
    """Record which channel a new webhook follows."""
    connection.execute(
        "INSERT INTO channel_follows (webhook_id, source_guild_id, source_channel_id) VALUES (?, ?, ?)",
        (follow.webhook_id, follow.source_guild_id, follow.source_channel_id),
    )


def follow_of(connection: sqlite3.Connection, webhook_id: int) -> Follow | None:
    """The channel that a webhook follows; None if its source is gone, or if it never followed one."""
    row = connection.execute(
        "SELECT webhook_id, source_guild_id, source_channel_id FROM channel_follows WHERE webhook_id = ?", (webhook_id,)
    ).fetchone()
    return None if row is None else Follow(*row)


def follower_in(connection: sqlite3.Connection, source_channel_id: int, channel_id: int) -> int | None:
    """The webhook by which one channel follows the other."""
    row = connection.execute(
        """
        SELECT webhooks.id
          FROM channel_follows JOIN webhooks ON webhooks.id = channel_follows.webhook_id
         WHERE channel_follows.source_channel_id = ? AND webhooks.channel_id = ?
         LIMIT 1
        """,
        (source_channel_id, channel_id),
    ).fetchone()
    return None if row is None else row[0]


def sources(connection: sqlite3.Connection, webhook_ids: Iterable[int]) -> dict[int, FollowedSource]:
    """The followed channels of those of these webhooks that follow one, by webhook."""
    rows = connection.execute(
        """
        SELECT channel_follows.webhook_id, guilds.id, guilds.name, guilds.icon, channels.id, channels.name
          FROM channel_follows
          JOIN guilds ON guilds.id = channel_follows.source_guild_id
          JOIN channels ON channels.id = channel_follows.source_channel_id AND channels.guild_id = guilds.id
         WHERE channel_follows.webhook_id IN (SELECT value FROM json_each(?))
        """,
        (json.dumps(list(webhook_ids)),),
    )
    return {webhook_id: FollowedSource(*source) for webhook_id, *source in rows}


def publish(connection: sqlite3.Connection, channel_id: int, message_id: int) -> None:
    """Have a copy of the message made for all that follow the channel now."""
    connection.execute(
        """
        INSERT INTO crosspost_deliveries (source_id, webhook_id, source_channel_id, due_at, is_first)
        SELECT ?, webhook_id, source_channel_id, 0, 1 FROM channel_follows WHERE source_channel_id = ?
        """,
        (message_id, channel_id),
    )


def due(connection: sqlite3.Connection, now_ms: int, limit: int) -> list[CrosspostDelivery]:
    """Deliveries that are to be made by now, in the order in which messages were written."""
    rows = connection.execute(
        """
        SELECT source_id, webhook_id, source_channel_id, attempts, is_first
          FROM crosspost_deliveries
         WHERE due_at <= ?
         ORDER BY due_at, source_id, webhook_id
         LIMIT ?
        """,
        (now_ms, limit),
    )
    return [CrosspostDelivery(*row) for row in rows]


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the next delivery is to be made (Unix milliseconds); None when there is none."""
    row = connection.execute("SELECT min(due_at) FROM crosspost_deliveries").fetchone()
    return None if row is None else row[0]


def forget_delivery(connection: sqlite3.Connection, delivery: CrosspostDelivery) -> None:
    """The delivery was made, or never will be."""
    connection.execute(
        "DELETE FROM crosspost_deliveries WHERE source_id = ? AND webhook_id = ?",
        (delivery.source_id, delivery.webhook_id),
    )


def postpone(connection: sqlite3.Connection, delivery: CrosspostDelivery, due_at: int) -> None:
    """The delivery failed and is tried again at this moment (Unix milliseconds)."""
    connection.execute(
        "UPDATE crosspost_deliveries SET due_at = ?, attempts = attempts + 1 WHERE source_id = ? AND webhook_id = ?",
        (due_at, delivery.source_id, delivery.webhook_id),
    )


def insert_copy(connection: sqlite3.Connection, source_id: int, webhook_id: int, message_id: int) -> None:
    """Record the copy of a message that a webhook wrote."""
    connection.execute(
        "INSERT INTO crosspost_copies (source_id, webhook_id, message_id) VALUES (?, ?, ?)",
        (source_id, webhook_id, message_id),
    )


def copy_of(connection: sqlite3.Connection, source_id: int, webhook_id: int) -> int | None:
    """The copy that a webhook brought of a message, while there is one."""
    row = connection.execute(
        "SELECT message_id FROM crosspost_copies WHERE source_id = ? AND webhook_id = ?", (source_id, webhook_id)
    ).fetchone()
    return None if row is None else row[0]


def forget_copy(connection: sqlite3.Connection, message_id: int) -> None:
    """The copy changes no more."""
    connection.execute("DELETE FROM crosspost_copies WHERE message_id = ?", (message_id,))
