"""What stands in the way when an import is undone: what here refers to the things that it made."""

from __future__ import annotations

import sqlite3
from typing import Final

from chat.registries.channel_types import THREAD_CHANNEL_TYPES, ChannelType
from chat.registries.message_types import MessageType

_THREADS: Final = ", ".join(str(int(kind)) for kind in sorted(THREAD_CHANNEL_TYPES))


def answered_since(connection: sqlite3.Connection, import_id: int) -> set[int]:
    """The messages that were answered here since the import began. Looks at all messages since."""
    rows = connection.execute(
        "SELECT reference ->> 'message_id' FROM messages WHERE id > ? AND type = ? AND reference IS NOT NULL",
        (import_id, int(MessageType.REPLY)),
    )
    return {message_id for (message_id,) in rows}


def count(connection: sqlite3.Connection, import_id: int) -> int:
    """How many things of an import are still here, messages included."""
    row = connection.execute(
        """
        SELECT (SELECT count(*) FROM imported_messages WHERE import_id = ?1)
             + (SELECT count(*) FROM imported_things WHERE import_id = ?1)
        """,
        (import_id,),
    ).fetchone()
    return int(row[0])


def claimed(connection: sqlite3.Connection, import_id: int) -> int:
    """How many people whom the import brought somebody has claimed: what they wrote stays."""
    row = connection.execute(
        """
        SELECT count(DISTINCT people.user_id)
          FROM placeholders AS people JOIN imported_things AS made ON made.thing_id = people.user_id
         WHERE made.kind = 'person' AND made.import_id = ? AND people.claimed_by IS NOT NULL
        """,
        (import_id,),
    ).fetchone()
    return int(row[0])


def undoable(connection: sqlite3.Connection, kind: str, import_id: int) -> list[int]:
    """What the import made of a kind, in the order in which it can go: threads, channels, categories."""
    rows = connection.execute(
        f"""
        SELECT things.thing_id
          FROM imported_things AS things LEFT JOIN channels ON channels.id = things.thing_id
         WHERE things.kind = ? AND things.import_id = ?
         ORDER BY CASE WHEN channels.type IN ({_THREADS}) THEN 0 WHEN channels.type = {int(ChannelType.GUILD_CATEGORY)}
                       THEN 2 ELSE 1 END, things.thing_id
        """,  # noqa: S608 - our own numbers
        (kind, import_id),
    )
    return [thing_id for (thing_id,) in rows]


def recount_channel(connection: sqlite3.Connection, channel_id: int, gone: int) -> None:
    """After messages of an import went: the newest message of a channel, its newest pin, the counts of a thread."""
    connection.execute(
        """
        UPDATE channels
           SET last_message_id = (SELECT max(id) FROM messages WHERE channel_id = ?1),
               last_pin_timestamp = (SELECT max(pinned_at) FROM messages
                                      WHERE channel_id = ?1 AND pinned_at IS NOT NULL)
         WHERE id = ?1
        """,
        (channel_id,),
    )
    connection.execute(
        """
        UPDATE threads
           SET message_count = max(0, message_count - ?2), total_message_sent = max(0, total_message_sent - ?2)
         WHERE id = ?1
        """,
        (channel_id, gone),
    )


def channel_is_used(connection: sqlite3.Connection, channel_id: int) -> bool:
    """Whether a channel has messages, or channels below it."""
    row = connection.execute(
        """
        SELECT EXISTS (SELECT 1 FROM messages WHERE channel_id = ?1)
            OR EXISTS (SELECT 1 FROM channels WHERE parent_id = ?1)
        """,
        (channel_id,),
    ).fetchone()
    return bool(row[0])


def role_is_used(connection: sqlite3.Connection, guild_id: int, role_id: int) -> bool:
    """Whether a member has the role."""
    row = connection.execute("SELECT 1 FROM member_roles WHERE guild_id = ? AND role_id = ?", (guild_id, role_id))
    return row.fetchone() is not None


def delete_picture(connection: sqlite3.Connection, expression_id: int) -> None:
    """Delete the row of an emoji's or sticker's picture; the next sweep deletes the file."""
    connection.execute("DELETE FROM assets WHERE kind IN ('emojis', 'stickers') AND owner_id = ?", (expression_id,))


def delete_person(connection: sqlite3.Connection, guild_id: int, user_id: int) -> bool:
    """Delete an imported person unless something refers to it: a message, a mention, a reaction, a claim, another
    guild. Returns whether it was deleted."""
    row = connection.execute(
        """
        SELECT EXISTS (SELECT 1 FROM messages WHERE author_id = ?1)
            OR EXISTS (SELECT 1 FROM message_mentions WHERE user_id = ?1)
            OR EXISTS (SELECT 1 FROM message_reaction_users WHERE user_id = ?1)
            OR EXISTS (SELECT 1 FROM members WHERE user_id = ?1)
            OR EXISTS (SELECT 1 FROM placeholders WHERE user_id = ?1 AND (guild_id <> ?2 OR claimed_by IS NOT NULL))
        """,
        (user_id, guild_id),
    ).fetchone()
    if row[0]:
        return False
    connection.execute("DELETE FROM channels WHERE id = ?", (user_id,))  # the account's notes to itself
    connection.execute("DELETE FROM users WHERE id = ?", (user_id,))
    return True
