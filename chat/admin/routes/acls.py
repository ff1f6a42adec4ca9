"""GET /v1/admin/acls (administration.md, ACLs)."""

from __future__ import annotations

from chat.admin import buckets
from chat.admin.operation import AdminRoutes
from chat.api.operation import Request
from chat.api.schemas.administration.administration import ACL_NAMES
from chat.registries.acls import ACLS

routes = AdminRoutes()


@routes.admin_operation("GET", "/v1/admin/acls", acls=[], audit=None, bucket=buckets.LOOKUP, answers=ACL_NAMES)
async def list_acls(request: Request) -> object:
    """Every ACL there is."""
    return {"acls": [str(acl) for acl in ACLS]}
