"""Single sign-on through an OpenID Connect provider (access.md, Single sign-on enforcement; signing_in.md, Single
sign-on).

An account belongs to a person of the provider's by their subject there, which never changes; the first time by an email
address that the provider has verified. Addresses go from one person to the next, so one finds no account that belongs
to another of the provider's subjects already (OpenID Connect Core 5.7). An account whose holder never proved that
address here may belong to any stranger who typed it in: then the provider's word counts, and all else that could open
the account is taken away from it.
"""

from __future__ import annotations

import re
import sqlite3
from typing import Final

import attrs
import structlog

from chat import wire
from chat.auth.openid_connect import Claims, CodeRefused, OpenIdConnect
from chat.auth.tokens import token_hash
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.profiles import Usernames
from chat.domain.signing_in.authentication import Authentication, SignedIn, SignInMethod
from chat.domain.signing_in.email_addresses import require_free_address
from chat.domain.signing_in.ip_authorization import IpAuthorization
from chat.domain.signing_in.registration import NAMELESS
from chat.domain.signing_in.sign_ins import RequestOrigin, SignIns
from chat.errors import ApiError, InvalidFormBody
from chat.mail.mailer import MailKind
from chat.protocol.visible_text import tidy
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts, user_settings
from chat.store.accounts.accounts import Account
from chat.store.applications import oauth2_grants
from chat.store.guard import Guard
from chat.store.signing_in import auth_sessions, one_time_codes, tickets, webauthn_credentials
from chat.store.signing_in.tickets import Ticket

KIND: Final = "sso_state"
STATE_LIFETIME_MS: Final = 10 * 60_000
"""How long a person may take at the provider."""

PATH_LENGTH: Final = 2_048

log: Final = structlog.get_logger("chat.sso")

_PATH: Final = re.compile(r"/[!-\[\]-~]*", re.ASCII)
"""Printable, without white space and without backslash, which browsers take for a slash."""


@frozen
class SingleSignOnArrival:
    """A person who came back from the provider and is signed in, and where they wanted to go."""

    signed_in: SignedIn
    redirect_to: str | None


