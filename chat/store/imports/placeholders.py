"""People of an old place who have no account here: the rows of `placeholders`, each with an account that nobody can
sign in to."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import attrs

from chat.classes import frozen


@frozen
class Placeholder:
    """One row of `placeholders`; `claimed_at` is Unix milliseconds."""

    guild_id: int
    user_id: int
    person_id: int
    original_id: str | None = None
    claimed_by: int | None = None
    claimed_at: int | None = None


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(Placeholder))
_SELECT: Final = f"SELECT {_COLUMNS} FROM placeholders"  # noqa: S608 - our own names


def insert(connection: sqlite3.Connection, made: Placeholder) -> None:
    """Add one, unless the guild has it."""
    connection.execute(
        f"INSERT OR IGNORE INTO placeholders ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
        attrs.astuple(made),
    )


def of_guild(connection: sqlite3.Connection, guild_id: int) -> list[Placeholder]:
    """Those of a guild, by their ids."""
    return _found(connection, "guild_id = ? ORDER BY user_id", guild_id)


def by_id(connection: sqlite3.Connection, guild_id: int, user_id: int) -> Placeholder | None:
    """One of a guild."""
    return next(iter(_found(connection, "guild_id = ? AND user_id = ?", guild_id, user_id)), None)


def is_unclaimed(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether the account is a placeholder, and nobody has claimed it in any guild."""
    row = connection.execute(
        "SELECT count(*), count(claimed_by) FROM placeholders WHERE user_id = ?", (user_id,)
    ).fetchone()
    return bool(row[0]) and not row[1]


def is_one(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether the account is a placeholder, of any guild."""
    return connection.execute("SELECT 1 FROM placeholders WHERE user_id = ? LIMIT 1", (user_id,)).fetchone() is not None


def is_somebody(connection: sqlite3.Connection, some_id: int) -> bool:
    """Whether something that can write messages has this id: an account, erased ones too, an application or a
    webhook."""
    row = connection.execute(
        """
        SELECT EXISTS (SELECT 1 FROM users WHERE id = ?1)
            OR EXISTS (SELECT 1 FROM applications WHERE id = ?1)
            OR EXISTS (SELECT 1 FROM webhooks WHERE id = ?1)
        """,
        (some_id,),
    ).fetchone()
    return bool(row[0])


def claim(connection: sqlite3.Connection, placeholder: Placeholder, claimed_by: int | None, at: int | None) -> None:
    """Whose it is from now on; None gives it back."""
    connection.execute(
        "UPDATE placeholders SET claimed_by = ?, claimed_at = ? WHERE guild_id = ? AND user_id = ?",
        (claimed_by, at, placeholder.guild_id, placeholder.user_id),
    )


def delete(connection: sqlite3.Connection, guild_id: int, user_id: int) -> None:
    """The guild has it no more; its account stays."""
    connection.execute("DELETE FROM placeholders WHERE guild_id = ? AND user_id = ?", (guild_id, user_id))


def _found(connection: sqlite3.Connection, condition: str, *values: Any) -> list[Placeholder]:
    rows = connection.execute(f"{_SELECT} WHERE {condition}", values)
    return [Placeholder(*row) for row in rows]
