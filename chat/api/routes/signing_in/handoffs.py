"""Hand-off: a signed-in browser signs a program in (signing_in.md, Hand-off)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.api import buckets
from chat.api.fields import Exact, Length
from chat.api.operation import Policy, Request, Routes
from chat.api.routes.signing_in.authentication import NO_BOTS, client_of
from chat.api.schemas.shapes import NOTHING
from chat.api.schemas.signing_in.authentication import HANDOFF_INFO, HANDOFF_STARTED, HANDOFF_STATUS
from chat.domain.signing_in.assemble import SigningInArea

routes = Routes()


@attrs.frozen
class CompleteHandoff:
    """The body of complete."""

    code: Annotated[str, Exact(), Length(1, 64)] = attrs.field(repr=False)


@routes.operation(
    "POST",
    "/v1/auth/handoff/initiate",
    policy=Policy.NONE,
    bots_refused_with=NO_BOTS,
    bucket=buckets.AUTH_HANDOFF_INITIATE,
    answers=HANDOFF_STARTED,
    secret=True,
)
async def initiate_handoff(request: Request, signing_in: SigningInArea) -> object:
    """A code that somebody who is signed in may agree to."""
    return await signing_in.handoffs.initiate(client_of(request))


@routes.operation(
    "GET",
    "/v1/auth/handoff/{code}/info",
    policy=Policy.USER_ONLY,
    bots_refused_with=NO_BOTS,
    bucket=buckets.AUTH_HANDOFF_COMPLETE,
    answers=HANDOFF_INFO,
)
async def get_handoff(request: Request, signing_in: SigningInArea, code: str) -> object:
    """Where a code was asked for."""
    return signing_in.handoffs.info(code)


@routes.operation(
    "GET",
    "/v1/auth/handoff/{code}/status",
    policy=Policy.NONE,
    bots_refused_with=NO_BOTS,
    bucket=buckets.AUTH_HANDOFF_STATUS,
    answers=HANDOFF_STATUS,
    secret=True,
)
async def poll_handoff(request: Request, signing_in: SigningInArea, code: str) -> object:
    """Whether somebody has agreed to the code: then the sign-in, once."""
    signed_in = await signing_in.handoffs.status(code, client_of(request))
    if signed_in is None:
        return {"status": "pending"}
    return {"status": "completed", **signed_in.answer()}


@routes.operation(
    "DELETE",
    "/v1/auth/handoff/{code}",
    policy=Policy.NONE,
    bots_refused_with=NO_BOTS,
    bucket=buckets.AUTH_HANDOFF_INITIATE,
    answers=NOTHING,
)
async def cancel_handoff(request: Request, signing_in: SigningInArea, code: str) -> None:
    """Give a code up."""
    await signing_in.handoffs.cancel(code, client_of(request))


@routes.operation(
    "POST",
    "/v1/auth/handoff/complete",
    policy=Policy.USER_ONLY,
    bots_refused_with=NO_BOTS,
    bucket=buckets.AUTH_HANDOFF_COMPLETE,
    body=CompleteHandoff,
    answers=NOTHING,
)
async def complete_handoff(request: Request, signing_in: SigningInArea, body: CompleteHandoff) -> None:
    """Agree that whoever asked for the code is signed in to the caller's account."""
    await signing_in.handoffs.complete(request.principal, body.code)
