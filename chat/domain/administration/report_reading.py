"""Reports as administrators read them (administration.md, Reports and discovery)."""

from __future__ import annotations

import sqlite3
from typing import Any

import attrs
import orjson

from chat.clock import iso_timestamp
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.administration_objects import user_summary
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.snowflake import snowflake_time_ms
from chat.store.accounts import accounts
from chat.store.administration import reports
from chat.store.administration.reports import Report, ReportsWanted
from chat.store.guilds import guilds


class ReportReading:
    """Lists and shows reports. Who made one is for holders of report:view:reporter_pii."""

    def __init__(self, core: Core, log: AdminAuditLog) -> None:
        self._core = core
        self._log = log
        self._has_search = core.settings.search == "on"

    async def search(self, acting: Acting, wanted: ReportsWanted) -> dict[str, Any]:
        """The reports that fit, the newest first, and how many there are in all.

        :raises ApiError: MISSING_ACL for a reporter that is asked for without the ACL to see one;
            FEATURE_TEMPORARILY_DISABLED for words where nothing is searched.
        """
        sees_reporter = acting.holds(Acl.REPORT_VIEW_REPORTER_PII)
        if wanted.reporter_id is not None and not sees_reporter:
            raise ApiError("MISSING_ACL")
        if wanted.text is not None and not self._has_search:
            raise ApiError("FEATURE_TEMPORARILY_DISABLED")

        def query(connection: sqlite3.Connection) -> tuple[list[dict[str, Any]], int]:
            found, total = reports.search(connection, wanted)
            return [report_object(connection, report, with_reporter=sees_reporter) for report in found], total

        page, total = await self._core.database.read(query)
        metadata = {"status": wanted.status, "limit": wanted.limit, "result_count": len(page)}
        await self._log.note(acting, AdminAction.LIST_REPORTS, NO_TARGET, metadata)
        return {"reports": page, "total": total}

    async def get(self, acting: Acting, report_id: int) -> dict[str, Any]:
        """One report.

        :raises ApiError: UNKNOWN_REPORT.
        """
        sees_reporter = acting.holds(Acl.REPORT_VIEW_REPORTER_PII)

        def query(connection: sqlite3.Connection) -> dict[str, Any] | None:
            report = reports.by_id(connection, report_id)
            return None if report is None else report_object(connection, report, with_reporter=sees_reporter)

        found = await self._core.database.read(query)
        if found is None:
            raise ApiError("UNKNOWN_REPORT")
        await self._log.note(acting, AdminAction.GET_REPORT, report_id, {"found": True})
        return found


def report_object(connection: sqlite3.Connection, report: Report, *, with_reporter: bool) -> dict[str, Any]:
    """A report; `with_reporter` False withholds who made it."""
    shown = report
    if not with_reporter:
        shown = attrs.evolve(report, reporter_id=None, reporter_email=None, reporter_name=None, reporter_country=None)
    return {
        "report_id": str(report.id),
        "kind": report.kind,
        "reporter_id": _optional_id(shown.reporter_id),
        "reporter": _summary(connection, shown.reporter_id),
        "reporter_email": shown.reporter_email,
        "reporter_full_legal_name": shown.reporter_name,
        "reporter_country_of_residence": shown.reporter_country,
        "reported_user_id": _optional_id(report.reported_user_id),
        "reported_user": _summary(connection, report.reported_user_id),
        "guild_id": _optional_id(report.guild_id),
        "guild_name": _guild_name(connection, report.guild_id),
        "channel_id": _optional_id(report.channel_id),
        "message_id": _optional_id(report.message_id),
        "category": report.category,
        "additional_info": report.additional_info,
        "message": None if report.snapshot is None else orjson.loads(report.snapshot),
        "status": report.status,
        "public_comment": report.public_comment,
        "resolved_by": _optional_id(report.resolved_by),
        "resolver": _summary(connection, report.resolved_by),
        "resolved_at": None if report.resolved_at is None else iso_timestamp(report.resolved_at),
        "created_at": iso_timestamp(snowflake_time_ms(report.id)),
    }


def _optional_id(snowflake: int | None) -> str | None:
    return None if snowflake is None else str(snowflake)


def _summary(connection: sqlite3.Connection, user_id: int | None) -> dict[str, Any] | None:
    account = None if user_id is None else accounts.by_id(connection, user_id)
    return None if account is None else user_summary(account)


def _guild_name(connection: sqlite3.Connection, guild_id: int | None) -> str | None:
    guild = None if guild_id is None else guilds.by_id(connection, guild_id)
    return None if guild is None else guild.name
