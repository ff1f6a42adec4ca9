"""The addresses and headers of the setting `compat.fluxer` (compat.md, Addresses of this family).

Their programs find an instance by its discovery document, which tells them `/api` in place of `/v1`, send webhooks to
`/webhooks` or `/api/webhooks`, and ask for the archive of the own account by its id. `spec_fixtures/http/family.json`
says of each of their addresses whether it is had here.
"""

from __future__ import annotations

from typing import Final

import orjson

from chat import wire
from chat.api import buckets
from chat.api.answers import Answer
from chat.api.mounts import Mount
from chat.api.operation import Policy, Request, Routes
from chat.api.request import SUDO_HEADER
from chat.api.routes.accounts.accounts import FetchArchive
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.signing_in.assemble import SigningInArea

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

routes = Routes(policy=Policy.NONE, bucket=buckets.DISCOVERY)


@routes.operation("GET", "/.well-known/fluxer", name="get_discovery_of_family")
@routes.operation("GET", "/v1/.well-known/fluxer", name="get_discovery_of_family_below_api")
async def get_discovery_of_family(request: Request, administration: AdministrationArea) -> wire.Discovery:
    """The discovery document, with the addresses of the API that programs of this family expect."""
    document = administration.discovery.document(request.headers.get("host"))
    endpoints = {**document["endpoints"], **dict.fromkeys(API_ENDPOINTS, f"{request.origin}/api")}
    return {**document, "endpoints": endpoints}


@routes.operation(
    "GET",
    "/v1/users/@me/harvest/latest",
    policy=Policy.USER_ONLY,
    bucket=buckets.OWN_ARCHIVE,
    answers=lambda: {200: wire.OwnArchive | None},
)
async def get_latest_own_archive(request: Request, administration: AdministrationArea) -> Answer:
    """The last archive of the own account; null without one."""
    archive = administration.archives.own(request.principal.user_id)
    return Answer(body=orjson.Fragment(b"null") if archive is None else archive)


@routes.operation(
    "GET",
    "/v1/users/@me/harvest/{harvest_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.OWN_ARCHIVE,
)
async def get_own_archive_by_id(
    request: Request, administration: AdministrationArea, harvest_id: int
) -> wire.OwnArchive:
    """An archive of the own account."""
    return administration.archives.one_of_own(request.principal.user_id, harvest_id)


@routes.operation(
    "GET",
    "/v1/users/@me/harvest/{harvest_id}/download",
    policy=Policy.USER_ONLY,
    bucket=buckets.OWN_ARCHIVE,
)
async def get_own_archive_address_by_id(
    request: Request,
    signing_in: SigningInArea,
    administration: AdministrationArea,
    harvest_id: int,
    body: FetchArchive,
) -> wire.OwnArchiveAddress:
    """An address under which the archive is downloaded for an hour. Sudo mode, or a fresh sign-in: a browser sends no
    password with a GET."""
    proof, account = request.proof(body), request.principal.account
    administration.archives.require_own_file(account.id, harvest_id)
    await signing_in.sudo.require(account, proof, sign_in_counts=True)
    return await administration.archives.own_address(account.id, request.guard, harvest_id)
