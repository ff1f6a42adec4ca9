"""How far an account has read a channel, and how often it was mentioned since: the rows of `read_states`.

`mention_count` counts what names the account itself (in conversations, every message of others). What names its roles
or everyone is counted when it is asked for, from `counted_id` on (`chat.store.mass_mentions`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from chat.registries.channel_types import ChannelType

BLOCKED: Final = 2
"""`relationships.type` of a block."""

RECOUNTED: Final = 1_000
"""Mentions that are counted afresh at most: to whoever has more of them, the number says nothing."""

_PRIVATE: Final = f"{int(ChannelType.DM)}, {int(ChannelType.GROUP_DM)}"


@attrs.frozen
class ReadState:
    """One row of `read_states`, with the type of the channel. `last_pin_timestamp` is Unix milliseconds."""

    channel_id: int
    last_message_id: int | None
    mention_count: int
    last_pin_timestamp: int | None
    version: int = 0
    channel_type: int = 0


@attrs.frozen
class Acknowledgement:
    """An account says how far it has read a channel.

    `mention_count` None is counted afresh from there; a number is the account's own count of everything that is left,
    and only what comes later is added to it. `version` grows from one acknowledgement to the next.
    """

    channel_id: int
    message_id: int
    mention_count: int | None
    version: int


def of_user(connection: sqlite3.Connection, user_id: int) -> list[ReadState]:
    """Every read state of the account, by channel."""
    rows = connection.execute(
        """
        SELECT read_states.channel_id, read_states.last_message_id, read_states.mention_count,
               read_states.last_pin_timestamp, read_states.version, channels.type
          FROM read_states JOIN channels ON channels.id = read_states.channel_id
         WHERE read_states.user_id = ?
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


def take(connection: sqlite3.Connection, user_id: int, acknowledgement: Acknowledgement) -> int:
    """Write what an account says, and give the count of mentions that stands then; the channel exists."""
    channel_id, message_id = acknowledgement.channel_id, acknowledgement.message_id
    if acknowledgement.mention_count is None:
        count, counted_id = _count_after(connection, user_id, channel_id, message_id), message_id
    else:
        newest = connection.execute("SELECT last_message_id FROM channels WHERE id = ?", (channel_id,)).fetchone()
        count, counted_id = acknowledgement.mention_count, max(message_id, newest[0] or 0)
    connection.execute(
        """
        INSERT INTO read_states (user_id, channel_id, last_message_id, mention_count, counted_id, version)
        VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, channel_id)
            DO UPDATE SET last_message_id = excluded.last_message_id, mention_count = excluded.mention_count,
                          counted_id = excluded.counted_id, version = excluded.version
        """,
        (user_id, channel_id, message_id, count, counted_id, acknowledgement.version),
    )
    return count


def acknowledge_pins(connection: sqlite3.Connection, user_id: int, channel_id: int, pinned_at: int) -> None:
    """The account has seen the channel's pins up to this one (Unix milliseconds)."""
    connection.execute(
        """
        INSERT INTO read_states (user_id, channel_id, last_pin_timestamp) VALUES (?, ?, ?)
            ON CONFLICT (user_id, channel_id) DO UPDATE SET last_pin_timestamp = excluded.last_pin_timestamp
        """,
        (user_id, channel_id, pinned_at),
    )


def delete(connection: sqlite3.Connection, user_id: int, channel_id: int) -> None:
    """Forget one read state; there need not be one."""
    connection.execute("DELETE FROM read_states WHERE user_id = ? AND channel_id = ?", (user_id, channel_id))


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


def take_back_mention(connection: sqlite3.Connection, channel_id: int, message_id: int) -> None:
    """The message is about to go: whoever has not read so far and was counted is mentioned once less."""
    connection.execute(
        f"""
        UPDATE read_states SET mention_count = mention_count - 1
         WHERE channel_id = ?1 AND mention_count > 0 AND coalesce(last_message_id, 0) < ?2
           AND user_id IN (
               SELECT user_id FROM message_mentions WHERE message_id = ?2 AND counted
                UNION
               SELECT recipients.user_id
                 FROM private_channel_recipients AS recipients
                 JOIN channels ON channels.id = recipients.channel_id AND channels.type IN ({_PRIVATE})
                 JOIN messages ON messages.id = ?2 AND messages.author_id <> recipients.user_id
                WHERE recipients.channel_id = ?1)
        """,  # noqa: S608 - our own numbers
        (channel_id, message_id),
    )


def without_blockers(connection: sqlite3.Connection, author_id: int, user_ids: Sequence[int]) -> list[int]:
    """Those of the accounts that have not blocked the author."""
    rows = connection.execute(
        """
        SELECT value FROM json_each(?1)
         WHERE NOT EXISTS (SELECT 1 FROM relationships WHERE user_id = value AND target_id = ?2 AND type = ?3)
        """,
        (json.dumps(list(user_ids)), author_id, BLOCKED),
    )
    return [user_id for (user_id,) in rows]


def without_suppressed(
    connection: sqlite3.Connection, guild_id: int, setting: str, user_ids: Sequence[int]
) -> list[int]:
    """Those of the accounts that have not switched a setting for the guild on, such as `suppress_everyone`."""
    rows = connection.execute(
        """
        SELECT value FROM json_each(?1)
         WHERE NOT EXISTS (SELECT 1 FROM user_guild_settings
                            WHERE user_id = value AND guild_id = ?2 AND json_extract(body, '$.' || ?3))
        """,
        (json.dumps(list(user_ids)), guild_id, setting),
    )
    return [user_id for (user_id,) in rows]


def _count_after(connection: sqlite3.Connection, user_id: int, channel_id: int, message_id: int) -> int:
    """How often the account is named after a message: in a conversation by every message of others."""
    (kind,) = connection.execute("SELECT type FROM channels WHERE id = ?", (channel_id,)).fetchone()
    if kind in (ChannelType.DM, ChannelType.GROUP_DM):
        query = "SELECT 1 FROM messages WHERE channel_id = ?2 AND id > ?3 AND author_id <> ?1 LIMIT ?4"
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
