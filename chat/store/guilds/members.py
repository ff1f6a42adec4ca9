"""Members: the rows of `members` and `member_roles`."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import attrs


@attrs.frozen
class Member:
    """One row of `members` with the member's roles, everyone's left out."""

    guild_id: int
    user_id: int
    joined_at: int
    """Unix milliseconds."""
    nick: str | None = None
    avatar: str | None = None
    banner: str | None = None
    accent_color: int | None = None
    mute: bool = attrs.field(default=False, converter=bool)
    deaf: bool = attrs.field(default=False, converter=bool)
    communication_disabled_until: int | None = None
    """Unix milliseconds; a moment in the past means nothing."""
    profile_flags: int = 0
    mention_flags: int = 0
    join_source: int | None = None
    inviter_id: int | None = None
    bio: str | None = None
    pronouns: str | None = None
    role_ids: frozenset[int] = frozenset()

    def is_timed_out(self, now_ms: int) -> bool:
        """Whether a moderator has taken the member's voice until after `now_ms`."""
        return self.communication_disabled_until is not None and self.communication_disabled_until > now_ms


_FIELDS: Final = tuple(field.name for field in attrs.fields(Member) if field.name != "role_ids")
_COLUMNS: Final = ", ".join(_FIELDS)
_BY_ID: Final = f"SELECT {_COLUMNS} FROM members WHERE guild_id = ? AND user_id = ?"  # noqa: S608 - our own names
_OF_GUILD: Final = f"""
    SELECT {_COLUMNS} FROM members WHERE guild_id = ? AND user_id > ? ORDER BY user_id LIMIT ?
"""  # noqa: S608
_INSERT: Final = f"INSERT INTO members ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608

_CHANGEABLE: Final = tuple(name for name in _FIELDS if name not in ("guild_id", "user_id"))
_REPLACE: Final = f"""
    UPDATE members SET {", ".join(f"{name} = ?" for name in _CHANGEABLE)} WHERE guild_id = ? AND user_id = ?
"""  # noqa: S608


def by_id(connection: sqlite3.Connection, guild_id: int, user_id: int) -> Member | None:
    """One membership with its roles."""
    row = connection.execute(_BY_ID, (guild_id, user_id)).fetchone()
    if row is None:
        return None
    return Member(*(*row, role_ids(connection, guild_id, user_id)))


def exists(connection: sqlite3.Connection, guild_id: int, user_id: int) -> bool:
    """Whether the account is in the guild."""
    row = connection.execute("SELECT 1 FROM members WHERE guild_id = ? AND user_id = ?", (guild_id, user_id)).fetchone()
    return row is not None


def common_guilds(connection: sqlite3.Connection, user_id: int, other_id: int) -> list[tuple[int, str | None]]:
    """The guilds that two accounts are in together, ascending, each with the nickname of `other_id` there."""
    rows = connection.execute(
        """
        SELECT own.guild_id, other.nick
          FROM members AS own JOIN members AS other ON other.guild_id = own.guild_id AND other.user_id = ?
         WHERE own.user_id = ?
         ORDER BY own.guild_id
        """,
        (other_id, user_id),
    )
    return rows.fetchall()


def ids_of_guild(connection: sqlite3.Connection, guild_id: int) -> list[int]:
    """Every account in the guild, ascending."""
    rows = connection.execute("SELECT user_id FROM members WHERE guild_id = ? ORDER BY user_id", (guild_id,))
    return [user_id for (user_id,) in rows]


def ids_of_role(connection: sqlite3.Connection, guild_id: int, role_id: int, limit: int) -> list[int]:
    """Up to `limit` members of the guild that have the role."""
    rows = connection.execute(
        "SELECT user_id FROM member_roles WHERE guild_id = ? AND role_id = ? LIMIT ?", (guild_id, role_id, limit)
    )
    return [user_id for (user_id,) in rows]


def role_ids(connection: sqlite3.Connection, guild_id: int, user_id: int) -> frozenset[int]:
    """The roles of one member, everyone's left out."""
    rows = connection.execute(
        "SELECT role_id FROM member_roles WHERE guild_id = ? AND user_id = ?", (guild_id, user_id)
    ).fetchall()
    return frozenset([role_id for (role_id,) in rows])


def of_guild(connection: sqlite3.Connection, guild_id: int, after: int, limit: int) -> list[Member]:
    """Members with a user id above `after`, at most `limit`, in order of user id."""
    rows = connection.execute(_OF_GUILD, (guild_id, after, limit)).fetchall()
    if not rows:
        return []
    roles: dict[int, list[int]] = defaultdict(list)
    for user_id, role_id in connection.execute(
        "SELECT user_id, role_id FROM member_roles WHERE guild_id = ? AND user_id > ? AND user_id <= ?",
        (guild_id, after, rows[-1][1]),
    ):
        roles[user_id].append(role_id)
    return [Member(*(*row, frozenset(roles.get(row[1], ())))) for row in rows]


def insert(connection: sqlite3.Connection, member: Member) -> None:
    """Add a membership and its roles."""
    connection.execute(_INSERT, tuple(getattr(member, name) for name in _FIELDS))
    add_roles(connection, member.guild_id, member.user_id, member.role_ids)


def replace(connection: sqlite3.Connection, member: Member) -> None:
    """Store a membership in place of what it was; the roles are left as they are."""
    connection.execute(_REPLACE, (*(getattr(member, name) for name in _CHANGEABLE), member.guild_id, member.user_id))


def remove_roles(connection: sqlite3.Connection, guild_id: int, user_id: int, roles: Iterable[int]) -> None:
    """Take roles from a member; those that it does not have are no matter."""
    connection.executemany(
        "DELETE FROM member_roles WHERE guild_id = ? AND user_id = ? AND role_id = ?",
        [(guild_id, user_id, role_id) for role_id in roles],
    )


def add_roles(connection: sqlite3.Connection, guild_id: int, user_id: int, roles: Iterable[int]) -> None:
    """Give a member further roles."""
    connection.executemany(
        "INSERT OR IGNORE INTO member_roles (guild_id, user_id, role_id) VALUES (?, ?, ?)",
        [(guild_id, user_id, role_id) for role_id in sorted(roles)],
    )


def delete(connection: sqlite3.Connection, guild_id: int, user_id: int) -> bool:
    """End a membership, roles and guild profile with it; returns whether there was one."""
    cursor = connection.execute("DELETE FROM members WHERE guild_id = ? AND user_id = ?", (guild_id, user_id))
    return cursor.rowcount > 0
