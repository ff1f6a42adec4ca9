"""How far an account has read a channel, and how often it was mentioned since: the rows of `read_states`, of
`uncounted_messages`, and of `mass_mentions`, which hold the latest messages that name roles or everyone of a guild.

`mention_count` counts what names the account itself (in conversations, what others say). Mass mentions are counted from
`counted_id` on when a session starts, not when they are written: a message costs the same in a guild of ten as in one
of a hundred thousand.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from chat.classes import frozen
from chat.registries.channel_types import ChannelType
from chat.registries.message_types import MessageType
from chat.snowflake import EPOCH_MS

BLOCKED: Final = 2
"""`relationships.type` of a block."""

SILENCED: Final = 2
"""The value of `person_notifications` in `user_settings.body` for somebody whose messages notify of nothing."""

RECOUNTED: Final = 1_000
"""Mentions that are counted afresh at most: a greater number says nothing."""

EVERYONE: Final = 0
"""Stands for everyone in place of a role."""

HERE: Final = 1
"""Stands for `@here` in place of a role; `here_mentions` lists the accounts that were online then."""

KEPT: Final = 100
"""Messages that are known for each role of a guild, and for everyone: older ones no longer count."""

_PRIVATE: Final = f"{int(ChannelType.DM)}, {int(ChannelType.GROUP_DM)}"
_SPOKEN: Final = ", ".join(str(int(kind)) for kind in (MessageType.DEFAULT, MessageType.CALL, MessageType.REPLY))
"""Messages of conversations that count for all others there: what accounts say, and calls."""


def _silences(user_id: str, author_id: str) -> str:
    """An SQL condition on two expressions: what the author says does not count for the account, which has blocked it
    or wants no notification of its messages."""
    return f"""(
        EXISTS (SELECT 1 FROM relationships
                 WHERE user_id = {user_id} AND target_id = {author_id} AND type = {BLOCKED})
        OR EXISTS (SELECT 1 FROM user_settings
                    WHERE user_id = {user_id}
                      AND json_extract(body, '$.person_notifications."' || {author_id} || '"') = {SILENCED}))
    """  # noqa: S608 - our own names, here and where it is used


@frozen
class ReadState:
    """One row of `read_states`, with the type of the channel. `last_pin_timestamp` is Unix milliseconds."""

    channel_id: int
    last_message_id: int | None
    mention_count: int
    last_pin_timestamp: int | None
    version: int = 0
    channel_type: int = 0


@frozen
class Acknowledgement:
    """How far an account says that it has read a channel.

    `mention_count` None is counted afresh from there; a number is the account's own count of everything that is left,
    and only what comes later is added to it. `version` grows from one acknowledgement to the next.
    """

    channel_id: int
    message_id: int
    mention_count: int | None
    version: int


@frozen
class Taken:
    """What an acknowledgement came to: the type of its channel, and what is counted as left of what names the account.

    `leaves_some` tells whether messages came after it, which may name the account as one of many.
    """

    channel_type: int
    mention_count: int
    leaves_some: bool


def of_user(connection: sqlite3.Connection, user_id: int) -> list[ReadState]:
    """Every read state of the account that says anything, by channel."""
    rows = connection.execute(
        """
        SELECT read_states.channel_id, read_states.last_message_id, read_states.mention_count,
               read_states.last_pin_timestamp, read_states.version, channels.type
          FROM read_states JOIN channels ON channels.id = read_states.channel_id
         WHERE read_states.user_id = ?
           AND (read_states.last_message_id IS NOT NULL OR read_states.mention_count > 0
                OR read_states.last_pin_timestamp IS NOT NULL)
         ORDER BY read_states.channel_id
        """,
        (user_id,),
    )
    return [ReadState(*row) for row in rows]


def acknowledge(
    connection: sqlite3.Connection, user_id: int, channel_id: int, message_id: int, mention_count: int
) -> None:
    """The account has read up to this message, however far it had read before."""
    connection.execute(
        """
        INSERT INTO read_states (user_id, channel_id, last_message_id, mention_count, counted_id) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (user_id, channel_id)
            DO UPDATE SET last_message_id = excluded.last_message_id, mention_count = excluded.mention_count,
                          counted_id = excluded.counted_id
        """,
        (user_id, channel_id, message_id, mention_count, message_id),
    )


def read_on(connection: sqlite3.Connection, user_id: int, channel_id: int, newest_id: int, message_id: int) -> None:
    """An account that had read up to the newest message has read this one too, which tells of its own act."""
    connection.execute(
        """
        UPDATE read_states SET last_message_id = ?1, counted_id = ?1
         WHERE user_id = ?2 AND channel_id = ?3 AND last_message_id >= ?4
        """,
        (message_id, user_id, channel_id, newest_id),
    )


def take(connection: sqlite3.Connection, user_id: int, acknowledgement: Acknowledgement) -> Taken | None:
    """Write what an account says; None, and nothing written, where the channel is gone."""
    channel_id, message_id, count = attrs.astuple(acknowledgement)[:3]
    channel = connection.execute("SELECT type, last_message_id FROM channels WHERE id = ?", (channel_id,)).fetchone()
    if channel is None:
        return None
    kind, newest = channel[0], channel[1] or 0
    if count is None:
        taken = Taken(kind, _count_after(connection, user_id, channel_id, kind, message_id), message_id < newest)
        counted_id = message_id
    else:
        taken, counted_id = Taken(kind, count, False), max(message_id, newest)
    connection.execute(
        """
        INSERT INTO read_states (user_id, channel_id, last_message_id, mention_count, counted_id, version)
        VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, channel_id)
            DO UPDATE SET last_message_id = excluded.last_message_id, mention_count = excluded.mention_count,
                          counted_id = excluded.counted_id, version = excluded.version
        """,
        (user_id, channel_id, message_id, taken.mention_count, counted_id, acknowledgement.version),
    )
    return taken


def acknowledge_pins(connection: sqlite3.Connection, user_id: int, channel_id: int, pinned_at: int) -> None:
    """The account has seen the channel's pins up to this one (Unix milliseconds)."""
    connection.execute(
        """
        INSERT INTO read_states (user_id, channel_id, last_pin_timestamp) VALUES (?, ?, ?)
            ON CONFLICT (user_id, channel_id) DO UPDATE SET last_pin_timestamp = excluded.last_pin_timestamp
        """,
        (user_id, channel_id, pinned_at),
    )


