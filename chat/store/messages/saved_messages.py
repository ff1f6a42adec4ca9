"""Messages that accounts keep for themselves: the rows of `saved_messages`. With a message its rows go."""

from __future__ import annotations

import sqlite3

import attrs


@attrs.frozen
class SavedMessage:
    """One row; `id` grows with the order in which messages were saved."""

    user_id: int
    message_id: int
    id: int
    channel_id: int


def insert(connection: sqlite3.Connection, saved: SavedMessage) -> None:
    """Add one that is not there yet; its message is."""
    connection.execute(
        "INSERT INTO saved_messages (user_id, message_id, id, channel_id) VALUES (?, ?, ?, ?)", attrs.astuple(saved)
    )


def exists(connection: sqlite3.Connection, user_id: int, message_id: int) -> bool:
    """Whether the account keeps the message."""
    row = connection.execute(
        "SELECT 1 FROM saved_messages WHERE user_id = ? AND message_id = ?", (user_id, message_id)
    ).fetchone()
    return row is not None


def delete(connection: sqlite3.Connection, user_id: int, message_id: int) -> bool:
    """Keep the message no longer; False when the account did not."""
    cursor = connection.execute(
        "DELETE FROM saved_messages WHERE user_id = ? AND message_id = ?", (user_id, message_id)
    )
    return cursor.rowcount > 0


def count(connection: sqlite3.Connection, user_id: int) -> int:
    """How many messages the account keeps."""
    row = connection.execute("SELECT count(*) FROM saved_messages WHERE user_id = ?", (user_id,)).fetchone()
    return int(row[0])


def page(connection: sqlite3.Connection, user_id: int, limit: int, before: int) -> list[SavedMessage]:
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
