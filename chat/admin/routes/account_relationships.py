"""Operations that take an account's relationships away (administration.md, Account relationships).

The document leaves open where `category` travels: the query string counts, and a body member of that name is accepted
too (administration.md, Account relationships).
"""

from __future__ import annotations

from typing import Literal

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.operation import Request
from chat.api.schemas.administration.administration import REMOVED
from chat.api.schemas.shapes import NOTHING
from chat.domain.administration.assemble import AdministrationArea
from chat.errors import InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()


@attrs.frozen
class Category:
    """Which kind of relationship, in the query string or in the body."""

    category: Literal["friend", "incoming_request", "outgoing_request", "blocked"] | None = None


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/relationships",
    acls=[Acl.USER_REMOVE_RELATIONSHIP],
    audit=AdminAction.REMOVE_RELATIONSHIPS_BY_CATEGORY,
    bucket=buckets.MODIFY,
    query=Category,
    body=Category,
    answers=REMOVED,
)
async def clear_relationships(
    request: Request, administration: AdministrationArea, user_id: int, query: Category, body: Category
) -> object:
    """Remove every relationship of one category."""
    removed = await administration.relationships.clear(acting(request), user_id, _named(query, body))
    return {"removed_count": removed}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/relationships/{target_user_id}",
    acls=[Acl.USER_REMOVE_RELATIONSHIP],
    audit=AdminAction.REMOVE_RELATIONSHIP,
    bucket=buckets.MODIFY,
    query=Category,
    body=Category,
    answers=NOTHING,
)
async def remove_relationship(
    request: Request,
    administration: AdministrationArea,
    user_id: int,
    target_user_id: int,
    query: Category,
    body: Category,
) -> None:
    """Remove one relationship."""
    await administration.relationships.remove(acting(request), user_id, target_user_id, _named(query, body))


def _named(query: Category, body: Category) -> str:
    category = query.category or body.category
    if category is None:
        raise InvalidFormBody.at("category", "INVALID_FORMAT")
    return category