def forget(connection: sqlite3.Connection, user_id: int, channel_id: int) -> None:
    """The account has read nothing of the channel, and nothing that was said so far counts as unread."""
    connection.execute(
        """
        INSERT INTO read_states (user_id, channel_id, counted_id)
             SELECT ?1, id, coalesce(last_message_id, 0) FROM channels WHERE id = ?2
            ON CONFLICT (user_id, channel_id)
            DO UPDATE SET last_message_id = NULL, mention_count = 0, last_pin_timestamp = NULL, version = 0,
                          counted_id = excluded.counted_id
        """,
        (user_id, channel_id),
    )


def add_mention(connection: sqlite3.Connection, channel_id: int, user_ids: Iterable[int]) -> None:
    """Each of these accounts was mentioned once more in the channel."""
    connection.executemany(
        """
        INSERT INTO read_states (user_id, channel_id, mention_count) VALUES (?, ?, 1)
            ON CONFLICT (user_id, channel_id) DO UPDATE SET mention_count = mention_count + 1
        """,
        [(user_id, channel_id) for user_id in user_ids],
    )


def mark_counted(connection: sqlite3.Connection, message_id: int, user_ids: Sequence[int]) -> None:
    """These of the accounts that a message names were counted."""
    connection.executemany(
        "UPDATE message_mentions SET counted = 1 WHERE message_id = ? AND user_id = ?",
        [(message_id, user_id) for user_id in user_ids],
    )


def mark_uncounted(connection: sqlite3.Connection, message_id: int, user_ids: Sequence[int]) -> None:
    """A message of a conversation does not count for these of its recipients, whatever they do later."""
    connection.executemany(
        "INSERT INTO uncounted_messages (user_id, message_id) VALUES (?, ?)",
        [(user_id, message_id) for user_id in user_ids],
    )


