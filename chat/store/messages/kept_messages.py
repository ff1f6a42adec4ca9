"""The lists that an account keeps of messages: those that mention it, without what it took off the list
(`dismissed_mentions`, `mentions_read`), and those that it saved (`saved_messages`, whose rows go with their messages).
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen
from chat.snowflake import EPOCH_MS, MAXIMUM
from chat.store.messages.read_states import BLOCKED, EVERYONE, HERE


@frozen
class MentionFilter:
    """Which mentions to find: messages between two ids, both excluded; whether of those that name the account only by
    a role, or only as one of everyone, and whether of those in guilds; in one guild only."""

    after: int = 0
    before: int = MAXIMUM
    roles: bool = True
    everyone: bool = True
    guilds: bool = True
    guild_id: int | None = None
    message_id: int | None = None
    """Only this message."""


@frozen
class Mention:
    """A message that mentions the account."""

    message_id: int
    channel_id: int


# Each source starts at a place in an index; the first, which may be long, is read no further than its limit.
_FIND: Final = f"""
    WITH joined AS (
        SELECT guild_id, max(:after, (joined_at - {EPOCH_MS}) << 22) AS since_id FROM members WHERE user_id = :user_id
    ), named AS (
        SELECT guild_id, {EVERYONE} AS role_id, since_id FROM joined WHERE :everyone
         UNION ALL
        SELECT joined.guild_id, member_roles.role_id, joined.since_id
          FROM joined
          JOIN member_roles ON member_roles.guild_id = joined.guild_id AND member_roles.user_id = :user_id
         WHERE :roles
    ), found AS (
        SELECT * FROM (
            SELECT message_mentions.message_id
              FROM message_mentions
              JOIN messages ON messages.id = message_mentions.message_id
              JOIN channels ON channels.id = messages.channel_id
             WHERE message_mentions.user_id = :user_id AND message_mentions.counted
               AND message_mentions.message_id > :after AND message_mentions.message_id < :before
               AND (:guild_id IS NULL OR channels.guild_id = :guild_id) AND (:guilds OR channels.guild_id IS NULL)
               AND NOT EXISTS (SELECT 1 FROM dismissed_mentions AS dismissed
                                WHERE dismissed.user_id = :user_id
                                  AND dismissed.message_id = message_mentions.message_id)
               AND NOT EXISTS (SELECT 1 FROM relationships
                                WHERE user_id = :user_id AND target_id = messages.author_id AND type = {BLOCKED})
             ORDER BY message_mentions.message_id DESC
             LIMIT :limit)
         UNION
        SELECT mass_mentions.message_id
          FROM named JOIN mass_mentions USING (guild_id, role_id)
         WHERE mass_mentions.message_id > named.since_id AND mass_mentions.message_id < :before
         UNION
        SELECT mass_mentions.message_id
          FROM here_mentions
          JOIN mass_mentions ON mass_mentions.message_id = here_mentions.message_id AND mass_mentions.role_id = {HERE}
          JOIN joined USING (guild_id)
         WHERE here_mentions.user_id = :user_id AND :everyone
           AND here_mentions.message_id > joined.since_id AND here_mentions.message_id < :before
    )
    SELECT messages.id, messages.channel_id
      FROM found
      JOIN messages ON messages.id = found.message_id
      JOIN channels ON channels.id = messages.channel_id
     WHERE messages.author_id <> :user_id
       AND (:guild_id IS NULL OR channels.guild_id = :guild_id) AND (:guilds OR channels.guild_id IS NULL)
       AND (:message_id IS NULL OR messages.id = :message_id)
       AND NOT EXISTS (SELECT 1 FROM dismissed_mentions AS dismissed
                        WHERE dismissed.user_id = :user_id AND dismissed.message_id = messages.id)
       AND NOT EXISTS (SELECT 1 FROM relationships
                        WHERE user_id = :user_id AND target_id = messages.author_id AND type = {BLOCKED})
     ORDER BY messages.id DESC
     LIMIT :limit
