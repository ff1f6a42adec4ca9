"""Signing in at an OpenID Connect provider: the address to send people to, and what their code is worth.

Authorisation code flow with PKCE (RFC 7636, S256) and a nonce. Both are derived from the state, so that the state,
which the browser carries around, is all that has to be remembered, and nobody who sees it can make the rest of it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import attrs
import structlog

from chat.auth.openid_provider import OpenIdProvider, ProviderMetadata
from chat.auth.outgoing_http import OutgoingHttp, unusable
from chat.clock import Clock
from chat.config.settings import SsoSettings

SCOPE: Final = "openid email profile"

CODE_REFUSED: Final = frozenset({"invalid_grant"})
"""What the token endpoint says of a code that is unknown, used, expired or another client's (RFC 6749 5.2)."""

TEXT_LENGTH: Final = 256
"""Characters read of a name or an address in the claims."""

log: Final = structlog.get_logger("chat.sso")


class CodeRefused(Exception):
    """The code is worth nothing, or belongs to another sign-in."""


@attrs.frozen
class Claims:
    """What the provider says of a person."""

    issuer: str
    subject: str
    email: str | None
    """Only an address that the provider has verified."""
    name: str | None = None
    preferred_username: str | None = None


class OpenIdConnect:
    """This instance as a client of its provider. `key` makes nonces and verifiers."""

    def __init__(self, settings: SsoSettings, redirect_uri: str, key: bytes, http: OutgoingHttp, clock: Clock) -> None:
        self._client_id = settings.client_id or ""
        self._client_secret = settings.client_secret
        self._redirect_uri = redirect_uri
        self._key = key
        self._http = http
        self._clock = clock
        self._provider = OpenIdProvider(settings.issuer or "", http, clock)

    async def authorization_url(self, state: str) -> str:
        """Where to send somebody who wants to sign in.

        :raises ApiError: SERVICE_UNAVAILABLE, BAD_GATEWAY.
        """
        endpoint = (await self._provider.metadata()).authorization_endpoint
        challenge = hashlib.sha256(self._derived("verifier", state).encode()).digest()
        parameters = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._redirect_uri,
            "scope": SCOPE,
            "state": state,
            "nonce": self._derived("nonce", state),
            "code_challenge": _base64url(challenge),
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(parameters, quote_via=quote)}"

    async def redeem(self, code: str, state: str) -> Claims:
        """What the provider says of whoever came back with this code.

        :raises CodeRefused: the provider does not take it, or it answers another state.
        :raises ApiError: SERVICE_UNAVAILABLE when the provider cannot be reached, BAD_GATEWAY when what it says does
            not hold.
        """
        metadata = await self._provider.metadata()
        tokens = await self._tokens(metadata, code, self._derived("verifier", state))
        claims = await self._verified(metadata, tokens.get("id_token"), self._derived("nonce", state))
        if "email" not in claims or "email_verified" not in claims:
            claims = {**await self._userinfo(metadata, tokens.get("access_token"), claims["sub"]), **claims}
        email = _text(claims.get("email"))
        return Claims(
            issuer=self._provider.issuer,
            subject=claims["sub"],
            email=email if claims.get("email_verified") is True else None,
            name=_text(claims.get("name")),
            preferred_username=_text(claims.get("preferred_username")),
        )

    async def _tokens(self, metadata: ProviderMetadata, code: str, verifier: str) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": verifier,
        }
        headers: dict[str, str] = {}
        methods = metadata.token_auth_methods
        if self._client_secret is None:
            form["client_id"] = self._client_id
        elif "client_secret_post" in methods and "client_secret_basic" not in methods:
            form.update(client_id=self._client_id, client_secret=self._client_secret)
        else:
            headers["Authorization"] = _basic(self._client_id, self._client_secret)
        reply = await self._http.post_form(metadata.token_endpoint, form, headers)
        answer = reply.object()
        if reply.status == 200:
            return answer
        problem = _text(answer.get("error"))
        if problem in CODE_REFUSED:
            raise CodeRefused
        log.error("the OpenID Connect provider refuses this client", status=reply.status, problem=problem)
        raise unusable()

    async def _verified(self, metadata: ProviderMetadata, token: object, nonce: str) -> dict[str, Any]:
        # With the library for tokens, which a server without single sign-on never needs.
        from chat.auth.id_token import Expected, ForeignNonce, InvalidIdToken, UnknownKey, verified_claims

        expected = Expected(
            issuer=self._provider.issuer,
            client_id=self._client_id,
            nonce=nonce,
            algorithms=metadata.algorithms,
            now=self._clock.now_ms() // 1_000,
        )
        text = token if isinstance(token, str) else ""
        try:
            try:
                return verified_claims(text, await self._provider.keys(), expected)
            except UnknownKey:
                return verified_claims(text, await self._provider.keys(afresh=True), expected)
        except ForeignNonce as error:
            log.warning("an id token is not believed", problem=str(error))
            raise CodeRefused from error
        except InvalidIdToken as error:
            log.warning("an id token is not believed", problem=str(error))
            raise unusable() from error

    async def _userinfo(self, metadata: ProviderMetadata, access_token: object, subject: str) -> Mapping[str, Any]:
        """What the provider tells only when asked; most keep the address out of the id token."""
        if metadata.userinfo_endpoint is None or not isinstance(access_token, str) or not access_token.isascii():
            return {}
        reply = await self._http.get(metadata.userinfo_endpoint, {"Authorization": f"Bearer {access_token}"})
        answer = reply.object() if reply.status == 200 else {}
        if answer.get("sub") != subject:
            log.warning("the userinfo endpoint speaks of somebody else, or of nobody", status=reply.status)
            raise unusable()
        return answer

    def _derived(self, what: str, state: str) -> str:
        return _base64url(hmac.digest(self._key, f"{what} {state}".encode(), "sha256"))


def _basic(client_id: str, client_secret: str) -> str:
    """Client authentication by header; both parts are form-encoded first (RFC 6749 2.3.1)."""
    pair = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= TEXT_LENGTH else None


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