def take_back_mention(connection: sqlite3.Connection, channel_id: int, message_id: int) -> None:
    """Before a message goes: accounts that were counted and have not read so far are mentioned once less."""
    connection.execute(
        f"""
        UPDATE read_states SET mention_count = mention_count - 1
         WHERE channel_id = ?1 AND mention_count > 0 AND coalesce(last_message_id, counted_id) < ?2
           AND user_id IN (
               SELECT user_id FROM message_mentions WHERE message_id = ?2 AND counted
                UNION
               SELECT recipients.user_id
                 FROM private_channel_recipients AS recipients
                 JOIN channels ON channels.id = recipients.channel_id AND channels.type IN ({_PRIVATE})
                 JOIN messages ON messages.id = ?2 AND messages.author_id <> recipients.user_id
                              AND messages.type IN ({_SPOKEN})
                WHERE recipients.channel_id = ?1 AND (recipients.joined_at - {EPOCH_MS}) << 22 < ?2
                  AND NOT EXISTS (SELECT 1 FROM uncounted_messages AS uncounted
                                   WHERE uncounted.user_id = recipients.user_id AND uncounted.message_id = ?2))
        """,  # noqa: S608 - our own numbers
        (channel_id, message_id),
    )


def take_back_from(connection: sqlite3.Connection, message_id: int, user_ids: Sequence[int]) -> None:
    """An edit no longer names these accounts, which were counted: those that have not read so far are mentioned once
    less. In conversations the message counts without regard to its text."""
    connection.execute(
        f"""
        UPDATE read_states SET mention_count = mention_count - 1
         WHERE user_id IN (SELECT value FROM json_each(?2))
           AND channel_id = (SELECT channels.id
                               FROM messages JOIN channels ON channels.id = messages.channel_id
                              WHERE messages.id = ?1 AND channels.type NOT IN ({_PRIVATE}))
           AND mention_count > 0 AND coalesce(last_message_id, counted_id) < ?1
        """,  # noqa: S608 - our own numbers
        (message_id, json.dumps(list(user_ids))),
    )


def that_listen(connection: sqlite3.Connection, author_id: int, user_ids: Sequence[int]) -> list[int]:
    """The accounts among these that have neither blocked the author nor want no notification of its messages."""
    rows = connection.execute(
        f"SELECT value FROM json_each(?1) WHERE NOT {_silences('value', '?2')}",  # noqa: S608
        (json.dumps(list(user_ids)), author_id),
    )
    return [user_id for (user_id,) in rows]


def _count_after(connection: sqlite3.Connection, user_id: int, channel_id: int, kind: int, message_id: int) -> int:
    """How often the account is named after a message: in a conversation by every message of others."""
    if kind in (ChannelType.DM, ChannelType.GROUP_DM):
        query = f"""
            SELECT 1 FROM messages
             WHERE channel_id = ?2 AND id > ?3 AND author_id <> ?1 AND type IN ({_SPOKEN})
               AND NOT EXISTS (SELECT 1 FROM uncounted_messages WHERE user_id = ?1 AND message_id = messages.id)
             LIMIT ?4
        """  # noqa: S608 - our own numbers
    else:
        query = """
            SELECT 1
              FROM (SELECT message_id FROM message_mentions
                     WHERE user_id = ?1 AND message_id > ?3 AND counted
                     ORDER BY message_id LIMIT ?4) AS named
              JOIN messages ON messages.id = named.message_id
             WHERE messages.channel_id = ?2
        """
    (count,) = connection.execute(
        f"SELECT count(*) FROM ({query})",  # noqa: S608 - one of the two above
        (user_id, channel_id, message_id, RECOUNTED),
    ).fetchone()
    return int(count)


@frozen
class MassMention:
    """One row of `mass_mentions`."""

    guild_id: int
    role_id: int
    message_id: int
    channel_id: int
    author_id: int


_COLUMNS: Final = ", ".join(f"mass_mentions.{field.name}" for field in attrs.fields(MassMention))