@define(kw_only=True, eq=False)
class SingleSignOn:
    """Signs people in by what the provider says; `connect` is None where single sign-on is off."""

    _core: Core
    _connect: OpenIdConnect | None
    _authentication: Authentication
    _newcomers: SsoAccounts

    def status(self) -> wire.SingleSignOnStatus:
        """What a sign-in page wants to know (signing_in.md, Single sign-on)."""
        sso = self._core.settings.sso
        return {
            "enabled": sso.is_on,
            "enforced": sso.is_enforced,
            "display_name": sso.display_name,
            "redirect_uri": self._core.settings.sso_redirect_uri,
        }

    async def start(self, redirect_to: str | None, redirect_uri: str | None, guard: Guard) -> wire.SsoStart:
        """Where to go to sign in. The `state` is good for one return within ten minutes; a page keeps it, and
        takes no return but its own.

        `redirect_to` is a path of this instance where the person wants to be afterwards; `redirect_uri` may be given,
        and is the instance's own.

        :raises ApiError: FEATURE_TEMPORARILY_DISABLED where single sign-on is off; SERVICE_UNAVAILABLE, BAD_GATEWAY
            when the provider cannot be used.
        :raises InvalidFormBody: INVALID_FORMAT at either member.
        """
        connect = self._required()
        if redirect_uri is not None and redirect_uri != self._core.settings.sso_redirect_uri:
            raise InvalidFormBody.at("redirect_uri", FieldCode.INVALID_FORMAT)
        if redirect_to is not None and not is_own_path(redirect_to):
            raise InvalidFormBody.at("redirect_to", FieldCode.INVALID_FORMAT)
        state = self._core.mint.secret()
        url = await connect.authorization_url(state)
        now = self._core.clock.now_ms()
        ticket = Ticket(token_hash(state), KIND, None, {"redirect_to": redirect_to}, now, now + STATE_LIFETIME_MS)
        await self._core.database.write(lambda connection: tickets.insert(connection, ticket), guard=guard)
        return {"authorization_url": url, "state": state, "redirect_uri": self._core.settings.sso_redirect_uri}

    async def complete(self, code: str, state: str, client: RequestOrigin) -> SingleSignOnArrival:
        """Sign in the person who came back from the provider with this code and state. The state is used up either way.

        :raises ApiError: SSO_REQUIRED when no account fits what the provider says and none is made;
            FEATURE_TEMPORARILY_DISABLED where single sign-on is off; SERVICE_UNAVAILABLE, BAD_GATEWAY when the provider
            cannot be used; as `Authentication.complete`.
        :raises InvalidFormBody: SESSION_TIMEOUT at `state`, INVALID_CODE at `code`.
        """
        connect = self._required()
        now = self._core.clock.now_ms()
        ticket = await self._core.database.write(
            lambda connection: tickets.take(connection, KIND, token_hash(state), now), guard=client.guard
        )
        if ticket is None:
            raise InvalidFormBody.at("state", FieldCode.SESSION_TIMEOUT)
        try:
            claims = await connect.redeem(code, state)
        except CodeRefused:
            raise InvalidFormBody.at("code", FieldCode.INVALID_CODE) from None
        return SingleSignOnArrival(await self._sign_in(claims, client), ticket.body["redirect_to"])

    async def _sign_in(self, claims: Claims, client: RequestOrigin) -> SignedIn:
        account = holder_of(self._core.database.reader, claims)
        if account is None and self._core.settings.sso.auto_provision:
            made = await self._newcomers.make(claims, client)
            if made is not None:
                return made
            account = holder_of(self._core.database.reader, claims)  # another request has just made it
        if account is None:
            log.info("no account fits the provider's claims", address=client.address)
            raise ApiError(ErrorCode.SSO_REQUIRED)

        def change(connection: sqlite3.Connection, current: Account) -> Account:
            found = holder_of(connection, claims)
            if found is None or found.id != current.id:
                raise ApiError(ErrorCode.SSO_REQUIRED)
            is_new = auth_sessions.account_of_subject(connection, claims.issuer, claims.subject) is None
            auth_sessions.put_subject(connection, claims.issuer, claims.subject, current.id, self._core.clock.now_ms())
            if is_new and not current.email_verified:
                return _handed_over(connection, current, self._core.clock.now_ms())
            return self._newcomers.with_address(connection, current, claims)

        way = SignInMethod(
            refused=ApiError(ErrorCode.SSO_REQUIRED), change=change, then=self._tell, address_is_proved=True
        )
        return await self._authentication.complete(account, client, way)

    def _tell(self, before: Account, after: Account) -> None:
        if after.email_verified and not before.email_verified:
            self._core.account_events.signed_out(after.id)
        if after != before:
            self._core.account_events.changed(before, after)

    def _required(self) -> OpenIdConnect:
        if self._connect is None:
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        return self._connect


def holder_of(connection: sqlite3.Connection, claims: Claims) -> Account | None:
    """The account that the claims match: by subject, else by verified address; never a deleted one."""
    account = auth_sessions.account_of_subject(connection, claims.issuer, claims.subject)
    if account is None or account.is_deleted:
        account = None if claims.email is None else accounts.by_email_key(connection, claims.email)
        if account is not None and auth_sessions.has_other_subject(
            connection, claims.issuer, claims.subject, account.id
        ):
            return None
    return None if account is None or account.is_deleted else account


def is_own_path(text: str) -> bool:
    """Whether the text is a path of this very origin, however it is read: no other host, no way around."""
    if len(text) > PATH_LENGTH or _PATH.fullmatch(text) is None:
        return False
    path = re.split(r"[?#]", text, maxsplit=1)[0]
    segments = path.lower().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/").split("/")[1:]
    return not any(segment in {".", ".."} for segment in segments) and "" not in segments[:-1]


