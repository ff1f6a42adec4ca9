"""What an OpenID Connect provider publishes of itself (OpenID Connect Discovery): its endpoints and its keys.

Both are kept for a while, so that most sign-ins ask the provider for nothing but the token; keys that are not known
yet are fetched when a token names one.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import structlog

from chat.auth.outgoing_http import OutgoingHttp, is_protected, unusable
from chat.clock import Clock
from chat.errors import ApiError

KEPT_MS: Final = 3_600_000
"""How long metadata and keys are believed without asking again."""

WELL_KNOWN: Final = "/.well-known/openid-configuration"

log: Final = structlog.get_logger("chat.sso")


@attrs.frozen
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


class OpenIdProvider:
    """One provider, by its issuer."""

    def __init__(self, issuer: str, http: OutgoingHttp, clock: Clock) -> None:
        self.issuer: Final = issuer
        self._http = http
        self._clock = clock
        self._metadata: tuple[int, ProviderMetadata] | None = None
        self._keys: tuple[int, list[dict[str, Any]]] | None = None

    async def metadata(self) -> ProviderMetadata:
        """Its endpoints.

        :raises ApiError: SERVICE_UNAVAILABLE when it cannot be reached, BAD_GATEWAY when it makes no sense.
        """
        now = self._clock.now_ms()
        if self._metadata is None or now - self._metadata[0] >= KEPT_MS:
            document = await self._object(self.issuer.rstrip("/") + WELL_KNOWN)
            self._metadata = (now, self._understood(document))
        return self._metadata[1]

    async def keys(self, *, afresh: bool = False) -> list[dict[str, Any]]:
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

    async def _object(self, url: str) -> dict[str, Any]:
        reply = await self._http.get(url)
        if reply.status != 200:
            raise self._senseless(f"{urlsplit(url).path} answers {reply.status}")
        return reply.object()

    def _understood(self, document: dict[str, Any]) -> ProviderMetadata:
        if document.get("issuer") != self.issuer:
            raise self._senseless("it calls itself by another issuer")
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


def _texts(value: object, default: set[str]) -> frozenset[str]:
    if not isinstance(value, list):
        return frozenset(default)
    return frozenset(text for text in value if isinstance(text, str))
