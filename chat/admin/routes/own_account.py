"""GET /v1/admin/users/@me (administration.md, Admin user object)."""

from __future__ import annotations

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.operation import Request
from chat.api.schemas.administration.administration import USER
from chat.domain.administration.assemble import AdministrationArea

routes = AdminRoutes()


@routes.admin_operation("GET", "/v1/admin/users/@me", acls=[], audit=None, bucket=buckets.LOOKUP, answers=USER)
async def get_own_account(request: Request, administration: AdministrationArea) -> object:
    """The caller's account, unredacted whatever the credential holds."""
    return {"user": await administration.views.own(acting(request))}
