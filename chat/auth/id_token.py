"""The check of an id token (OpenID Connect Core 3.1.3.7): who signed it, for whom, about whom, when.

The provider's word on algorithms is taken only as far as it names asymmetric ones that we take: a token signed with
`none`, or with a shared secret, never counts (RFC 8725). What a token says about its own key (`jku`, `jwk`, `x5u`) is
not looked at; its `kid` chooses among the keys that the provider publishes.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
import jwt

from chat.classes import frozen

ALGORITHMS: Final[Mapping[str, tuple[str, frozenset[str] | None]]] = {
    **{f"{family}{bits}": ("RSA", None) for family in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": ("EC", frozenset({"P-256"})),
    "ES384": ("EC", frozenset({"P-384"})),
    "ES512": ("EC", frozenset({"P-521"})),
    "EdDSA": ("OKP", frozenset({"Ed25519", "Ed448"})),
}
"""What signatures we take: the type of key, and the curves that belong to it (RFC 7518 3.1, RFC 8037 3.1)."""

RSA_BITS: Final = 2_048
"""The shortest RSA key that is believed."""

TOKEN_LENGTH: Final = 262_144
"""Characters; a longer token is not looked at. Those of people in some hundred groups have 20,000 and more."""

SUBJECT_LENGTH: Final = 255
"""ASCII characters of a subject (OpenID Connect Core 2)."""

ISSUER_LENGTH: Final = 256
"""Characters that are told of a wrong issuer."""

LEEWAY_SECONDS: Final = 60
"""How far the provider's clock may be from ours."""

KEYS_TRIED: Final = 32

_OPTIONS: Final = {
    "verify_signature": True,
    # Times are compared with the server's clock, the rest by stricter rules than the library's, both below.
    **{f"verify_{name}": False for name in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")},
}


_UNREADABLE: Final = (jwt.PyJWTError, ValueError, RecursionError)
"""What the library raises for text that is no token, deeply nested JSON included."""


class InvalidIdToken(Exception):
    """The token proves nothing; the text says why, for the log."""


class UnknownKey(InvalidIdToken):
    """None of the keys at hand has signed it: the provider may have new ones."""


class ForeignNonce(InvalidIdToken):
    """The token answers another sign-in than this one."""


@frozen
class Expected:
    """What a token has to say."""

    issuer: str
    client_id: str
    nonce: str = attrs.field(repr=False)
    algorithms: frozenset[str]
    """Those of the provider."""
    now: int
    """Unix seconds."""


def verified_claims(token: str, keys: Sequence[Mapping[str, Any]], expected: Expected) -> dict[str, object]:
    """The claims of an id token; `keys` are the provider's JSON Web Keys.

    :raises InvalidIdToken: UnknownKey, ForeignNonce or for any other reason.
    """
    claims = _signed_claims(token, keys, expected.algorithms)
    if claims.get("iss") != expected.issuer:
        raise InvalidIdToken(f"it is from {str(claims.get('iss'))[:ISSUER_LENGTH]!r}, not from {expected.issuer!r}")
    _require_audience(claims, expected.client_id)
    _require_time(claims, expected.now)
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_LENGTH:
        raise InvalidIdToken("it names no subject")
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(nonce.encode(), expected.nonce.encode()):
        raise ForeignNonce("its nonce is another one")
    return claims


def _signed_claims(token: str, keys: Sequence[Mapping[str, Any]], algorithms: frozenset[str]) -> dict[str, object]:
    if len(token) > TOKEN_LENGTH or not token.isascii():
        raise InvalidIdToken("it is too long")
    try:
        header = jwt.get_unverified_header(token)
    except _UNREADABLE as error:
        raise InvalidIdToken("it is no JSON Web Token") from error
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or algorithm not in algorithms:
        raise InvalidIdToken("its algorithm is not taken")
    if "crit" in header:
        raise InvalidIdToken("it has extensions that must be understood")
    for key in _candidates(keys, algorithm, kid):
        try:
            return jwt.decode(token, key, algorithms=[algorithm], options=_OPTIONS)  # type: ignore[arg-type, no-any-return, unused-ignore]
        except jwt.InvalidSignatureError as error:
            if kid is not None:
                raise InvalidIdToken("its signature is wrong") from error
        except _UNREADABLE as error:
            raise InvalidIdToken("it cannot be read") from error
    raise UnknownKey("none of the known keys has signed it")


def _candidates(keys: Sequence[Mapping[str, Any]], algorithm: str, kid: object) -> Iterable[jwt.PyJWK]:
    """The published keys that may have signed it, ready for use."""
    kind, curves = ALGORITHMS[algorithm]
    for key in keys[:KEYS_TRIED]:
        operations = key.get("key_ops")
        if (
            key.get("kty") != kind
            or (curves is not None and str(key.get("crv")) not in curves)
            or (kid is not None and key.get("kid") != kid)
            or key.get("alg", algorithm) != algorithm
            or key.get("use", "sig") != "sig"
            or (isinstance(operations, list) and "verify" not in operations)
        ):
            continue
        try:
            candidate = jwt.PyJWK.from_dict(dict(key), algorithm=algorithm)
        except (jwt.PyJWTError, ValueError, TypeError):
            continue  # a key that cannot be read has signed nothing
        if kind != "RSA" or getattr(candidate.key, "key_size", 0) >= RSA_BITS:
            yield candidate


def _require_audience(claims: Mapping[str, Any], client_id: str) -> None:
    audience = claims.get("aud")
    audiences = [audience] if isinstance(audience, str) else audience
    if not isinstance(audiences, list) or client_id not in audiences:
        raise InvalidIdToken("it is for another client")
    party = claims.get("azp")
    if party != client_id and (party is not None or len(audiences) > 1):
        raise InvalidIdToken("it was issued to another client")


def _require_time(claims: Mapping[str, Any], now: int) -> None:
    expires, issued, begins = claims.get("exp"), claims.get("iat"), claims.get("nbf", 0)
    if not all(_is_time(moment) for moment in (expires, issued, begins)):
        raise InvalidIdToken("it does not say when it is valid")
    if now >= claims["exp"] + LEEWAY_SECONDS:
        raise InvalidIdToken("it has expired")
    if max(claims["iat"], begins) > now + LEEWAY_SECONDS:
        raise InvalidIdToken("it is from the future")


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53
