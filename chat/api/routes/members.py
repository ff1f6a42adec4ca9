"""Operations on members that read (wire facts, appendix A and D)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api.fields import Range, Snowflake
from chat.api.operation import Bucket, Policy, Request, Routes

routes = Routes()

READ_MEMBER: Final = Bucket("guild:member:read::guild_id", limit=100, window_ms=10_000)


@attrs.frozen
class ListMembers:
    """The query of the member list: `after` is a user id."""

    after: Snowflake = 0
    limit: Annotated[int, Range(1, 1000)] = 100


@routes.operation(
    "GET",
    "/v1/guilds/{guild_id}/members",
    policy=Policy.USER,
    bucket=Bucket("guild:member:list::guild_id", limit=40, window_ms=10_000),
    query=ListMembers,
)
async def list_members(request: Request, guild_id: int, query: ListMembers) -> object:
    """Members of a guild in order of user id."""
    memberships = request.services.memberships
    return await memberships.of_guild(request.principal, guild_id, after=query.after, limit=query.limit)


@routes.operation("GET", "/v1/guilds/{guild_id}/members/@me", policy=Policy.USER, bucket=READ_MEMBER)
async def get_own_member(request: Request, guild_id: int) -> object:
    """The caller's own membership."""
    return await request.services.memberships.get(request.principal, guild_id, request.principal.user_id)


@routes.operation("GET", "/v1/guilds/{guild_id}/members/{user_id}", policy=Policy.USER, bucket=READ_MEMBER)
async def get_member(request: Request, guild_id: int, user_id: int) -> object:
    """One member."""
    return await request.services.memberships.get(request.principal, guild_id, user_id)
