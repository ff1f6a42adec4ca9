"""GET /v1/gateway/bot (instance.md, Gateway address)."""

from __future__ import annotations

from chat.api import buckets
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.instance import GATEWAY_BOT
from chat.domain.administration.assemble import AdministrationArea

routes = Routes()


@routes.operation("GET", "/v1/gateway/bot", policy=Policy.GATEWAY_BOT, bucket=buckets.GATEWAY_BOT, answers=GATEWAY_BOT)
async def get_gateway_bot(request: Request, administration: AdministrationArea) -> object:
    """Where the gateway is, and the fixed recommendation on how to connect."""
    return administration.discovery.gateway_bot(request.headers.get("host"))
