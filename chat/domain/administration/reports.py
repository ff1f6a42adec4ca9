"""What people report: accounts, messages and guilds; how administrators read it, and what becomes of it (instance.md,
Reports; administration.md, Reports and discovery)."""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Any, Final

import attrs
import orjson
import structlog

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog, in_the_name_of
from chat.domain.administration.administration_objects import optional_id, summary_of
from chat.domain.core import Core
from chat.domain.messages.message_reading import Messages
from chat.domain.policy.errands import Errand, State
from chat.domain.standing.verification import has_verified_address
from chat.errors import ApiError, StorageUnavailable
from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mailer
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import ErrandKind
from chat.registries.reports import KEPT_PENDING, ReportCategory, ReportKind, ReportStatus
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_time_ms
from chat.store.accounts import accounts
from chat.store.administration import reports
from chat.store.administration.reports import Report, ReportsWanted
from chat.store.guilds import guilds

log: Final = structlog.get_logger("chat.reports")

READ_AT_ONCE: Final = 100
RESOLVED_AT_MOST: Final = 10_000
"""Reports that one deletion resolves; the rest stay pending for an administrator to look at."""


@frozen(kw_only=True)
class NewReport:
    """A report as its author writes it."""

    category: ReportCategory
    additional_info: str | None = None

    def report(self, core: Core, kind: ReportKind, **about: Any) -> Report:
        """The report, with what it is `about` and who made it."""
        info, pending = self.additional_info, ReportStatus.PENDING
        return Report(core.snowflakes(), kind, self.category, pending, additional_info=info, **about)


