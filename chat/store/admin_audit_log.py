"""What administrators have done: the rows of `admin_audit_log`. An entry's snowflake tells when it was made."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


@attrs.frozen
class AdminAuditLogEntry:
    """One row of `admin_audit_log`. Every value of `metadata` is text."""

    id: int
    admin_user_id: int
    action: str
    target_type: str
    target_id: str
    reason: str | None = None
    metadata: Mapping[str, str] = attrs.field(factory=dict, converter=_parsed)


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(AdminAuditLogEntry))
_BY_ID: Final = f"SELECT {_COLUMNS} FROM admin_audit_log WHERE id = ?"  # noqa: S608 - the column names are our own


def insert(connection: sqlite3.Connection, entry: AdminAuditLogEntry) -> None:
    """Add an entry; none is ever changed."""
    connection.execute(
        f"INSERT INTO admin_audit_log ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (
            entry.id,
            entry.admin_user_id,
            entry.action,
            entry.target_type,
            entry.target_id,
            entry.reason,
            json.dumps(entry.metadata),
        ),
    )


def by_id(connection: sqlite3.Connection, entry_id: int) -> AdminAuditLogEntry | None:
    """The entry with this snowflake."""
    row = connection.execute(_BY_ID, (entry_id,)).fetchone()
    return None if row is None else AdminAuditLogEntry(*row)
