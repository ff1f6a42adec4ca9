"""Audit logs of guilds: the rows of `guild_audit_log`. An entry's snowflake tells when it was made."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.audit_actions import AUDIT_LOG_RETENTION_MS
from chat.snowflake import MAXIMUM, snowflake_at, snowflake_time_ms

PURGED_AT_ONCE: Final = 100
"""Entries past their time that one insertion clears away."""


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


@frozen
class AuditLogEntry:
    """One row of `guild_audit_log`.

    `options` and `changes` are as the wire has them: an object, and a list of `{key, old_value?, new_value?}`.
    """

    id: int
    guild_id: int
    action_type: int
    user_id: int
    target_id: str | None = None
    reason: str | None = None
    options: Mapping[str, Any] | None = attrs.field(default=None, converter=_parsed)
    changes: Sequence[Mapping[str, Any]] | None = attrs.field(default=None, converter=_parsed)


@frozen
class AuditLogPage:
    """Which entries of a guild to read, the newest first; `after` and `before` are entries' ids."""

    limit: int = 50
    before: int | None = None
    after: int | None = None
    user_id: int | None = None
    action_type: int | None = None


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(AuditLogEntry))


def insert(connection: sqlite3.Connection, entry: AuditLogEntry) -> None:
    """Add an entry, and forget some of the same guild that are past their time."""
    connection.execute(
        """
        DELETE FROM guild_audit_log
         WHERE id IN (SELECT id FROM guild_audit_log WHERE guild_id = ? AND id < ? ORDER BY id LIMIT ?)
        """,
        (entry.guild_id, _oldest(snowflake_time_ms(entry.id)), PURGED_AT_ONCE),
    )
    connection.execute(
        f"INSERT INTO guild_audit_log ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
        (
            entry.id,
            entry.guild_id,
            entry.action_type,
            entry.user_id,
            entry.target_id,
            entry.reason,
            None if entry.options is None else json.dumps(entry.options),
            None if entry.changes is None else json.dumps(entry.changes),
        ),
    )


def by_id(connection: sqlite3.Connection, entry_id: int) -> AuditLogEntry | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM guild_audit_log WHERE id = ?",  # noqa: S608 - the column names are our own
        (entry_id,),
    ).fetchone()
    return None if row is None else AuditLogEntry(*row)


def latest_like(connection: sqlite3.Connection, entry: AuditLogEntry, since_id: int) -> AuditLogEntry | None:
    """The newest entry, not older than `since_id`, of the same person doing the same to the same target."""
    row = connection.execute(
        f"""
        SELECT {_COLUMNS}
          FROM guild_audit_log
         WHERE guild_id = ? AND id >= ? AND action_type = ? AND user_id = ? AND target_id IS ?
         ORDER BY id DESC
         LIMIT 1
        """,  # noqa: S608
        (entry.guild_id, since_id, entry.action_type, entry.user_id, entry.target_id),
    ).fetchone()
    return None if row is None else AuditLogEntry(*row)


def replace_options(connection: sqlite3.Connection, entry: AuditLogEntry) -> None:
    connection.execute("UPDATE guild_audit_log SET options = ? WHERE id = ?", (json.dumps(entry.options), entry.id))


def page(connection: sqlite3.Connection, guild_id: int, wanted: AuditLogPage, now: int) -> list[AuditLogEntry]:
    """Entries of the guild that are not past their time at `now` (Unix ms), the newest first."""
    rows = connection.execute(
        f"""
        SELECT {_COLUMNS}
          FROM guild_audit_log
         WHERE guild_id = ? AND id < ? AND id > ? AND id >= ?
           AND (?5 IS NULL OR user_id = ?5) AND (?6 IS NULL OR action_type = ?6)
         ORDER BY id DESC
         LIMIT ?7
        """,  # noqa: S608
        (
            guild_id,
            MAXIMUM if wanted.before is None else wanted.before,
            0 if wanted.after is None else wanted.after,
            _oldest(now),
            wanted.user_id,
            wanted.action_type,
            wanted.limit,
        ),
    )
    return [AuditLogEntry(*row) for row in rows]


def _oldest(now: int) -> int:
    """The least id of an entry that is kept at this moment."""
    return snowflake_at(max(0, now - AUDIT_LOG_RETENTION_MS))
