"""Single sign-on: /v1/auth/sso (signing_in.md, Single sign-on)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import Exact, Length
from chat.api.operation import Policy, Request, Routes
from chat.api.routes.signing_in.authentication import NO_BOTS, accept_invite, client_of
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.signing_in.authentication import MfaChallenge

routes = Routes(policy=Policy.NONE, bots_refused_with=NO_BOTS)


@frozen(kw_only=True)
class StartSingleSignOn:
    """The body of sso/start: a path of this instance to go to afterwards, and its own return address if one likes."""

    redirect_to: Annotated[str, Length(1, 2_048)] | None = None
    redirect_uri: Annotated[str, Length(1, 2_048)] | None = None


@frozen(kw_only=True)
class CompleteSingleSignOn:
    """The body of sso/complete: what the provider gave the browser to bring along."""

    code: Annotated[str, Exact(), Length(1, 4_096)] = attrs.field(repr=False)
    state: Annotated[str, Exact(), Length(1, 256)] = attrs.field(repr=False)


@routes.operation("GET", "/v1/auth/sso/status", bucket=buckets.AUTH_SSO_STATUS)
async def single_sign_on_status(request: Request, signing_in: SigningInArea) -> wire.SingleSignOnStatus:
    """Whether and how single sign-on is offered."""
    return signing_in.single_sign_on.status()


@routes.operation("POST", "/v1/auth/sso/start", bucket=buckets.AUTH_SSO_START, secret=True)
async def start_single_sign_on(request: Request, signing_in: SigningInArea, body: StartSingleSignOn) -> wire.SsoStart:
    """Where to go to sign in at the provider."""
    return await signing_in.single_sign_on.start(body.redirect_to, body.redirect_uri, request.guard)


@routes.operation("POST", "/v1/auth/sso/complete", bucket=buckets.AUTH_SSO_COMPLETE, secret=True)
async def complete_single_sign_on(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, body: CompleteSingleSignOn
) -> wire.SsoSignedIn:
    """Sign in the person who came back from the provider."""
    arrival = await signing_in.single_sign_on.complete(body.code, body.state, client_of(request))
    outcome = arrival.signed_in
    if isinstance(outcome, MfaChallenge):
        return {**outcome.answer(), "redirect_to": arrival.redirect_to}
    await accept_invite(request, outcome.account, outcome.invite_code, guilds=guilds)
    return {**outcome.answer(), "redirect_to": arrival.redirect_to}
