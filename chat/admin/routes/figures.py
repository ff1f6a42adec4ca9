"""Figures of the instance and of its gateway (administration.md, Figures). The console asks for them again and again:
reading them leaves no entry in the audit log."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import Items, Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.figures import GATEWAY_FIGURES, GATEWAY_GUILDS, INSTANCE_FIGURES
from chat.api.schemas.shapes import COUNT, record
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()


@attrs.frozen
class ListGatewayGuilds:
    """The query of GET /v1/admin/gateway/guilds."""

    limit: Annotated[int, Range(1, 200)] = 50


@attrs.frozen
class ReloadGuilds:
    """The body of POST /v1/admin/gateway/reload; without `guild_ids` all that are in memory."""

    guild_ids: Annotated[list[Snowflake], Items(0, 1_000)] | None = None


@routes.admin_operation(
    "GET",
    "/v1/admin/instance/figures",
    acls=[(Acl.INSTANCE_CONFIG_VIEW, Acl.GATEWAY_MEMORY_STATS)],
    audit=None,
    bucket=buckets.LOOKUP,
    answers=INSTANCE_FIGURES,
)
async def read_instance_figures(request: Request, administration: AdministrationArea) -> object:
    """What there is of everything."""
    return await administration.figures.instance()


@routes.admin_operation(
    "GET",
    "/v1/admin/gateway",
    acls=[Acl.GATEWAY_MEMORY_STATS],
    audit=None,
    bucket=buckets.LOOKUP,
    answers=GATEWAY_FIGURES,
)
async def read_gateway_figures(request: Request, administration: AdministrationArea) -> object:
    """Sessions, guilds in memory, memory."""
    return administration.figures.gateway()


@routes.admin_operation(
    "GET",
    "/v1/admin/gateway/guilds",
    acls=[Acl.GATEWAY_MEMORY_STATS],
    audit=None,
    bucket=buckets.LOOKUP,
    query=ListGatewayGuilds,
    answers=GATEWAY_GUILDS,
)
async def list_gateway_guilds(request: Request, administration: AdministrationArea, query: ListGatewayGuilds) -> object:
    """The guilds in memory, the largest first."""
    return {"guilds": administration.figures.guilds(query.limit)}


@routes.admin_operation(
    "POST",
    "/v1/admin/gateway/reload",
    acls=[Acl.GATEWAY_RELOAD_ALL],
    audit=AdminAction.RELOAD_GUILDS,
    bucket=buckets.GUILD_MODIFY,
    body=ReloadGuilds,
    answers=record({"reloaded_count": COUNT}),
)
async def reload_guilds(request: Request, administration: AdministrationArea, body: ReloadGuilds) -> object:
    """Read guilds into memory afresh."""
    guild_ids = None if body.guild_ids is None else tuple(body.guild_ids)
    return {"reloaded_count": await administration.figures.reload(acting(request), guild_ids)}
