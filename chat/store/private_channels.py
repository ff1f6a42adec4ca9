"""Conversations outside of guilds: who is in them, and which one two accounts have with each other."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.registries.channel_types import ChannelType
from chat.store import channels
from chat.store.channels import Channel


@attrs.frozen
class PrivateChannel:
    """A conversation and its accounts, in ascending order of id."""

    channel: Channel
    recipient_ids: tuple[int, ...]


_COLUMNS: Final = ", ".join(f"channels.{name}" for name in channels.FIELDS)
_BY_ID: Final = f"SELECT {_COLUMNS} FROM channels WHERE id = ? AND guild_id IS NULL"  # noqa: S608 - our own names
_SHOWN: Final = f"""
    SELECT {_COLUMNS}
      FROM private_channel_recipients AS own JOIN channels ON channels.id = own.channel_id
     WHERE own.user_id = ? AND own.is_shown = 1
     ORDER BY coalesce(channels.last_message_id, channels.id) DESC
     LIMIT ?
"""  # noqa: S608


def by_id(connection: sqlite3.Connection, channel_id: int) -> PrivateChannel | None:
    """The conversation with this id."""
    row = connection.execute(_BY_ID, (channel_id,)).fetchone()
    return None if row is None else PrivateChannel(Channel(*row), recipient_ids(connection, channel_id))


def recipient_ids(connection: sqlite3.Connection, channel_id: int) -> tuple[int, ...]:
    """The accounts in a conversation, ascending."""
    rows = connection.execute(
        "SELECT user_id FROM private_channel_recipients WHERE channel_id = ? ORDER BY user_id", (channel_id,)
    )
    return tuple(user_id for (user_id,) in rows)


def shown_to(connection: sqlite3.Connection, user_id: int, limit: int) -> list[PrivateChannel]:
    """The conversations in the account's list, the one with the newest message first, and not the oldest beyond
    `limit`."""
    found = [Channel(*row) for row in connection.execute(_SHOWN, (user_id, limit))]
    return [PrivateChannel(channel, recipient_ids(connection, channel.id)) for channel in found]


def between(connection: sqlite3.Connection, user_id: int, other_id: int) -> PrivateChannel | None:
    """The conversation that two accounts have with each other."""
    row = connection.execute(
        "SELECT channel_id FROM direct_messages WHERE lower_user_id = ? AND higher_user_id = ?",
        (min(user_id, other_id), max(user_id, other_id)),
    ).fetchone()
    return None if row is None else by_id(connection, row[0])


def insert_direct(connection: sqlite3.Connection, channel_id: int, opener_id: int, other_id: int) -> PrivateChannel:
    """Make the conversation of two accounts; only the one who opens it has it in its list."""
    channels.insert(connection, [Channel(id=channel_id, guild_id=None, type=ChannelType.DM)])
    connection.executemany(
        "INSERT INTO private_channel_recipients (channel_id, user_id, is_shown) VALUES (?, ?, ?)",
        [(channel_id, opener_id, 1), (channel_id, other_id, 0)],
    )
    connection.execute(
        "INSERT INTO direct_messages (lower_user_id, higher_user_id, channel_id) VALUES (?, ?, ?)",
        (min(opener_id, other_id), max(opener_id, other_id), channel_id),
    )
    made = by_id(connection, channel_id)
    assert made is not None, "it was inserted just now"  # noqa: S101
    return made


def show(connection: sqlite3.Connection, channel_id: int, *user_ids: int) -> list[int]:
    """Put the conversation into the lists of these accounts; returns those that did not have it there."""
    return [
        user_id
        for user_id in user_ids
        if connection.execute(
            "UPDATE private_channel_recipients SET is_shown = 1 WHERE channel_id = ? AND user_id = ? AND is_shown = 0",
            (channel_id, user_id),
        ).rowcount
    ]


def has_written(connection: sqlite3.Connection, channel_id: int) -> bool:
    """Whether anything was ever written in the conversation."""
    row = connection.execute("SELECT last_message_id FROM channels WHERE id = ?", (channel_id,)).fetchone()
    return row is not None and row[0] is not None
