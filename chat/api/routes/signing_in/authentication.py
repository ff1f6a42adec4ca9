"""The authentication family as far as passwords and mail go (signing_in.md, Login)."""

from __future__ import annotations

import base64
import re
from collections.abc import Hashable
from typing import Annotated, Final, Literal

import attrs
import orjson
import structlog

from chat import wire
from chat.api import buckets
from chat.api.fields import Exact, Items, Length, SudoFields, Trimmed
from chat.api.operation import InstanceKind, Policy, Request, Routes
from chat.auth.client_address import network_of, subnet_of
from chat.auth.passwords import Asker
from chat.auth.principal import CredentialKind, Principal
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.policy import account_rules
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.signing_in.authentication import MfaChallenge, SignedIn
from chat.domain.signing_in.registration import Applicant, AwaitsApproval
from chat.domain.signing_in.sign_ins import RequestOrigin
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.visible_text import visible
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts.accounts import Account, email_key, username_key

NO_BOTS: Final = ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED
"""What a bot gets on this family of operations (access.md, Refused credentials)."""

routes = Routes(bots_refused_with=NO_BOTS)
log: Final = structlog.get_logger("chat.api")

InviteCode = Annotated[str, Length(1, 256)]
Token = Annotated[str, Exact(), Length(1, 256)]


@frozen(kw_only=True)
class Register:
    """The body of register."""

    email: Annotated[str, Trimmed()] | None = None
    username: str | None = None
    password: Annotated[str, Exact()] | None = attrs.field(default=None, repr=False)
    global_name: str | None = None
    date_of_birth: str | None = None
    consent: bool = False
    invite_code: InviteCode | None = None
    registration_url_code: Annotated[str, Exact(), Length(1, 256)] | None = attrs.field(default=None, repr=False)
    theme: Literal["dark", "dark_legacy", "coal", "light", "system"] | None = None


@frozen(kw_only=True)
class Login:
    """The body of login: `email`, or `username` on a username instance."""

    email: Annotated[str, Trimmed(), Length(1, 256)] | None = None
    username: Annotated[str, Trimmed(), Length(1, 256)] | None = None
    password: Annotated[str, Exact(), Length(1, 256)] = attrs.field(repr=False)
    invite_code: InviteCode | None = None


@frozen
class Verify:
    """The body of verify: the token of the mail."""

    token: Token = attrs.field(repr=False)


@frozen(kw_only=True)
class EndSessions(SudoFields):
    """The body of sessions/logout."""

    session_id_hashes: Annotated[list[Annotated[str, Length(1, 256)]], Items(0, 100)]


@routes.operation(
    "POST",
    "/v1/auth/register",
    policy=Policy.NONE,
    bucket=buckets.AUTH_REGISTER,
    closed_by_sso=True,
    asks_captcha=True,
    secret=True,
)
async def register(
    request: Request, signing_in: SigningInArea, guilds: GuildsArea, body: Register
) -> wire.Registration:
    """Make an account and sign it in."""
    request.limit_all(
        *(() if body.email is None else ((buckets.REGISTRATIONS_OF_EMAIL, email_key(body.email)),)),
        (buckets.REGISTRATIONS_OF_ADDRESS, network_of(request.address)),
        (buckets.REGISTRATIONS_OF_SUBNET, subnet_of(request.address)),
    )
    applicant = Applicant(
        username=body.username,
        email=body.email,
        password=body.password,
        global_name=body.global_name,
        date_of_birth=body.date_of_birth,
        consent=body.consent,
        theme=body.theme,
        locale=preferred_locale(request.headers.get("accept-language")),
        invite_code=body.invite_code,
        registration_url_code=body.registration_url_code,
    )
    outcome = await signing_in.registration.register(applicant, client_of(request))
    if isinstance(outcome, AwaitsApproval):
        return outcome.answer()
    return await answer_to_sign_in(request, outcome, guilds=guilds)


@routes.operation(
    "POST",
    "/v1/auth/login",
    policy=Policy.NONE,
    bucket=buckets.AUTH_LOGIN,
    closed_by_sso=True,
    asks_captcha=True,
    secret=True,
)
async def login(request: Request, signing_in: SigningInArea, guilds: GuildsArea, body: Login) -> wire.SignIn:
    """Sign in with a password."""
    authentication = signing_in.authentication
    by_email = authentication.login_field == "email"
    name, other = (body.email, body.username) if by_email else (body.username, body.email)
    if other is not None:
        raise InvalidFormBody.at("username" if by_email else "email", FieldCode.INVALID_FORMAT)
    if name is None:
        raise InvalidFormBody.at(authentication.login_field, FieldCode.INVALID_FORMAT)
    name = account_rules.known_email(name) if by_email else name
    key = email_key(name) if by_email else username_key(name)
    tried = tried_by(authentication.asker(name, request.address), request.address, key)
    request.limit_all((buckets.LOGINS_OF_NAME, tried), (buckets.LOGINS_OF_ADDRESS, network_of(request.address)))
    outcome = await authentication.login(name, body.password, client_of(request), body.invite_code)
    return await answer_to_sign_in(request, outcome, guilds=guilds)


