"""Messages that name roles or everyone of a guild: the rows of `mass_mentions`, the latest of each kind.

They are counted for members when a session starts, not when they are written: a message costs the same in a guild of
ten as in one of a hundred thousand.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Final

import attrs

from chat.snowflake import EPOCH_MS
from chat.store.messages.read_states import BLOCKED

EVERYONE: Final = 0
"""Stands for everyone in the place of a role."""

HERE: Final = 1
"""Stands for those who were online, who are named one by one in `here_mentions`."""

KEPT: Final = 100
"""Messages that are known for each role of a guild, and for everyone: older ones count for nobody any more."""


@attrs.frozen
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
# What names the account itself counts as that already, and who blocks an author is not told by it.
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
       AND NOT EXISTS (SELECT 1 FROM relationships
                        WHERE user_id = ?1 AND target_id = found.author_id AND type = {BLOCKED})
"""  # noqa: S608 - our own names, here and below


def insert(connection: sqlite3.Connection, mentions: Iterable[MassMention], here_ids: Iterable[int] = ()) -> None:
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


def keep(connection: sqlite3.Connection, message_id: int, role_ids: Iterable[int], *, everyone: bool) -> None:
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


def unread(connection: sqlite3.Connection, user_id: int) -> list[MassMention]:
    """What names the account as one of many and counts as unread, in no order; a message may be there more than once,
    for several roles. Whether the account wants such mentions to count, and sees the channel, is not looked at."""
    return [MassMention(*row) for row in connection.execute(_UNREAD, (user_id,))]
