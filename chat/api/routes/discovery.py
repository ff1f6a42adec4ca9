"""What anybody may ask of an instance: the discovery document, whether it works, and where it takes the caller to be
(instance.md, Discovery document); and setting it up (access.md, First run).
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import Exact, Length
from chat.api.operation import Answer, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.administration.admin_audit_log import Acting
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.policy.readiness import Hindrance, Readiness
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.signing_in.client_info import NOWHERE

routes = Routes(policy=Policy.NONE)

TOKEN_LENGTH: Final = 64
NAME_LENGTH: Final = 64
DESCRIPTION_LENGTH: Final = 500


@frozen(kw_only=True)
class SetUpInstance:
    """The body of POST /v1/instance/setup: the token of the set-up link, and the first choices."""

    token: Annotated[str, Exact(), Length(1, TOKEN_LENGTH)] = attrs.field(repr=False)
    service_name: Annotated[str, Length(1, NAME_LENGTH)] | None = None
    service_description: Annotated[str, Length(1, DESCRIPTION_LENGTH)] | None = None
    registration: Literal["open", "approval", "closed"] | None = None

    def chosen(self) -> dict[str, str]:
        """Settings by name."""
        sent = attrs.asdict(self, filter=attrs.filters.exclude("token"))
        return {name: value for name, value in sent.items() if value is not None}


@routes.operation("GET", "/.well-known/chat", bucket=buckets.DISCOVERY)
async def get_discovery(request: Request, administration: AdministrationArea) -> wire.Discovery:
    """The discovery document."""
    return administration.discovery.document(request.headers.get("host"))


@routes.operation("POST", "/v1/instance/setup", policy=Policy.USER_ONLY, bucket=buckets.INSTANCE_SETUP)
async def set_up_instance(request: Request, administration: AdministrationArea, body: SetUpInstance) -> None:
    """While nobody administers the instance: choose how it begins. The caller gets `*`."""
    acting = Acting(request.principal, request.audit_log_reason)
    await administration.configuration.set_up(acting, body.token, body.chosen())


@routes.operation("GET", "/v1/ip", bucket=buckets.OWN_ADDRESS)
async def locate_caller(request: Request, signing_in: SigningInArea) -> wire.OwnPlace:
    """Where the caller's address is, as far as the operator's file tells; null without one.

    The members are those of this family's clients, written as they write them; an instance of one's own keeps no list
    of countries with rules for age.
    """
    places = await signing_in.address_lookups.places([request.address])
    return places.get(request.address, NOWHERE).as_own()


@routes.operation("GET", "/_health", answers=lambda: {200: wire.Health, 503: wire.Hindered})
async def get_health(request: Request, readiness: Readiness) -> wire.Health | Answer[wire.Hindered]:
    """Whether the server works: 200, or 503 while the store fails."""
    return _answer(await readiness.failure())


@routes.operation("GET", "/_ready", answers=lambda: {200: wire.Health, 503: wire.Hindered})
async def get_readiness(request: Request, readiness: Readiness) -> wire.Health | Answer[wire.Hindered]:
    """Whether requests should be sent here: 200, or 503 while the store cannot be written or the server drains.

    While the database is migrated, before the server serves anything else, this says so (`chat.serving`).
    """
    return _answer(await readiness.hindrance())


def _answer(hindrance: Hindrance | None) -> wire.Health | Answer[wire.Hindered]:
    if hindrance is None:
        return {"status": "ok"}
    return Answer(503, {"status": hindrance.status, "reason": hindrance.reason}, {"Retry-After": "1"})