@routes.operation("POST", "/v1/auth/logout", bots_refused_with=None, policy=Policy.USER, bucket=buckets.AUTH_LOGOUT)
async def logout(request: Request, signing_in: SigningInArea) -> None:
    """End the sign-in that the request came with; a bot's token stays what it is."""
    await signing_in.authentication.logout(request.principal)


@routes.operation("GET", "/v1/auth/sessions", policy=Policy.USER_ONLY, bucket=buckets.AUTH_SESSIONS)
async def list_sessions(request: Request, signing_in: SigningInArea) -> list[wire.AuthSession]:
    """The account's sign-ins, the most recently used first."""
    return await signing_in.sign_ins.of_account(request.principal)


@routes.operation("POST", "/v1/auth/sessions/logout", policy=Policy.USER_ONLY, bucket=buckets.AUTH_SESSIONS_LOGOUT)
async def end_sessions(request: Request, signing_in: SigningInArea, body: EndSessions) -> None:
    """End sign-ins of the account; sudo mode."""
    await signing_in.sudo.require(request.principal.account, request.proof(body))
    await signing_in.sign_ins.end(request.principal.user_id, body.session_id_hashes, request.guard)


@routes.operation(
    "POST",
    "/v1/auth/verify",
    policy=Policy.NONE,
    bucket=buckets.AUTH_VERIFY,
    closed_by_sso=True,
    instance=InstanceKind.EMAIL,
)
async def verify_email(request: Request, signing_in: SigningInArea, body: Verify) -> None:
    """Verify the address that the token was mailed to."""
    await signing_in.verification.verify(body.token, request.guard)


@routes.operation(
    "POST",
    "/v1/auth/verify/resend",
    policy=Policy.USER_ONLY,
    bucket=buckets.AUTH_VERIFY_RESEND,
    closed_by_sso=True,
    instance=InstanceKind.EMAIL,
)
async def resend_verification(request: Request, signing_in: SigningInArea) -> None:
    """Mail the caller's address a new token."""
    await signing_in.verification.resend(request.principal.account, request.guard)


def tried_by(asker: Asker, address: str, key: Hashable) -> Hashable:
    """What attempts on an account are counted under: its `key` for strangers, all of them together, and apart where the
    account has signed in from the address. So those who guess do not keep its holder out (signing_in.md, Login)."""
    return key if asker.account is None else (asker.account, network_of(address))


async def answer_to_sign_in(request: Request, outcome: SignedIn | MfaChallenge, *, guilds: GuildsArea) -> wire.SignIn:
    """The token response, after joining what the login's invite leads to, or what has to come before it."""
    if isinstance(outcome, MfaChallenge):
        return outcome.answer()
    await accept_invite(request, outcome.account, outcome.invite_code, guilds=guilds)
    return outcome.answer()


async def accept_invite(request: Request, account: Account, invite_code: str | None, *, guilds: GuildsArea) -> None:
    """Join what the invite of a login leads to; one that leads nowhere is no obstacle."""
    if invite_code is None:
        return
    try:
        await guilds.invites.accept(Principal(account, CredentialKind.SESSION), invite_code)
    except ApiError as refused:
        log.info("invite not accepted", user_id=account.id, code=refused.code)


_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}", re.ASCII)
_CLIENT_TEXT_LENGTH: Final = 64
_USER_AGENT_LENGTH: Final = 512


def preferred_locale(accept_language: str | None) -> str | None:
    """The first language that an Accept-Language header names; None for a header that names none."""
    match = _LANGUAGE.match((accept_language or "").strip())
    return None if match is None else match[0]


def client_of(request: Request) -> RequestOrigin:
    """Where a request comes from; what cannot be read of it is left out (http.md, Client headers)."""
    properties = _client_properties(request.headers.get("x-service-client-properties"))
    agent = request.headers.get("user-agent")
    return RequestOrigin(
        address=request.address,
        user_agent=None if agent is None else agent[:_USER_AGENT_LENGTH],
        os=properties.get("os"),
        platform=properties.get("platform"),
        guard=request.guard,
    )


def _client_properties(header: str | None) -> dict[str, str]:
    try:
        value = orjson.loads(base64.b64decode(header or "", validate=True) or b"{}")
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {name: visible(text)[:_CLIENT_TEXT_LENGTH] for name, text in value.items() if isinstance(text, str)}
