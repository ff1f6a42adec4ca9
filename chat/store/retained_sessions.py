"""Gateway sessions over a restart: written when the server drains, taken when a client resumes (architecture.md,
Sessions outlive a restart).

What `body` holds is the gateway's affair.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from chat.classes import frozen


@frozen
class RetainedSession:
    """A session at rest. `stored_at` is Unix milliseconds: retention is counted from there or from the new start."""

    session_id: str
    user_id: int
    body: bytes
    stored_at: int


@frozen
class RetainedEvent:
    """A Dispatch that sessions at rest hold: what it is called, and its encoded `d`."""

    id: int
    name: str
    data: bytes


def store(connection: sqlite3.Connection, sessions: Iterable[RetainedSession], events: Iterable[RetainedEvent]) -> None:
    """Keep these sessions and the events that they hold, in place of what was kept."""
    connection.execute("DELETE FROM retained_sessions")
    connection.execute("DELETE FROM retained_events")
    connection.executemany(
        "INSERT INTO retained_events (id, name, data) VALUES (?, ?, ?)",
        ((event.id, event.name, event.data) for event in events),
    )
    connection.executemany(
        "INSERT INTO retained_sessions (session_id, user_id, body, stored_at) VALUES (?, ?, ?, ?)",
        ((session.session_id, session.user_id, session.body, session.stored_at) for session in sessions),
    )


def take_all(connection: sqlite3.Connection) -> tuple[list[RetainedSession], list[RetainedEvent]]:
    """Return every session, the oldest first, with the events, and forget them, so that none is resumed twice."""
    rows = connection.execute("DELETE FROM retained_sessions RETURNING session_id, user_id, body, stored_at").fetchall()
    sessions = [RetainedSession(*row) for row in rows]
    events = connection.execute("DELETE FROM retained_events RETURNING id, name, data").fetchall()
    return (
        sorted(sessions, key=lambda session: (session.stored_at, session.session_id)),
        [RetainedEvent(*row) for row in events],
    )
