"""GET /v1/admin/users/@me (document 002)."""

from __future__ import annotations

from chat.admin import buckets
from chat.admin.operation import AdminRoutes
from chat.api.operation import Request
from chat.domain.objects.admin_user import admin_user
from chat.store import user_settings

routes = AdminRoutes()


@routes.admin_operation("GET", "/v1/admin/users/@me", acls=[], audit=None, bucket=buckets.LOOKUP)
async def get_own_account(request: Request) -> object:
    """The caller's account, nothing of it redacted whatever the credential holds."""
    services, account = request.services, request.principal.account
    locale = user_settings.of_user(services.database.reader, account.id).get("locale")
    return {"user": admin_user(account, locale=locale, now_ms=services.clock.now_ms())}
