"""Authorisation requests: what an application asks of an account, and the code that it gets with its consent.

RFC 6749 4.1, RFC 7636; applications.md, Authorisation. A request is judged the same whether a browser brings it (and is
sent on to the page that asks for consent) or that page posts it. Until client and redirect address are known to belong
together no browser is sent anywhere (RFC 6749 4.1.2.1).
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog

from chat.auth.principal import Principal
from chat.auth.tokens import token_hash
from chat.domain.applications.bot_installation import BotInstallation
from chat.domain.applications.oauth2_protocol import (
    Challenge,
    OAuth2Clients,
    OAuth2Error,
    OAuth2ErrorCode,
    challenge_of,
    invalid_request,
    is_redirect,
    requested_scopes,
    unknown_client,
    with_parameters,
)
from chat.domain.core import Core
from chat.errors import StorageUnavailable
from chat.registries.scopes import ADMIN_APPLICATION_ID, Scope
from chat.store.applications.applications import Application
from chat.store.signing_in import tickets
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.oauth2")

CODE_LIFETIME_MS: Final = 600_000
"""How long an authorisation code can be exchanged (applications.md, Authorisation)."""

CONSENT_PAGE: Final = "/oauth2/authorize"
"""The page that asks for consent, below the instance's public address."""


@attrs.frozen(kw_only=True)
class AuthorizationRequest:
    """The parameters of an authorisation request, None where they were not sent."""

    client_id: str | None = None
    redirect_uri: str | None = None
    response_type: str | None = None
    scope: str | None = None
    state: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str | None = None


@attrs.frozen
class _Terms:
    """An authorisation request that can be granted. Without `redirect_uri` no code is wanted."""

    application: Application
    scopes: tuple[str, ...]
    redirect_uri: str | None
    challenge: Challenge | None


def code_kind(application_id: int) -> str:
    """The kind of ticket that an application's authorisation codes are."""
    return f"oauth2_code:{application_id}"


class OAuth2Authorization:
    """Judges authorisation requests and carries out consent."""

    def __init__(self, core: Core, clients: OAuth2Clients, bots: BotInstallation) -> None:
        self._core = core
        self._clients = clients
        self._bots = bots
        self._consent_page = core.origins.fixed + CONSENT_PAGE

    def destination(self, asked: AuthorizationRequest, query_string: str) -> str:
        """Where a browser that brings an authorisation request is sent: with the same query to the page that asks for
        consent, or back to the application with what is wrong.

        :raises OAuth2Error: where it must not be sent anywhere.
        """
        if self._core.database.failing:
            raise StorageUnavailable
        application = self._application(self._core.database.reader, asked)
        redirect_uri = _registered_redirect(application, asked)
        try:
            _terms(application, redirect_uri, asked)
        except OAuth2Error as error:
            if redirect_uri is None:
                raise
            return with_parameters(redirect_uri, {**error.body(), "state": asked.state})
        return f"{self._consent_page}?{query_string}"

    async def consent(
        self,
        principal: Principal,
        asked: AuthorizationRequest,
        *,
        guild_id: int | None,
        permissions: int,
        reason: str | None = None,
    ) -> str:
        """The caller agrees: the address to go to, with a code where one is wanted.

        With the scope `bot` and a guild the application's bot becomes a member of it, with a role for `permissions`;
        `reason` is for the guild's audit log.

        :raises OAuth2Error: for a request that cannot be granted; nothing is done then.
        :raises ApiError: as `BotInstallation.install`.
        """
        terms = self._granted(self._core.database.reader, asked)
        code = None if terms.redirect_uri is None else self._core.mint.secret()
        ticket = None if code is None else self._ticket(principal, terms, code)

        def write_ticket(connection: sqlite3.Connection) -> None:
            if self._granted(connection, asked) != terms:  # the application was changed while this waited its turn
                raise invalid_request("The application has changed.")
            if ticket is not None:
                tickets.insert(connection, ticket)

        if Scope.BOT not in terms.scopes:
            await self._core.database.write(write_ticket, guard=principal.guard)
        elif guild_id is None:
            self._bots.require_installable(principal, terms.application)
            await self._core.database.write(write_ticket, guard=principal.guard)
        else:
            await self._bots.install(
                principal, terms.application, guild_id, permissions, reason=reason, first=write_ticket
            )
        log.info(
            "consent given", user_id=principal.user_id, application_id=terms.application.id, scopes=list(terms.scopes)
        )
        if terms.redirect_uri is None:
            return with_parameters(self._consent_page, {"done": "1", "client_id": str(terms.application.id)})
        return with_parameters(terms.redirect_uri, {"code": code, "state": asked.state})

    def _ticket(self, principal: Principal, terms: _Terms, code: str) -> Ticket:
        now = self._core.clock.now_ms()
        return Ticket(
            secret_hash=token_hash(code),
            kind=code_kind(terms.application.id),
            user_id=principal.user_id,
            body={
                "scopes": terms.scopes,
                "redirect_uri": terms.redirect_uri,
                "challenge": None if terms.challenge is None else attrs.astuple(terms.challenge),
            },
            created_at=now,
            expires_at=now + CODE_LIFETIME_MS,
        )

    def _granted(self, connection: sqlite3.Connection, asked: AuthorizationRequest) -> _Terms:
        application = self._application(connection, asked)
        return _terms(application, _registered_redirect(application, asked), asked)

    def _application(self, connection: sqlite3.Connection, asked: AuthorizationRequest) -> Application:
        if asked.client_id is None:
            raise invalid_request("client_id is missing.")
        application = self._clients.named(connection, asked.client_id)
        if application is None:
            raise unknown_client()
        return application


def _registered_redirect(application: Application, asked: AuthorizationRequest) -> str | None:
    """The redirect address, compared character by character with those that are registered (RFC 9700 2.1). One that
    could not be registered today leads nowhere either, unless it is the instance's own."""
    address = asked.redirect_uri
    if address is not None and not (
        address in application.redirect_uris and (application.id == ADMIN_APPLICATION_ID or is_redirect(address))
    ):
        raise invalid_request("redirect_uri is not registered for this application.")
    return address


def _terms(application: Application, redirect_uri: str | None, asked: AuthorizationRequest) -> _Terms:
    if asked.response_type not in (None, "code"):
        raise OAuth2Error(OAuth2ErrorCode.UNSUPPORTED_RESPONSE_TYPE, "The only response_type is code.")
    scopes = requested_scopes(asked.scope, application.id)
    if redirect_uri is None:
        if scopes != (Scope.BOT,) or application.bot_require_code_grant:
            raise invalid_request("redirect_uri is missing.")
        return _Terms(application, scopes, None, None)
    has_secret = application.client_secret_hash is not None
    challenge = challenge_of(asked.code_challenge, asked.code_challenge_method, required=not has_secret)
    return _Terms(application, scopes, redirect_uri, challenge)
