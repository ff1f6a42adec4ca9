"""Operations on applications for public discovery (administration.md, Reports and discovery)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Length, Range
from chat.api.operation import Request
from chat.api.schemas.administration.moderation import DISCOVERY_APPLICATIONS, REVIEWED_APPLICATION
from chat.api.schemas.shapes import NOTHING
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.guild_values import DiscoveryStatus

routes = AdminRoutes()

REASON_LENGTH: Final = 512


@attrs.frozen
class ListApplications:
    """The query of GET /v1/admin/discovery/applications."""

    status: DiscoveryStatus = DiscoveryStatus.PENDING
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, 100_000)] = 0


@attrs.frozen
class Decision:
    """The body of a decision: what the guild is told of its reason."""

    reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None


@routes.admin_operation(
    "GET",
    "/v1/admin/discovery/applications",
    acls=[Acl.DISCOVERY_REVIEW],
    audit=AdminAction.LIST_DISCOVERY_APPLICATIONS,
    bucket=buckets.LOOKUP,
    answers=DISCOVERY_APPLICATIONS,
)
async def list_discovery_applications(
    request: Request, administration: AdministrationArea, query: ListApplications
) -> object:
    """Applications for discovery that stand so, the oldest first."""
    return await administration.discovery_review.listed(acting(request), query.status, query.limit, query.offset)


@routes.admin_operation(
    "POST",
    "/v1/admin/discovery/applications/{guild_id}/approve",
    acls=[Acl.DISCOVERY_REVIEW],
    audit=AdminAction.APPROVE_DISCOVERY,
    bucket=buckets.MODIFY,
    answers=REVIEWED_APPLICATION,
)
async def approve_discovery(
    request: Request, administration: AdministrationArea, guild_id: int, body: Decision
) -> object:
    """Take a guild into discovery."""
    return await administration.discovery_review.approve(acting(request), guild_id, body.reason)


@routes.admin_operation(
    "POST",
    "/v1/admin/discovery/applications/{guild_id}/reject",
    acls=[Acl.DISCOVERY_REVIEW],
    audit=AdminAction.REJECT_DISCOVERY,
    bucket=buckets.MODIFY,
    answers=REVIEWED_APPLICATION,
)
async def reject_discovery(
    request: Request, administration: AdministrationArea, guild_id: int, body: Decision
) -> object:
    """Turn an application for discovery down."""
    return await administration.discovery_review.reject(acting(request), guild_id, body.reason)


@routes.admin_operation(
    "DELETE",
    "/v1/admin/discovery/guilds/{guild_id}",
    acls=[Acl.DISCOVERY_REMOVE],
    audit=AdminAction.REMOVE_FROM_DISCOVERY,
    bucket=buckets.MODIFY,
    answers=NOTHING,
)
async def remove_from_discovery(
    request: Request, administration: AdministrationArea, guild_id: int, body: Decision
) -> None:
    """Take a guild out of discovery."""
    await administration.discovery_review.remove(acting(request), guild_id, body.reason)
