"""Relationships: the rows of `relationships`, one for each side."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class Relationship:
    """The relationship of `user_id` to `target_id`; `type` is one of
    `chat.domain.standing.relationships.RelationshipType`."""

    user_id: int
    target_id: int
    type: int
    since: int | None = None
    """When it began, in Unix milliseconds."""
    nickname: str | None = None
    share_voice_activity: bool = attrs.field(default=True, converter=bool)


_FIELDS: Final = tuple(field.name for field in attrs.fields(Relationship))
_COLUMNS: Final = ", ".join(_FIELDS)
_BY_ID: Final = f"SELECT {_COLUMNS} FROM relationships WHERE user_id = ? AND target_id = ?"  # noqa: S608 - our own names
_OF_USER: Final = f"SELECT {_COLUMNS} FROM relationships WHERE user_id = ? ORDER BY target_id"  # noqa: S608
_PUT: Final = f"INSERT OR REPLACE INTO relationships ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608


def by_id(connection: sqlite3.Connection, user_id: int, target_id: int) -> Relationship | None:
    """The relationship of one account with another, if any."""
    row = connection.execute(_BY_ID, (user_id, target_id)).fetchone()
    return None if row is None else Relationship(*row)


def of_user(connection: sqlite3.Connection, user_id: int) -> list[Relationship]:
    """The relationships of an account, in order of the others' ids."""
    return [Relationship(*row) for row in connection.execute(_OF_USER, (user_id,))]


def are_there(connection: sqlite3.Connection, user_id: int) -> bool:
    """Whether the account has a relationship with another one, or another one with it."""
    row = connection.execute(
        """
        SELECT 1 FROM relationships WHERE user_id = ?1
         UNION ALL
        SELECT 1 FROM relationships WHERE target_id = ?1
         LIMIT 1
        """,
        (user_id,),
    ).fetchone()
    return row is not None


def targets(connection: sqlite3.Connection, user_id: int, type: int) -> tuple[int, ...]:
    """The accounts with which an account has a relationship of this type, ascending."""
    rows = connection.execute(
        "SELECT target_id FROM relationships WHERE user_id = ? AND type = ? ORDER BY target_id", (user_id, type)
    )
    return tuple(target_id for (target_id,) in rows)


def common_targets(connection: sqlite3.Connection, user_id: int, other_id: int, type: int) -> list[int]:
    """The accounts with which both have a relationship of this type, ascending."""
    own = set(targets(connection, user_id, type))
    return [target_id for target_id in targets(connection, other_id, type) if target_id in own]


def next_target(connection: sqlite3.Connection, user_id: int, type: int, above_id: int) -> int | None:
    """The first account above an id with which an account has a relationship of this type."""
    row = connection.execute(
        "SELECT min(target_id) FROM relationships WHERE user_id = ? AND type = ? AND target_id > ?",
        (user_id, type, above_id),
    ).fetchone()
    target_id: int | None = row[0]
    return target_id


def sources(connection: sqlite3.Connection, target_id: int, type: int) -> tuple[int, ...]:
    """The accounts that have a relationship of this type with an account, ascending."""
    rows = connection.execute(
        "SELECT user_id FROM relationships WHERE target_id = ? AND type = ? ORDER BY user_id", (target_id, type)
    )
    return tuple(user_id for (user_id,) in rows)


def withheld_from(connection: sqlite3.Connection, target_id: int) -> frozenset[int]:
    """The friends of an account who do not let it hear where they speak."""
    rows = connection.execute(
        "SELECT user_id FROM relationships WHERE target_id = ? AND type = 1 AND share_voice_activity = 0", (target_id,)
    )
    return frozenset(user_id for (user_id,) in rows)


def of_type(connection: sqlite3.Connection, user_id: int, type: int) -> list[Relationship]:
    """The account's relationships of one type, in order of the others' ids."""
    return [entry for entry in of_user(connection, user_id) if entry.type == type]


def share_with_friends(connection: sqlite3.Connection, user_id: int, shares: bool) -> None:
    """Let all friends of an account hear, or not, where it speaks."""
    connection.execute(
        "UPDATE relationships SET share_voice_activity = ? WHERE user_id = ? AND type = 1", (shares, user_id)
    )


def count_of_types(connection: sqlite3.Connection, user_id: int, *types: int) -> int:
    """How many relationships of these types an account has."""
    row = connection.execute(
        "SELECT count(*) FROM relationships WHERE user_id = ? AND type IN (SELECT value FROM json_each(?))",
        (user_id, json.dumps(types)),
    ).fetchone()
    return int(row[0])


def put(connection: sqlite3.Connection, relationship: Relationship) -> None:
    """Add a relationship, in place of the one that was there."""
    connection.execute(_PUT, tuple(getattr(relationship, name) for name in _FIELDS))


def delete(connection: sqlite3.Connection, user_id: int, target_id: int) -> bool:
    """Remove a relationship; returns whether there was one."""
    cursor = connection.execute("DELETE FROM relationships WHERE user_id = ? AND target_id = ?", (user_id, target_id))
    return cursor.rowcount > 0
