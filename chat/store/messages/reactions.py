"""Reactions to messages: the rows of `message_reactions` and `message_reaction_users`.

`messages.has_reactions` follows them, so that reading messages without reactions costs no statement here.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence

import attrs

from chat.classes import frozen


@frozen
class Emoji:
    """An emoji that people react with: a Unicode emoji, or one of a guild (`id`)."""

    name: str
    id: int | None = None
    animated: bool = attrs.field(default=False, converter=bool)

    @property
    def key(self) -> str:
        """What identifies the emoji: for one of a guild its id, since its name may change."""
        return self.name if self.id is None else str(self.id)


@frozen
class Reaction:
    """One row of `message_reactions`."""

    id: int
    emoji: Emoji
    user_count: int


@frozen
class ReactionView:
    """A reaction as one account sees it: `me` tells whether the account is among those who reacted so."""

    emoji: Emoji
    user_count: int
    me: bool


def find(connection: sqlite3.Connection, message_id: int, key: str) -> Reaction | None:
    """The reaction with this emoji; None if missing."""
    row = connection.execute(
        """
        SELECT id, emoji_name, emoji_id, animated, user_count FROM message_reactions
         WHERE message_id = ? AND emoji = ?
        """,
        (message_id, key),
    ).fetchone()
    return None if row is None else Reaction(row[0], Emoji(*row[1:4]), row[4])


def count(connection: sqlite3.Connection, message_id: int) -> int:
    """How many different emojis stand under the message."""
    row = connection.execute("SELECT count(*) FROM message_reactions WHERE message_id = ?", (message_id,)).fetchone()
    return int(row[0])


def begin(connection: sqlite3.Connection, message_id: int, emoji: Emoji, user_id: int, now: int) -> None:
    """Add the first reaction with an emoji; `now` is Unix milliseconds."""
    cursor = connection.execute(
        """
        INSERT INTO message_reactions (message_id, emoji, emoji_id, emoji_name, animated, first_reacted_at, user_count)
        VALUES (?, ?, ?, ?, ?, ?, 1)
        """,
        (message_id, emoji.key, emoji.id, emoji.name, emoji.animated, now),
    )
    connection.execute(
        "INSERT INTO message_reaction_users (reaction_id, user_id) VALUES (?, ?)", (cursor.lastrowid, user_id)
    )
    connection.execute("UPDATE messages SET has_reactions = 1 WHERE id = ? AND NOT has_reactions", (message_id,))


def join(connection: sqlite3.Connection, reaction: Reaction, user_id: int) -> bool:
    """Add an account to a reaction; False when it was there already."""
    added = connection.execute(
        "INSERT OR IGNORE INTO message_reaction_users (reaction_id, user_id) VALUES (?, ?)", (reaction.id, user_id)
    ).rowcount
    if added:
        connection.execute("UPDATE message_reactions SET user_count = user_count + 1 WHERE id = ?", (reaction.id,))
    return bool(added)


def leave(connection: sqlite3.Connection, message_id: int, reaction: Reaction, user_id: int) -> bool:
    """Take an account out of a reaction; False when it was not there. With the last account the reaction goes."""
    removed = connection.execute(
        "DELETE FROM message_reaction_users WHERE reaction_id = ? AND user_id = ?", (reaction.id, user_id)
    ).rowcount
    if not removed:
        return False
    if reaction.user_count > 1:
        connection.execute("UPDATE message_reactions SET user_count = user_count - 1 WHERE id = ?", (reaction.id,))
    else:
        delete(connection, message_id, reaction)
    return True


def delete(connection: sqlite3.Connection, message_id: int, reaction: Reaction) -> None:
    """Remove a reaction with all its accounts."""
    connection.execute("DELETE FROM message_reactions WHERE id = ?", (reaction.id,))
    connection.execute(
        """
        UPDATE messages SET has_reactions = 0
         WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM message_reactions WHERE message_id = ?1)
        """,
        (message_id,),
    )


def delete_all(connection: sqlite3.Connection, message_id: int) -> bool:
    """Take every reaction off a message; False when there was none."""
    deleted = connection.execute("DELETE FROM message_reactions WHERE message_id = ?", (message_id,)).rowcount
    if deleted:
        connection.execute("UPDATE messages SET has_reactions = 0 WHERE id = ?", (message_id,))
    return bool(deleted)


def user_ids(connection: sqlite3.Connection, reaction: Reaction, *, after: int, limit: int) -> list[int]:
    """The accounts with an id above `after` that reacted with this emoji, in order of their ids."""
    rows = connection.execute(
        "SELECT user_id FROM message_reaction_users WHERE reaction_id = ? AND user_id > ? ORDER BY user_id LIMIT ?",
        (reaction.id, after, limit),
    )
    return [user_id for (user_id,) in rows]


def of_messages(
    connection: sqlite3.Connection, message_ids: Sequence[int], user_id: int
) -> dict[int, list[ReactionView]]:
    """The reactions to these messages as the account sees them, ordered by the first of each, then by emoji; messages
    without any are left out."""
    rows = connection.execute(
        """
        SELECT message_id, emoji_name, emoji_id, animated, user_count,
               EXISTS (SELECT 1 FROM message_reaction_users WHERE reaction_id = message_reactions.id AND user_id = ?)
          FROM message_reactions
         WHERE message_id IN (SELECT value FROM json_each(?))
         ORDER BY message_id, first_reacted_at, emoji_name, emoji_id
        """,
        (user_id, json.dumps(list(message_ids))),
    )
    found: dict[int, list[ReactionView]] = defaultdict(list)
    for message_id, name, emoji_id, animated, user_count, me in rows:
        found[message_id].append(ReactionView(Emoji(name, emoji_id, animated), user_count, bool(me)))
    return found
