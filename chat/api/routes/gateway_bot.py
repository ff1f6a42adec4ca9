"""GET /v1/gateway/bot (instance.md, Gateway address)."""

from __future__ import annotations

from chat import wire
from chat.api import buckets
from chat.api.operation import Policy, Request, Routes
from chat.domain.administration.assemble import AdministrationArea

routes = Routes()


@routes.operation("GET", "/v1/gateway/bot", policy=Policy.GATEWAY_BOT, bucket=buckets.GATEWAY_BOT)
async def get_gateway_bot(request: Request, administration: AdministrationArea) -> wire.GatewayBot:
    """Where the gateway is, and the fixed recommendation on how to connect."""
    return administration.discovery.gateway_bot(request.headers.get("host"))
