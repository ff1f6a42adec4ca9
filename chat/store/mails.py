"""Mail that is kept instead of sent: the rows of `mails`."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs


@attrs.frozen
class KeptMail:
    """One row of `mails`; `created_at` is Unix milliseconds."""

    recipient: str
    subject: str
    text: str = attrs.field(repr=False)
    kind: str
    token: str | None = attrs.field(repr=False)
    created_at: int
    id: int | None = None
    """Given by the database, ascending."""


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(KeptMail))


def insert(connection: sqlite3.Connection, mail: KeptMail) -> None:
    """Keep a mail; it comes after those that are kept already."""
    connection.execute(f"INSERT INTO mails ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", attrs.astuple(mail))  # noqa: S608


def kept(connection: sqlite3.Connection) -> list[KeptMail]:
    """Every mail, oldest first."""
    return [KeptMail(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM mails ORDER BY id")]  # noqa: S608


def clear(connection: sqlite3.Connection) -> None:
    """Throw all of it away."""
    connection.execute("DELETE FROM mails")
