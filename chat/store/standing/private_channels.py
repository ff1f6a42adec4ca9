"""Conversations outside of guilds: who is in them, and which one two accounts have with each other."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from chat.classes import frozen
from chat.registries.channel_types import ChannelType
from chat.store.guilds import channels
from chat.store.guilds.channels import Channel


@frozen
class PrivateChannel:
    """A conversation and its accounts, in ascending order of id. `nicks` are the names that some have in a group."""

    channel: Channel
    recipient_ids: tuple[int, ...]
    nicks: Mapping[int, str] = attrs.field(factory=dict)


NO_NICKS: Final[Mapping[int, str]] = {}

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
    row = connection.execute(_BY_ID, (channel_id,)).fetchone()
    return None if row is None else _with_recipients(connection, Channel(*row))


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
    return [_with_recipients(connection, channel) for channel in found]


def _with_recipients(connection: sqlite3.Connection, channel: Channel) -> PrivateChannel:
    if channel.type == ChannelType.DM_PERSONAL_NOTES:
        return PrivateChannel(channel, (channel.id,), NO_NICKS)
    rows = connection.execute(
        "SELECT user_id, nick FROM private_channel_recipients WHERE channel_id = ? ORDER BY user_id", (channel.id,)
    ).fetchall()
    nicks = NO_NICKS
    if channel.type == ChannelType.GROUP_DM:
        nicks = {user_id: nick for user_id, nick in rows if nick is not None}
    return PrivateChannel(channel, tuple([user_id for user_id, _ in rows]), nicks)


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
    return _made(connection, channel_id)


def insert_group(
    connection: sqlite3.Connection, channel_id: int, owner_id: int, user_ids: Iterable[int], now_ms: int
) -> PrivateChannel:
    """Make a group of its owner and these accounts; it stands in the lists of all."""
    channels.insert(connection, [Channel(id=channel_id, guild_id=None, type=ChannelType.GROUP_DM, owner_id=owner_id)])
    for user_id in (owner_id, *user_ids):
        add_to_group(connection, channel_id, user_id, now_ms)
    return _made(connection, channel_id)


def add_to_group(connection: sqlite3.Connection, channel_id: int, user_id: int, now_ms: int) -> None:
    """Add an account to a group, and show the group in the account's list."""
    connection.execute(
        """
        INSERT INTO private_channel_recipients (channel_id, user_id, is_shown, is_group, joined_at)
             VALUES (?, ?, 1, 1, ?)
        """,
        (channel_id, user_id, now_ms),
    )


def remove_from_group(connection: sqlite3.Connection, channel_id: int, user_id: int) -> None:
    """Take an account out of a group, and its nickname with it."""
    connection.execute(
        "DELETE FROM private_channel_recipients WHERE channel_id = ? AND user_id = ?", (channel_id, user_id)
    )


def is_in(connection: sqlite3.Connection, channel_id: int, user_id: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM private_channel_recipients WHERE channel_id = ? AND user_id = ?", (channel_id, user_id)
    ).fetchone()
    return row is not None


def longest_in_group(connection: sqlite3.Connection, channel_id: int) -> int | None:
    """The account that has been in the group for longest, a bot only among bots; None if the group is empty."""
    row = connection.execute(
        """
        SELECT recipients.user_id
          FROM private_channel_recipients AS recipients JOIN users ON users.id = recipients.user_id
         WHERE recipients.channel_id = ?
         ORDER BY users.bot, recipients.joined_at, recipients.user_id
         LIMIT 1
        """,
        (channel_id,),
    ).fetchone()
    return None if row is None else row[0]


def set_nicks(connection: sqlite3.Connection, channel_id: int, nicks: Mapping[int, str | None]) -> None:
    """Name accounts in a group; None takes a name away."""
    connection.executemany(
        "UPDATE private_channel_recipients SET nick = ? WHERE channel_id = ? AND user_id = ?",
        [(nick, channel_id, user_id) for user_id, nick in nicks.items()],
    )


def count_groups(connection: sqlite3.Connection, user_id: int) -> int:
    """How many groups the account is in."""
    row = connection.execute(
        "SELECT count(*) FROM private_channel_recipients WHERE user_id = ? AND is_group = 1", (user_id,)
    ).fetchone()
    return int(row[0])


def in_groups_with(connection: sqlite3.Connection, user_id: int) -> tuple[int, ...]:
    """The accounts that are in a group with this one, ascending."""
    rows = connection.execute(
        """
        SELECT DISTINCT others.user_id
          FROM private_channel_recipients AS own
          JOIN private_channel_recipients AS others ON others.channel_id = own.channel_id
         WHERE own.user_id = ?1 AND own.is_group = 1 AND others.user_id <> ?1
         ORDER BY others.user_id
        """,
        (user_id,),
    )
    return tuple(other_id for (other_id,) in rows)


def share_group(connection: sqlite3.Connection, user_id: int, other_id: int) -> bool:
    """Whether two accounts are in a group together."""
    row = connection.execute(
        """
        SELECT 1
          FROM private_channel_recipients AS own
          JOIN private_channel_recipients AS other ON other.channel_id = own.channel_id AND other.user_id = ?
         WHERE own.user_id = ? AND own.is_group = 1
         LIMIT 1
        """,
        (other_id, user_id),
    ).fetchone()
    return row is not None


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


def hide(connection: sqlite3.Connection, channel_id: int, user_id: int) -> bool:
    """Take the conversation out of the account's list; returns whether it was there."""
    cursor = connection.execute(
        "UPDATE private_channel_recipients SET is_shown = 0 WHERE channel_id = ? AND user_id = ? AND is_shown = 1",
        (channel_id, user_id),
    )
    return cursor.rowcount > 0


def pinned(connection: sqlite3.Connection, user_id: int) -> list[int]:
    """The conversations that the account has pinned, in the order in which it did."""
    rows = connection.execute(
        """
        SELECT channel_id FROM private_channel_recipients
         WHERE user_id = ? AND pin_position IS NOT NULL
         ORDER BY pin_position
        """,
        (user_id,),
    )
    return [channel_id for (channel_id,) in rows]


def pin(connection: sqlite3.Connection, channel_id: int, user_id: int) -> None:
    """Pin a conversation after those that the account has pinned; one that is pinned stays where it is."""
    connection.execute(
        """
        UPDATE private_channel_recipients
           SET pin_position = 1 + (
                   SELECT coalesce(max(pin_position), 0) FROM private_channel_recipients
                    WHERE user_id = ?2 AND pin_position IS NOT NULL)
         WHERE channel_id = ?1 AND user_id = ?2 AND pin_position IS NULL
        """,
        (channel_id, user_id),
    )


def unpin(connection: sqlite3.Connection, channel_id: int, user_id: int) -> None:
    """Pin the conversation no longer."""
    connection.execute(
        "UPDATE private_channel_recipients SET pin_position = NULL WHERE channel_id = ? AND user_id = ?",
        (channel_id, user_id),
    )


def has_written(connection: sqlite3.Connection, channel_id: int) -> bool:
    """Whether anything was ever written in the conversation."""
    row = connection.execute("SELECT last_message_id FROM channels WHERE id = ?", (channel_id,)).fetchone()
    return row is not None and row[0] is not None


def _made(connection: sqlite3.Connection, channel_id: int) -> PrivateChannel:
    made = by_id(connection, channel_id)
    assert made is not None, "it was inserted just now"  # noqa: S101
    return made
