"""What accounts have typed and not sent: the rows of `drafts`."""

from __future__ import annotations

import sqlite3

from chat.classes import frozen


@frozen
class Draft:
    """One row; `edited_at` is Unix milliseconds. An empty text stands for a draft that is no more."""

    channel_id: int
    content: str
    edited_at: int


def of_user(connection: sqlite3.Connection, user_id: int) -> list[Draft]:
    """The account's drafts, the one edited last first."""
    rows = connection.execute(
        "SELECT channel_id, content, edited_at FROM drafts WHERE user_id = ? ORDER BY edited_at DESC, channel_id",
        (user_id,),
    )
    return [Draft(*row) for row in rows]


def put(connection: sqlite3.Connection, user_id: int, draft: Draft, most: int) -> None:
    """Keep a draft unless a later one of its channel is there; of more than `most` those edited first go."""
    connection.execute(
        """
        INSERT INTO drafts (user_id, channel_id, content, edited_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (user_id, channel_id) DO UPDATE SET content = excluded.content, edited_at = excluded.edited_at
            WHERE excluded.edited_at >= edited_at
        """,
        (user_id, draft.channel_id, draft.content, draft.edited_at),
    )
    connection.execute(
        """
        DELETE FROM drafts WHERE user_id = ?1 AND channel_id IN (
            SELECT channel_id FROM drafts WHERE user_id = ?1 ORDER BY edited_at DESC, channel_id LIMIT -1 OFFSET ?2)
        """,
        (user_id, most),
    )
