"""Operations on what people report (administration.md, Reports and discovery; instance.md, Reports), and on
applications for public discovery (administration.md, Reports and discovery)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat import wire
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Length, Range, Snowflake
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.guild_values import DiscoveryStatus
from chat.registries.reports import ReportCategory, ReportKind, ReportStatus
from chat.store.administration.reports import ReportsWanted

routes = AdminRoutes()

COMMENT_LENGTH: Final = 512


@frozen
class SearchReports:
    """The query of GET /v1/admin/reports."""

    q: Annotated[str, Length(1, 1_024)] | None = None
    status: ReportStatus | None = None
    category: ReportCategory | None = None
    kind: ReportKind | None = None
    reporter_id: Snowflake | None = None
    reported_user_id: Snowflake | None = None
    guild_id: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, 100_000)] = 0


@frozen
class ResolveReport:
    """The body of POST …/resolve: what the reporter is told beside that it was dealt with."""

    public_comment: Annotated[str, Length(0, COMMENT_LENGTH)] | None = None


@routes.admin_operation("GET", "/v1/admin/reports", [Acl.REPORT_VIEW], AdminAction.LIST_REPORTS)
async def search_reports(
    request: Request, administration: AdministrationArea, query: SearchReports
) -> wire.ReportsFound:
    """Reports, the newest first."""
    members = attrs.asdict(query)
    wanted = ReportsWanted(text=members.pop("q"), **members)
    return await administration.report_reading.search(acting(request), wanted)


@routes.admin_operation("GET", "/v1/admin/reports/{report_id}", [Acl.REPORT_VIEW], AdminAction.GET_REPORT)
async def get_report(request: Request, administration: AdministrationArea, report_id: int) -> wire.Report:
    """One report."""
    return await administration.report_reading.get(acting(request), report_id)


@routes.admin_operation(
    "POST", "/v1/admin/reports/{report_id}/resolve", [Acl.REPORT_RESOLVE], AdminAction.RESOLVE_REPORT
)
async def resolve_report(
    request: Request, administration: AdministrationArea, report_id: int, body: ResolveReport
) -> wire.Reported:
    """Declare a report dealt with; its reporter is told by mail."""
    return await administration.reports.resolve(acting(request), report_id, body.public_comment)


REASON_LENGTH: Final = 512


@frozen
class ListDiscoveryApplications:
    """The query of GET /v1/admin/discovery/applications."""

    status: DiscoveryStatus = DiscoveryStatus.PENDING
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, 100_000)] = 0


@frozen
class Decision:
    """The body of a decision: what the guild is told of its reason."""

    reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None


@routes.admin_operation(
    "GET",
    "/v1/admin/discovery/applications",
    [Acl.DISCOVERY_REVIEW],
    AdminAction.LIST_DISCOVERY_APPLICATIONS,
)
async def list_discovery_applications(
    request: Request, administration: AdministrationArea, query: ListDiscoveryApplications
) -> wire.DiscoveryApplications:
    """Applications for discovery that stand so, the oldest first."""
    return await administration.discovery_review.listed(acting(request), query.status, query.limit, query.offset)


@routes.admin_operation(
    "POST",
    "/v1/admin/discovery/applications/{guild_id}/approve",
    [Acl.DISCOVERY_REVIEW],
    AdminAction.APPROVE_DISCOVERY,
)
async def approve_discovery(
    request: Request, administration: AdministrationArea, guild_id: int, body: Decision
) -> wire.ReviewedDiscoveryApplication:
    """Take a guild into discovery."""
    return await administration.discovery_review.approve(acting(request), guild_id, body.reason)


@routes.admin_operation(
    "POST",
    "/v1/admin/discovery/applications/{guild_id}/reject",
    [Acl.DISCOVERY_REVIEW],
    AdminAction.REJECT_DISCOVERY,
)
async def reject_discovery(
    request: Request, administration: AdministrationArea, guild_id: int, body: Decision
) -> wire.ReviewedDiscoveryApplication:
    """Turn an application for discovery down."""
    return await administration.discovery_review.reject(acting(request), guild_id, body.reason)


@routes.admin_operation(
    "DELETE", "/v1/admin/discovery/guilds/{guild_id}", [Acl.DISCOVERY_REMOVE], AdminAction.REMOVE_FROM_DISCOVERY
)
async def remove_from_discovery(
    request: Request, administration: AdministrationArea, guild_id: int, body: Decision
) -> None:
    """Take a guild out of discovery."""
    await administration.discovery_review.remove(acting(request), guild_id, body.reason)
