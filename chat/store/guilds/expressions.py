"""Emojis and stickers of guilds: the rows of `expressions`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, Final

import attrs

from chat.classes import frozen


def _tags(value: str | Iterable[str]) -> tuple[str, ...]:
    """A column that holds a JSON list of texts, or such texts themselves."""
    return tuple(json.loads(value) if isinstance(value, str) else value)


@frozen
class Expression:
    """One row of `expressions`: an emoji or a sticker, as `kind` says."""

    id: int
    kind: str
    guild_id: int
    user_id: int
    name: str
    animated: bool = attrs.field(default=False, converter=bool)
    description: str = ""
    tags: tuple[str, ...] = attrs.field(default=(), converter=_tags)


_FIELDS: Final = tuple(field.name for field in attrs.fields(Expression))
_COLUMNS: Final = ", ".join(_FIELDS)
_SELECT: Final = f"SELECT {_COLUMNS} FROM expressions"  # noqa: S608 - our own names, here and below
_BY_ID: Final = f"{_SELECT} WHERE id = ? AND kind = ?"
_OF_GUILD: Final = f"{_SELECT} WHERE guild_id = ? ORDER BY id"
_INSERT: Final = f"INSERT INTO expressions ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608


def by_id(connection: sqlite3.Connection, kind: str, expression_id: int) -> Expression | None:
    row = connection.execute(_BY_ID, (expression_id, kind)).fetchone()
    return None if row is None else Expression(*row)


def place_of(connection: sqlite3.Connection, expression_id: int) -> tuple[str, int] | None:
    """The kind and the guild of what has this id."""
    row = connection.execute("SELECT kind, guild_id FROM expressions WHERE id = ?", (expression_id,)).fetchone()
    return None if row is None else (row[0], row[1])


def of_guild(connection: sqlite3.Connection, guild_id: int) -> list[Expression]:
    """Every expression of a guild, of both kinds, oldest first."""
    return [Expression(*row) for row in connection.execute(_OF_GUILD, (guild_id,))]


def insert(connection: sqlite3.Connection, expression: Expression) -> None:
    """Add an expression to a guild that exists."""
    connection.execute(_INSERT, _values(expression))


def replace(connection: sqlite3.Connection, expression: Expression) -> None:
    """Write what can change of an expression: its name, description and tags."""
    connection.execute(
        "UPDATE expressions SET name = ?, description = ?, tags = ? WHERE id = ?",
        (expression.name, expression.description, json.dumps(expression.tags), expression.id),
    )


def delete(connection: sqlite3.Connection, expression_id: int) -> None:
    """Remove an expression; its image stays."""
    connection.execute("DELETE FROM expressions WHERE id = ?", (expression_id,))


def _values(expression: Expression) -> tuple[Any, ...]:
    return tuple(json.dumps(expression.tags) if name == "tags" else getattr(expression, name) for name in _FIELDS)


@frozen
class ExpressionPlace:
    """The guild that an expression belongs to, and whether the guild is for adults."""

    guild_id: int
    nsfw: bool = attrs.field(converter=bool)


def places(connection: sqlite3.Connection, kind: str, expression_ids: Iterable[int]) -> dict[int, ExpressionPlace]:
    """The places of these expressions; ids without an expression are left out."""
    rows = connection.execute(
        """
        SELECT expressions.id, expressions.guild_id, guilds.nsfw
          FROM expressions JOIN guilds ON guilds.id = expressions.guild_id
         WHERE expressions.kind = ? AND expressions.id IN (SELECT value FROM json_each(?))
        """,
        (kind, json.dumps(list(expression_ids))),
    )
    return {expression_id: ExpressionPlace(guild_id, nsfw) for expression_id, guild_id, nsfw in rows}