"""  # noqa: S608 - our own numbers


def find_mentions(connection: sqlite3.Connection, user_id: int, sought: MentionFilter, limit: int) -> list[Mention]:
    """Messages of others that mention the account and stand on its list, newest first, at most `limit`. Whether the
    account sees their channels is not looked at."""
    after, before = max(sought.after, _dismissed_up_to(connection, user_id)), sought.before
    if sought.message_id is not None:
        after, before = max(after, sought.message_id - 1), min(before, sought.message_id + 1)
    values = {**attrs.asdict(sought), "after": after, "before": before, "user_id": user_id, "limit": limit}
    return [Mention(*row) for row in connection.execute(_FIND, values)]


def dismiss(connection: sqlite3.Connection, user_id: int, message_id: int) -> None:
    """Take a message off the account's list."""
    connection.execute(
        "INSERT OR IGNORE INTO dismissed_mentions (user_id, message_id) VALUES (?, ?)", (user_id, message_id)
    )


def dismiss_all(connection: sqlite3.Connection, user_id: int, up_to: int) -> None:
    """Take every message up to this id off the account's list."""
    connection.execute(
        """
        INSERT INTO mentions_read (user_id, message_id) VALUES (?, ?)
            ON CONFLICT (user_id) DO UPDATE SET message_id = max(message_id, excluded.message_id)
        """,
        (user_id, up_to),
    )
    connection.execute("DELETE FROM dismissed_mentions WHERE user_id = ? AND message_id <= ?", (user_id, up_to))


def _dismissed_up_to(connection: sqlite3.Connection, user_id: int) -> int:
    """Up to which message the account took all of them off its list; 0 where it never did."""
    row = connection.execute("SELECT message_id FROM mentions_read WHERE user_id = ?", (user_id,)).fetchone()
    return 0 if row is None else row[0]


@frozen
class SavedMessage:
    """One row; `id` grows with the order in which messages were saved."""

    user_id: int
    message_id: int
    id: int
    channel_id: int


def save(connection: sqlite3.Connection, saved: SavedMessage) -> None:
    """Add one that is not there yet; its message is."""
    connection.execute(
        "INSERT INTO saved_messages (user_id, message_id, id, channel_id) VALUES (?, ?, ?, ?)", attrs.astuple(saved)
    )


def is_saved(connection: sqlite3.Connection, user_id: int, message_id: int) -> bool:
    """Whether the account keeps the message."""
    row = connection.execute(
        "SELECT 1 FROM saved_messages WHERE user_id = ? AND message_id = ?", (user_id, message_id)
    ).fetchone()
    return row is not None


def forget_saved(connection: sqlite3.Connection, user_id: int, message_id: int) -> bool:
    """Remove a saved message; False if the account had not saved it."""
    cursor = connection.execute(
        "DELETE FROM saved_messages WHERE user_id = ? AND message_id = ?", (user_id, message_id)
    )
    return cursor.rowcount > 0


def count_saved(connection: sqlite3.Connection, user_id: int) -> int:
    """How many messages the account keeps."""
    row = connection.execute("SELECT count(*) FROM saved_messages WHERE user_id = ?", (user_id,)).fetchone()
    return int(row[0])


def saved_page(connection: sqlite3.Connection, user_id: int, limit: int, before: int) -> list[SavedMessage]:
    """What the account saved before it saved the message `before`: the last one saved comes first.

    A message that it does not keep stands where it would if it had been saved when it was written.
    """
    rows = connection.execute(
        """
        SELECT user_id, message_id, id, channel_id FROM saved_messages
         WHERE user_id = ?1
           AND id < coalesce((SELECT id FROM saved_messages WHERE user_id = ?1 AND message_id = ?2), ?2)
         ORDER BY id DESC LIMIT ?3
        """,
        (user_id, before, limit),
    )
    return [SavedMessage(*row) for row in rows]