@define(eq=False)
class Reports:
    _core: Core
    _messages: Messages
    _mailer: Mailer
    _log: AdminAuditLog

    def __attrs_post_init__(self) -> None:
        self._core.errands.handle(ErrandKind.RESOLVE_REPORTS, self._resolve_all)

    async def report_user(
        self, principal: Principal, user_id: int, guild_id: int | None, new: NewReport
    ) -> wire.Reported:
        """Report an account, in the context of a guild if there is one. Raises REPORT_BANNED,
        REPORT_EMAIL_VERIFICATION_REQUIRED, CANNOT_REPORT_YOURSELF, UNKNOWN_USER."""
        self._require_may_report(principal)
        if user_id == principal.user_id:
            raise ApiError(ErrorCode.CANNOT_REPORT_YOURSELF)
        account = accounts.by_id(self._core.database.reader, user_id)
        if account is None or account.is_deleted:
            raise ApiError(ErrorCode.UNKNOWN_USER)
        return await self._add(principal, new, ReportKind.USER, reported_user_id=user_id, guild_id=guild_id)

    async def report_message(
        self, principal: Principal, channel_id: int, message_id: int, new: NewReport
    ) -> wire.Reported:
        """Report a message that the caller sees; it is kept as it is now. Raises REPORT_BANNED,
        REPORT_EMAIL_VERIFICATION_REQUIRED, CANNOT_REPORT_OWN_MESSAGE, and as reading the message."""
        self._require_may_report(principal)
        message = await self._messages.get(principal, channel_id, message_id)
        author_id = int(message["author"]["id"])
        if author_id == principal.user_id:
            raise ApiError(ErrorCode.CANNOT_REPORT_OWN_MESSAGE)
        guild_id = self._core.access.channel(principal, channel_id).channel.guild_id
        return await self._add(
            principal,
            new,
            ReportKind.MESSAGE,
            reported_user_id=None if "webhook_id" in message else author_id,
            guild_id=guild_id,
            channel_id=channel_id,
            message_id=message_id,
            snapshot=orjson.dumps(message).decode(),
        )

    async def report_guild(self, principal: Principal, guild_id: int, new: NewReport) -> wire.Reported:
        """Report a guild. Raises REPORT_BANNED, REPORT_EMAIL_VERIFICATION_REQUIRED, CANNOT_REPORT_OWN_GUILD,
        UNKNOWN_GUILD."""
        self._require_may_report(principal)
        state = self._core.guild_states.get(guild_id)
        if state is None:
            raise ApiError(ErrorCode.UNKNOWN_GUILD)
        if state.guild.owner_id == principal.user_id:
            raise ApiError(ErrorCode.CANNOT_REPORT_OWN_GUILD)
        return await self._add(
            principal, new, ReportKind.GUILD, reported_user_id=state.guild.owner_id, guild_id=guild_id
        )

    def _require_may_report(self, principal: Principal) -> None:
        account = principal.account
        if account.flags & UserFlag.REPORT_BANNED:
            raise ApiError(ErrorCode.REPORT_BANNED)
        if not has_verified_address(account):
            raise ApiError(ErrorCode.REPORT_EMAIL_VERIFICATION_REQUIRED)

    async def _add(self, principal: Principal, new: NewReport, kind: ReportKind, **about: Any) -> wire.Reported:
        report = new.report(self._core, kind, reporter_id=principal.user_id, **about)
        await self._core.database.write(lambda connection: reports.insert(connection, report), guard=principal.guard)
        log.info("report", report_id=report.id, kind=report.kind, category=report.category)
        return {"report_id": str(report.id), "status": report.status}

    async def resolve(self, acting: Acting, report_id: int, comment: str | None) -> wire.Reported:
        """Resolve a report and thank its reporter. Raises UNKNOWN_REPORT, REPORT_ALREADY_RESOLVED."""

        def unit(connection: sqlite3.Connection) -> None:
            report = reports.by_id(connection, report_id)
            if report is None:
                raise ApiError(ErrorCode.UNKNOWN_REPORT)
            if report.status != ReportStatus.PENDING:
                raise ApiError(ErrorCode.REPORT_ALREADY_RESOLVED)
            notified = self._resolve_in(connection, acting, report, comment)
            metadata = {"public_comment": comment, "notified": notified}
            self._log.record(connection, acting, AdminAction.RESOLVE_REPORT, report_id, metadata)

        await self._core.database.write(unit, guard=acting.guard)
        return {"report_id": str(report_id), "status": str(ReportStatus.RESOLVED)}

    def begin_resolving_in(self, connection: sqlite3.Connection, acting: Acting, user_id: int) -> Errand:
        """In a unit of writing: have the pending reports against an account resolved that is to be deleted, but those
        of KEPT_PENDING; what came of it is an entry in the audit log (administration.md, Scheduled deletion). Where
        nothing is searched, none is found."""
        state = {
            "user_id": user_id,
            "admin_id": acting.user_id,
            "reason": acting.reason,
            "last_id": 0,
            "outcome": "completed" if self._core.settings.search == "on" else "search_unavailable",
            "counts": {"found_count": 0, "resolved_count": 0, "failed_count": 0, "notified_count": 0},
        }
        return self._core.errands.begin_in(connection, ErrandKind.RESOLVE_REPORTS, state)

    async def _resolve_all(self, errand: Errand) -> None:
        user_id, last_id = errand.state["user_id"], errand.state["last_id"]
        while errand.state["outcome"] == "completed" and errand.state["counts"]["found_count"] < RESOLVED_AT_MOST:
            try:
                page = await self._core.database.read(
                    partial(
                        reports.against, user_id=user_id, status=ReportStatus.PENDING, after=last_id, limit=READ_AT_ONCE
                    )
                )
            except (StorageUnavailable, sqlite3.Error):
                log.exception("the reports against an account could not be listed to the end", user_id=user_id)
                await errand.step(lambda _, state: ({**state, "outcome": "enumeration_failed"}, None))
                break
            if not page:
                break
            last_id = page[-1].id
            for report in page:
                if report.category not in KEPT_PENDING:
                    await self._resolve_next(errand, report)

        def end(connection: sqlite3.Connection, state: State) -> tuple[State | None, None]:
            acting = in_the_name_of(state["admin_id"], state["reason"])
            metadata = {"outcome": state["outcome"], **state["counts"]}
            self._log.record(connection, acting, AdminAction.AUTO_RESOLVE_REPORTS_ON_DELETION, user_id, metadata)
            return None, None

        await errand.step(end)

    async def _resolve_next(self, errand: Errand, report: Report) -> None:
        acting = in_the_name_of(errand.state["admin_id"], errand.state["reason"])

        def counted(state: State, **more: int) -> State:
            counts = state["counts"]
            return {**state, "last_id": report.id, "counts": {**counts, **{k: counts[k] + n for k, n in more.items()}}}

        def resolve(connection: sqlite3.Connection, state: State) -> tuple[State | None, None]:
            if report.id <= state["last_id"]:
                return state, None
            notified = self._resolve_in(connection, acting, report, None)
            return counted(state, found_count=1, resolved_count=1, notified_count=int(notified)), None

        try:
            await errand.step(resolve)
        except sqlite3.Error:
            log.exception("a report was not resolved", report_id=report.id)
            await errand.step(lambda _, state: (counted(state, found_count=1, failed_count=1), None))

    def _resolve_in(self, connection: sqlite3.Connection, acting: Acting, report: Report, comment: str | None) -> bool:
        """In a unit of writing: resolve a pending report; whether its reporter is written to."""
        now = self._core.clock.now_ms()
        is_new = reports.resolve(connection, report.id, comment=comment, by=acting.user_id, now=now)
        recipient = _address_of_reporter(connection, report)
        if not is_new or recipient is None:
            return False
        head = Letterhead.to(connection, self._core.settings, report.reporter_id)
        mail = letters.report_resolved(head, recipient, comment=comment)
        return self._mailer.notify(connection, mail)


