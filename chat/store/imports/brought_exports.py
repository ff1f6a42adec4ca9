"""Exports that people bring along in the browser: the rows of `brought_exports`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.imports import BroughtState, BroughtTrouble


@frozen(kw_only=True)
class BroughtExport:
    """One row of `brought_exports`; times are Unix milliseconds, `size` is bytes."""

    id: int
    user_id: int
    filename: str
    size: int
    state: BroughtState = attrs.field(default=BroughtState.READING, converter=BroughtState)
    trouble: BroughtTrouble | None = attrs.field(default=None, converter=attrs.converters.optional(BroughtTrouble))
    """Why it was refused, or failed."""
    preview: Mapping[str, Any] | None = None
    """What the dry run found."""
    wish: Mapping[str, Any] | None = None
    """What of it is to come."""
    guild_id: int | None = None
    """The community that was made for it."""
    import_id: int | None = None
    attempts: int = 0
    """How often the work on it has broken off."""
    created_at: int
    changed_at: int


_NAMES: Final = tuple(field.name for field in attrs.fields(BroughtExport))
_COLUMNS: Final = ", ".join(_NAMES)
_JSON: Final = frozenset({"preview", "wish"})
_INSERT: Final = f"INSERT INTO brought_exports ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608
_UPDATE: Final = f"UPDATE brought_exports SET {', '.join(f'{name} = ?' for name in _NAMES)} WHERE id = ?"  # noqa: S608
_IN_STATES: Final = "state IN (SELECT value FROM json_each(?))"
_SELECT: Final = f"SELECT {_COLUMNS} FROM brought_exports"  # noqa: S608 - our own names


def insert(connection: sqlite3.Connection, brought: BroughtExport) -> None:
    """Add one."""
    connection.execute(_INSERT, _values(brought))


def put(connection: sqlite3.Connection, changed: BroughtExport) -> None:
    """Replace one by what became of it."""
    connection.execute(_UPDATE, (*_values(changed), changed.id))


def delete(connection: sqlite3.Connection, brought_id: int) -> None:
    """Forget one."""
    connection.execute("DELETE FROM brought_exports WHERE id = ?", (brought_id,))


def by_id(connection: sqlite3.Connection, brought_id: int) -> BroughtExport | None:
    """The one with this id."""
    row = connection.execute(f"{_SELECT} WHERE id = ?", (brought_id,)).fetchone()
    return None if row is None else _brought(row)


def of_user(connection: sqlite3.Connection, user_id: int, limit: int) -> list[BroughtExport]:
    """Up to `limit` of an account, the newest first."""
    rows = connection.execute(f"{_SELECT} WHERE user_id = ? ORDER BY id DESC LIMIT ?", (user_id, limit))
    return [_brought(row) for row in rows]


def of_user_in(connection: sqlite3.Connection, user_id: int, states: Collection[BroughtState]) -> BroughtExport | None:
    """One of an account that is in any of these states."""
    row = connection.execute(
        f"{_SELECT} WHERE user_id = ? AND {_IN_STATES} LIMIT 1",
        (user_id, json.dumps(sorted(states))),
    ).fetchone()
    return None if row is None else _brought(row)


def oldest_in(connection: sqlite3.Connection, states: Collection[BroughtState]) -> BroughtExport | None:
    """The one that waits longest in any of these states."""
    row = connection.execute(
        f"{_SELECT} WHERE {_IN_STATES} ORDER BY id LIMIT 1",
        (json.dumps(sorted(states)),),
    ).fetchone()
    return None if row is None else _brought(row)


def ids_in(connection: sqlite3.Connection, states: Collection[BroughtState]) -> set[int]:
    """The ids of all that are in these states."""
    rows = connection.execute(
        "SELECT id FROM brought_exports WHERE state IN (SELECT value FROM json_each(?))", (json.dumps(sorted(states)),)
    )
    return {brought_id for (brought_id,) in rows}


def delete_unchanged(connection: sqlite3.Connection, states: Collection[BroughtState], before_ms: int) -> None:
    """Forget those in these states with which nothing has happened since a moment."""
    connection.execute(
        "DELETE FROM brought_exports WHERE changed_at < ? AND state IN (SELECT value FROM json_each(?))",
        (before_ms, json.dumps(sorted(states))),
    )


def _values(brought: BroughtExport) -> tuple[Any, ...]:
    return tuple(
        json.dumps(value) if name in _JSON and value is not None else value
        for name, value in zip(_NAMES, (getattr(brought, name) for name in _NAMES), strict=True)
    )


def _brought(row: tuple[Any, ...]) -> BroughtExport:
    values = dict(zip(_NAMES, row, strict=True))
    for name in _JSON:
        values[name] = None if values[name] is None else json.loads(values[name])
    return BroughtExport(**values)
