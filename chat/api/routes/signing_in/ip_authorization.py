"""IP authorisation: a sign-in from a new network waits until a mailed link was followed (signing_in.md, IP
authorisation)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.api import buckets
from chat.api.fields import Exact, Length, SudoFields
from chat.api.operation import Policy, Request, Routes
from chat.api.routes.signing_in.authentication import NO_BOTS, accept_invite
from chat.api.schemas.shapes import NOTHING, either
from chat.api.schemas.signing_in.authentication import COMPLETED, NOT_COMPLETED
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.signing_in.assemble import SigningInArea

routes = Routes()

WaitingTicket = Annotated[str, Exact(), Length(1, 256)]


@attrs.frozen
class AuthorizeIp:
    """The body of authorize-ip: the token of the mail."""

    token: Annotated[str, Exact(), Length(1, 256)] = attrs.field(repr=False)


@attrs.frozen
class ResendAuthorization:
    """The body of ip-authorization/resend."""

    ticket: WaitingTicket = attrs.field(repr=False)


@attrs.frozen
class PollAuthorization:
    """The query of ip-authorization/poll."""

    ticket: WaitingTicket = attrs.field(repr=False)


@routes.operation(
    "POST",
    "/v1/auth/authorize-ip",
    policy=Policy.NONE,
    bots_refused_with=NO_BOTS,
    bucket=buckets.AUTH_IP_AUTHORIZE,
    closed_by_sso=True,
    body=AuthorizeIp,
    answers=NOTHING,
)
async def authorize_ip(request: Request, signing_in: SigningInArea, body: AuthorizeIp) -> None:
    """Authorise the network that the mail was about."""
    await signing_in.ip_authorization.authorize(body.token)


@routes.operation(
    "POST",
    "/v1/auth/ip-authorization/resend",
    policy=Policy.NONE,
    bots_refused_with=NO_BOTS,
    bucket=buckets.AUTH_IP_RESEND,
    closed_by_sso=True,
    body=ResendAuthorization,
    answers=NOTHING,
)
async def resend_ip_authorization(request: Request, signing_in: SigningInArea, body: ResendAuthorization) -> None:
    """Mail the link again."""
    await signing_in.ip_authorization.resend(body.ticket)


@routes.operation(
    "GET",
    "/v1/auth/ip-authorization/poll",
    policy=Policy.NONE,
    bots_refused_with=NO_BOTS,
    bucket=buckets.AUTH_IP_POLL,
    closed_by_sso=True,
    query=PollAuthorization,
    answers=either(COMPLETED, NOT_COMPLETED),
    secret=True,
)
async def poll_ip_authorization(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, query: PollAuthorization
) -> object:
    """Whether the link was followed, and then the session."""
    fetched = await signing_in.ip_authorization.poll(query.ticket)
    if fetched is None:
        return {"completed": False}
    await accept_invite(request, fetched.account, fetched.invite_code, guilds=guilds)
    return fetched.answer()


@routes.operation(
    "DELETE",
    "/v1/users/@me/authorized-ips",
    policy=Policy.USER_ONLY,
    bucket=buckets.USER_AUTHORIZED_IPS,
    body=SudoFields,
    answers=NOTHING,
)
async def forget_authorized_ips(request: Request, signing_in: SigningInArea, body: SudoFields) -> None:
    """Forget every network that the account has signed in from; sudo mode."""
    account = request.principal.account
    await signing_in.sudo.require(account, request.proof(body))
    await signing_in.ip_authorization.forget(account.id)
