"""Channels and their permission overwrites: the rows of `channels` and `permission_overwrites`.

A loose channel is what a guild or a channel that is gone, or a group without members, leaves behind until its messages
are swept away: in no guild, of a type that only guilds have, seen by no account.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.channel_types import PRIVATE_CHANNEL_TYPES, THREAD_CHANNEL_TYPES, ChannelType


def _optional_truth(value: int | None) -> bool | None:
    return None if value is None else bool(value)


@frozen
class ForumTag:
    """A tag that the posts of a forum may have; `moderated` ones are given by those who manage threads."""

    id: int
    name: str
    moderated: bool = False
    emoji_id: int | None = None
    emoji_name: str | None = None


@frozen
class ForumReaction:
    """The emoji that clients offer to react with to a post: one of a guild by its id, or a character."""

    emoji_id: int | None = None
    emoji_name: str | None = None


@frozen
class Forum:
    """Fields that only forums and media channels have."""

    tags: tuple[ForumTag, ...] = ()
    default_reaction: ForumReaction | None = None
    default_sort_order: int | None = None
    default_layout: int = 0
    default_tag_setting: str = "match_some"


NO_FORUM: Final = Forum()
"""The values with which a forum begins."""


def _forum(value: str | Forum | None) -> Forum | None:
    """A column that holds it as JSON, or the thing itself."""
    if not isinstance(value, str):
        return value
    data: dict[str, Any] = json.loads(value)  # JSON of the column, whose members become fields here
    reaction = data["default_reaction"]
    return Forum(
        tags=tuple(ForumTag(**tag) for tag in data["tags"]),
        default_reaction=None if reaction is None else ForumReaction(**reaction),
        default_sort_order=data["default_sort_order"],
        default_layout=data["default_layout"],
        default_tag_setting=data["default_tag_setting"],
    )


@frozen
class Overwrite:
    """What a channel allows and denies to one role (type 0) or one member (type 1), on top of the roles."""

    target_id: int
    type: int
    allow: int
    deny: int


@frozen
class Channel:
    """One row of `channels` with its overwrites, in order of their targets.

    `last_pin_timestamp` is Unix milliseconds, `rate_limit_per_user` seconds, `bitrate` bits a second,
    `default_auto_archive_duration` minutes. `message_retention_days` is None as the guild has it, 0 for ever.
    """

    id: int
    guild_id: int | None
    type: int
    name: str | None = None
    topic: str | None = None
    position: int = 0
    parent_id: int | None = None
    nsfw: bool = attrs.field(default=False, converter=bool)
    nsfw_override: bool | None = attrs.field(default=None, converter=_optional_truth)
    content_warning_level: int = 0
    content_warning_text: str | None = None
    rate_limit_per_user: int = 0
    bitrate: int | None = None
    user_limit: int | None = None
    voice_connection_limit: int | None = None
    rtc_region: str | None = None
    url: str | None = None
    owner_id: int | None = None
    icon: str | None = None
    last_message_id: int | None = None
    last_pin_timestamp: int | None = None
    flags: int = 0
    default_auto_archive_duration: int | None = None
    default_thread_rate_limit_per_user: int = 0
    forum: Forum | None = attrs.field(default=None, converter=_forum)
    message_retention_days: int | None = None
    overwrites: tuple[Overwrite, ...] = ()


FIELDS: Final = tuple(field.name for field in attrs.fields(Channel) if field.name != "overwrites")
"""The columns of `channels`, in the order of the attributes."""

_COLUMNS: Final = ", ".join(FIELDS)
_THREADS: Final = ", ".join(str(int(kind)) for kind in sorted(THREAD_CHANNEL_TYPES))
_OF_GUILD: Final = f"""
    SELECT {_COLUMNS}
      FROM channels
     WHERE guild_id = ? AND type NOT IN ({_THREADS})
     ORDER BY position, id
"""  # noqa: S608 - our own names
_BY_ID: Final = f"SELECT {_COLUMNS} FROM channels WHERE id = ?"  # noqa: S608
_WRITTEN: Final = tuple(name for name in FIELDS if name not in ("id", "guild_id", "last_message_id"))
_REPLACE: Final = f"UPDATE channels SET {', '.join(f'{name} = ?' for name in _WRITTEN)} WHERE id = ?"  # noqa: S608
_INSERT: Final = f"INSERT INTO channels ({_COLUMNS}) VALUES ({', '.join('?' * len(FIELDS))})"  # noqa: S608


def _column(channel: Channel, name: str) -> Any:
    value = getattr(channel, name)
    return json.dumps(attrs.asdict(value)) if isinstance(value, Forum) else value


def of_guild(connection: sqlite3.Connection, guild_id: int) -> list[Channel]:
    """Every channel of the guild with its overwrites, lowest position first; threads are no such channels."""
    overwrites: dict[int, list[Overwrite]] = defaultdict(list)
    for channel_id, *overwrite in connection.execute(
        """
        SELECT overwrites.channel_id, overwrites.target_id, overwrites.type, overwrites.allow, overwrites.deny
          FROM channels JOIN permission_overwrites AS overwrites ON overwrites.channel_id = channels.id
         WHERE channels.guild_id = ?
         ORDER BY overwrites.channel_id, overwrites.target_id
        """,
        (guild_id,),
    ):
        overwrites[channel_id].append(Overwrite(*overwrite))
    rows = connection.execute(_OF_GUILD, (guild_id,))
    return [Channel(*(*row, tuple(overwrites.get(row[0], ())))) for row in rows]


def guild_of(connection: sqlite3.Connection, channel_id: int) -> int | None:
    """The guild that the channel belongs to; None for an unknown channel and for one outside guilds."""
    row = connection.execute("SELECT guild_id FROM channels WHERE id = ?", (channel_id,)).fetchone()
    return None if row is None else row[0]


def type_of(connection: sqlite3.Connection, channel_id: int) -> int | None:
    """The channel's type; None for an unknown one."""
    row = connection.execute("SELECT type FROM channels WHERE id = ?", (channel_id,)).fetchone()
    return None if row is None else row[0]


