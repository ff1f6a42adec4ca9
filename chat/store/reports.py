"""What people report: the rows of `reports`. A report's snowflake tells when it was made."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs


@attrs.frozen
class Report:
    """One row of `reports`. `kind`, `category` and `status` are of `chat.registries.reports`."""

    id: int
    kind: str
    reporter_id: int
    reported_user_id: int | None
    guild_id: int | None
    channel_id: int | None
    message_id: int | None
    category: str
    additional_info: str | None
    snapshot: str | None
    """JSON: the message as it was when it was reported."""
    status: str
    public_comment: str | None = None
    resolved_by: int | None = None
    resolved_at: int | None = None


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(Report))
_BY_ID: Final = f"SELECT {_COLUMNS} FROM reports WHERE id = ?"  # noqa: S608 - the column names are our own


def insert(connection: sqlite3.Connection, report: Report) -> None:
    """Add a report."""
    connection.execute(
        f"INSERT INTO reports ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        attrs.astuple(report),
    )


def by_id(connection: sqlite3.Connection, report_id: int) -> Report | None:
    """The report with this snowflake."""
    row = connection.execute(_BY_ID, (report_id,)).fetchone()
    return None if row is None else Report(*row)


def with_status(connection: sqlite3.Connection, status: str, before: int, limit: int) -> list[Report]:
    """Up to `limit` reports that stand so, the newest first, those below `before`."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM reports WHERE status = ? AND id < ? ORDER BY id DESC LIMIT ?",  # noqa: S608
        (status, before, limit),
    )
    return [Report(*row) for row in rows]


def against(connection: sqlite3.Connection, user_id: int, status: str, after: int, limit: int) -> list[Report]:
    """Up to `limit` reports against an account that stand so, the oldest first, those above `after`."""
    rows = connection.execute(
        f"""
        SELECT {_COLUMNS} FROM reports
         WHERE reported_user_id = ? AND status = ? AND id > ?
         ORDER BY id
         LIMIT ?
        """,  # noqa: S608
        (user_id, status, after, limit),
    )
    return [Report(*row) for row in rows]


def resolve(
    connection: sqlite3.Connection,
    report_id: int,
    *,
    pending: str,
    resolved: str,
    comment: str | None,
    by: int,
    now: int,
) -> bool:
    """Resolve a report; False when there is no pending one of that snowflake."""
    cursor = connection.execute(
        """
        UPDATE reports SET status = ?, public_comment = ?, resolved_by = ?, resolved_at = ?
         WHERE id = ? AND status = ?
        """,
        (resolved, comment, by, now, report_id, pending),
    )
    return cursor.rowcount > 0
