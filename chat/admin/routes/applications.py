"""Operations on applications (administration.md, Administered applications)."""

from __future__ import annotations

from typing import Final

import attrs

from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administration import ADMIN_APPLICATION, APPLICATIONS
from chat.api.schemas.shapes import record
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()

APPLICATION: Final = record({"application": ADMIN_APPLICATION})


@attrs.frozen
class ListApplications:
    """The query of GET /v1/admin/applications."""

    owner_id: Snowflake


@attrs.frozen
class TransferApplication:
    """The body of POST …/transfer-ownership."""

    new_owner_id: Snowflake


@routes.admin_operation(
    "GET",
    "/v1/admin/applications",
    acls=[Acl.APPLICATION_LIST_BY_OWNER],
    audit=AdminAction.LIST_USER_APPLICATIONS,
    bucket=buckets.LOOKUP,
    answers=APPLICATIONS,
)
async def list_applications_of_owner(
    request: Request, administration: AdministrationArea, query: ListApplications
) -> object:
    """The applications of an account."""
    lists = administration.lists
    return {"applications": await lists.applications(acting(request), query.owner_id)}


@routes.admin_operation(
    "GET",
    "/v1/admin/applications/{application_id}",
    acls=[Acl.APPLICATION_LOOKUP],
    audit=AdminAction.GET_APPLICATION,
    bucket=buckets.LOOKUP,
    answers=APPLICATION,
)
async def get_application(request: Request, administration: AdministrationArea, application_id: int) -> object:
    """One application."""
    return {"application": await administration.applications.get(acting(request), application_id)}


@routes.admin_operation(
    "POST",
    "/v1/admin/applications/{application_id}/transfer-ownership",
    acls=[Acl.APPLICATION_TRANSFER_OWNERSHIP],
    audit=AdminAction.TRANSFER_OWNERSHIP,
    bucket=buckets.MODIFY,
    answers=APPLICATION,
)
async def transfer_application(
    request: Request, administration: AdministrationArea, application_id: int, body: TransferApplication
) -> object:
    """Give an application to another owner."""
    applications = administration.applications
    return {"application": await applications.transfer(acting(request), application_id, body.new_owner_id)}
