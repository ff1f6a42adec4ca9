"""What anybody may ask of an instance: the discovery document, and whether it works (wire facts 2.1)."""

from __future__ import annotations

from chat.api import buckets
from chat.api.operation import Answer, Policy, Request, Routes
from chat.api.schemas.instance import DISCOVERY, HEALTH

routes = Routes()


@routes.operation("GET", "/.well-known/chat", policy=Policy.NONE, bucket=buckets.DISCOVERY, answers=DISCOVERY)
async def get_discovery(request: Request) -> object:
    """The discovery document."""
    return request.services.discovery.document


@routes.operation("GET", "/_health", policy=Policy.NONE, answers={200: HEALTH, 503: HEALTH})
async def get_health(request: Request) -> object:
    """Whether requests can be served: 200, or 503 while the store fails."""
    if request.services.database.failing:
        return Answer(503, {"status": "failing"}, {"Retry-After": "1"})
    return {"status": "ok"}
