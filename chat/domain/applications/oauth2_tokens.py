"""OAuth2 tokens: exchanging codes, refreshing, revoking, looking into them (RFC 6749 4.1.3 and 6, 7009, 7662, 9700).

A grant comes of exchanging a code, and all its tokens come and go with it. An access token is good while its grant
lives, it was not revoked itself, and seven days have not passed. A refresh token is exchanged once, for a new pair; one
that is presented again tells that two parties hold it, and ends the grant. The same is true of a code.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs
import structlog

from chat import wire
from chat.auth.tokens import token_hash
from chat.classes import define, frozen
from chat.domain.applications.oauth2_authorization import code_kind
from chat.domain.applications.oauth2_protocol import (
    Challenge,
    ClientCredentials,
    OAuth2Client,
    OAuth2Clients,
    invalid_grant,
    invalid_scope,
    may_be_public,
    requested_scopes,
    unauthenticated_client,
)
from chat.domain.core import Core
from chat.errors import StorageUnavailable
from chat.store.applications import oauth2_grants
from chat.store.applications.oauth2_grants import ACCESS, REFRESH, Grant, Token
from chat.store.guard import Guard
from chat.store.signing_in import tickets
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.oauth2")

ACCESS_LIFETIME_MS: Final = 604_800_000
"""Seven days (applications.md, Access tokens)."""

REFRESH_LIFETIME_MS: Final = 2_592_000_000
"""Thirty days (applications.md, Access tokens)."""

TOKEN_TYPE: Final = "Bearer"  # noqa: S105 - public


@frozen
class CodeExchange:
    """The parameters of a request that exchanges a code for tokens."""

    code: str = attrs.field(repr=False)
    redirect_uri: str
    verifier: str | None = attrs.field(default=None, repr=False)


@frozen
class _Pair:
    """An access token and a refresh token that are told once."""

    access: str = attrs.field(repr=False)
    refresh: str = attrs.field(repr=False)


@define(kw_only=True, eq=False)
class OAuth2Tokens:
    _core: Core
    _clients: OAuth2Clients

    async def exchange(self, shown: ClientCredentials, presented: CodeExchange, guard: Guard) -> wire.OAuth2Tokens:
        """Exchange an authorisation code. Only success uses it up; used before, it ends what came of it.

        :raises OAuth2Error: invalid_client, invalid_grant.
        """
        now, grant_id, pair = self._core.clock.now_ms(), self._core.snowflakes(), self._pair()
        code_hash = token_hash(presented.code)

        def unit(connection: sqlite3.Connection) -> Grant | None:
            client = self._clients.authenticate(connection, shown)
            if not client.is_authenticated and not _goes_without_secret(client, presented):
                raise unauthenticated_client()
            code = tickets.find(connection, code_kind(client.application.id), code_hash, now)
            if code is None or code.user_id is None:
                _end_replayed(connection, client, code_hash)
                return None
            if not _may_exchange(client, code, presented):
                raise invalid_grant()
            tickets.delete(connection, code_hash)
            grant = Grant(
                id=grant_id,
                application_id=client.application.id,
                user_id=code.user_id,
                scopes=code.body["scopes"],
                public=not client.is_authenticated,
                code_hash=code_hash,
                created_at=now,
            )
            oauth2_grants.insert(connection, grant)
            oauth2_grants.insert_tokens(connection, *_tokens(grant_id, pair, now))
            return grant

        return self._answer(await self._write(shown, unit, guard), pair)

    async def refresh(
        self, shown: ClientCredentials, refresh_token: str, scope: str | None, guard: Guard
    ) -> wire.OAuth2Tokens:
        """Exchange a refresh token for a new pair; used before, it ends the grant.

        `scope` may name nothing that was not granted; the new tokens have the grant's scopes all the same (RFC 6749
        3.3).

        :raises OAuth2Error: invalid_client, invalid_grant, invalid_scope.
        """
        now, pair = self._core.clock.now_ms(), self._pair()
        presented = token_hash(refresh_token)

        def unit(connection: sqlite3.Connection) -> Grant | None:
            client = self._clients.authenticate(connection, shown)
            found = _token_of(connection, client, presented, now)
            if found is None:
                raise invalid_grant() if client.is_authenticated else unauthenticated_client()
            token, grant = found
            if token.kind != REFRESH:
                raise invalid_grant()
            if token.used_at is not None:
                log.warning("refresh token used twice: grant ended", grant_id=grant.id, user_id=grant.user_id)
                oauth2_grants.delete(connection, grant.id)
                return None
            if scope is not None and not set(requested_scopes(scope, grant.application_id)).issubset(grant.scopes):
                raise invalid_scope()
            oauth2_grants.mark_used(connection, presented, now)
            oauth2_grants.insert_tokens(connection, *_tokens(grant.id, pair, now))
            return grant

        return self._answer(await self._write(shown, unit, guard), pair)

    async def revoke(self, shown: ClientCredentials, token: str, guard: Guard) -> None:
        """End an access token, or with a refresh token the whole grant (RFC 7009). Unknown ones, and those of other
        clients, are as if they were ended already.

        :raises OAuth2Error: invalid_client, also without a secret where the token was got with one.
        """
        now, presented = self._core.clock.now_ms(), token_hash(token)

        def unit(connection: sqlite3.Connection) -> None:
            client = self._clients.authenticate(connection, shown)
            found = oauth2_grants.find_token(connection, presented, now)
            if found is None or found[1].application_id != client.application.id:
                return
            known, grant = found
            if not _may_act_for(client, grant):
                raise unauthenticated_client()
            if known.kind == REFRESH:
                oauth2_grants.delete(connection, grant.id)
            else:
                oauth2_grants.delete_token(connection, presented)

        self._clients.authenticate(self._core.database.reader, shown)
        await self._core.database.write(unit, guard=guard)

    def introspect(self, shown: ClientCredentials, token: str) -> wire.Introspection:
        """What a token of the client's own is worth (RFC 7662); of any other only that it is not active.

        :raises OAuth2Error: invalid_client, also for a client that shows no secret.
        """
        if self._core.database.failing:
            raise StorageUnavailable
        client = self._clients.authenticate(self._core.database.reader, shown)
        if not client.is_authenticated:
            raise unauthenticated_client()
        found = _token_of(self._core.database.reader, client, token_hash(token), self._core.clock.now_ms())
        if found is None or found[0].used_at is not None:
            return {"active": False}
        known, grant = found
        answer: wire.IntrospectionItem2 = {
            "active": True,
            "scope": " ".join(grant.scopes),
            "client_id": str(grant.application_id),
            "exp": known.expires_at // 1000,
            "iat": known.created_at // 1000,
            "sub": str(grant.user_id),
        }
        if known.kind == ACCESS:
            answer["token_type"] = TOKEN_TYPE
        return answer

    async def _write(
        self, shown: ClientCredentials, unit: Callable[[sqlite3.Connection], Grant | None], guard: Guard
    ) -> Grant:
        """Carry out an exchange; what it ended without granting anything stays ended."""
        self._clients.authenticate(self._core.database.reader, shown)  # strangers do not get as far as the writer
        grant = await self._core.database.write(unit, guard=guard)
        if grant is None:
            raise invalid_grant()
        return grant

    def _pair(self) -> _Pair:
        return _Pair(self._core.mint.secret(), self._core.mint.secret())

    @staticmethod
    def _answer(grant: Grant, pair: _Pair) -> wire.OAuth2Tokens:
        return {
            "access_token": pair.access,
            "token_type": TOKEN_TYPE,
            "expires_in": ACCESS_LIFETIME_MS // 1000,
            "refresh_token": pair.refresh,
            "scope": " ".join(grant.scopes),
        }


def _end_replayed(connection: sqlite3.Connection, client: OAuth2Client, code_hash: bytes) -> None:
    """A code is not there: if it was exchanged before, two parties hold it (RFC 6749 4.1.2)."""
    grant = oauth2_grants.by_code(connection, code_hash)
    if grant is not None and _may_act_for(client, grant):
        log.warning("authorisation code used twice: grant ended", grant_id=grant.id, user_id=grant.user_id)
        oauth2_grants.delete(connection, grant.id)


def _may_exchange(client: OAuth2Client, code: Ticket, presented: CodeExchange) -> bool:
    """Whether redirect address and verifier are those of the authorisation request. A verifier where there was no
    challenge is wrong too: the challenge was taken out on the way (RFC 9700 2.1.1)."""
    if presented.redirect_uri != code.body["redirect_uri"]:
        return False
    challenge = code.body["challenge"]
    if challenge is None:
        return client.is_authenticated and presented.verifier is None
    return presented.verifier is not None and Challenge(*challenge).is_met_by(presented.verifier)


def _goes_without_secret(client: OAuth2Client, presented: CodeExchange) -> bool:
    return presented.verifier is not None and may_be_public(client.application, presented.redirect_uri)


def _may_act_for(client: OAuth2Client, grant: Grant) -> bool:
    """Whether the grant is the client's own. One that was made with the secret is dealt with only with the secret; so
    is every one once the application is such that it has to show it."""
    if grant.application_id != client.application.id:
        return False
    return client.is_authenticated or (grant.public and may_be_public(client.application))


def _token_of(
    connection: sqlite3.Connection, client: OAuth2Client, presented: bytes, now: int
) -> tuple[Token, Grant] | None:
    found = oauth2_grants.find_token(connection, presented, now)
    return found if found is not None and _may_act_for(client, found[1]) else None


def _tokens(grant_id: int, pair: _Pair, now: int) -> tuple[Token, Token]:
    return (
        Token(token_hash(pair.access), grant_id, ACCESS, now, now + ACCESS_LIFETIME_MS),
        Token(token_hash(pair.refresh), grant_id, REFRESH, now, now + REFRESH_LIFETIME_MS),
    )
