"""Sudo tokens: what is taken for one, and for how long (document 000, Sudo mode proof; RFC 8725)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import random
from collections.abc import Mapping
from typing import Any

import attrs
import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.auth.keys import SUDO_KEY_PURPOSE, Keys, SudoTokens

ALICE, BOB = 1, 2
NOON = 1_767_268_800_000
SECRET = b"s" * 32


@attrs.define
class HandClock:
    """A clock that shows what the test sets it to."""

    moment: int = NOON

    def now_ms(self) -> int:
        return self.moment


def issuer(clock: HandClock, secret: bytes = SECRET) -> SudoTokens:
    return SudoTokens(Keys(secret, random.Random(1)), clock)


def key_of(purpose: str = SUDO_KEY_PURPOSE) -> bytes:
    return Keys(SECRET, random.Random(1)).of(purpose)


def claims(**changed: Any) -> dict[str, Any]:
    seconds = NOON // 1_000
    honest = {"sub": str(ALICE), "type": "sudo", "aud": "chat:sudo", "iat": seconds, "exp": seconds + 300}
    return {name: value for name, value in {**honest, **changed}.items() if value is not None}


def signed(payload: Mapping[str, Any], key: bytes, algorithm: str = "HS256", typ: str | None = "sudo+jwt") -> str:
    """A token put together by hand, so that it may be wrong in every way."""
    header = {"alg": algorithm} if typ is None else {"alg": algorithm, "typ": typ}
    parts = [_base64url(json.dumps(part).encode()) for part in (header, payload)]
    digest = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}.get(algorithm, hashlib.sha256)
    return ".".join([*parts, _base64url(hmac.new(key, ".".join(parts).encode(), digest).digest())])


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def test_what_was_issued_is_taken_by_its_account_and_by_no_other() -> None:
    tokens = issuer(HandClock())
    token = tokens.issue(ALICE)
    assert tokens.is_valid(token, ALICE)
    assert not tokens.is_valid(token, BOB)
    assert not tokens.is_valid(token, 11)  # its id begins alike


def test_the_form_is_that_of_the_documents() -> None:
    token = issuer(HandClock()).issue(ALICE)
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "sudo+jwt"}
    assert jwt.decode(token, options={"verify_signature": False}) == claims()


@given(
    issued=st.integers(min_value=0, max_value=4_000_000_000_000),
    later=st.integers(min_value=-1_000_000, max_value=1_000_000),
)
def test_it_counts_for_five_minutes(issued: int, later: int) -> None:
    clock = HandClock(issued)
    tokens = issuer(clock)
    token = tokens.issue(ALICE)
    clock.moment = issued + later
    if later < -1_000 or later > 300_000:  # it names whole seconds: what is left out of the first is lost at the end
        assert not tokens.is_valid(token, ALICE)
    if 0 <= later <= 299_000:
        assert tokens.is_valid(token, ALICE)


@pytest.mark.parametrize(("later", "valid"), [(0, True), (299_000, True), (300_000, True), (300_001, False)])
def test_the_last_moments(later: int, valid: bool) -> None:
    clock = HandClock()
    tokens = issuer(clock)
    token = tokens.issue(ALICE)
    clock.moment += later
    assert tokens.is_valid(token, ALICE) is valid


def test_a_clock_that_is_set_back_makes_it_worthless_until_its_time_comes() -> None:
    clock = HandClock()
    tokens = issuer(clock)
    token = tokens.issue(ALICE)
    clock.moment -= 1
    assert not tokens.is_valid(token, ALICE)
    clock.moment += 1
    assert tokens.is_valid(token, ALICE)


def test_another_instance_or_another_purpose_has_another_key() -> None:
    tokens = issuer(HandClock())
    assert not tokens.is_valid(issuer(HandClock(), b"t" * 32).issue(ALICE), ALICE)
    assert not tokens.is_valid(signed(claims(), key_of("media")), ALICE)
    assert not tokens.is_valid(signed(claims(), SECRET), ALICE)
    assert not tokens.is_valid(signed(claims(), b""), ALICE)
    assert tokens.is_valid(signed(claims(), key_of()), ALICE)


@pytest.mark.parametrize("algorithm", ["none", "None", "HS384", "HS512", "RS256", "ES256", "EdDSA", "", "hs256"])
def test_no_algorithm_but_one(algorithm: str) -> None:
    """RS256 with our key, which somebody might hope to be taken for a public key, included."""
    token = signed(claims(), key_of(), algorithm)
    assert not issuer(HandClock()).is_valid(token, ALICE)
    assert not issuer(HandClock()).is_valid(token.rpartition(".")[0] + ".", ALICE)


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "access"}, {"type": None}, {"type": ["sudo"]}, {"aud": "chat"}, {"aud": None}, {"aud": 1},
        {"sub": None}, {"sub": ALICE}, {"sub": "01"}, {"sub": " 1"}, {"sub": str(BOB)}, {"iat": None}, {"exp": None},
        {"iat": str(NOON // 1_000)}, {"iat": NOON / 1_000 + 0.5}, {"exp": 1e300}, {"exp": "never"}, {"iat": True},
        {"exp": NOON // 1_000 - 1}, {"iat": NOON // 1_000 + 1}, {"exp": True}, {"iat": [1]}, {"exp": {}},
    ],
    ids=str,
)  # fmt: skip
def test_tokens_of_our_own_key_that_are_meant_for_something_else(wrong: dict[str, Any]) -> None:
    assert not issuer(HandClock()).is_valid(signed(claims(**wrong), key_of()), ALICE)


@pytest.mark.parametrize("typ", [None, "JWT", "at+jwt", "sudo", "SUDO+JWT"])
def test_the_header_says_what_it_is(typ: str | None) -> None:
    assert not issuer(HandClock()).is_valid(signed(claims(), key_of(), typ=typ), ALICE)


@pytest.mark.parametrize(
    "token",
    [
        "", ".", "..", "...", "a.b.c", "null", "\x00", "\udcff", "é.é.é", "e30.e30.", "W10.W10.W10", "bnVsbA.bnVsbA.",
        _base64url(b"[" * 760) + ".e30.AAAA", "A" * 1_025, "eyJhbGciOiJIUzI1NiJ9.e30.", " " * 20, "=.=.=",
    ],
    ids=lambda token: ascii(token[:20]),
)  # fmt: skip
def test_what_is_no_token_at_all(token: str) -> None:
    assert not issuer(HandClock()).is_valid(token, ALICE)


@given(st.text(max_size=1_100) | st.binary(max_size=800).map(lambda raw: _base64url(raw) + "." + _base64url(raw) + "."))
def test_whatever_comes_it_is_an_answer(token: str) -> None:
    assert not issuer(HandClock()).is_valid(token, ALICE)


@given(st.data())
def test_no_character_may_be_another(data: st.DataObject) -> None:
    tokens = issuer(HandClock())
    token = tokens.issue(ALICE)
    position = data.draw(st.integers(min_value=0, max_value=len(token) - 2))  # the very last one carries spare bits
    letter = data.draw(st.sampled_from("ABCXYZabcxyz0189-_."))
    changed = token[:position] + letter + token[position + 1 :]
    assert tokens.is_valid(changed, ALICE) is (changed == token)
