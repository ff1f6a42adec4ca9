"""A real OpenID Connect provider on loopback, and the ways in which it can be told to misbehave.

It is strict where a provider has to be: client authentication, exact return address, PKCE, codes that work once.
`Provider.authorize` is what a browser does there; `/authorize` does the same over HTTP.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import attrs
import jwt
import trio
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tests.loopback_http import Answer, Asked, LoopbackHttp

CLIENT_ID: Final = "chat client"
CLIENT_SECRET: Final = "s3cret/with+signs"
LIFETIME_SECONDS: Final = 300

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""With which the provider can sign."""

_CURVES: Final = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}

_MADE: dict[str, Any] = {}
"""Private keys by algorithm: making an RSA key takes a while, so tests share the first of each."""


def private_key(algorithm: str, *, bits: int = 2_048) -> Any:
    """A fresh private key for an algorithm."""
    if algorithm in _CURVES:
        return ec.generate_private_key(_CURVES[algorithm])
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(public_exponent=65_537, key_size=bits)


@attrs.define
class SigningKey:
    """A key of the provider's, with its name."""

    algorithm: str
    kid: str | None
    private: Any

    @classmethod
    def of(cls, algorithm: str, kid: str | None = "key-1") -> SigningKey:
        """The key that tests share."""
        if algorithm not in _MADE:
            _MADE[algorithm] = private_key(algorithm)
        return cls(algorithm, kid, _MADE[algorithm])

    def public(self) -> dict[str, Any]:
        """As it is published."""
        made = {**dict.fromkeys(_CURVES, jwt.algorithms.ECAlgorithm), "EdDSA": jwt.algorithms.OKPAlgorithm}
        algorithm = made.get(self.algorithm, jwt.algorithms.RSAAlgorithm)
        member: dict[str, Any] = json.loads(algorithm.to_jwk(self.private.public_key()))  # type: ignore[attr-defined]
        return member | {"use": "sig", "alg": self.algorithm} | ({} if self.kid is None else {"kid": self.kid})


class Provider(LoopbackHttp):
    """The provider. What a test sets, it does.

    `person` are the claims of whoever signs in next. `metadata`, `claims` and `userinfo` change members of what is
    said (None leaves one out), `delays` are seconds before the answer of a path, `answers` whole answers in place of
    the right ones, `in_userinfo` the claims that are told there only, `sign` makes the id token in place of `signed`,
    `now` tells the time (Unix seconds).
    """

    def __init__(self) -> None:
        super().__init__()
        self.person: dict[str, Any] = {
            "sub": "zoe-1",
            "email": "zoe@example.com",
            "email_verified": True,
            "name": "Zoë from Málaga",
            "preferred_username": "zoe",
        }
        self.key = SigningKey.of("RS256")
        self.published: list[dict[str, Any]] = [self.key.public()]
        self.metadata: dict[str, Any] = {}
        self.claims: dict[str, Any] = {}
        self.userinfo: dict[str, Any] = {}
        self.in_userinfo: set[str] = set()
        self.delays: dict[str, float] = {}
        self.answers: dict[str, Answer] = {}
        self.sign: Callable[[dict[str, Any]], str] = self.signed
        self.now: Callable[[], float] = time.time
        self._codes: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
        self._access_tokens: dict[str, dict[str, Any]] = {}

    def rotate(self, algorithm: str, kid: str | None) -> None:
        """Sign with a fresh key from now on, and publish no other."""
        self.key = SigningKey(algorithm, kid, private_key(algorithm))
        self.published = [self.key.public()]

    # What a browser does here

    def authorize(self, url: str) -> dict[str, str]:
        """Sign `person` in at an authorization address: the parameters that go back with the browser."""
        parts = urlsplit(url)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.issuer}/authorize"
        asked = {name: values[0] for name, values in parse_qs(parts.query, strict_parsing=True).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT_ID
        assert "openid" in asked["scope"].split()
        assert asked["code_challenge_method"] == "S256"
        assert len(asked["code_challenge"]) == 43
        assert asked["nonce"]
        code = secrets.token_urlsafe(16)
        self._codes[code] = (asked, dict(self.person))
        return {"code": code, "state": asked["state"]}

    def signed(self, claims: dict[str, Any]) -> str:
        """An id token, signed with the present key."""
        headers = {} if self.key.kid is None else {"kid": self.key.kid}
        return jwt.encode(claims, self.key.private, algorithm=self.key.algorithm, headers=headers)

    # HTTP

    @property
    def issuer(self) -> str:
        """Its origin."""
        return self.origin

    async def answer(self, asked: Asked) -> Answer:
        await trio.sleep(self.delays.get(asked.path, 0))
        if asked.path in self.answers:
            return self.answers[asked.path]
        match asked.path:
            case "/.well-known/openid-configuration":
                return Answer(200, changed(self._document(), self.metadata))
            case "/jwks":
                return Answer(200, {"keys": self.published})
            case "/token":
                return self._token(asked.form, asked.headers.get("authorization"))
            case "/userinfo":
                return self._userinfo(asked.headers.get("authorization", ""))
            case "/authorize":
                back = urlencode(self.authorize(f"{self.issuer}/authorize?{asked.query}"))
                return_address = parse_qs(asked.query)["redirect_uri"][0]
                return Answer(302, b"", (("Location", f"{return_address}?{back}"),))
        return Answer(404, {})

    def _document(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [*ALGORITHMS, "HS256", "none"],
        }

    def _token(self, form: dict[str, str], authorization: str | None) -> Answer:
        if not self._knows_client(form, authorization):
            return Answer(401, {"error": "invalid_client"})
        asked, person = self._codes.pop(form.get("code", ""), (None, {}))
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        if (
            asked is None
            or form.get("grant_type") != "authorization_code"
            or form.get("redirect_uri") != asked["redirect_uri"]
            or challenge != asked["code_challenge"]
        ):
            return Answer(400, {"error": "invalid_grant"})
        now = int(self.now())
        access_token = secrets.token_urlsafe(16)
        self._access_tokens[access_token] = person
        told = {name: value for name, value in person.items() if name not in self.in_userinfo}
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + LIFETIME_SECONDS,
            "nonce": asked["nonce"],
            **told,
        }
        token = self.sign(changed(claims, self.claims))
        return Answer(200, {"access_token": access_token, "token_type": "Bearer", "expires_in": 300, "id_token": token})

    def _knows_client(self, form: dict[str, str], authorization: str | None) -> bool:
        if authorization is None:
            return (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, CLIENT_SECRET)
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        return pair == f"{CLIENT_ID}:{CLIENT_SECRET}".replace(" ", "%20").replace("/", "%2F").replace("+", "%2B")

    def _userinfo(self, authorization: str) -> Answer:
        person = self._access_tokens.get(authorization.removeprefix("Bearer "))
        return Answer(401, {}) if person is None else Answer(200, changed(person, self.userinfo))


def changed(members: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The members with changes: None takes one away."""
    return {name: value for name, value in (members | changes).items() if value is not None}
