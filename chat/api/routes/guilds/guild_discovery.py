"""Public discovery of guilds (guilds.md, Discovery)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from chat import wire
from chat.api.fields import Length, Range
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.guilds.guild_discovery import DiscoveryWish, categories
from chat.registries.guild_values import DiscoveryCategory

routes = Routes(policy=Policy.USER)

LIST_DISCOVERY_CATEGORIES: Final = Bucket("discovery:categories", limit=30, window_ms=60_000)
LIST_DISCOVERY: Final = Bucket("discovery:guilds", limit=30, window_ms=60_000)
JOIN_BY_DISCOVERY: Final = Bucket("discovery:join", limit=10, window_ms=60_000)
GET_DISCOVERY_APPLICATION: Final = Bucket("guild:discovery::guild_id", limit=30, window_ms=60_000)
APPLY_FOR_DISCOVERY: Final = Bucket("guild:discovery:change::guild_id", limit=10, window_ms=60_000)

APPLICATION: Final = "/v1/guilds/{guild_id}/discovery"

Description = Annotated[str, Length(10, 300)]


@frozen
class ListDiscovery:
    """The query of GET /v1/discovery/guilds."""

    limit: Annotated[int, Range(1, 100)] = 24
    offset: Annotated[int, Range(0, 1_000_000)] = 0
    category: DiscoveryCategory | None = None
    query: Annotated[str, Length(1, 100)] | None = None


@frozen
class GuildDiscoveryApply:
    """The body of POST …/discovery."""

    category_id: DiscoveryCategory
    description: Description


@frozen
class ChangeDiscovery:
    """The body of PATCH …/discovery; what is absent or null stays."""

    BODY_NAME: ClassVar = "GuildDiscoveryChangeApplicationBody"

    category_id: DiscoveryCategory | None = None
    description: Description | None = None


@routes.operation("GET", "/v1/discovery/categories", bucket=LIST_DISCOVERY_CATEGORIES)
async def list_discovery_categories(request: Request) -> list[wire.DiscoveryCategory]:
    """What guilds in discovery can be about."""
    return categories()


@routes.operation(
    "GET",
    "/v1/discovery/guilds",
    bucket=LIST_DISCOVERY,
)
async def list_discovery(request: Request, guilds: GuildsArea, query: ListDiscovery) -> wire.ListDiscoveryAnswer:
    """Guilds that all may join."""
    return await guilds.guild_discovery.listed(
        limit=query.limit, offset=query.offset, category=query.category, text=query.query
    )


@routes.operation(
    "POST",
    "/v1/discovery/guilds/{guild_id}/join",
    policy=Policy.USER_ONLY,
    bucket=JOIN_BY_DISCOVERY,
    closed_to_limited=True,
)
async def join_by_discovery(request: Request, guilds: GuildsArea, guild_id: int) -> None:
    """Join a guild that was found in discovery."""
    await guilds.guild_discovery.join(request.principal, guild_id, request.address)


@routes.operation(
    "GET",
    APPLICATION,
    bucket=GET_DISCOVERY_APPLICATION,
)
async def get_discovery_application(
    request: Request, guilds: GuildsArea, guild_id: int
) -> wire.GetDiscoveryApplicationAnswer:
    """How a guild stands with discovery."""
    return guilds.discovery_applications.status(request.principal, guild_id)


@routes.operation("POST", APPLICATION, bucket=APPLY_FOR_DISCOVERY)
async def apply_for_discovery(
    request: Request, guilds: GuildsArea, guild_id: int, body: GuildDiscoveryApply
) -> wire.DiscoveryApplication:
    """Apply for a guild's place in discovery."""
    return await guilds.discovery_applications.apply(request.principal, guild_id, body.category_id, body.description)


@routes.operation("PATCH", APPLICATION, bucket=APPLY_FOR_DISCOVERY)
async def change_discovery_application(
    request: Request, guilds: GuildsArea, guild_id: int, body: ChangeDiscovery
) -> wire.DiscoveryApplication:
    """Change what a guild says of itself in discovery."""
    return await guilds.discovery_applications.change(
        request.principal, guild_id, DiscoveryWish(body.category_id, body.description)
    )


@routes.operation("DELETE", APPLICATION, bucket=APPLY_FOR_DISCOVERY)
async def withdraw_discovery_application(request: Request, guilds: GuildsArea, guild_id: int) -> None:
    """Take a guild's application back, and the guild out of discovery."""
    await guilds.discovery_applications.withdraw(request.principal, guild_id, request.audit_log_reason)
