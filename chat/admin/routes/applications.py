"""Operations on applications (administration.md, Administered applications), on admin API keys (administration.md, API
keys), and the list of ACLs (administration.md, ACLs)."""

from __future__ import annotations

from typing import Annotated

from chat import wire
from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Items, Length, Range, Snowflake
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.administration.admin_api_keys import LIFETIME_DAYS_MAXIMUM, NAME_LENGTH, NewKey
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import ACLS, ACLS_MAXIMUM, Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()


@frozen
class ListApplications:
    """The query of GET /v1/admin/applications."""

    owner_id: Snowflake


@frozen
class TransferApplication:
    """The body of POST …/transfer-ownership."""

    new_owner_id: Snowflake


@routes.admin_operation(
    "GET",
    "/v1/admin/applications",
    [Acl.APPLICATION_LIST_BY_OWNER],
    AdminAction.LIST_USER_APPLICATIONS,
)
async def list_applications_of_owner(
    request: Request, administration: AdministrationArea, query: ListApplications
) -> wire.AdminApplications:
    """The applications of an account."""
    lists = administration.lists
    return {"applications": await lists.applications(acting(request), query.owner_id)}


@routes.admin_operation(
    "GET",
    "/v1/admin/applications/{application_id}",
    [Acl.APPLICATION_LOOKUP],
    AdminAction.GET_APPLICATION,
)
async def get_application(
    request: Request, administration: AdministrationArea, application_id: int
) -> wire.AdminApplicationAnswer:
    """One application."""
    return {"application": await administration.applications.get(acting(request), application_id)}


@routes.admin_operation(
    "POST",
    "/v1/admin/applications/{application_id}/transfer-ownership",
    [Acl.APPLICATION_TRANSFER_OWNERSHIP],
    AdminAction.TRANSFER_OWNERSHIP,
)
async def transfer_application(
    request: Request, administration: AdministrationArea, application_id: int, body: TransferApplication
) -> wire.AdminApplicationAnswer:
    """Give an application to another owner."""
    applications = administration.applications
    return {"application": await applications.transfer(acting(request), application_id, body.new_owner_id)}


Name = Annotated[str, Length(1, NAME_LENGTH)]
KeyAcls = Annotated[tuple[Acl, ...], Items(0, ACLS_MAXIMUM)]


@frozen(kw_only=True)
class CreateKey:
    """The body of POST /v1/admin/api-keys."""

    name: Name
    acls: KeyAcls
    expires_in_days: Annotated[int, Range(1, LIFETIME_DAYS_MAXIMUM)] | None = None


@frozen(kw_only=True)
class ChangeKey:
    """The body of PATCH /v1/admin/api-keys/{key_id}."""

    name: Name | None = None
    acls: KeyAcls | None = None


@routes.admin_operation("GET", "/v1/admin/api-keys", [Acl.ADMIN_API_KEY_MANAGE], audit=None)
async def list_keys(request: Request, administration: AdministrationArea) -> list[wire.AdminApiKey]:
    """The keys of the caller's account."""
    return await administration.admin_api_keys.of_account(request.principal)


@routes.admin_operation(
    "POST",
    "/v1/admin/api-keys",
    [Acl.ADMIN_API_KEY_MANAGE],
    audit=None,
    bucket=buckets.CODE_GENERATION,
    secret=True,
)
async def create_key(request: Request, administration: AdministrationArea, body: CreateKey) -> wire.NewAdminApiKey:
    """Make a key; tells it this once."""
    new = NewKey(body.name, tuple(map(str, body.acls)), body.expires_in_days)
    return await administration.admin_api_keys.create(request.principal, new)


@routes.admin_operation("GET", "/v1/admin/api-keys/{key_id}", [Acl.ADMIN_API_KEY_MANAGE], audit=None)
async def get_key(request: Request, administration: AdministrationArea, key_id: int) -> wire.AdminApiKey:
    """One of the caller's keys."""
    return await administration.admin_api_keys.get(request.principal, key_id)


@routes.admin_operation("PATCH", "/v1/admin/api-keys/{key_id}", [Acl.ADMIN_API_KEY_MANAGE], audit=None)
async def change_key(
    request: Request, administration: AdministrationArea, key_id: int, body: ChangeKey
) -> wire.AdminApiKey:
    """Give one of the caller's keys another name or other ACLs."""
    acls = None if body.acls is None else tuple(map(str, body.acls))
    return await administration.admin_api_keys.change(request.principal, key_id, name=body.name, acls=acls)


@routes.admin_operation("DELETE", "/v1/admin/api-keys/{key_id}", [Acl.ADMIN_API_KEY_MANAGE], audit=None)
async def delete_key(request: Request, administration: AdministrationArea, key_id: int) -> wire.Success:
    """Take one of the caller's keys back."""
    await administration.admin_api_keys.delete(request.principal, key_id)
    return {"success": True}


@routes.admin_operation("GET", "/v1/admin/acls", [], audit=None)
async def list_acls(request: Request) -> wire.AclNames:
    """Every administrative right by its name."""
    return {"acls": [str(acl) for acl in ACLS]}
