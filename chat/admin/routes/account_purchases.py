"""Operations on accounts' purchases in app stores, which only an instance that is not self-hosted has
(administration.md, Store purchases)."""

from __future__ import annotations

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.operation import InstanceKind, Request
from chat.api.schemas.administration.purchases import PURCHASES
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/store-purchases",
    acls=[Acl.USER_LOOKUP],
    audit=AdminAction.LIST_USER_STORE_PURCHASES,
    bucket=buckets.LOOKUP,
    instance=InstanceKind.HOSTED,
    answers=PURCHASES,
)
async def list_store_purchases(request: Request, administration: AdministrationArea, user_id: int) -> object:
    """The account's purchases in app stores, the newest first."""
    return {"purchases": await administration.purchases.of(acting(request), user_id)}


@routes.admin_operation(
    "POST",
    "/v1/admin/users/{user_id}/store-purchases/refresh",
    acls=[Acl.USER_UPDATE_FLAGS],
    audit=AdminAction.REFRESH_STORE_PURCHASES,
    bucket=buckets.MODIFY,
    instance=InstanceKind.HOSTED,
    answers=PURCHASES,
)
async def refresh_store_purchases(request: Request, administration: AdministrationArea, user_id: int) -> object:
    """Read every purchase of the account again from its store."""
    return {"purchases": await administration.purchases.refresh(acting(request), user_id)}
