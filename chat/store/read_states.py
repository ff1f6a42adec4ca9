"""How far an account has read a channel, and how often it was mentioned since: the rows of `read_states`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import attrs


@attrs.frozen
class ReadState:
    """One row of `read_states`. `last_pin_timestamp` is Unix milliseconds."""

    channel_id: int
    last_message_id: int | None
    mention_count: int
    last_pin_timestamp: int | None


def of_user(connection: sqlite3.Connection, user_id: int) -> list[ReadState]:
    """Every read state of the account, by channel."""
    rows = connection.execute(
        """
        SELECT channel_id, last_message_id, mention_count, last_pin_timestamp FROM read_states
         WHERE user_id = ?
         ORDER BY channel_id
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
        INSERT INTO read_states (user_id, channel_id, last_message_id, mention_count) VALUES (?, ?, ?, ?)
            ON CONFLICT (user_id, channel_id)
            DO UPDATE SET last_message_id = excluded.last_message_id, mention_count = excluded.mention_count
        """,
        (user_id, channel_id, message_id, mention_count),
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
