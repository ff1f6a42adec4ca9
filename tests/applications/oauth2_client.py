"""An OAuth2 client for tests: an application of bob's, and what it says to the server."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import attrs

from chat.testing.rest_client import Response, RestClient
from chat.testing.world import Actor, World

BACK = "https://app.example.com/back?from=chat"
"""Where the client has people sent back to: an address that has a query already."""

VERIFIER = "a-verifier-of-forty-three-characters-or-more"

FORM = "application/x-www-form-urlencoded"

SEVEN_DAYS_MS = 7 * 86_400_000
THIRTY_DAYS_MS = 30 * 86_400_000
TEN_MINUTES_MS = 600_000


def s256(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


CHALLENGE = {"code_challenge": s256(VERIFIER), "code_challenge_method": "S256"}


def basic(client_id: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()}


def parameters(address: str) -> dict[str, str]:
    """The query of an address; each parameter is there once."""
    found = parse_qs(urlsplit(address).query, keep_blank_values=True, strict_parsing=True)
    assert all(len(values) == 1 for values in found.values()), address
    return {name: values[0] for name, values in found.items()}


def refusal(answer: Response, status: int = 400) -> str:
    """The `error` of an RFC 6749 body, which has nothing in it besides."""
    body = answer.json()
    assert answer.status == status, body
    assert set(body) == {"error", "error_description"}, body
    assert answer.header("content-type") == "application/json"
    assert answer.header("www-authenticate") is None
    assert answer.header("cache-control") == "no-store"
    error: str = body["error"]
    return error


@attrs.frozen
class OAuth2Client:
    """An application and a connection of its own."""

    id: str
    secret: str
    rest: RestClient

    @classmethod
    async def make(cls, world: World, **members: object) -> OAuth2Client:
        body = {"name": "Chess master", "redirect_uris": [BACK], **members}
        made = (await world.bob.rest.post("/v1/oauth2/applications", body)).expect(200)
        return cls(made["id"], made["client_secret"], world.anyone)

    # What the consent page does for an account

    async def ask(self, account: Actor, scope: str | None = "identify", **members: object) -> Response:
        body: dict[str, object] = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": BACK,
            "scope": scope,
            "state": "a state",
            **members,
        }
        return await account.rest.post("/v1/oauth2/authorize/consent", body)

    async def code(self, account: Actor, scope: str = "identify", **members: object) -> str:
        redirect_to = (await self.ask(account, scope, **members)).expect(200)["redirect_to"]
        assert redirect_to.startswith(BACK)
        return parameters(redirect_to)["code"]

    # What the client does behind the scenes

    async def form(
        self,
        path: str,
        fields: Mapping[str, object] | bytes,
        *,
        secret: str | None = "",
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """A form; by HTTP Basic with its secret, with another one, or with none (None)."""
        shown = {} if secret is None else basic(self.id, secret or self.secret)
        body = fields if isinstance(fields, bytes) else urlencode(fields).encode()
        return await self.rest.request(
            "POST", path, body=body, headers={"Content-Type": FORM, **shown, **(headers or {})}
        )

    async def exchange(self, code: str, *, secret: str | None = "", **fields: object) -> Response:
        asked = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, **fields}
        return await self.form("/v1/oauth2/token", asked, secret=secret)

    async def refresh(self, refresh_token: str, *, secret: str | None = "", **fields: object) -> Response:
        asked = {"grant_type": "refresh_token", "refresh_token": refresh_token, **fields}
        return await self.form("/v1/oauth2/token", asked, secret=secret)

    async def revoke(self, token: str, *, secret: str | None = "", **fields: object) -> Response:
        return await self.form("/v1/oauth2/token/revoke", {"token": token, **fields}, secret=secret)

    async def introspect(self, token: str, *, secret: str | None = "", **fields: object) -> Response:
        return await self.form("/v1/oauth2/introspect", {"token": token, **fields}, secret=secret)

    async def tokens(self, account: Actor, scope: str = "identify") -> dict[str, Any]:
        """The whole dialogue: consent and exchange."""
        body: dict[str, Any] = (await self.exchange(await self.code(account, scope))).expect(200)
        return body

    def bearer(self, access_token: str) -> RestClient:
        """A client with an access token."""
        return self.rest.signed_in(f"Bearer {access_token}")

    async def works(self, access_token: str) -> bool:
        """Whether an access token is good."""
        answer = await self.bearer(access_token).get("/v1/oauth2/@me")
        assert answer.status in (200, 401), answer.body
        return answer.status == 200
