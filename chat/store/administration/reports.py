"""What people report: the rows of `reports`. A report's snowflake tells when it was made."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen
from chat.registries.reports import ReportStatus
from chat.store.administration.listings import ListingFilter, fitting


@frozen
class Report:
    """One row of `reports`. `kind`, `category` and `status` are of `chat.registries.reports`."""

    id: int
    kind: str
    category: str
    status: str
    additional_info: str | None = None
    reporter_id: int | None = None
    """None for a person without an account; the next three fields describe that person."""
    reporter_email: str | None = None
    reporter_name: str | None = None
    reporter_country: str | None = None
    """The country as two letters (ISO 3166-1)."""
    reported_user_id: int | None = None
    guild_id: int | None = None
    channel_id: int | None = None
    message_id: int | None = None
    snapshot: str | None = None
    """JSON: the message as it was when it was reported."""
    public_comment: str | None = None
    resolved_by: int | None = None
    resolved_at: int | None = None


_COLUMNS: Final = ", ".join(field.name for field in attrs.fields(Report))
_PLACES: Final = ", ".join("?" for _ in attrs.fields(Report))
_BY_ID: Final = f"SELECT {_COLUMNS} FROM reports WHERE id = ?"  # noqa: S608 - the column names are our own


def insert(connection: sqlite3.Connection, report: Report) -> None:
    """Add a report."""
    connection.execute(
        f"INSERT INTO reports ({_COLUMNS}) VALUES ({_PLACES})",  # noqa: S608
        attrs.astuple(report),
    )


def by_id(connection: sqlite3.Connection, report_id: int) -> Report | None:
    """The report with this snowflake."""
    row = connection.execute(_BY_ID, (report_id,)).fetchone()
    return None if row is None else Report(*row)


@frozen(kw_only=True)
class ReportsWanted(ListingFilter):
    """Which reports are wanted: those that fit everything that is not None."""

    status: str | None = None
    category: str | None = None
    kind: str | None = None
    reporter_id: int | None = None
    reported_user_id: int | None = None
    guild_id: int | None = None


def search(connection: sqlite3.Connection, wanted: ReportsWanted) -> tuple[list[Report], int]:
    """The reports that fit, the newest first, and how many there are in all."""
    columns = ("status", "category", "kind", "reporter_id", "reported_user_id", "guild_id")
    return fitting(connection, Report, "reports", "report_search", wanted, columns, "entry.id DESC")


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


def resolve(connection: sqlite3.Connection, report_id: int, *, comment: str | None, by: int, now: int) -> bool:
    """Resolve a report; False when there is no pending one of that snowflake."""
    cursor = connection.execute(
        """
        UPDATE reports SET status = ?, public_comment = ?, resolved_by = ?, resolved_at = ?
         WHERE id = ? AND status = ?
        """,
        (ReportStatus.RESOLVED, comment, by, now, report_id, ReportStatus.PENDING),
    )
    return cursor.rowcount > 0
