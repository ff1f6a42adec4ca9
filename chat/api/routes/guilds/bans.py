"""Operations on bans, and the removal of members (guilds.md, Bans)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api.fields import Length, Range, Snowflake
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.guilds.guilds import BAN
from chat.api.schemas.shapes import listed
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.guilds.bans import NewBan

routes = Routes(policy=Policy.USER)

REASON_LENGTH: Final = 512
DAY_SECONDS: Final = 86_400
DELETED_DAYS_MAXIMUM: Final = 7
DURATION_SECONDS_MAXIMUM: Final = 10 * 365 * DAY_SECONDS

LIST: Final = Bucket("guild:bans::guild_id", limit=40, window_ms=10_000)
CHANGE: Final = Bucket("guild:bans:change::guild_id", limit=20, window_ms=10_000)
KICK: Final = Bucket("guild:member:remove::guild_id", limit=20, window_ms=10_000)


@attrs.frozen
class ListBans:
    """The query of GET /v1/guilds/{guild_id}/bans: `after` is a user id."""

    after: Snowflake = 0
    limit: Annotated[int, Range(1, 1_000)] = 1_000


@attrs.frozen(kw_only=True)
class PutBan:
    """The body of PUT /v1/guilds/{guild_id}/bans/{user_id}: what to delete in days (older clients) or seconds."""

    reason: Annotated[str, Length(1, REASON_LENGTH)] | None = None
    delete_message_days: Annotated[int, Range(0, DELETED_DAYS_MAXIMUM)] | None = None
    delete_message_seconds: Annotated[int, Range(0, DELETED_DAYS_MAXIMUM * DAY_SECONDS)] | None = None
    ban_duration_seconds: Annotated[int, Range(0, DURATION_SECONDS_MAXIMUM)] | None = None


@routes.operation("GET", "/v1/guilds/{guild_id}/bans", bucket=LIST, answers=listed(BAN))
async def list_bans(request: Request, guilds: GuildsArea, guild_id: int, query: ListBans) -> object:
    """The guild's bans."""
    return await guilds.bans.of_guild(request.principal, guild_id, after=query.after, limit=query.limit)


@routes.operation("PUT", "/v1/guilds/{guild_id}/bans/{user_id}", bucket=CHANGE)
async def ban_account(request: Request, guilds: GuildsArea, guild_id: int, user_id: int, body: PutBan) -> None:
    """Ban an account; a duration of 0 is for good."""
    seconds = body.delete_message_seconds
    if seconds is None:
        seconds = (body.delete_message_days or 0) * DAY_SECONDS
    new = NewBan(body.reason, seconds, body.ban_duration_seconds or None)
    await guilds.bans.ban(request.principal, guild_id, user_id, new, request.audit_log_reason)


@routes.operation("DELETE", "/v1/guilds/{guild_id}/bans/{user_id}", bucket=CHANGE)
async def lift_ban(request: Request, guilds: GuildsArea, guild_id: int, user_id: int) -> None:
    """Lift a ban."""
    await guilds.bans.lift(request.principal, guild_id, user_id, request.audit_log_reason)


@routes.operation("DELETE", "/v1/guilds/{guild_id}/members/{user_id}", bucket=KICK)
async def kick_member(request: Request, guilds: GuildsArea, guild_id: int, user_id: int) -> None:
    """Remove a member."""
    await guilds.bans.kick(request.principal, guild_id, user_id, request.audit_log_reason)