def _address_of_reporter(connection: sqlite3.Connection, report: Report) -> str | None:
    if report.reporter_id is None:
        return report.reporter_email
    reporter = accounts.by_id(connection, report.reporter_id)
    return None if reporter is None or reporter.is_deleted else reporter.email


@define(eq=False)
class ReportReading:
    """Lists and shows reports. Who made one is for holders of report:view:reporter_pii."""

    _core: Core
    _log: AdminAuditLog

    async def search(self, acting: Acting, wanted: ReportsWanted) -> wire.ReportsFound:
        """The reports that fit, the newest first, and how many there are in all. Raises MISSING_ACL for a reporter that
        is asked for without the ACL to see one; FEATURE_TEMPORARILY_DISABLED for words where nothing is searched."""
        sees_reporter = acting.holds(Acl.REPORT_VIEW_REPORTER_PII)
        if wanted.reporter_id is not None and not sees_reporter:
            raise ApiError(ErrorCode.MISSING_ACL)
        if wanted.text is not None and self._core.settings.search != "on":
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)

        def query(connection: sqlite3.Connection) -> tuple[list[wire.Report], int]:
            found, total = reports.search(connection, wanted)
            return [report_object(connection, report, with_reporter=sees_reporter) for report in found], total

        page, total = await self._core.database.read(query)
        metadata = {"status": wanted.status, "limit": wanted.limit, "result_count": len(page)}
        await self._log.note(acting, AdminAction.LIST_REPORTS, NO_TARGET, metadata)
        return {"reports": page, "total": total}

    async def get(self, acting: Acting, report_id: int) -> wire.Report:
        """One report. Raises UNKNOWN_REPORT."""
        sees_reporter = acting.holds(Acl.REPORT_VIEW_REPORTER_PII)

        def query(connection: sqlite3.Connection) -> wire.Report | None:
            report = reports.by_id(connection, report_id)
            return None if report is None else report_object(connection, report, with_reporter=sees_reporter)

        found = await self._core.database.read(query)
        if found is None:
            raise ApiError(ErrorCode.UNKNOWN_REPORT)
        await self._log.note(acting, AdminAction.GET_REPORT, report_id, {"found": True})
        return found


def report_object(connection: sqlite3.Connection, report: Report, *, with_reporter: bool) -> wire.Report:
    """A report; `with_reporter` False withholds who made it."""
    shown = report
    if not with_reporter:
        shown = attrs.evolve(report, reporter_id=None, reporter_email=None, reporter_name=None, reporter_country=None)
    return {
        "report_id": str(report.id),
        "kind": report.kind,
        "reporter_id": optional_id(shown.reporter_id),
        "reporter": summary_of(connection, shown.reporter_id),
        "reporter_email": shown.reporter_email,
        "reporter_full_legal_name": shown.reporter_name,
        "reporter_country_of_residence": shown.reporter_country,
        "reported_user_id": optional_id(report.reported_user_id),
        "reported_user": summary_of(connection, report.reported_user_id),
        "guild_id": optional_id(report.guild_id),
        "guild_name": _guild_name(connection, report.guild_id),
        "channel_id": optional_id(report.channel_id),
        "message_id": optional_id(report.message_id),
        "category": report.category,
        "additional_info": report.additional_info,
        "message": None if report.snapshot is None else orjson.loads(report.snapshot),
        "status": report.status,
        "public_comment": report.public_comment,
        "resolved_by": optional_id(report.resolved_by),
        "resolver": summary_of(connection, report.resolved_by),
        "resolved_at": optional_timestamp(report.resolved_at),
        "created_at": iso_timestamp(snowflake_time_ms(report.id)),
    }


def _guild_name(connection: sqlite3.Connection, guild_id: int | None) -> str | None:
    guild = None if guild_id is None else guilds.by_id(connection, guild_id)
    return None if guild is None else guild.name