def last_message_of(connection: sqlite3.Connection, channel_id: int) -> int:
    """The id of the newest message that a channel has had; 0 where there was none."""
    row = connection.execute("SELECT last_message_id FROM channels WHERE id = ?", (channel_id,)).fetchone()
    return 0 if row is None or row[0] is None else int(row[0])


def insert(connection: sqlite3.Connection, channels: Iterable[Channel]) -> None:
    """Add channels, categories before what they hold."""
    for channel in channels:
        connection.execute(_INSERT, [_column(channel, name) for name in FIELDS])
        put_overwrites(connection, channel.id, channel.overwrites)


def by_id(connection: sqlite3.Connection, channel_id: int) -> Channel | None:
    """A channel with its overwrites."""
    row = connection.execute(_BY_ID, (channel_id,)).fetchone()
    return None if row is None else Channel(*(*row, overwrites_of(connection, channel_id)))


def overwrites_of(connection: sqlite3.Connection, channel_id: int) -> tuple[Overwrite, ...]:
    """The overwrites of a channel, in order of their targets."""
    rows = connection.execute(
        "SELECT target_id, type, allow, deny FROM permission_overwrites WHERE channel_id = ? ORDER BY target_id",
        (channel_id,),
    )
    return tuple(Overwrite(*row) for row in rows)


def replace(connection: sqlite3.Connection, channel: Channel) -> None:
    """Write every column of a channel that exists, but for those that messages move on; overwrites stay."""
    connection.execute(_REPLACE, [*(_column(channel, name) for name in _WRITTEN), channel.id])


def put_overwrites(connection: sqlite3.Connection, channel_id: int, overwrites: Iterable[Overwrite]) -> None:
    """Add overwrites to a channel, in place of those for the same targets."""
    connection.executemany(
        """
        INSERT INTO permission_overwrites (channel_id, target_id, type, allow, deny) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (channel_id, target_id)
            DO UPDATE SET type = excluded.type, allow = excluded.allow, deny = excluded.deny
        """,
        [(channel_id, entry.target_id, entry.type, entry.allow, entry.deny) for entry in overwrites],
    )


def delete_overwrite(connection: sqlite3.Connection, channel_id: int, target_id: int) -> None:
    connection.execute(
        "DELETE FROM permission_overwrites WHERE channel_id = ? AND target_id = ?", (channel_id, target_id)
    )


def replace_overwrites(connection: sqlite3.Connection, channel_id: int, overwrites: Iterable[Overwrite]) -> None:
    """Give the channel exactly these overwrites."""
    connection.execute("DELETE FROM permission_overwrites WHERE channel_id = ?", (channel_id,))
    put_overwrites(connection, channel_id, overwrites)


def delete(connection: sqlite3.Connection, channel_id: int) -> None:
    """Remove a channel with its messages and everything that belongs to it; for one that holds few."""
    connection.execute("DELETE FROM channels WHERE id = ?", (channel_id,))


def set_last_pin(connection: sqlite3.Connection, channel_id: int, pinned_at: int | None) -> None:
    """When the newest of the channel's pins was made, in Unix milliseconds; None if nothing is pinned."""
    connection.execute("UPDATE channels SET last_pin_timestamp = ? WHERE id = ?", (pinned_at, channel_id))


def set_last_message(connection: sqlite3.Connection, channel_id: int, message_id: int) -> None:
    """Record the newest message of a channel; does nothing if a newer one is recorded."""
    connection.execute(
        "UPDATE channels SET last_message_id = ?1 WHERE id = ?2 AND coalesce(last_message_id, 0) < ?1",
        (message_id, channel_id),
    )


def take_message(connection: sqlite3.Connection, channel_id: int, message_id: int) -> int | None:
    """As `set_last_message`; returns the guild that the channel belongs to, None as `guild_of`."""
    row = connection.execute(
        """
        UPDATE channels SET last_message_id = max(coalesce(last_message_id, 0), ?1) WHERE id = ?2
        RETURNING guild_id
        """,
        (message_id, channel_id),
    ).fetchone()
    return None if row is None else row[0]


_PRIVATE: Final = ", ".join(str(int(kind)) for kind in sorted(PRIVATE_CHANNEL_TYPES))
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
    """Make a group without members a channel like those that guilds leave behind."""
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
