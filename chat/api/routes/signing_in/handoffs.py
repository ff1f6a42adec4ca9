"""Signing a program in through a browser: hand-off and passkey bridge (signing_in.md, Hand-off, Passkey bridge)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import Exact, Length, PasskeyResponse
from chat.api.operation import Answer, Policy, Request, Routes
from chat.api.routes.signing_in.authentication import NO_BOTS, answer_to_sign_in, client_of
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.signing_in.assemble import SigningInArea

routes = Routes(policy=Policy.NONE, bots_refused_with=NO_BOTS)


@frozen
class CompleteHandoff:
    """The body of complete."""

    code: Annotated[str, Exact(), Length(1, 64)] = attrs.field(repr=False)


@routes.operation("POST", "/v1/auth/handoff/initiate", bucket=buckets.AUTH_HANDOFF_INITIATE, secret=True)
async def initiate_handoff(request: Request, signing_in: SigningInArea) -> wire.HandoffStarted:
    """Begin a hand-off: get a code that a person who is signed in can confirm."""
    return await signing_in.handoffs.initiate(client_of(request))


@routes.operation(
    "GET",
    "/v1/auth/handoff/{code}/info",
    policy=Policy.USER_ONLY,
    bucket=buckets.AUTH_HANDOFF_COMPLETE,
)
async def get_handoff(request: Request, signing_in: SigningInArea, code: str) -> wire.HandoffInfo:
    """Show where a hand-off was begun."""
    return signing_in.handoffs.info(code)


@routes.operation("GET", "/v1/auth/handoff/{code}/status", bucket=buckets.AUTH_HANDOFF_STATUS, secret=True)
async def poll_handoff(request: Request, signing_in: SigningInArea, code: str) -> wire.HandoffStatus:
    """Ask whether a hand-off was confirmed; once it was, the answer is the session."""
    signed_in = await signing_in.handoffs.status(code, client_of(request))
    if signed_in is None:
        return {"status": "pending"}
    return {"status": "completed", **signed_in.answer()}


@routes.operation("DELETE", "/v1/auth/handoff/{code}", bucket=buckets.AUTH_HANDOFF_INITIATE)
async def cancel_handoff(request: Request, signing_in: SigningInArea, code: str) -> None:
    """Cancel a hand-off."""
    await signing_in.handoffs.cancel(code, client_of(request))


@routes.operation("POST", "/v1/auth/handoff/complete", policy=Policy.USER_ONLY, bucket=buckets.AUTH_HANDOFF_COMPLETE)
async def complete_handoff(request: Request, signing_in: SigningInArea, body: CompleteHandoff) -> None:
    """Agree that the program that asked for the code is signed in to the caller's account."""
    await signing_in.handoffs.complete(request.principal, body.code)


BridgeId = Annotated[str, Exact(), Length(1, 256)]


@frozen
class StartBridge:
    """The body of start: the unpadded base64url of the SHA-256 of a secret (S256 of RFC 7636)."""

    code_challenge: Annotated[str, Length(1, 256)]


@frozen
class GetBridgeOptions:
    """The body of authentication-options, sent by the page at the bridge's address."""

    bridge_id: BridgeId = attrs.field(repr=False)


@frozen
class CompleteBridge:
    """The body of complete, sent by the page: an assertion."""

    bridge_id: BridgeId = attrs.field(repr=False)
    response: PasskeyResponse = attrs.field(repr=False)
    challenge: Annotated[str, Exact(), Length(1, 1_024)] = attrs.field(repr=False)


@frozen
class RedeemBridge:
    """The body of redeem, sent by the program: the secret whose hash it started with."""

    bridge_id: BridgeId = attrs.field(repr=False)
    code_verifier: Annotated[str, Exact(), Length(1, 256)] = attrs.field(repr=False)


@routes.operation(
    "POST",
    "/v1/auth/passkey-bridge/start",
    bucket=buckets.AUTH_BRIDGE_START,
    closed_by_sso=True,
    secret=True,
)
async def start_passkey_bridge(request: Request, signing_in: SigningInArea, body: StartBridge) -> wire.PasskeyBridge:
    """A new bridge, with the address of its page."""
    return (await signing_in.passkey_bridge.start(body.code_challenge, request.origin, request.guard)).answer()


@routes.operation(
    "POST",
    "/v1/auth/passkey-bridge/authentication-options",
    bucket=buckets.AUTH_BRIDGE_COMPLETE,
)
async def get_bridge_options(
    request: Request, signing_in: SigningInArea, body: GetBridgeOptions
) -> wire.WebauthnRequestOptions:
    """What the page asks a passkey for."""
    return await signing_in.passkey_bridge.options(body.bridge_id, request.guard)


@routes.operation("POST", "/v1/auth/passkey-bridge/complete", bucket=buckets.AUTH_BRIDGE_COMPLETE)
async def complete_passkey_bridge(request: Request, signing_in: SigningInArea, body: CompleteBridge) -> None:
    """Confirm a bridge with a passkey, so that the program can sign in."""
    await signing_in.passkey_bridge.complete(body.bridge_id, body.response, body.challenge, request.guard)


@routes.operation(
    "POST",
    "/v1/auth/passkey-bridge/redeem",
    bucket=buckets.AUTH_BRIDGE_REDEEM,
    closed_by_sso=True,
    answers=lambda: {200: wire.SignIn, 202: wire.NotCompleted},
    secret=True,
)
async def redeem_passkey_bridge(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, body: RedeemBridge
) -> wire.SignIn | Answer[wire.NotCompleted]:
    """Sign the program in; 202 until a passkey was shown."""
    bridge = signing_in.passkey_bridge
    signed_in = await bridge.redeem(body.bridge_id, body.code_verifier, client_of(request))
    if signed_in is None:
        return Answer(202, {"completed": False})
    return await answer_to_sign_in(request, signed_in, guilds=guilds)
