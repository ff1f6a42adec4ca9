"""Gateway sessions over a restart: written when the server drains, taken when a client resumes (design 4).

What `body` holds is the gateway's affair.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import attrs


@attrs.frozen
class RetainedSession:
    """A session at rest. `stored_at` is Unix milliseconds: retention is counted from there or from the new start."""

    session_id: str
    user_id: int
    body: bytes
    stored_at: int


def store(connection: sqlite3.Connection, sessions: Iterable[RetainedSession]) -> None:
    """Keep these sessions; one that is already kept is replaced."""
    connection.executemany(
        "INSERT OR REPLACE INTO retained_sessions (session_id, user_id, body, stored_at) VALUES (?, ?, ?, ?)",
        ((session.session_id, session.user_id, session.body, session.stored_at) for session in sessions),
    )


def take(connection: sqlite3.Connection, session_id: str) -> RetainedSession | None:
    """Return a session and forget it, so that nobody resumes it twice; None when it is not kept."""
    row = connection.execute(
        "DELETE FROM retained_sessions WHERE session_id = ? RETURNING session_id, user_id, body, stored_at",
        (session_id,),
    ).fetchone()
    return None if row is None else RetainedSession(*row)


def take_all(connection: sqlite3.Connection) -> list[RetainedSession]:
    """Return every session, the oldest first, and forget them."""
    rows = connection.execute("DELETE FROM retained_sessions RETURNING session_id, user_id, body, stored_at").fetchall()
    return sorted((RetainedSession(*row) for row in rows), key=lambda session: (session.stored_at, session.session_id))
