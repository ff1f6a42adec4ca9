"""What administrators have done: the rows of `admin_audit_log`. An entry's snowflake tells when it was made."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.store.administration.listings import ListingFilter, fitting


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


@frozen
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

SORTS: Final = {
    ("createdAt", "asc"): "entry.id",
    ("createdAt", "desc"): "entry.id DESC",
    ("relevance", "asc"): "found.rank DESC, entry.id",
    ("relevance", "desc"): "found.rank, entry.id DESC",  # the better an entry fits, the smaller its rank
}
"""By what entries can be sorted, and how; without words to look for every entry fits alike."""


def insert(connection: sqlite3.Connection, entry: AdminAuditLogEntry) -> None:
    """Add an entry; none is ever changed."""
    connection.execute(
        f"INSERT INTO admin_audit_log ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (*attrs.astuple(entry, recurse=False)[:-1], json.dumps(entry.metadata)),
    )


def by_id(connection: sqlite3.Connection, entry_id: int) -> AdminAuditLogEntry | None:
    """The entry with this snowflake."""
    row = connection.execute(_BY_ID, (entry_id,)).fetchone()
    return None if row is None else AdminAuditLogEntry(*row)


@frozen(kw_only=True)
class EntriesWanted(ListingFilter):
    """Which entries are wanted: by words, administrator, target; `sort` is of SORTS."""

    admin_user_id: int | None = None
    target_type: str | None = None
    target_id: str | None = None
    sort: tuple[str, str] = ("createdAt", "desc")


def search(connection: sqlite3.Connection, wanted: EntriesWanted) -> tuple[list[AdminAuditLogEntry], int]:
    """The entries that fit, and how many there are in all."""
    columns = ("admin_user_id", "target_type", "target_id")
    order = SORTS[wanted.sort if wanted.has_words else ("createdAt", wanted.sort[1])]
    return fitting(connection, AdminAuditLogEntry, "admin_audit_log", "admin_audit_search", wanted, columns, order)
