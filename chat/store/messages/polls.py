"""Polls: the rows of `polls`, `poll_answers` and `poll_votes`. What a poll asks is in the `extra` of its message."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence

from chat.classes import frozen


@frozen
class AnswerCount:
    """How many accounts gave an answer, and whether one account, the viewer, did."""

    answer_id: int
    votes: int
    me: bool


@frozen
class PollState:
    """A poll as one account sees it; its answers in their order. Moments are Unix milliseconds."""

    ends_at: int
    ended_at: int | None
    answers: tuple[AnswerCount, ...] = ()


def insert(connection: sqlite3.Connection, message_id: int, ends_at: int, answer_ids: Iterable[int]) -> None:
    """Add the poll of a message that is there."""
    connection.execute("INSERT INTO polls (message_id, ends_at) VALUES (?, ?)", (message_id, ends_at))
    connection.executemany(
        "INSERT INTO poll_answers (message_id, answer_id) VALUES (?, ?)",
        [(message_id, answer_id) for answer_id in answer_ids],
    )


def state(connection: sqlite3.Connection, message_id: int, user_id: int = 0) -> PollState | None:
    """The poll of a message; None if it has none."""
    return of_messages(connection, [message_id], user_id).get(message_id)


def of_messages(connection: sqlite3.Connection, message_ids: Sequence[int], user_id: int) -> dict[int, PollState]:
    """The polls of these messages as the account sees them; messages without one are left out."""
    listed = json.dumps(list(message_ids))
    rows = connection.execute(
        "SELECT message_id, ends_at, ended_at FROM polls WHERE message_id IN (SELECT value FROM json_each(?))",
        (listed,),
    ).fetchall()
    counts = connection.execute(
        """
        SELECT message_id, answer_id, votes,
               EXISTS (SELECT 1 FROM poll_votes
                        WHERE poll_votes.message_id = poll_answers.message_id
                          AND poll_votes.answer_id = poll_answers.answer_id AND user_id = ?)
          FROM poll_answers
         WHERE message_id IN (SELECT value FROM json_each(?))
         ORDER BY message_id, answer_id
        """,
        (user_id, listed),
    )
    answers: dict[int, list[AnswerCount]] = defaultdict(list)
    for message_id, answer_id, votes, me in counts:
        answers[message_id].append(AnswerCount(answer_id, votes, bool(me)))
    return {
        message_id: PollState(ends_at, ended_at, tuple(answers[message_id])) for message_id, ends_at, ended_at in rows
    }


def votes_of(connection: sqlite3.Connection, message_id: int, user_id: int) -> set[int]:
    """The answers that the account gave."""
    rows = connection.execute(
        "SELECT answer_id FROM poll_votes WHERE user_id = ? AND message_id = ?", (user_id, message_id)
    )
    return {answer_id for (answer_id,) in rows}


def give(connection: sqlite3.Connection, message_id: int, answer_id: int, user_id: int, now: int) -> None:
    """Add an answer of an account that had not given it; `now` is Unix milliseconds."""
    connection.execute(
        "INSERT INTO poll_votes (message_id, answer_id, user_id, voted_at) VALUES (?, ?, ?, ?)",
        (message_id, answer_id, user_id, now),
    )


def take_back(connection: sqlite3.Connection, message_id: int, answer_id: int, user_id: int) -> None:
    """Remove an answer of an account."""
    connection.execute(
        "DELETE FROM poll_votes WHERE message_id = ? AND answer_id = ? AND user_id = ?",
        (message_id, answer_id, user_id),
    )


def voters(connection: sqlite3.Connection, message_id: int, answer_id: int, *, after: int, limit: int) -> list[int]:
    """The accounts with an id above `after` that gave an answer, in order of their ids."""
    rows = connection.execute(
        """
        SELECT user_id FROM poll_votes
         WHERE message_id = ? AND answer_id = ? AND user_id > ?
         ORDER BY user_id LIMIT ?
        """,
        (message_id, answer_id, after, limit),
    )
    return [user_id for (user_id,) in rows]


def end(connection: sqlite3.Connection, message_id: int, now: int) -> bool:
    """Note that the poll is over; False when it was over already, or is gone."""
    cursor = connection.execute(
        "UPDATE polls SET ended_at = ? WHERE message_id = ? AND ended_at IS NULL", (now, message_id)
    )
    return cursor.rowcount > 0


def due(connection: sqlite3.Connection, now: int, limit: int) -> list[int]:
    """Messages whose polls are to end, the earliest first."""
    rows = connection.execute(
        "SELECT message_id FROM polls WHERE ended_at IS NULL AND ends_at <= ? ORDER BY ends_at LIMIT ?", (now, limit)
    )
    return [message_id for (message_id,) in rows]


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the next poll ends (Unix milliseconds); None where none is open."""
    row = connection.execute("SELECT min(ends_at) FROM polls WHERE ended_at IS NULL").fetchone()
    return None if row is None else row[0]
