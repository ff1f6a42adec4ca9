"""Operations that find accounts and read what is around them (administration.md, Finding accounts; administration.md,
Account lists), on relationships (administration.md, Account relationships) and on purchases in app stores
(administration.md, Store purchases)."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

import attrs

from chat import wire
from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import SNOWFLAKE, Items, Length, Pattern, Range, Snowflake, Trimmed
from chat.api.operation import InstanceKind, Request
from chat.classes import frozen
from chat.domain.administration.account_lists import ListWindow
from chat.domain.administration.admin_users import AccountSelection
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.errors import FieldError, InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import FieldCode

routes = AdminRoutes()


@routes.admin_operation("GET", "/v1/admin/users/@me", [], audit=None)
async def get_own_account(request: Request, administration: AdministrationArea) -> wire.AdminUserAnswer:
    """The caller's account, unredacted for every credential."""
    return {"user": await administration.views.own(acting(request))}


IDS_MAXIMUM: Final = 100
OFFSET_MAXIMUM: Final = 100_000


@frozen(kw_only=True)
class SearchUsers:
    """The query of GET /v1/admin/users; `user_id` may be repeated."""

    user_id: Annotated[list[Snowflake], Items(0, IDS_MAXIMUM)] | None = None
    resolve: Annotated[str, Length(1, 1_024)] | None = None
    email: Annotated[str, Trimmed(), Length(1, 320)] | None = None
    last_active_ip: Annotated[str, Length(1, 64)] | None = None
    q: Annotated[str, Length(1, 1_024)] | None = None
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, OFFSET_MAXIMUM)] = 0


@routes.admin_operation("GET", "/v1/admin/users", [Acl.USER_LOOKUP], AdminAction.SEARCH_USERS)
async def search_users(
    request: Request, administration: AdministrationArea, query: SearchUsers
) -> wire.AdminUsersFound:
    """Find accounts."""
    members = attrs.asdict(query)
    selection = AccountSelection(user_ids=members.pop("user_id"), text=members.pop("q"), **members)
    return await administration.searches.search(acting(request), selection)


TRUE: Final = frozenset({"true", "True", "1"})
"""What counts as true of a parameter that is text (administration.md, Account lists)."""


@frozen
class ListGuilds:
    """The query of GET …/guilds."""

    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 200
    with_counts: str = "false"


@frozen
class ListPrivateChannels:
    """The query of GET …/dm-channels."""

    type: Literal["dm", "group_dm"] = "dm"
    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 50


@frozen
class ReadChangeLog:
    """The query of GET …/change-log."""

    limit: Annotated[int, Range(1, 200)] = 50
    page_token: (
        Annotated[str, Length(1, 64), Pattern(re.compile(r"[0-9]+", re.ASCII), FieldCode.INVALID_FORMAT)] | None
    ) = None


@routes.admin_operation("GET", "/v1/admin/users/{user_id}", [Acl.USER_LOOKUP], AdminAction.GET_USER)
async def get_account(request: Request, administration: AdministrationArea, user_id: int) -> wire.AdminUsers:
    """An account, or none."""
    return {"users": await administration.lists.account(acting(request), user_id)}