# What names everyone, what names one of the account's roles, and what was for those online while it was: of each what
# came after the account joined and, in its channel, after what it has read. Each starts at a place in a primary key.
# What names the account itself counts as that already, and who has silenced an author is not told by it.
_UNREAD: Final = f"""
    WITH joined AS (
        SELECT guild_id, (joined_at - {EPOCH_MS}) << 22 AS since_id FROM members WHERE user_id = ?1
    ), named AS (
        SELECT guild_id, {EVERYONE} AS role_id, since_id FROM joined
         UNION ALL
        SELECT joined.guild_id, member_roles.role_id, joined.since_id
          FROM joined JOIN member_roles ON member_roles.guild_id = joined.guild_id AND member_roles.user_id = ?1
    ), found AS (
        SELECT {_COLUMNS}
          FROM named JOIN mass_mentions USING (guild_id, role_id)
         WHERE mass_mentions.message_id > named.since_id
         UNION ALL
        SELECT {_COLUMNS}
          FROM here_mentions
          JOIN mass_mentions ON mass_mentions.message_id = here_mentions.message_id AND mass_mentions.role_id = {HERE}
          JOIN joined USING (guild_id)
         WHERE here_mentions.user_id = ?1 AND mass_mentions.message_id > joined.since_id
    )
    SELECT found.*
      FROM found
      LEFT JOIN read_states ON read_states.user_id = ?1 AND read_states.channel_id = found.channel_id
     WHERE found.message_id > coalesce(read_states.counted_id, 0)
       AND found.author_id <> ?1
       AND NOT EXISTS (SELECT 1 FROM message_mentions
                        WHERE message_id = found.message_id AND user_id = ?1 AND counted)
       AND NOT {_silences("?1", "found.author_id")}
"""  # noqa: S608 - our own names, here and below


def note_mass_mentions(
    connection: sqlite3.Connection, mentions: Iterable[MassMention], here_ids: Iterable[int] = ()
) -> None:
    """A message names roles, or everyone, or those of the accounts in `here_ids` who are there; the oldest make room
    for it."""
    for mention in mentions:
        connection.execute(
            """
            INSERT INTO mass_mentions (guild_id, role_id, message_id, channel_id, author_id) VALUES (?, ?, ?, ?, ?)
            """,
            attrs.astuple(mention),
        )
        gone = connection.execute(
            """
            DELETE FROM mass_mentions
             WHERE guild_id = ?1 AND role_id = ?2
               AND message_id <= (SELECT message_id FROM mass_mentions WHERE guild_id = ?1 AND role_id = ?2
                                   ORDER BY message_id DESC LIMIT 1 OFFSET ?3)
            RETURNING message_id
            """,
            (mention.guild_id, mention.role_id, KEPT),
        ).fetchall()
        if mention.role_id == HERE:
            connection.executemany("DELETE FROM here_mentions WHERE message_id = ?", gone)
            connection.executemany(
                "INSERT INTO here_mentions (user_id, message_id) SELECT id, ?2 FROM users WHERE id = ?1",
                [(user_id, mention.message_id) for user_id in here_ids],
            )


def keep_mass_mentions(
    connection: sqlite3.Connection, message_id: int, role_ids: Iterable[int], *, everyone: bool
) -> None:
    """An edit has left only these of the roles that a message named, and everyone, or those who are there, only if
    `everyone`."""
    connection.execute(
        f"""
        DELETE FROM mass_mentions
         WHERE message_id = ?1
           AND CASE WHEN role_id IN ({EVERYONE}, {HERE}) THEN NOT ?2
                    ELSE role_id NOT IN (SELECT value FROM json_each(?3)) END
        """,  # noqa: S608
        (message_id, everyone, json.dumps(list(role_ids))),
    )


def unread_mass_mentions(connection: sqlite3.Connection, user_id: int) -> list[MassMention]:
    """What names the account as one of many and counts as unread, in no order; a message may be there more than once,
    for several roles. Whether the account wants such mentions to count, and sees the channel, is not looked at."""
    return [MassMention(*row) for row in connection.execute(_UNREAD, (user_id,))]
