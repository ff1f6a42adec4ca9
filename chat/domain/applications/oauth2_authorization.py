"""Authorisation requests: what an application asks of an account, the code that it gets with its consent, and its bot
in a guild with a role for what it was promised (applications.md, Installing a bot).

RFC 6749 4.1, RFC 7636; applications.md, Authorisation. A request is judged the same whether a browser brings it (and is
sent on to the page that asks for consent) or that page posts it. Until client and redirect address are known to belong
together no browser is sent anywhere (RFC 6749 4.1.2.1).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs
import structlog

from chat.auth.principal import Principal
from chat.auth.tokens import token_hash
from chat.classes import define, frozen
from chat.domain.applications.application_objects import bot_of
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
from chat.domain.guilds.memberships import Memberships, Preparation
from chat.domain.guilds.roles import Roles
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_states import Role
from chat.domain.standing.permissions import ADMINISTRATOR
from chat.errors import ApiError, StorageUnavailable
from chat.registries.audit_actions import AuditAction
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_values import JoinSource
from chat.registries.permissions import ALL_DEFINED, FULL_MASK, Permission
from chat.registries.scopes import ADMIN_APPLICATION_ID, Scope
from chat.store.applications.applications import Application
from chat.store.guilds import guilds, members, roles
from chat.store.signing_in import tickets
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.oauth2")

CODE_LIFETIME_MS: Final = 600_000
"""How long an authorisation code can be exchanged (applications.md, Authorisation)."""

CONSENT_PAGE: Final = "/oauth2/authorize"
"""The page that asks for consent, below the instance's public address."""


@frozen(kw_only=True)
class AuthorizationRequest:
    """The parameters of an authorisation request, None where they were not sent."""

    client_id: str | None = None
    redirect_uri: str | None = None
    response_type: str | None = None
    scope: str | None = None
    state: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str | None = None


@frozen
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


NEW_ROLE_POSITION: Final = 1
"""New roles go to the bottom, above that of all members (applications.md, Installing a bot)."""


@define(kw_only=True, eq=False)
class BotInstallation:
    _core: Core
    _memberships: Memberships
    _roles: Roles

    def require_installable(self, principal: Principal, application: Application) -> None:
        """Return if the caller may add the application's bot to guilds at all.

        :raises ApiError: NOT_A_BOT_APPLICATION, BOT_IS_PRIVATE.
        """
        if application.bot_user_id is None:
            raise ApiError(ErrorCode.NOT_A_BOT_APPLICATION)
        if not application.bot_public and application.owner_id != principal.user_id:
            raise ApiError(ErrorCode.BOT_IS_PRIVATE)

    async def install(
        self,
        principal: Principal,
        application: Application,
        guild_id: int,
        permissions: int,
        *,
        reason: str | None = None,
        first: Callable[[sqlite3.Connection], None],
    ) -> None:
        """Make the bot a member. `first` runs in the same transaction before anything is written, and may refuse.

        Where `permissions` are asked for, the bot gets a role of its name with as many of them as the caller holds.
        `reason` is for the guild's audit log.

        :raises ApiError: as `require_installable`; as `Access.guild`, with MANAGE_GUILD; BOT_ALREADY_IN_GUILD,
            USER_BANNED_FROM_GUILD, MAX_GUILD_ROLES, MAX_GUILD_MEMBERS, and what `first` raises.
        """
        self.require_installable(principal, application)
        self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD.value)
        bot = bot_of(self._core.database.reader, application)
        if bot is None:
            raise ApiError(ErrorCode.NOT_A_BOT_APPLICATION)
        role = Role(
            self._core.snowflakes(), guild_id, bot.username, position=NEW_ROLE_POSITION, permissions=permissions
        )
        actor = Actor(principal.user_id, reason)

        def prepare(connection: sqlite3.Connection) -> Preparation:
            held = _held(connection, guild_id, principal.user_id)
            if not held & Permission.MANAGE_GUILD:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            first(connection)
            wanted = attrs.evolve(role, permissions=permissions & held & ALL_DEFINED)
            written = self._roles.write_new(connection, wanted, actor) if permissions else None
            entry = self._core.audit_log.record(
                connection, guild_id, AuditAction.BOT_ADD, actor, target_id=bot.id, options={"temporary": False}
            )

            def announce() -> None:
                if written is not None:
                    self._roles.announce(written)
                self._core.audit_log.publish(entry)

            return Preparation(frozenset() if written is None else frozenset({role.id}), announce)

        joined = await self._memberships.join(
            bot, guild_id, JoinSource.BOT_INVITE, inviter_id=principal.user_id, first=prepare, guard=principal.guard
        )
        if not joined:
            raise ApiError(ErrorCode.BOT_ALREADY_IN_GUILD)


def _held(connection: sqlite3.Connection, guild_id: int, user_id: int) -> int:
    """The account's permissions in the guild at the moment of the write; the earlier check may be out of date."""
    guild = guilds.by_id(connection, guild_id)
    if guild is None or not members.exists(connection, guild_id, user_id):
        return 0
    if guild.owner_id == user_id:
        return FULL_MASK
    mask = roles.granted(connection, user_id, [guild_id])[guild_id]
    return FULL_MASK if mask & ADMINISTRATOR else mask
