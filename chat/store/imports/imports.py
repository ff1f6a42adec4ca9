"""Imports and the things that they made apart from messages: the rows of `imports` and `imported_things`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.imports import ImportSource, ImportState


@frozen(kw_only=True)
class Import:
    """One row of `imports`; times are Unix milliseconds."""

    id: int
    guild_id: int
    source: ImportSource = attrs.field(converter=ImportSource)
    place: str
    wish: Mapping[str, Any]
    state: ImportState = attrs.field(default=ImportState.RUNNING, converter=ImportState)
    report: Mapping[str, Any] = attrs.field(factory=dict)
    cancel_requested: bool = attrs.field(default=False, converter=bool)
    created_at: int
    changed_at: int
    completed_at: int | None = None


_NAMES: Final = tuple(field.name for field in attrs.fields(Import))
_COLUMNS: Final = ", ".join(_NAMES)
_JSON: Final = frozenset({"wish", "report"})
_INSERT: Final = f"INSERT INTO imports ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608 - our own names
_SELECT: Final = f"SELECT {_COLUMNS} FROM imports"  # noqa: S608


def insert(connection: sqlite3.Connection, made: Import) -> None:
    """Add an import."""
    connection.execute(_INSERT, [_column(made, name) for name in _NAMES])


def put(connection: sqlite3.Connection, changed: Import) -> None:
    """Write how far an import is; whether it is to be cancelled stays."""
    connection.execute(
        "UPDATE imports SET state = ?, report = ?, changed_at = ?, completed_at = ? WHERE id = ?",
        (changed.state, json.dumps(changed.report), changed.changed_at, changed.completed_at, changed.id),
    )


def request_cancel(connection: sqlite3.Connection, import_id: int, *, wanted: bool) -> None:
    """Whether the import is to end before its next portion."""
    connection.execute("UPDATE imports SET cancel_requested = ? WHERE id = ?", (wanted, import_id))


def is_to_end(connection: sqlite3.Connection, import_id: int) -> bool:
    """Whether somebody wants it to end, or it is gone."""
    row = connection.execute("SELECT cancel_requested FROM imports WHERE id = ?", (import_id,)).fetchone()
    return row is None or bool(row[0])


def by_id(connection: sqlite3.Connection, import_id: int) -> Import | None:
    """The import with this id."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (import_id,)).fetchone()
    return None if row is None else _import(row)


def every(connection: sqlite3.Connection) -> list[Import]:
    """All imports, the newest first."""
    return [_import(row) for row in connection.execute(f"{_SELECT} ORDER BY id DESC")]


def of_guild(connection: sqlite3.Connection, guild_id: int) -> list[Import]:
    """The imports into a guild, the newest first."""
    return [_import(row) for row in connection.execute(f"{_SELECT} WHERE guild_id = ? ORDER BY id DESC", (guild_id,))]


def _column(made: Import, name: str) -> Any:
    value = getattr(made, name)
    return json.dumps(value) if name in _JSON else value


def _import(row: tuple[Any, ...]) -> Import:
    values = dict(zip(_NAMES, row, strict=True))
    return Import(**{**values, **{name: json.loads(values[name]) for name in _JSON}})


def note_thing(connection: sqlite3.Connection, kind: str, thing_id: int, import_id: int) -> None:
    """The import made this."""
    connection.execute("INSERT OR REPLACE INTO imported_things VALUES (?, ?, ?)", (kind, thing_id, import_id))


def things_of(connection: sqlite3.Connection, kind: str, import_id: int) -> list[int]:
    """What the import made of a kind, in order of their ids."""
    rows = connection.execute(
        "SELECT thing_id FROM imported_things WHERE kind = ? AND import_id = ? ORDER BY thing_id", (kind, import_id)
    )
    return [thing_id for (thing_id,) in rows]


def made_by(connection: sqlite3.Connection, kind: str, thing_id: int, import_id: int) -> bool:
    """Whether this import made it."""
    rows = connection.execute("SELECT import_id FROM imported_things WHERE kind = ? AND thing_id = ?", (kind, thing_id))
    return import_id in [found for (found,) in rows]


def made_by_any(connection: sqlite3.Connection, kind: str, thing_id: int) -> bool:
    """Whether an import made it."""
    row = connection.execute("SELECT 1 FROM imported_things WHERE kind = ? AND thing_id = ?", (kind, thing_id))
    return row.fetchone() is not None


def forget_things(connection: sqlite3.Connection, kind: str, thing_ids: Iterable[int]) -> None:
    """These are no import's any more."""
    connection.execute(
        "DELETE FROM imported_things WHERE kind = ? AND thing_id IN (SELECT value FROM json_each(?))",
        (kind, json.dumps(list(thing_ids))),
    )
