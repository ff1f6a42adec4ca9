"""Operations on accounts' purchases in app stores, which only an instance that is not self-hosted has
(administration.md, Store purchases)."""

from __future__ import annotations

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.operation import Request
from chat.api.schemas.administration.purchases import PURCHASES
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()


def _require_hosted_instance(request: Request, *, core: Core) -> None:
    """Raise NOT_FOUND on a self-hosted instance: for those who may call it, before the account is looked at, like the
    other checks of what kind of instance it is (administration.md, Store purchases)."""
    if core.settings.self_hosted:
        raise ApiError("NOT_FOUND")


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/store-purchases",
    acls=[Acl.USER_LOOKUP],
    audit=AdminAction.LIST_USER_STORE_PURCHASES,
    bucket=buckets.LOOKUP,
    precondition=_require_hosted_instance,
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
    precondition=_require_hosted_instance,
    answers=PURCHASES,
)
async def refresh_store_purchases(request: Request, administration: AdministrationArea, user_id: int) -> object:
    """Read every purchase of the account again from its store."""
    return {"purchases": await administration.purchases.refresh(acting(request), user_id)}
