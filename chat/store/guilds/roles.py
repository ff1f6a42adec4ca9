"""Roles: the rows of `roles`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class Role:
    """One row of `roles`. The role with the guild's own id is everyone's."""

    id: int
    guild_id: int
    name: str
    position: int
    permissions: int
    """A mask of `chat.registries.permissions.Permission`."""
    color: int = 0
    hoist_position: int | None = None
    hoist: bool = attrs.field(default=False, converter=bool)
    mentionable: bool = attrs.field(default=False, converter=bool)
    unicode_emoji: str | None = None


_FIELDS: Final = tuple(field.name for field in attrs.fields(Role))
_COLUMNS: Final = ", ".join(_FIELDS)
_OF_GUILD: Final = f"SELECT {_COLUMNS} FROM roles WHERE guild_id = ? ORDER BY position, id"  # noqa: S608 - our own names
_BY_ID: Final = f"SELECT {_COLUMNS} FROM roles WHERE guild_id = ? AND id = ?"  # noqa: S608
_REPLACE: Final = f"UPDATE roles SET {', '.join(f'{name} = ?' for name in _FIELDS[2:])} WHERE id = ? AND guild_id = ?"  # noqa: S608
_INSERT: Final = f"INSERT INTO roles ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608


def of_guild(connection: sqlite3.Connection, guild_id: int) -> list[Role]:
    """Every role of the guild, lowest position first."""
    return [Role(*row) for row in connection.execute(_OF_GUILD, (guild_id,))]


def insert(connection: sqlite3.Connection, roles: Iterable[Role]) -> None:
    connection.executemany(_INSERT, [tuple(getattr(role, name) for name in _FIELDS) for role in roles])


def by_id(connection: sqlite3.Connection, guild_id: int, role_id: int) -> Role | None:
    row = connection.execute(_BY_ID, (guild_id, role_id)).fetchone()
    return None if row is None else Role(*row)


def exists(connection: sqlite3.Connection, role_id: int) -> bool:
    """Whether any guild has a role with this id."""
    return connection.execute("SELECT 1 FROM roles WHERE id = ?", (role_id,)).fetchone() is not None


def replace(connection: sqlite3.Connection, roles: Iterable[Role]) -> None:
    """Write every column of roles that exist."""
    connection.executemany(
        _REPLACE, [(*(getattr(role, name) for name in _FIELDS[2:]), role.id, role.guild_id) for role in roles]
    )


def delete(connection: sqlite3.Connection, guild_id: int, role_id: int) -> None:
    """Remove a role, with the overwrites for it; members lose it."""
    connection.execute(
        """
        DELETE FROM permission_overwrites
         WHERE target_id = ? AND type = 0
           AND channel_id IN (SELECT id FROM channels WHERE guild_id = ?)
        """,
        (role_id, guild_id),
    )
    connection.execute("DELETE FROM member_roles WHERE guild_id = ? AND role_id = ?", (guild_id, role_id))
    connection.execute("DELETE FROM roles WHERE id = ? AND guild_id = ?", (role_id, guild_id))


def granted(connection: sqlite3.Connection, user_id: int, guild_ids: Sequence[int]) -> dict[int, int]:
    """For each of these guilds: the permissions that the everyone role and the account's own roles allow together."""
    masks = dict.fromkeys(guild_ids, 0)
    for guild_id in guild_ids:
        rows = connection.execute(
            """
            SELECT roles.permissions FROM roles WHERE roles.id = ?1
             UNION ALL
            SELECT roles.permissions
              FROM member_roles JOIN roles ON roles.id = member_roles.role_id
             WHERE member_roles.guild_id = ?1 AND member_roles.user_id = ?2
            """,
            (guild_id, user_id),
        )
        for (permissions,) in rows:
            masks[guild_id] |= permissions
    return masks
