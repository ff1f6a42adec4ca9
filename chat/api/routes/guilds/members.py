"""Operations on members (guilds.md, Members)."""

from __future__ import annotations

from typing import Annotated, Any, Final

import attrs

from chat.api.fields import OMITTED, Exact, Items, Length, Maybe, Range, Snowflake, Timestamp, named_members
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.routes.accounts.accounts import Color, Pronouns
from chat.api.schemas.guilds.guilds import MEMBER, MEMBER_SEARCH
from chat.api.schemas.shapes import listed
from chat.domain.guilds.assemble import GuildsArea

routes = Routes(policy=Policy.USER)

LIST_MEMBERS: Final = Bucket("guild:member:list::guild_id", limit=40, window_ms=10_000)

READ_MEMBER: Final = Bucket("guild:member:read::guild_id", limit=100, window_ms=10_000)
CHANGE_MEMBER: Final = Bucket("guild:member:change::guild_id", limit=40, window_ms=10_000)
SEARCH: Final = Bucket("guild:member:search::guild_id", limit=40, window_ms=10_000)

NICK_LENGTH: Final = 32
REASON_LENGTH: Final = 512
ROLES_MAXIMUM: Final = 251
PROFILE_FLAGS: Final = 0b11
"""AVATAR_UNSET and BANNER_UNSET (guilds.md, Members)."""

INT32_MAXIMUM: Final = (1 << 31) - 1
QUERY_LENGTH: Final = 100
OFFSET_MAXIMUM: Final = 100_000

Nick = Annotated[str, Length(1, NICK_LENGTH)]


@attrs.frozen
class ListMembers:
    """The query of the member list: `after` is a user id."""

    after: Snowflake = 0
    limit: Annotated[int, Range(1, 1000)] = 100


@attrs.frozen(kw_only=True)
class SearchMembers:
    """The body of POST /v1/guilds/{guild_id}/members-search."""

    query: Annotated[str, Length(0, QUERY_LENGTH)] | None = None
    limit: Annotated[int, Range(1, 100)] = 25
    offset: Annotated[int, Range(0, OFFSET_MAXIMUM)] = 0


@attrs.frozen(kw_only=True)
class ChangeMember:
    """The body of PATCH /v1/guilds/{guild_id}/members/{user_id}."""

    nick: Maybe[Nick | None] = OMITTED
    roles: Maybe[Annotated[list[Snowflake], Items(0, ROLES_MAXIMUM)]] = OMITTED
    mute: Maybe[bool] = OMITTED
    deaf: Maybe[bool] = OMITTED
    communication_disabled_until: Maybe[Timestamp | None] = OMITTED
    timeout_reason: Annotated[str, Length(1, REASON_LENGTH)] | None = None
    channel_id: Maybe[Snowflake | None] = OMITTED
    connection_id: str | None = None


@attrs.frozen(kw_only=True)
class ChangeOwnMember:
    """The body of PATCH /v1/guilds/{guild_id}/members/@me."""

    nick: Maybe[Nick | None] = OMITTED
    avatar: Maybe[Annotated[str, Exact()] | None] = attrs.field(default=OMITTED, repr=False)
    banner: Maybe[Annotated[str, Exact()] | None] = attrs.field(default=OMITTED, repr=False)
    bio: Maybe[str | None] = OMITTED
    pronouns: Maybe[Pronouns | None] = OMITTED
    accent_color: Maybe[Color | None] = OMITTED
    profile_flags: Maybe[Annotated[int, Range(0, PROFILE_FLAGS)] | None] = OMITTED
    mention_flags: Maybe[Annotated[int, Range(0, INT32_MAXIMUM)] | None] = OMITTED


@routes.operation("GET", "/v1/guilds/{guild_id}/members", bucket=LIST_MEMBERS, answers=listed(MEMBER))
async def list_members(request: Request, guilds: GuildsArea, guild_id: int, query: ListMembers) -> object:
    """Members of a guild in order of user id."""
    memberships = guilds.memberships
    return await memberships.of_guild(request.principal, guild_id, after=query.after, limit=query.limit)


@routes.operation("POST", "/v1/guilds/{guild_id}/members-search", bucket=SEARCH, answers=MEMBER_SEARCH)
async def search_members(request: Request, guilds: GuildsArea, guild_id: int, body: SearchMembers) -> object:
    """Members of a guild by the beginning of a name."""
    return await guilds.member_searches.search(
        request.principal, guild_id, body.query or "", limit=body.limit, offset=body.offset
    )


@routes.operation("GET", "/v1/guilds/{guild_id}/members/@me", bucket=READ_MEMBER, answers=MEMBER)
async def get_own_member(request: Request, guilds: GuildsArea, guild_id: int) -> object:
    """The caller's own membership."""
    return await guilds.memberships.get(request.principal, guild_id, request.principal.user_id)


@routes.operation("PATCH", "/v1/guilds/{guild_id}/members/@me", bucket=CHANGE_MEMBER, images=True, answers=MEMBER)
async def change_own_member(request: Request, guilds: GuildsArea, guild_id: int, body: ChangeOwnMember) -> object:
    """Change the caller's own guild profile."""
    fields = named_members(body)
    for name in ("profile_flags", "mention_flags"):
        if name in fields:
            fields[name] = fields[name] or 0
    return await guilds.member_changes.change_own(request.principal, guild_id, fields, request.audit_log_reason)


@routes.operation("GET", "/v1/guilds/{guild_id}/members/{user_id}", bucket=READ_MEMBER, answers=MEMBER)
async def get_member(request: Request, guilds: GuildsArea, guild_id: int, user_id: int) -> object:
    """One member."""
    return await guilds.memberships.get(request.principal, guild_id, user_id)


@routes.operation("PATCH", "/v1/guilds/{guild_id}/members/{user_id}", bucket=CHANGE_MEMBER, answers=MEMBER)
async def change_member(
    request: Request, guilds: GuildsArea, guild_id: int, user_id: int, body: ChangeMember
) -> object:
    """Change a member."""
    fields: dict[str, Any] = named_members(body)
    timeout_reason = fields.pop("timeout_reason")
    reason = timeout_reason if request.audit_log_reason is None else request.audit_log_reason
    return await guilds.member_changes.change(request.principal, guild_id, user_id, fields, reason)
