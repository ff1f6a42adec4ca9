"""Mail that is kept instead of sent (`mails`), and mail on its way to the SMTP server (`mail_outbox`)."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class KeptMail:
    """One row of `mails`; `created_at` is Unix milliseconds."""

    recipient: str
    subject: str
    text: str = attrs.field(repr=False)
    kind: str
    token: str | None = attrs.field(repr=False)
    created_at: int
    id: int | None = None
    """Assigned by the database, in ascending order."""


_KEPT_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(KeptMail))


def keep(connection: sqlite3.Connection, mail: KeptMail) -> None:
    """Keep a mail; it comes after those that are kept already."""
    connection.execute(f"INSERT INTO mails ({_KEPT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", attrs.astuple(mail))  # noqa: S608


def kept(connection: sqlite3.Connection) -> list[KeptMail]:
    return [KeptMail(*row) for row in connection.execute(f"SELECT {_KEPT_COLUMNS} FROM mails ORDER BY id")]  # noqa: S608


def clear(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM mails")


# On its way


@frozen
class OutgoingMail:
    """One row of `mail_outbox`. Times are Unix milliseconds."""

    id: int
    """Given by the database, ascending, never twice."""
    recipient: str
    kind: str
    sealed_letter: bytes = attrs.field(repr=False)
    attempts: int
    """How often the mail server has refused it with a temporary error."""
    next_attempt_at: int
    created_at: int


_OUTGOING_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(OutgoingMail))


def enqueue(connection: sqlite3.Connection, recipient: str, kind: str, sealed_letter: bytes, now: int) -> None:
    """Add a mail; it is due at once."""
    connection.execute(
        """
        INSERT INTO mail_outbox (recipient, kind, sealed_letter, next_attempt_at, created_at)
        VALUES (?, ?, ?, ?, ?)
        """,
        (recipient, kind, sealed_letter, now, now),
    )


def due(connection: sqlite3.Connection, now: int, limit: int) -> list[OutgoingMail]:
    """The mails to be tried now, the oldest first."""
    rows = connection.execute(
        f"SELECT {_OUTGOING_COLUMNS} FROM mail_outbox WHERE next_attempt_at <= ? ORDER BY id LIMIT ?",  # noqa: S608
        (now, limit),
    )
    return [OutgoingMail(*row) for row in rows]


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the next mail is to be tried; None when none waits."""
    moment: int | None = connection.execute("SELECT min(next_attempt_at) FROM mail_outbox").fetchone()[0]
    return moment


def postpone(connection: sqlite3.Connection, mail_id: int, next_attempt_at: int) -> None:
    """Record that the mail server did not take a mail now, and when to try again."""
    connection.execute(
        "UPDATE mail_outbox SET attempts = attempts + 1, next_attempt_at = ? WHERE id = ?", (next_attempt_at, mail_id)
    )


def delete(connection: sqlite3.Connection, mail_id: int) -> None:
    """Delete a mail that was sent, or that never will be."""
    connection.execute("DELETE FROM mail_outbox WHERE id = ?", (mail_id,))


def delete_older(connection: sqlite3.Connection, created_before: int) -> list[OutgoingMail]:
    """Delete mails that are too old to be sent; returns them."""
    rows = connection.execute(
        f"DELETE FROM mail_outbox WHERE created_at < ? RETURNING {_OUTGOING_COLUMNS}",  # noqa: S608
        (created_before,),
    )
    return [OutgoingMail(*row) for row in rows]
