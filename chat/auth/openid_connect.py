"""Signing in at an OpenID Connect provider: what the provider publishes of itself (OpenID Connect Discovery), the
address to send people to, and what their code is worth.

Authorisation code flow with PKCE (RFC 7636, S256) and a nonce. Both are derived from the state, so that the state,
which the browser carries around, is all that has to be remembered, and the rest cannot be made by those who see it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import attrs
import structlog

from chat.auth.outgoing_http import OutgoingHttp, is_protected, unusable
from chat.auth.tokens import base64url
from chat.classes import define, frozen
from chat.clock import Clock
from chat.config.settings import SsoSettings
from chat.errors import ApiError

SCOPE: Final = "openid email profile"

CODE_REFUSED: Final = frozenset({"invalid_grant"})
"""What the token endpoint says of a code that is unknown, used, expired or another client's (RFC 6749 5.2)."""

TEXT_LENGTH: Final = 256
"""Characters read of a name or an address in the claims."""

KEPT_MS: Final = 3_600_000
"""How long metadata and keys are believed without asking again."""

WELL_KNOWN: Final = "/.well-known/openid-configuration"

_ACCESS_TOKEN: Final = re.compile(r"[!-~]+", re.ASCII)
"""What a header can carry; more than RFC 6750 2.1 has."""

log: Final = structlog.get_logger("chat.sso")


@frozen
class ProviderMetadata:
    """The part of a provider's discovery document that a sign-in needs."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    algorithms: frozenset[str]
    """With which it signs id tokens."""
    token_auth_methods: frozenset[str]
    """How clients may prove themselves at the token endpoint."""


@define(eq=False)
class OpenIdProvider:
    """One provider, by its issuer: its endpoints and its keys.

    Both are kept for a while, so that most sign-ins ask the provider for nothing but the token; keys that are not known
    yet are fetched when a token names one.
    """

    issuer: str
    _http: OutgoingHttp
    _clock: Clock
    _metadata: tuple[int, ProviderMetadata] | None = attrs.field(default=None, init=False)
    _keys: tuple[int, list[Mapping[str, object]]] | None = attrs.field(default=None, init=False)

    async def metadata(self) -> ProviderMetadata:
        """Its endpoints.

        :raises ApiError: SERVICE_UNAVAILABLE when it cannot be reached, BAD_GATEWAY when it makes no sense.
        """
        now = self._clock.now_ms()
        if self._metadata is None or now - self._metadata[0] >= KEPT_MS:
            document = await self._object(self.issuer.rstrip("/") + WELL_KNOWN)
            self._metadata = (now, self._understood(document))
        return self._metadata[1]

    async def keys(self, *, afresh: bool = False) -> list[Mapping[str, object]]:
        """The keys with which it signs, as JSON Web Keys; `afresh` does not take those that are kept.

        :raises ApiError: as `metadata`.
        """
        now = self._clock.now_ms()
        if afresh or self._keys is None or now - self._keys[0] >= KEPT_MS:
            keys = (await self._object((await self.metadata()).jwks_uri)).get("keys")
            if not isinstance(keys, list):
                raise self._senseless("it publishes no keys")
            self._keys = (now, [key for key in keys if isinstance(key, dict)])
        return self._keys[1]

    async def _object(self, url: str) -> Mapping[str, object]:
        reply = await self._http.get(url)
        if reply.status != 200:
            raise self._senseless(f"{urlsplit(url).path} answers {reply.status}")
        return reply.object()

    def _understood(self, document: Mapping[str, object]) -> ProviderMetadata:
        if document.get("issuer") != self.issuer:
            raise self._senseless(_of_another_issuer(document.get("issuer"), self.issuer))
        userinfo = document.get("userinfo_endpoint")
        return ProviderMetadata(
            authorization_endpoint=self._endpoint(document.get("authorization_endpoint")),
            token_endpoint=self._endpoint(document.get("token_endpoint")),
            jwks_uri=self._endpoint(document.get("jwks_uri")),
            userinfo_endpoint=None if userinfo is None else self._endpoint(userinfo),
            algorithms=_texts(document.get("id_token_signing_alg_values_supported"), {"RS256"}),
            token_auth_methods=_texts(document.get("token_endpoint_auth_methods_supported"), {"client_secret_basic"}),
        )

    def _endpoint(self, url: object) -> str:
        """An address of the provider's; plain HTTP only where the issuer itself is on this machine."""
        is_plain = isinstance(url, str) and not url.startswith("https://")
        if not isinstance(url, str) or not is_protected(url) or (is_plain and self.issuer.startswith("https://")):
            raise self._senseless("an endpoint is missing, or not protected")
        return url

    def _senseless(self, problem: str) -> ApiError:
        log.warning("the OpenID Connect provider makes no sense", issuer=self.issuer, problem=problem)
        return unusable()


