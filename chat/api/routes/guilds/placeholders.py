"""Operations on placeholders: people of an import, and who claims them (manual, Moving in)."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api.fields import Range, Snowflake
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea

routes = Routes(policy=Policy.USER_ONLY)

READ_PLACEHOLDERS: Final = Bucket("guild:placeholders::guild_id", limit=40, window_ms=10_000)
CLAIM_PLACEHOLDER: Final = Bucket("guild:placeholders:claim::guild_id", limit=20, window_ms=60_000)

PAGE: Final = 50


@frozen
class ListPlaceholders:
    """The query of the list: `after` is a user id."""

    after: Snowflake = 0
    limit: Annotated[int, Range(1, PAGE)] = PAGE


@frozen(kw_only=True)
class ClaimPlaceholder:
    """The body of a claim: `user_id` is the member whose request the caller confirms, None for the caller's own."""

    user_id: Snowflake | None = None


@frozen(kw_only=True)
class ReleasePlaceholder:
    """The query of the end of a claim: `user_id` is the member whose request or claim ends, None for the caller's."""

    user_id: Snowflake | None = None


@routes.operation("GET", "/v1/guilds/{guild_id}/placeholders", bucket=READ_PLACEHOLDERS)
async def list_placeholders(
    request: Request, guilds: GuildsArea, guild_id: int, query: ListPlaceholders
) -> Annotated[list[wire.Placeholder], wire.items(PAGE)]:
    """People of imports into a guild, in order of user id."""
    return await guilds.claims.of_guild(request.principal, guild_id, after=query.after, limit=query.limit)


@routes.operation("GET", "/v1/guilds/{guild_id}/placeholders/{user_id}", bucket=READ_PLACEHOLDERS)
async def get_placeholder(request: Request, guilds: GuildsArea, guild_id: int, user_id: int) -> wire.Placeholder:
    """One person of an import."""
    return await guilds.claims.get(request.principal, guild_id, user_id)


@routes.operation("POST", "/v1/guilds/{guild_id}/placeholders/{user_id}/claim", bucket=CLAIM_PLACEHOLDER)
async def claim_placeholder(
    request: Request, guilds: GuildsArea, guild_id: int, user_id: int, body: ClaimPlaceholder
) -> wire.Placeholder:
    """Say that the caller is this person, or confirm that a member is."""
    reason = request.audit_log_reason
    return await guilds.claims.claim(request.principal, guild_id, user_id, body.user_id, reason)


@routes.operation("DELETE", "/v1/guilds/{guild_id}/placeholders/{user_id}/claim", bucket=CLAIM_PLACEHOLDER)
async def release_placeholder(
    request: Request, guilds: GuildsArea, guild_id: int, user_id: int, query: ReleasePlaceholder
) -> None:
    """Take back a request or a claim, or refuse or undo that of a member."""
    reason = request.audit_log_reason
    await guilds.claims.release(request.principal, guild_id, user_id, query.user_id, reason)
