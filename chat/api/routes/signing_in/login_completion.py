"""What may follow a login: its second step, or IP authorisation; and sign-in with a passkey alone (signing_in.md,
Second step, IP authorisation)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import Exact, Length, PasskeyResponse, SudoFields
from chat.api.operation import Policy, Request, Routes
from chat.api.rate_limit import RateLimiter
from chat.api.routes.signing_in.authentication import NO_BOTS, accept_invite, answer_to_sign_in, client_of, tried_by
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.signing_in.authentication import passkey_failed, wrong_code

routes = Routes(policy=Policy.NONE, bots_refused_with=NO_BOTS, closed_by_sso=True)

LoginTicket = Annotated[str, Exact(), Length(1, 256)]
Challenge = Annotated[str, Exact(), Length(1, 1_024)]


@frozen
class CompleteWithCode:
    """The body of login/mfa/totp: a code of the authenticator or a backup code."""

    code: Annotated[str, Exact(), Length(1, 32)] = attrs.field(repr=False)
    ticket: LoginTicket = attrs.field(repr=False)


@frozen
class GetOptions:
    """The body of login/mfa/webauthn/authentication-options."""

    ticket: LoginTicket = attrs.field(repr=False)


@frozen
class CompleteWithPasskey:
    """The body of login/mfa/webauthn: an assertion."""

    response: PasskeyResponse = attrs.field(repr=False)
    challenge: Challenge = attrs.field(repr=False)
    ticket: LoginTicket = attrs.field(repr=False)


@frozen
class Authenticate:
    """The body of webauthn/authenticate: an assertion."""

    response: PasskeyResponse = attrs.field(repr=False)
    challenge: Challenge = attrs.field(repr=False)


@routes.operation("POST", "/v1/auth/login/mfa/totp", bucket=buckets.AUTH_LOGIN_MFA, secret=True)
async def complete_with_code(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, limiter: RateLimiter, body: CompleteWithCode
) -> wire.SignIn:
    """Complete a login with a code."""
    completion = signing_in.login_completion
    if not _may_try(request, completion.user_of(body.ticket), signing_in=signing_in, limiter=limiter):
        raise wrong_code()
    return await answer_to_sign_in(
        request, await completion.totp(body.ticket, body.code, client_of(request)), guilds=guilds
    )


@routes.operation(
    "POST",
    "/v1/auth/login/mfa/webauthn/authentication-options",
    bucket=buckets.AUTH_LOGIN_MFA_OPTIONS,
)
async def get_login_options(
    request: Request, signing_in: SigningInArea, body: GetOptions
) -> wire.WebauthnRequestOptions:
    """What to ask the account's passkeys for."""
    return await signing_in.login_completion.webauthn_options(body.ticket, request.guard)


@routes.operation("POST", "/v1/auth/login/mfa/webauthn", bucket=buckets.AUTH_LOGIN_MFA, secret=True)
async def complete_with_passkey(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, limiter: RateLimiter, body: CompleteWithPasskey
) -> wire.SignIn:
    """Complete a login with a passkey."""
    completion = signing_in.login_completion
    if not _may_try(request, completion.user_of(body.ticket), signing_in=signing_in, limiter=limiter):
        raise passkey_failed()
    signed_in = await completion.webauthn(body.ticket, body.response, body.challenge, client_of(request))
    return await answer_to_sign_in(request, signed_in, guilds=guilds)


@routes.operation(
    "POST",
    "/v1/auth/webauthn/authentication-options",
    bucket=buckets.AUTH_WEBAUTHN_OPTIONS,
)
async def get_options(request: Request, signing_in: SigningInArea) -> wire.WebauthnRequestOptions:
    """What to ask whichever passkey the person has for."""
    return await signing_in.login_completion.passkey_options(request.guard)


@routes.operation("POST", "/v1/auth/webauthn/authenticate", bucket=buckets.AUTH_WEBAUTHN, secret=True)
async def authenticate(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, body: Authenticate
) -> wire.SignIn:
    """Sign in with a passkey."""
    completion = signing_in.login_completion
    signed_in = await completion.passkey(body.response, body.challenge, client_of(request))
    return await answer_to_sign_in(request, signed_in, guilds=guilds)


def _may_try(request: Request, user_id: int, *, signing_in: SigningInArea, limiter: RateLimiter) -> bool:
    """Count one attempt at the account's second factor; False when it is one too many (http.md, Request limits)."""
    asker = signing_in.ip_authorization.asker(user_id, request.address)
    key = tried_by(asker, request.address, user_id)
    return not limiter.take(buckets.MFA_LOGINS_OF_ACCOUNT, key)


@frozen
class AuthorizeIp:
    """The body of authorize-ip: the token of the mail."""

    token: Annotated[str, Exact(), Length(1, 256)] = attrs.field(repr=False)


@frozen
class ResendAuthorization:
    """The body of ip-authorization/resend."""

    ticket: LoginTicket = attrs.field(repr=False)


@frozen
class PollAuthorization:
    """The query of ip-authorization/poll."""

    ticket: LoginTicket = attrs.field(repr=False)


@routes.operation("POST", "/v1/auth/authorize-ip", bucket=buckets.AUTH_IP_AUTHORIZE)
async def authorize_ip(request: Request, signing_in: SigningInArea, body: AuthorizeIp) -> None:
    """Authorise the network that the mail was about."""
    await signing_in.ip_authorization.authorize(body.token, request.guard)


@routes.operation("POST", "/v1/auth/ip-authorization/resend", bucket=buckets.AUTH_IP_RESEND)
async def resend_ip_authorization(request: Request, signing_in: SigningInArea, body: ResendAuthorization) -> None:
    """Mail the link again."""
    await signing_in.ip_authorization.resend(body.ticket, request.guard)


@routes.operation(
    "GET",
    "/v1/auth/ip-authorization/poll",
    bucket=buckets.AUTH_IP_POLL,
    secret=True,
)
async def poll_ip_authorization(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, query: PollAuthorization
) -> wire.SignedInAfterWait | wire.NotCompleted:
    """Ask whether the mailed link was followed; once it was, the answer is the session."""
    fetched = await signing_in.ip_authorization.poll(query.ticket, request.guard)
    if fetched is None:
        return {"completed": False}
    await accept_invite(request, fetched.account, fetched.invite_code, guilds=guilds)
    return fetched.answer()


@routes.operation(
    "DELETE",
    "/v1/users/@me/authorized-ips",
    bots_refused_with=None,
    closed_by_sso=False,
    policy=Policy.USER_ONLY,
    bucket=buckets.USER_AUTHORIZED_IPS,
)
async def forget_authorized_ips(request: Request, signing_in: SigningInArea, body: SudoFields) -> None:
    """Forget every network that the account has signed in from; sudo mode."""
    account = request.principal.account
    await signing_in.sudo.require(account, request.proof(body))
    await signing_in.ip_authorization.forget(account.id, request.guard)
