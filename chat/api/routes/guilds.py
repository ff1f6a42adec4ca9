"""Operations on guilds (document 001; wire facts, appendix A)."""

from __future__ import annotations

from typing import Annotated, Any, Final

import attrs

from chat.api.fields import Range, Snowflake
from chat.api.operation import Answer, Bucket, Policy, Request, Routes
from chat.api.sudo import SudoFields
from chat.domain.guilds import GuildPage
from chat.errors import ApiError
from chat.registries.scopes import Scope

routes = Routes()


@attrs.frozen
class CreateGuild:
    """The body of Create guild. Templates and icons are not taken yet."""

    name: str
    empty_features: bool = False
    icon: str | None = None
    template: dict[str, Any] | None = None


@attrs.frozen
class ListGuilds:
    """The query of List current user guilds."""

    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 200
    with_counts: bool = False


@attrs.frozen
class LeaveGuild:
    """The query of Leave guild."""

    delete_messages: bool = False


LEAVE: Final = Bucket("guild:leave::guild_id", limit=10, window_ms=10_000)
"""Leave guild and bulk-delete-mine share it (document 001, Limits)."""


def require_may_create(request: Request) -> None:
    """What Create guild asks of the account before it looks at the body (design 7)."""
    request.services.guilds.require_may_create(request.principal)


@routes.operation(
    "POST",
    "/v1/guilds",
    policy=Policy.USER_ONLY,
    bots_refused_with="BOTS_CANNOT_CREATE_GUILDS",
    precondition=require_may_create,
    bucket=Bucket("guild:create", limit=10, window_ms=60_000),
    body=CreateGuild,
)
async def create_guild(request: Request, body: CreateGuild) -> object:
    """Create guild."""
    if body.icon is not None or body.template is not None:
        raise ApiError("FEATURE_TEMPORARILY_DISABLED")
    return await request.services.guilds.create(request.principal, body.name, empty_features=body.empty_features)


@routes.operation(
    "GET",
    "/v1/users/@me/guilds",
    policy=Policy.USER,
    scope=Scope.GUILDS,
    bucket=Bucket("guild:list", limit=40, window_ms=10_000),
    query=ListGuilds,
)
async def list_current_user_guilds(request: Request, query: ListGuilds) -> object:
    """List current user guilds."""
    page = GuildPage(query.before, query.after, query.limit, query.with_counts)
    return await request.services.guilds.of_account(request.principal, page)


@routes.operation(
    "DELETE",
    "/v1/users/@me/guilds/{guild_id}",
    policy=Policy.USER,
    bucket=LEAVE,
    query=LeaveGuild,
    body=SudoFields,
)
async def leave_guild(request: Request, guild_id: int, query: LeaveGuild, body: SudoFields) -> None:
    """Leave guild; sudo mode where one's messages go along."""
    services, principal = request.services, request.principal
    if not query.delete_messages:
        await services.memberships.leave(principal, guild_id)
        return
    await services.memberships.leave_with_messages(
        principal,
        guild_id,
        request.proof(body),
        sudo=services.sudo,
        authors_messages=services.authors_messages,
    )


@routes.operation(
    "POST",
    "/v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine",
    policy=Policy.USER,
    bucket=LEAVE,
    body=SudoFields,
)
async def delete_own_messages(request: Request, guild_id: int, body: SudoFields) -> object:
    """Delete every message that the caller wrote in the guild; sudo mode."""
    await request.services.own_messages.delete_in_guild(request.principal, guild_id, request.proof(body))
    return Answer(202)


@routes.operation(
    "GET",
    "/v1/guilds/{guild_id}",
    policy=Policy.USER,
    scope=Scope.GUILDS,
    bucket=Bucket("guild:read::guild_id", limit=100, window_ms=10_000),
)
async def get_guild(request: Request, guild_id: int) -> object:
    """Get guild."""
    return await request.services.guilds.get(request.principal, guild_id)


@routes.operation(
    "GET",
    "/v1/guilds/{guild_id}/roles",
    policy=Policy.USER,
    scope=Scope.GUILDS,
    bucket=Bucket("guild:role:list::guild_id", limit=100, window_ms=10_000),
)
async def list_guild_roles(request: Request, guild_id: int) -> object:
    """The roles of a guild."""
    return await request.services.guilds.roles(request.principal, guild_id)


@routes.operation(
    "GET",
    "/v1/guilds/{guild_id}/channels",
    policy=Policy.USER,
    bucket=Bucket("guild:channel:list::guild_id", limit=100, window_ms=10_000),
)
async def list_guild_channels(request: Request, guild_id: int) -> object:
    """The channels of a guild that the caller sees."""
    return await request.services.channels.of_guild(request.principal, guild_id)
