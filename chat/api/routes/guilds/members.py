"""Operations on members and on bans (guilds.md, Members, Bans)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat import wire
from chat.api.fields import OMITTED, Exact, Items, Length, Maybe, Range, Snowflake, Timestamp, named_members
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.routes.accounts.accounts import Color, Pronouns
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.guilds.bans import NewBan

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


@frozen
class ListMembers:
    """The query of the member list: `after` is a user id."""

    after: Snowflake = 0
    limit: Annotated[int, Range(1, 1000)] = 100


@frozen(kw_only=True)
class SearchMembers:
    """The body of POST /v1/guilds/{guild_id}/members-search."""

    query: Annotated[str, Length(0, QUERY_LENGTH)] | None = None
    limit: Annotated[int, Range(1, 100)] = 25
    offset: Annotated[int, Range(0, OFFSET_MAXIMUM)] = 0


@frozen(kw_only=True)
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


@frozen(kw_only=True)
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


@routes.operation("GET", "/v1/guilds/{guild_id}/members", bucket=LIST_MEMBERS)
async def list_members(request: Request, guilds: GuildsArea, guild_id: int, query: ListMembers) -> list[wire.Member]:
    """Members of a guild in order of user id."""
    memberships = guilds.memberships
    return await memberships.of_guild(request.principal, guild_id, after=query.after, limit=query.limit)


@routes.operation("POST", "/v1/guilds/{guild_id}/members-search", bucket=SEARCH)
async def search_members(request: Request, guilds: GuildsArea, guild_id: int, body: SearchMembers) -> wire.MemberSearch:
    """Members of a guild by the beginning of a name."""
    return await guilds.member_searches.search(
        request.principal, guild_id, body.query or "", limit=body.limit, offset=body.offset
    )


@routes.operation("GET", "/v1/guilds/{guild_id}/members/@me", bucket=READ_MEMBER)
async def get_own_member(request: Request, guilds: GuildsArea, guild_id: int) -> wire.Member:
    """The caller's own membership."""
    return await guilds.memberships.get(request.principal, guild_id, request.principal.user_id)


@routes.operation("PATCH", "/v1/guilds/{guild_id}/members/@me", bucket=CHANGE_MEMBER, images=True)
async def change_own_member(request: Request, guilds: GuildsArea, guild_id: int, body: ChangeOwnMember) -> wire.Member:
    """Change the caller's own guild profile."""
    fields = named_members(body)
    for name in ("profile_flags", "mention_flags"):
        if name in fields:
            fields[name] = fields[name] or 0
    return await guilds.member_changes.change_own(request.principal, guild_id, fields, request.audit_log_reason)


@routes.operation("GET", "/v1/guilds/{guild_id}/members/{user_id}", bucket=READ_MEMBER)
async def get_member(request: Request, guilds: GuildsArea, guild_id: int, user_id: int) -> wire.Member:
    """One member."""
    return await guilds.memberships.get(request.principal, guild_id, user_id)


@routes.operation("PATCH", "/v1/guilds/{guild_id}/members/{user_id}", bucket=CHANGE_MEMBER)
async def change_member(
    request: Request, guilds: GuildsArea, guild_id: int, user_id: int, body: ChangeMember
) -> wire.Member:
    """Change a member."""
    fields = named_members(body)
    timeout_reason = fields.pop("timeout_reason")
    reason = timeout_reason if request.audit_log_reason is None else request.audit_log_reason
    return await guilds.member_changes.change(request.principal, guild_id, user_id, fields, reason)


DAY_SECONDS: Final = 86_400
DELETED_DAYS_MAXIMUM: Final = 7
DURATION_SECONDS_MAXIMUM: Final = 10 * 365 * DAY_SECONDS

LIST_BANS: Final = Bucket("guild:bans::guild_id", limit=40, window_ms=10_000)
CHANGE_BAN: Final = Bucket("guild:bans:change::guild_id", limit=20, window_ms=10_000)
KICK: Final = Bucket("guild:member:remove::guild_id", limit=20, window_ms=10_000)


@frozen
class ListBans:
    """The query of GET /v1/guilds/{guild_id}/bans: `after` is a user id."""

    after: Snowflake = 0
    limit: Annotated[int, Range(1, 1_000)] = 1_000


@frozen(kw_only=True)
class PutBan:
    """The body of PUT /v1/guilds/{guild_id}/bans/{user_id}: what to delete in days (older clients) or seconds."""

    reason: Annotated[str, Length(1, REASON_LENGTH)] | None = None
    delete_message_days: Annotated[int, Range(0, DELETED_DAYS_MAXIMUM)] | None = None
    delete_message_seconds: Annotated[int, Range(0, DELETED_DAYS_MAXIMUM * DAY_SECONDS)] | None = None
    ban_duration_seconds: Annotated[int, Range(0, DURATION_SECONDS_MAXIMUM)] | None = None


@routes.operation("GET", "/v1/guilds/{guild_id}/bans", bucket=LIST_BANS)
async def list_bans(request: Request, guilds: GuildsArea, guild_id: int, query: ListBans) -> list[wire.Ban]:
    """The guild's bans."""
    return await guilds.bans.of_guild(request.principal, guild_id, after=query.after, limit=query.limit)


@routes.operation("PUT", "/v1/guilds/{guild_id}/bans/{user_id}", bucket=CHANGE_BAN)
async def ban_account(request: Request, guilds: GuildsArea, guild_id: int, user_id: int, body: PutBan) -> None:
    """Ban an account; a duration of 0 is for good."""
    seconds = body.delete_message_seconds
    if seconds is None:
        seconds = (body.delete_message_days or 0) * DAY_SECONDS
    new = NewBan(body.reason, seconds, body.ban_duration_seconds or None)
    await guilds.bans.ban(request.principal, guild_id, user_id, new, request.audit_log_reason)


@routes.operation("DELETE", "/v1/guilds/{guild_id}/bans/{user_id}", bucket=CHANGE_BAN)
async def lift_ban(request: Request, guilds: GuildsArea, guild_id: int, user_id: int) -> None:
    """Lift a ban."""
    await guilds.bans.lift(request.principal, guild_id, user_id, request.audit_log_reason)


@routes.operation("DELETE", "/v1/guilds/{guild_id}/members/{user_id}", bucket=KICK)
async def kick_member(request: Request, guilds: GuildsArea, guild_id: int, user_id: int) -> None:
    """Remove a member."""
    await guilds.bans.kick(request.principal, guild_id, user_id, request.audit_log_reason)