def _of_another_issuer(told: object, expected: str) -> str:
    """What is wrong where the provider calls itself otherwise than the setting does, for the log."""
    if not isinstance(told, str):
        return "it does not say by which issuer it calls itself"
    name = told[:TEXT_LENGTH]
    hint = ": they differ by the slash at the end" if told.rstrip("/") == expected.rstrip("/") else ""
    return f"it calls itself {name!r}, the setting sso.issuer is {expected!r}{hint}"


def _texts(value: object, default: set[str]) -> frozenset[str]:
    if not isinstance(value, list):
        return frozenset(default)
    return frozenset(text for text in value if isinstance(text, str))


class CodeRefused(Exception):
    """The code is worth nothing, or belongs to another sign-in."""


@frozen
class Claims:
    """What the provider says of a person."""

    issuer: str
    subject: str
    email: str | None
    """Only an address that the provider has verified, or that the operator vouches for (`sso.trust_email`)."""
    name: str | None = None
    preferred_username: str | None = None


class OpenIdConnect:
    """This instance as a client of its provider. `key` makes nonces and verifiers."""

    def __init__(self, settings: SsoSettings, redirect_uri: str, key: bytes, http: OutgoingHttp, clock: Clock) -> None:
        self._client_id = settings.client_id or ""
        self._client_secret = settings.client_secret
        self._trusts_email = settings.trust_email
        self._redirect_uri = redirect_uri
        self._key = key
        self._http = http
        self._clock = clock
        self._provider = OpenIdProvider(settings.issuer or "", http, clock)

    async def authorization_url(self, state: str) -> str:
        """Where to send a person who wants to sign in.

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
            "code_challenge": base64url(challenge),
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(parameters, quote_via=quote)}"

    async def redeem(self, code: str, state: str) -> Claims:
        """What the provider says of the person who came back with this code.

        :raises CodeRefused: the provider does not take it, or it answers another state.
        :raises ApiError: SERVICE_UNAVAILABLE when the provider cannot be reached, BAD_GATEWAY when what it says does
            not hold.
        """
        metadata = await self._provider.metadata()
        tokens = await self._tokens(metadata, code, self._derived("verifier", state))
        claims = await self._verified(metadata, tokens.get("id_token"), self._derived("nonce", state))
        if "email" not in claims or "email_verified" not in claims:
            told = await self._userinfo(metadata, tokens.get("access_token"), claims["sub"])
            claims = {**told, **claims, **_address_of(claims, told)}
        email = _text(claims.get("email"))
        return Claims(
            issuer=self._provider.issuer,
            subject=claims["sub"],
            email=email if _is_verified(claims.get("email_verified"), trusted=self._trusts_email) else None,
            name=_text(claims.get("name")),
            preferred_username=_text(claims.get("preferred_username")),
        )

    async def _tokens(self, metadata: ProviderMetadata, code: str, verifier: str) -> Mapping[str, object]:
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

    # `dict[str, Any]`: JSON of the provider, walked where a claim is wanted.
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
        """What the provider tells only when asked; most keep the address out of the id token. One that refuses to tell
        (some do, to clients that they know, and to people of a foreign tenant) has said all in the id token."""
        if metadata.userinfo_endpoint is None or not isinstance(access_token, str):
            return {}
        if _ACCESS_TOKEN.fullmatch(access_token) is None:
            return {}
        reply = await self._http.get(metadata.userinfo_endpoint, {"Authorization": f"Bearer {access_token}"})
        if 400 <= reply.status < 500:
            log.warning("the userinfo endpoint refuses: what the id token says is all", status=reply.status)
            return {}
        answer = reply.object() if reply.status == 200 else {}
        if answer.get("sub") != subject:
            log.warning("the userinfo endpoint speaks of another person, or of none", status=reply.status)
            raise unusable()
        return answer

    def _derived(self, what: str, state: str) -> str:
        return base64url(hmac.digest(self._key, f"{what} {state}".encode(), "sha256"))


def _basic(client_id: str, client_secret: str) -> str:
    """Client authentication by header; both parts are form-encoded first (RFC 6749 2.3.1)."""
    pair = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"


def _address_of(claims: Mapping[str, object], told: Mapping[str, object]) -> Mapping[str, object]:
    """The address in the id token, else in userinfo, and whether that very address is verified: what is said of another
    one counts for nothing."""
    said = claims if "email" in claims else told
    other = told if said is claims else claims
    verified = said.get("email_verified")
    if verified is None and other.get("email", said.get("email")) == said.get("email"):
        verified = other.get("email_verified")
    return {"email": said.get("email"), "email_verified": verified}


def _is_verified(value: object, *, trusted: bool) -> bool:
    """Whether an address counts by what the claim `email_verified` says; some providers write it as text. Where it is
    missing, `trusted` decides; a provider that says no is believed in any case."""
    return value is True or value == "true" or (value is None and trusted)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= TEXT_LENGTH else None
