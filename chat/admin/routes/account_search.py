"""The operation that finds accounts (administration.md, Finding accounts)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import Items, Length, Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administration import USERS_FOUND
from chat.domain.administration.account_searches import Selection
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()

IDS_MAXIMUM: Final = 100
OFFSET_MAXIMUM: Final = 100_000


@attrs.frozen(kw_only=True)
class SearchUsers:
    """The query of GET /v1/admin/users; `user_id` may be repeated."""

    user_id: Annotated[list[Snowflake], Items(0, IDS_MAXIMUM)] | None = None
    resolve: Annotated[str, Length(1, 1_024)] | None = None
    email: Annotated[str, Length(1, 320)] | None = None
    last_active_ip: Annotated[str, Length(1, 64)] | None = None
    q: Annotated[str, Length(1, 1_024)] | None = None
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, OFFSET_MAXIMUM)] = 0


@routes.admin_operation(
    "GET",
    "/v1/admin/users",
    acls=[Acl.USER_LOOKUP],
    audit=AdminAction.SEARCH_USERS,
    bucket=buckets.LOOKUP,
    query=SearchUsers,
    answers=USERS_FOUND,
)
async def search_users(request: Request, administration: AdministrationArea, query: SearchUsers) -> object:
    """Find accounts."""
    selection = Selection(
        user_ids=query.user_id,
        resolve=query.resolve,
        email=query.email,
        last_active_ip=query.last_active_ip,
        text=query.q,
        limit=query.limit,
        offset=query.offset,
    )
    return await administration.searches.search(acting(request), selection)
