"""The addresses and headers of the setting `compat.fluxer` (compat.md, Addresses of this family).

Their programs find an instance by its discovery document, which tells them `/api` in place of `/v1`, and send webhooks
to `/webhooks` or `/api/webhooks`.
"""

from __future__ import annotations

from typing import Any, Final

from chat.api import buckets
from chat.api.mounts import Mount
from chat.api.operation import Policy, Request, Routes
from chat.api.request import SUDO_HEADER
from chat.api.schemas.instance import DISCOVERY
from chat.domain.administration.assemble import AdministrationArea

MOUNTS: Final = (
    Mount("/api/v1/", "/v1/"),
    Mount("/api/", "/v1/"),
    Mount("/webhooks/", "/v1/webhooks/"),
)

SECOND_NAMES: Final = {
    "X-Fluxer-Sudo-Mode-JWT": SUDO_HEADER,
    "X-Fluxer-Features": "X-Service-Features",
    "X-Fluxer-Client-Properties": "X-Service-Client-Properties",
}
"""Our names of headers, by those that their programs send and read."""

API_ENDPOINTS: Final = ("api", "api_client", "api_public")

routes = Routes(policy=Policy.NONE, bucket=buckets.DISCOVERY, answers=DISCOVERY)


@routes.operation("GET", "/.well-known/fluxer", name="get_discovery_of_family")
@routes.operation("GET", "/v1/.well-known/fluxer", name="get_discovery_of_family_below_api")
async def get_discovery_of_family(request: Request, administration: AdministrationArea) -> object:
    """The discovery document, with the addresses of the API that programs of this family expect."""
    document: dict[str, Any] = administration.discovery.document(request.headers.get("host"))
    endpoints = {**document["endpoints"], **dict.fromkeys(API_ENDPOINTS, f"{request.origin}/api")}
    return {**document, "endpoints": endpoints}
