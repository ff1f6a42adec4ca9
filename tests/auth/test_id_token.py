"""An id token is believed or refused; no token causes anything else."""

from __future__ import annotations

import base64
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from chat.auth.id_token import Expected, ForeignNonce, InvalidIdToken, UnknownKey, verified_claims

NOW = 1_700_000_000
KEY = ec.generate_private_key(ec.SECP256R1())
JWK: dict[str, Any] = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key())) | {"kid": "1"}
EXPECTED = Expected("https://sso.example", "chat", "the nonce", frozenset({"ES256", "RS256", "EdDSA"}), NOW)
CLAIMS: dict[str, Any] = {
    "iss": "https://sso.example",
    "aud": "chat",
    "sub": "zoe",
    "nonce": "the nonce",
    "iat": NOW,
    "exp": NOW + 60,
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def signed(claims: dict[str, Any], **header: Any) -> str:
    return jwt.api_jws.encode(json.dumps(claims).encode(), KEY, "ES256", {"kid": "1", **header})


def part(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def test_what_is_right_is_believed() -> None:
    assert verified_claims(signed(CLAIMS), [JWK], EXPECTED) == CLAIMS


@pytest.mark.parametrize("keys", [[], [JWK | {"kid": "2"}], [JWK | {"crv": "P-384"}], [{}], [{"kty": "EC"}]])
def test_without_its_key_it_is_not_known(keys: list[dict[str, Any]]) -> None:
    with pytest.raises(UnknownKey):
        verified_claims(signed(CLAIMS), keys, EXPECTED)


def test_a_changed_token_is_not_believed() -> None:
    token = signed(CLAIMS)
    for position in range(0, len(token), 7):
        if token[position] == ".":
            continue
        changed = token[:position] + ("A" if token[position] != "A" else "B") + token[position + 1 :]
        with pytest.raises(InvalidIdToken):
            verified_claims(changed, [JWK], EXPECTED)


def test_another_nonce_is_another_sign_in() -> None:
    with pytest.raises(ForeignNonce):
        verified_claims(signed(CLAIMS | {"nonce": "é"}), [JWK], EXPECTED)


@given(name=st.sampled_from(sorted(CLAIMS)) | st.text(max_size=5), value=JSON)
def test_any_claim_of_any_kind(name: str, value: object) -> None:
    claims = CLAIMS | {name: value}
    try:
        believed = verified_claims(signed(claims), [JWK], EXPECTED)
    except InvalidIdToken:
        assert name in {*CLAIMS, "azp", "nbf"}
    else:
        assert believed.keys() == claims.keys()


@given(st.text(max_size=200) | st.builds("{}.{}.{}".format, *[st.text("eyJ-_Aab09", max_size=20)] * 3))
def test_any_text(token: str) -> None:
    with pytest.raises(InvalidIdToken):
        verified_claims(token, [JWK], EXPECTED)


@given(header=JSON | st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk"]), JSON), payload=JSON)
def test_any_header(header: object, payload: object) -> None:
    token = f"{part(json.dumps(header))}.{part(json.dumps(payload))}.{part(b'x' * 64)}"
    with pytest.raises(InvalidIdToken):
        verified_claims(token, [JWK], EXPECTED)


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "kty": st.sampled_from(["EC", "RSA", "OKP"]) | JSON,
                "crv": st.sampled_from(["P-256", "Ed25519"]) | JSON,
                "kid": st.just("1") | JSON,
                "use": st.just("sig") | JSON,
                "alg": st.just("ES256") | JSON,
                "key_ops": JSON,
                **{name: JSON | st.binary(max_size=32).map(part) for name in ("x", "y", "n", "e", "d", "k")},
            },
        ),
        max_size=3,
    )
)
def test_any_keys(keys: list[dict[str, Any]]) -> None:
    for algorithm, key in (("ES256", KEY), ("RS256", None), ("EdDSA", None)):
        if key is None:
            token = f"{part(json.dumps({'alg': algorithm, 'kid': '1'}))}.{part('{}')}.{part(b'x' * 64)}"
        else:
            token = signed(CLAIMS)
        with pytest.raises(InvalidIdToken):
            verified_claims(token, keys, EXPECTED)


def test_nesting_without_end() -> None:
    deep = "[" * 3_000 + "]" * 3_000
    for header in ('{"alg":"ES256","kid":"1","x":' + deep + "}", '{"alg":"ES256","kid":"1"}'):
        with pytest.raises(InvalidIdToken):
            verified_claims(f"{part(header)}.{part(deep)}.{part(b'x' * 64)}", [JWK], EXPECTED)
