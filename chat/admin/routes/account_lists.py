"""Operations that read an account and what is around it (administration.md, Account lists)."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import SNOWFLAKE, Length, Pattern, Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administration import (
    APPLICATIONS,
    CHANGE_LOG,
    GUILDS,
    PRIVATE_CHANNELS,
    RELATIONSHIPS,
    SESSIONS,
    USERS,
)
from chat.domain.administration.administered_lists import Window
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.errors import FieldError, InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()

TRUE: Final = frozenset({"true", "True", "1"})
"""What counts as true of a parameter that is text (administration.md, Account lists)."""


@attrs.frozen
class ListGuilds:
    """The query of GET …/guilds."""

    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 200
    with_counts: str = "false"


@attrs.frozen
class ListPrivateChannels:
    """The query of GET …/dm-channels."""

    type: Literal["dm", "group_dm"] = "dm"
    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 50


@attrs.frozen
class ReadChangeLog:
    """The query of GET …/change-log."""

    limit: Annotated[int, Range(1, 200)] = 50
    page_token: Annotated[str, Length(1, 64), Pattern(re.compile(r"[0-9]+", re.ASCII), "INVALID_FORMAT")] | None = None


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}",
    acls=[Acl.USER_LOOKUP],
    audit=AdminAction.GET_USER,
    bucket=buckets.LOOKUP,
    answers=USERS,
)
async def get_account(request: Request, administration: AdministrationArea, user_id: int) -> object:
    """An account, or none."""
    return {"users": await administration.lists.account(acting(request), user_id)}


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/guilds",
    acls=[Acl.USER_LIST_GUILDS],
    audit=AdminAction.LIST_USER_GUILDS,
    bucket=buckets.LOOKUP,
    query=ListGuilds,
    answers=GUILDS,
)
async def list_guilds(request: Request, administration: AdministrationArea, user_id: int, query: ListGuilds) -> object:
    """An account's guilds."""
    window = Window(query.limit, query.before, query.after)
    with_counts = query.with_counts in TRUE
    lists = administration.lists
    return {"guilds": await lists.guilds(acting(request), user_id, window, with_counts=with_counts)}


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/dm-channels",
    acls=[Acl.USER_LIST_DM_CHANNELS],
    audit=AdminAction.LIST_USER_DM_CHANNELS,
    bucket=buckets.LOOKUP,
    query=ListPrivateChannels,
    answers=PRIVATE_CHANNELS,
)
async def list_private_channels(
    request: Request, administration: AdministrationArea, user_id: int, query: ListPrivateChannels
) -> object:
    """An account's conversations of two, or its groups."""
    if query.before is not None and query.after is not None:
        raise InvalidFormBody([FieldError("before", "INVALID_FORMAT"), FieldError("after", "INVALID_FORMAT")])
    window = Window(query.limit, query.before, query.after)
    lists = administration.lists
    return {"channels": await lists.private_channels(acting(request), user_id, query.type, window)}


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/applications",
    acls=[(Acl.APPLICATION_LOOKUP, Acl.APPLICATION_LIST_BY_OWNER)],
    audit=AdminAction.LIST_USER_APPLICATIONS,
    bucket=buckets.LOOKUP,
    answers=APPLICATIONS,
)
async def list_applications(request: Request, administration: AdministrationArea, user_id: int) -> object:
    """An account's own applications."""
    return {"applications": await administration.lists.applications(acting(request), user_id)}


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/relationships",
    acls=[Acl.USER_LIST_RELATIONSHIPS],
    audit=AdminAction.LIST_USER_RELATIONSHIPS,
    bucket=buckets.LOOKUP,
    answers=RELATIONSHIPS,
)
async def list_relationships(request: Request, administration: AdministrationArea, user_id: int) -> object:
    """An account's relationships by category."""
    return await administration.lists.relationships(acting(request), user_id)


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/sessions",
    acls=[Acl.USER_LIST_SESSIONS],
    audit=AdminAction.LIST_USER_SESSIONS,
    bucket=buckets.MODIFY,
    answers=SESSIONS,
)
async def list_sessions(
    request: Request, signing_in: SigningInArea, administration: AdministrationArea, user_id: int
) -> object:
    """An account's sign-ins, those that have ended included."""
    await signing_in.sign_ins.write_uses()
    return {"sessions": await administration.lists.sessions(acting(request), user_id)}


@routes.admin_operation(
    "GET",
    "/v1/admin/users/{user_id}/change-log",
    acls=[Acl.USER_VIEW_CONTACT_LOG],
    audit=AdminAction.LIST_USER_CHANGE_LOG,
    bucket=buckets.LOOKUP,
    query=ReadChangeLog,
    answers=CHANGE_LOG,
)
async def read_change_log(
    request: Request, administration: AdministrationArea, user_id: int, query: ReadChangeLog
) -> object:
    """What addresses and tags an account has had."""
    # There is nothing beyond the largest number; a token that names something there asks for the newest page.
    token = None if query.page_token is None else min(int(query.page_token), SNOWFLAKE.maximum)
    lists = administration.lists
    return await lists.change_log(acting(request), user_id, query.limit, token)