def _handed_over(connection: sqlite3.Connection, account: Account, now_ms: int) -> Account:
    """In a unit of writing: the account for the holder of its address alone. Those who set it up never proved to be
    that person, so nothing of theirs opens it any longer."""
    auth_sessions.end_of_user(connection, account.id, now_ms)
    webauthn_credentials.delete_of_user(connection, account.id)
    one_time_codes.delete_backup_codes(connection, account.id)
    oauth2_grants.delete_of_user(connection, account.id)
    one_time_codes.delete_recovery_kit(connection, account.id)
    for kind in MailKind:
        tickets.delete_email_tokens(connection, str(kind), account.id)
    log.info("an unproven account was handed over to the holder of its address", user_id=account.id)
    return attrs.evolve(
        account,
        email_verified=True,
        email_bounced=False,
        password_hash=None,
        password_last_changed_at=None,
        totp_secret=None,
        passkey_second_factor=False,
    )


@define(kw_only=True, eq=False)
class SsoAccounts:
    """Makes accounts at the first single sign-on (setting `sso.auto_provision`): no password, the verified address,
    names as near to the provider's as they can be."""

    _core: Core
    _usernames: Usernames
    _sign_ins: SignIns
    _networks: IpAuthorization

    async def make(self, claims: Claims, client: RequestOrigin) -> SignedIn | None:
        """Make the account and sign it in; None when the person has one at the moment of writing.

        :raises ApiError: CONTENT_BLOCKED for a blocked address or name.
        """
        account = self._account(claims)
        if account.email is not None:
            self._core.blocked.require_email(account.email)
        for name in (account.username, account.global_name or ""):
            self._core.blocked.require_profile(name)
        sign_in = self._sign_ins.new(account.id, client, proved_at=account.created_at)

        def unit(connection: sqlite3.Connection) -> Account | None:
            if holder_of(connection, claims) is not None:
                return None
            username, number = self._usernames.allocate_like(connection, account.username, bot=False)
            made = attrs.evolve(account, username=username, discriminator=number)
            if made.email is not None and accounts.by_email_key(connection, made.email) is not None:
                made = attrs.evolve(made, email=None, email_verified=False)  # it is another person's of the provider's
            accounts.insert(connection, made)
            user_settings.put(connection, made.id, {})
            auth_sessions.put_subject(connection, claims.issuer, claims.subject, made.id, made.created_at)
            self._networks.remember(connection, made, client.address)
            return self._sign_ins.enter(connection, made, sign_in)

        made = await self._core.database.write(unit, guard=client.guard)
        if made is None:
            return None
        log.info("account made at single sign-on", user_id=made.id, address=client.address)
        return SignedIn(made, sign_in)

    def with_address(self, connection: sqlite3.Connection, account: Account, claims: Claims) -> Account:
        """In a unit of writing: an account that only the provider leads to, with the address that counts by now. It was
        made without, when the provider did not say that the address was verified, or the operator vouched for none."""
        email = self._address(claims)
        if email is None or account.email is not None or account.password_hash is not None:
            return account
        try:
            self._core.blocked.require_email(email)
            require_free_address(connection, email, account.id, self._core.clock.now_ms())
        except ApiError:
            return account
        return attrs.evolve(account, email=email, email_verified=True)

    def _address(self, claims: Claims) -> str | None:
        """The address for an account. A username instance keeps none."""
        return None if claims.email is None or self._core.settings.sign_in == "username" else _email(claims.email)

    def _account(self, claims: Claims) -> Account:
        """The account as it is to be, without its discriminator."""
        email = self._address(claims)
        return Account(
            id=self._core.snowflakes(),
            username=self._username(claims),
            discriminator=0,
            global_name=_global_name(claims.name),
            email=email,
            email_verified=email is not None or self._core.settings.sign_in == "username",
            created_at=self._core.clock.now_ms(),
        )

    def _username(self, claims: Claims) -> str:
        for name in (claims.preferred_username, claims.email, claims.name):
            stem = (name or "").partition("@")[0]
            made = account_rules.username_from(stem, service_name=self._core.settings.service_name)
            if made is not None:
                return made
        return NAMELESS


def _email(text: str) -> str | None:
    try:
        return account_rules.email(text)
    except InvalidFormBody:
        return None


def _global_name(text: str | None) -> str | None:
    try:
        return account_rules.global_name(tidy(text or "")[: account_rules.GLOBAL_NAME_LENGTH])
    except InvalidFormBody:
        return None
