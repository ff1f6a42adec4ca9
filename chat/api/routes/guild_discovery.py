"""Public discovery of guilds (wire facts, appendix A)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.api.fields import Range
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.guilds import DISCOVERED_GUILD
from chat.api.schemas.shapes import COUNT, NOTHING, listed, record

routes = Routes()


@attrs.frozen
class ListDiscovery:
    """The query of GET /v1/discovery/guilds."""

    limit: Annotated[int, Range(1, 100)] = 24
    offset: Annotated[int, Range(0, 1_000_000)] = 0


@routes.operation(
    "GET",
    "/v1/discovery/guilds",
    policy=Policy.USER,
    bucket=Bucket("discovery:guilds", limit=30, window_ms=60_000),
    query=ListDiscovery,
    answers=record({"guilds": listed(DISCOVERED_GUILD), "total": COUNT}),
)
async def list_discovery(request: Request, query: ListDiscovery) -> object:
    """Guilds that anybody may join."""
    return await request.services.guild_discovery.listed(limit=query.limit, offset=query.offset)


@routes.operation(
    "POST",
    "/v1/discovery/guilds/{guild_id}/join",
    policy=Policy.USER_ONLY,
    bucket=Bucket("discovery:join", limit=10, window_ms=60_000),
    answers=NOTHING,
)
async def join_by_discovery(request: Request, guild_id: int) -> None:
    """Join a guild that was found in discovery."""
    await request.services.guild_discovery.join(request.principal, guild_id, request.address)