@routes.admin_operation("GET", "/v1/admin/users/{user_id}/guilds", [Acl.USER_LIST_GUILDS], AdminAction.LIST_USER_GUILDS)
async def list_guilds(
    request: Request, administration: AdministrationArea, user_id: int, query: ListGuilds
) -> wire.AdminGuilds:
    """An account's guilds."""
    window = ListWindow(query.limit, query.before, query.after)
    with_counts = query.with_counts in TRUE
    lists = administration.lists
    return {"guilds": await lists.guilds(acting(request), user_id, window, with_counts=with_counts)}


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/dm-channels",
    [Acl.USER_LIST_DM_CHANNELS],
    AdminAction.LIST_USER_DM_CHANNELS,
)
async def list_private_channels(
    request: Request, administration: AdministrationArea, user_id: int, query: ListPrivateChannels
) -> wire.AdminPrivateChannels:
    """An account's conversations of two, or its groups."""
    if query.before is not None and query.after is not None:
        raise InvalidFormBody(
            [FieldError("before", FieldCode.INVALID_FORMAT), FieldError("after", FieldCode.INVALID_FORMAT)]
        )
    window = ListWindow(query.limit, query.before, query.after)
    lists = administration.lists
    return {"channels": await lists.private_channels(acting(request), user_id, query.type, window)}


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/applications",
    [(Acl.APPLICATION_LOOKUP, Acl.APPLICATION_LIST_BY_OWNER)],
    AdminAction.LIST_USER_APPLICATIONS,
)
async def list_applications(
    request: Request, administration: AdministrationArea, user_id: int
) -> wire.AdminApplications:
    """An account's own applications."""
    return {"applications": await administration.lists.applications(acting(request), user_id)}


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/relationships",
    [Acl.USER_LIST_RELATIONSHIPS],
    AdminAction.LIST_USER_RELATIONSHIPS,
)
async def list_relationships(
    request: Request, administration: AdministrationArea, user_id: int
) -> wire.AdminRelationships:
    """An account's relationships by category."""
    return await administration.lists.relationships(acting(request), user_id)


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/sessions",
    [Acl.USER_LIST_SESSIONS],
    AdminAction.LIST_USER_SESSIONS,
    bucket=buckets.MODIFY,
)
async def list_sessions(
    request: Request, signing_in: SigningInArea, administration: AdministrationArea, user_id: int
) -> wire.AdminUserSessions:
    """An account's sign-ins, those that have ended included."""
    await signing_in.sign_ins.write_uses()
    return {"sessions": await administration.lists.sessions(acting(request), user_id)}


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/change-log",
    [Acl.USER_VIEW_CONTACT_LOG],
    AdminAction.LIST_USER_CHANGE_LOG,
)
async def read_change_log(
    request: Request, administration: AdministrationArea, user_id: int, query: ReadChangeLog
) -> wire.AdminUserChangeLog:
    """What addresses and tags an account has had."""
    # There is nothing beyond the largest number; a token that names something there asks for the newest page.
    token = None if query.page_token is None else min(int(query.page_token), SNOWFLAKE.maximum)
    lists = administration.lists
    return await lists.change_log(acting(request), user_id, query.limit, token)


@frozen
class Category:
    """Which kind of relationship, in the query string or in the body."""

    category: Literal["friend", "incoming_request", "outgoing_request", "blocked"] | None = None


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/relationships",
    [Acl.USER_REMOVE_RELATIONSHIP],
    AdminAction.REMOVE_RELATIONSHIPS_BY_CATEGORY,
)
async def clear_relationships(
    request: Request, administration: AdministrationArea, user_id: int, query: Category, body: Category
) -> wire.RelationshipsRemoved:
    """Remove every relationship of one category."""
    removed = await administration.relationships.clear(acting(request), user_id, _named(query, body))
    return {"removed_count": removed}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/relationships/{target_user_id}",
    [Acl.USER_REMOVE_RELATIONSHIP],
    AdminAction.REMOVE_RELATIONSHIP,
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
        raise InvalidFormBody.at("category", FieldCode.INVALID_FORMAT)
    return category


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/store-purchases",
    [Acl.USER_LOOKUP],
    AdminAction.LIST_USER_STORE_PURCHASES,
    instance=InstanceKind.HOSTED,
)
async def list_store_purchases(
    request: Request, administration: AdministrationArea, user_id: int
) -> wire.StorePurchases:
    """The account's purchases in app stores, the newest first."""
    return {"purchases": await administration.purchases.of(acting(request), user_id)}


@routes.admin_operation(
    "POST",
    "/v1/admin/users/{user_id}/store-purchases/refresh",
    [Acl.USER_UPDATE_FLAGS],
    AdminAction.REFRESH_STORE_PURCHASES,
    instance=InstanceKind.HOSTED,
)
async def refresh_store_purchases(
    request: Request, administration: AdministrationArea, user_id: int
) -> wire.StorePurchases:
    """Read every purchase of the account again from its store."""
    return {"purchases": await administration.purchases.refresh(acting(request), user_id)}
