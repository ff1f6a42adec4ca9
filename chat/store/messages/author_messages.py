"""Messages by the account that wrote them: the rows of `messages` under one author."""

from __future__ import annotations

import sqlite3


def last_of_author(connection: sqlite3.Connection, author_id: int) -> int:
    """The newest message of an author, anywhere; 0 without one."""
    row = connection.execute("SELECT max(id) FROM messages WHERE author_id = ?", (author_id,)).fetchone()
    return row[0] or 0


def count_of_author(connection: sqlite3.Connection, author_id: int) -> tuple[int, int]:
    """How many messages an account has written, and in how many channels; messages of webhooks do not count."""
    row = connection.execute(
        "SELECT count(*), count(DISTINCT channel_id) FROM messages WHERE author_id = ? AND webhook_id IS NULL",
        (author_id,),
    ).fetchone()
    return row[0], row[1]


def page_of_author(connection: sqlite3.Connection, author_id: int, after_id: int, limit: int) -> list[tuple[int, int]]:
    """Up to `limit` messages of an account above an id, oldest first: the id and the channel of each; none of
    webhooks."""
    return connection.execute(
        """
        SELECT id, channel_id FROM messages
         WHERE author_id = ? AND id > ? AND webhook_id IS NULL
         ORDER BY id
         LIMIT ?
        """,
        (author_id, after_id, limit),
    ).fetchall()


def some_of_author(
    connection: sqlite3.Connection, guild_id: int, author_id: int, since_id: int, last_id: int, limit: int
) -> tuple[int, list[int]] | None:
    """A channel of the guild with messages of the account from `since_id` to `last_id`, and up to `limit` of them,
    oldest first; None when there is none left."""
    first = connection.execute(
        """
        SELECT messages.channel_id
          FROM messages JOIN channels ON channels.id = messages.channel_id AND channels.guild_id = ?
         WHERE messages.author_id = ? AND messages.id BETWEEN ? AND ? AND messages.webhook_id IS NULL
         ORDER BY messages.id
         LIMIT 1
        """,
        (guild_id, author_id, since_id, last_id),
    ).fetchone()
    if first is None:
        return None
    return first[0], of_author_in_channel(connection, author_id, first[0], since_id, last_id, limit)


def next_of_author(
    connection: sqlite3.Connection, author_id: int, last_id: int, limit: int
) -> tuple[int, list[int]] | None:
    """The channel of the oldest message of the account up to `last_id`, and up to `limit` of its messages there, oldest
    first; None when there is none left."""
    first = connection.execute(
        "SELECT channel_id FROM messages WHERE author_id = ? AND id <= ? AND webhook_id IS NULL ORDER BY id LIMIT 1",
        (author_id, last_id),
    ).fetchone()
    if first is None:
        return None
    return first[0], of_author_in_channel(connection, author_id, first[0], 0, last_id, limit)


def of_author_in_channel(
    connection: sqlite3.Connection, author_id: int, channel_id: int, since_id: int, last_id: int, limit: int
) -> list[int]:
    """Up to `limit` messages of the account in the channel with ids from `since_id` to `last_id`, oldest first; none of
    webhooks."""
    rows = connection.execute(
        """
        SELECT id FROM messages
         WHERE author_id = ? AND channel_id = ? AND id BETWEEN ? AND ? AND webhook_id IS NULL
         ORDER BY id
         LIMIT ?
        """,
        (author_id, channel_id, since_id, last_id, limit),
    )
    return [message_id for (message_id,) in rows]
