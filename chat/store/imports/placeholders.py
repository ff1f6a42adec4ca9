"""People of an old place who have no account here: the rows of `placeholders`, each with an account that nobody can
sign in to.

Once a member has claimed one, what was the placeholder's is the member's (`chat.store.imports.claims`).
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.imports import ImportSource
from chat.registries.user_flags import UserFlag


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


def present(connection: sqlite3.Connection, guild_id: int, user_id: int) -> Placeholder | None:
    """One of a guild who is a person, whom nobody has erased."""
    found = page_of(connection, guild_id, user_id - 1, 1)
    return found[0] if found and found[0].user_id == user_id else None


def unclaimed(connection: sqlite3.Connection, guild_id: int, user_id: int) -> Placeholder | None:
    """One of a guild who can be claimed."""
    found = present(connection, guild_id, user_id)
    return found if found is not None and found.claimed_by is None else None


def page_of(connection: sqlite3.Connection, guild_id: int, after: int, limit: int) -> list[Placeholder]:
    """Some people of a guild behind an id, by their ids: no bots, and nobody who is erased."""
    rows = connection.execute(
        f"""
        {_SELECT}
         WHERE guild_id = ? AND user_id > ?
           AND EXISTS (SELECT 1 FROM users WHERE users.id = user_id AND NOT users.bot AND NOT users.flags & ?)
         ORDER BY user_id LIMIT ?
        """,  # noqa: S608 - our own names
        (guild_id, after, int(UserFlag.DELETED), limit),
    )
    return [Placeholder(*row) for row in rows]


def claimed_in(connection: sqlite3.Connection, guild_id: int) -> list[Placeholder]:
    """Those of a guild whom somebody has claimed."""
    return _found(connection, "guild_id = ? AND claimed_by IS NOT NULL", guild_id)


def claimed_by(connection: sqlite3.Connection, guild_id: int, account_id: int, most: int) -> list[int]:
    """Up to `most` people of a guild whom an account has claimed, by their ids."""
    rows = connection.execute(
        # The plus: by the index of claims, since a guild may have thousands of placeholders.
        "SELECT user_id FROM placeholders WHERE +guild_id = ? AND claimed_by = ? ORDER BY user_id LIMIT ?",
        (guild_id, account_id, most),
    )
    return [user_id for (user_id,) in rows]


def of_claimant(connection: sqlite3.Connection, account_id: int) -> list[int]:
    """The placeholders that an account has claimed wherever they are, and nobody else in any guild."""
    rows = connection.execute(
        """
        SELECT user_id FROM placeholders
         WHERE user_id IN (SELECT user_id FROM placeholders WHERE claimed_by = ?1)
         GROUP BY user_id HAVING count(*) = sum(claimed_by IS ?1) ORDER BY user_id
        """,
        (account_id,),
    )
    return [user_id for (user_id,) in rows]


def source_of(connection: sqlite3.Connection, user_id: int) -> ImportSource | None:
    """What kind of export brought the person; None where that import is forgotten."""
    row = connection.execute(
        """
        SELECT imports.source
          FROM imported_things AS made JOIN imports ON imports.id = made.import_id
         WHERE made.kind = 'person' AND made.thing_id = ?
        """,
        (user_id,),
    ).fetchone()
    return None if row is None else ImportSource(row[0])


def written_by(connection: sqlite3.Connection, guild_id: int, user_id: int, most: int) -> int:
    """How many messages of an account stand in a guild; counted up to `most`."""
    row = connection.execute(
        """
        SELECT count(*)
          FROM (SELECT 1
                  FROM messages JOIN channels ON channels.id = messages.channel_id AND channels.guild_id = ?
                 WHERE messages.author_id = ? LIMIT ?)
        """,
        (guild_id, user_id, most),
    ).fetchone()
    return int(row[0])


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
