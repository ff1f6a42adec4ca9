"""Commands of applications: the rows of `application_commands`, `application_command_days` and
`application_command_permissions`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat.classes import frozen


def _parsed(value: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """A column that holds an object as JSON, or the object itself."""
    parsed: Mapping[str, Any] = json.loads(value) if isinstance(value, str) else value
    return parsed


@frozen
class Command:
    """One row of `application_commands`. `guild_id` is None for a command of every place; `body` holds the members of
    the wire object that are no columns."""

    id: int
    application_id: int
    guild_id: int | None
    type: int
    name: str
    body: Mapping[str, Any] = attrs.field(converter=_parsed)
    version: int


@frozen
class CommandPermissions:
    """Who may use one command of an application in a guild; for all of them where `command_id` is the application's."""

    guild_id: int
    application_id: int
    command_id: int
    entries: tuple[Mapping[str, Any], ...]
    """`id`, `type` and `permission` of each."""


_NAMES: Final = tuple(field.name for field in attrs.fields(Command))
_COLUMNS: Final = ", ".join(_NAMES)
_SELECT: Final = f"SELECT {_COLUMNS} FROM application_commands"  # noqa: S608 - our own names, here and below
_PUT: Final = f"""
    INSERT INTO application_commands ({_COLUMNS}) VALUES ({", ".join("?" * len(_NAMES))})
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, body = excluded.body, version = excluded.version
"""  # noqa: S608
_OF_PLACE: Final = f"{_SELECT} WHERE application_id = ? AND coalesce(guild_id, 0) = ? ORDER BY id"
_USABLE: Final = f"""
    {_SELECT} WHERE application_id IN (SELECT value FROM json_each(?)) AND (guild_id IS NULL OR guild_id = ?)
     ORDER BY application_id, id
"""  # noqa: S608


def by_id(connection: sqlite3.Connection, application_id: int, guild_id: int | None, command_id: int) -> Command | None:
    """One command of the application in its place."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (command_id,)).fetchone()
    command = None if row is None else Command(*row)
    if command is None or (command.application_id, command.guild_id) != (application_id, guild_id):
        return None
    return command


def anywhere(connection: sqlite3.Connection, command_id: int) -> Command | None:
    """A command by its id alone."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (command_id,)).fetchone()
    return None if row is None else Command(*row)


def of_place(connection: sqlite3.Connection, application_id: int, guild_id: int | None) -> list[Command]:
    """The application's commands of every place, or those of one guild, oldest first."""
    return [Command(*row) for row in connection.execute(_OF_PLACE, (application_id, guild_id or 0))]


def usable(connection: sqlite3.Connection, application_ids: Sequence[int], guild_id: int | None) -> list[Command]:
    """The commands that these applications have in a guild, those of every place among them; without a guild only
    these."""
    rows = connection.execute(_USABLE, (json.dumps(list(application_ids)), guild_id or 0))
    return [Command(*row) for row in rows]


def put(connection: sqlite3.Connection, command: Command) -> None:
    """Write a command. It replaces the one with the same id."""
    values = attrs.asdict(command, recurse=False) | {"body": json.dumps(command.body)}
    connection.execute(_PUT, tuple(values[name] for name in _NAMES))


def delete(connection: sqlite3.Connection, command_id: int) -> None:
    """Remove a command, with its permissions in all guilds."""
    connection.execute("DELETE FROM application_commands WHERE id = ?", (command_id,))


def note_made(connection: sqlite3.Connection, application_id: int, guild_id: int | None, day: int, count: int) -> int:
    """Count new commands; returns how many the application has made in that place on that day."""
    row = connection.execute(
        """
        INSERT INTO application_command_days (application_id, guild_id, day, made) VALUES (?, ?, ?, ?)
            ON CONFLICT (application_id, guild_id)
            DO UPDATE SET made = iif(day = excluded.day, made, 0) + excluded.made, day = excluded.day
        RETURNING made
        """,
        (application_id, guild_id or 0, day, count),
    ).fetchone()
    return int(row[0])


def permissions_of_guild(
    connection: sqlite3.Connection, guild_id: int, application_ids: Sequence[int]
) -> list[CommandPermissions]:
    """The permissions that a guild has set for commands of these applications."""
    rows = connection.execute(
        """
        SELECT guild_id, application_id, command_id, permissions FROM application_command_permissions
         WHERE guild_id = ? AND application_id IN (SELECT value FROM json_each(?))
         ORDER BY application_id, command_id
        """,
        (guild_id, json.dumps(list(application_ids))),
    )
    return [
        CommandPermissions(guild, application, command, tuple(json.loads(entries)))
        for guild, application, command, entries in rows
    ]


def permissions_of(
    connection: sqlite3.Connection, guild_id: int, application_id: int, command_id: int
) -> CommandPermissions | None:
    """The permissions that a guild has set for one command; None if it has set none."""
    found = permissions_of_guild(connection, guild_id, [application_id])
    return next((row for row in found if row.command_id == command_id), None)


def put_permissions(connection: sqlite3.Connection, row: CommandPermissions) -> None:
    """Write the permissions of a command; without entries it has none of its own any more."""
    key = (row.guild_id, row.application_id, row.command_id)
    if not row.entries:
        connection.execute(
            "DELETE FROM application_command_permissions WHERE guild_id = ? AND application_id = ? AND command_id = ?",
            key,
        )
        return
    connection.execute(
        """
        INSERT INTO application_command_permissions (guild_id, application_id, command_id, permissions)
        VALUES (?, ?, ?, ?)
            ON CONFLICT (guild_id, application_id, command_id) DO UPDATE SET permissions = excluded.permissions
        """,
        (*key, json.dumps(list(row.entries))),
    )


def applications_of_guild(connection: sqlite3.Connection, guild_id: int) -> list[int]:
    """The applications with commands whose bots are members of the guild."""
    rows = connection.execute(
        """
        SELECT applications.id
          FROM members JOIN applications ON applications.bot_user_id = members.user_id
         WHERE members.guild_id = ?
           AND EXISTS (SELECT 1 FROM application_commands WHERE application_id = applications.id)
         ORDER BY applications.id
        """,
        (guild_id,),
    )
    return [application_id for (application_id,) in rows]
