"""Webhooks: the rows of `webhooks`."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen

INCOMING: Final = 1
"""The type of webhooks that are executed from outside (webhooks.md, Webhooks of channels)."""

CHANNEL_FOLLOWER: Final = 2
"""The type of webhooks that bring what is published in another channel (webhooks.md, Webhooks of channels)."""


@frozen
class Webhook:
    id: int
    guild_id: int
    channel_id: int
    user_id: int
    name: str
    sealed_token: bytes = attrs.field(repr=False)
    avatar: str | None = None
    type: int = INCOMING


_FIELDS: Final = tuple(field.name for field in attrs.fields(Webhook))
_COLUMNS: Final = ", ".join(_FIELDS)
_SELECT: Final = f"SELECT {_COLUMNS} FROM webhooks"  # noqa: S608 - our own names, here and below
_BY_ID: Final = f"{_SELECT} WHERE id = ?"
_OF_CHANNEL: Final = f"{_SELECT} WHERE channel_id = ? ORDER BY id"
_OF_GUILD: Final = f"{_SELECT} WHERE guild_id = ? ORDER BY id"
_INSERT: Final = f"INSERT INTO webhooks ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608


def by_id(connection: sqlite3.Connection, webhook_id: int) -> Webhook | None:
    row = connection.execute(_BY_ID, (webhook_id,)).fetchone()
    return None if row is None else Webhook(*row)


def of_channel(connection: sqlite3.Connection, channel_id: int) -> list[Webhook]:
    """The webhooks of a channel, oldest first."""
    return [Webhook(*row) for row in connection.execute(_OF_CHANNEL, (channel_id,))]


def of_guild(connection: sqlite3.Connection, guild_id: int) -> list[Webhook]:
    """The webhooks of a guild, oldest first."""
    return [Webhook(*row) for row in connection.execute(_OF_GUILD, (guild_id,))]


def count_of_channel(connection: sqlite3.Connection, channel_id: int) -> int:
    count: int = connection.execute("SELECT count(*) FROM webhooks WHERE channel_id = ?", (channel_id,)).fetchone()[0]
    return count


def count_of_guild(connection: sqlite3.Connection, guild_id: int) -> int:
    count: int = connection.execute("SELECT count(*) FROM webhooks WHERE guild_id = ?", (guild_id,)).fetchone()[0]
    return count


def insert(connection: sqlite3.Connection, webhook: Webhook) -> bool:
    """Add a webhook; False, and nothing added, when its channel is gone."""
    try:
        connection.execute(_INSERT, tuple(getattr(webhook, name) for name in _FIELDS))
    except sqlite3.IntegrityError:
        return False
    return True


def update(connection: sqlite3.Connection, webhook: Webhook) -> bool:
    """Write name, avatar and channel; False when the webhook, or the channel, is gone."""
    try:
        cursor = connection.execute(
            "UPDATE webhooks SET name = ?, avatar = ?, channel_id = ? WHERE id = ?",
            (webhook.name, webhook.avatar, webhook.channel_id, webhook.id),
        )
    except sqlite3.IntegrityError:
        return False
    return cursor.rowcount > 0


def delete(connection: sqlite3.Connection, webhook_id: int) -> bool:
    """Remove a webhook; returns whether there was one."""
    return connection.execute("DELETE FROM webhooks WHERE id = ?", (webhook_id,)).rowcount > 0
