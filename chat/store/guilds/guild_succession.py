"""Who would be next to own a guild."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from chat.registries.user_flags import UserFlag

_PERSON: Final = f"NOT users.bot AND NOT users.flags & {int(UserFlag.DELETED)}"
_WITH_ROLE: Final = f"""
    SELECT members.user_id
      FROM member_roles
      JOIN members ON members.guild_id = member_roles.guild_id AND members.user_id = member_roles.user_id
      JOIN users ON users.id = members.user_id
     WHERE member_roles.guild_id = ? AND member_roles.role_id = ? AND members.user_id <> ? AND {_PERSON}
     ORDER BY members.joined_at, members.user_id
     LIMIT 1
"""  # noqa: S608 - a number of our own
_OF_ALL: Final = f"""
    SELECT members.user_id
      FROM members JOIN users ON users.id = members.user_id
     WHERE members.guild_id = ? AND members.user_id <> ? AND {_PERSON}
     ORDER BY members.joined_at, members.user_id
     LIMIT 1
"""  # noqa: S608
_ANY: Final = f"""
    SELECT 1
      FROM members JOIN users ON users.id = members.user_id
     WHERE members.guild_id = ? AND members.user_id <> ? AND {_PERSON}
     LIMIT 1
"""  # noqa: S608
_ONE: Final = f"""
    SELECT 1
      FROM members JOIN users ON users.id = members.user_id
     WHERE members.guild_id = ? AND members.user_id = ? AND {_PERSON}
"""  # noqa: S608


def successor(connection: sqlite3.Connection, guild_id: int, owner_id: int, role_ids: Iterable[int]) -> int | None:
    """Of the people in the guild besides its owner who have the first of these roles that anybody has, or where nobody
    has one of all people, the one who has been there for longest. Bots own nothing. None where nobody is left.

    Looks at every member.
    """
    for role_id in role_ids:
        row = connection.execute(_WITH_ROLE, (guild_id, role_id, owner_id)).fetchone()
        if row is not None:
            return int(row[0])
    row = connection.execute(_OF_ALL, (guild_id, owner_id)).fetchone()
    return None if row is None else int(row[0])


def is_person_in(connection: sqlite3.Connection, guild_id: int, user_id: int) -> bool:
    """Whether the account is a member who could own the guild."""
    return connection.execute(_ONE, (guild_id, user_id)).fetchone() is not None


def anybody_beside(connection: sqlite3.Connection, guild_id: int, owner_id: int) -> bool:
    """Whether there is a member besides the owner who could own the guild."""
    return connection.execute(_ANY, (guild_id, owner_id)).fetchone() is not None
