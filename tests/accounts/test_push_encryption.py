"""Push messages are sealed for one browser (RFC 8291), and push services know who sends them (RFC 8292)."""

from __future__ import annotations

import random

import jwt
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from chat.auth.keys import Keys
from chat.push.encryption import (
    PLAIN_BYTES,
    RECORD_BYTES,
    RENEWED_BEFORE_MS,
    SEED_BYTES,
    TOKEN_MS,
    Receiver,
    Vapid,
    encrypted,
    key_of,
)
from chat.push.sending import PushSender, origin_of
from tests.accounts.push_service import Browser, base64url, from_base64url, point_of

# RFC 8291, section 5 and appendix A.
PLAIN = b"When I grow up, I want to be a watermelon"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
BROWSER_PUBLIC = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
BROWSER_PRIVATE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
SENDER_PRIVATE = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
    "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


class Now:
    """A clock that stands still until it is set."""

    def __init__(self, now_ms: int) -> None:
        self.ms = now_ms

    def now_ms(self) -> int:
        return self.ms


def private_key(text: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(from_base64url(text), "big"), ec.SECP256R1())


def test_the_example_of_the_document() -> None:
    receiver = Receiver.of(BROWSER_PUBLIC, AUTH)
    body = encrypted(PLAIN, receiver, salt=from_base64url(SALT), key=private_key(SENDER_PRIVATE))
    assert base64url(body) == BODY
    browser = Browser(private_key(BROWSER_PRIVATE), from_base64url(AUTH))
    assert browser.decrypted(body) == PLAIN


@given(st.binary(max_size=PLAIN_BYTES), st.binary(min_size=16, max_size=16), st.binary(min_size=64, max_size=64))
def test_the_browser_reads_what_was_sealed_for_it_and_nobody_else(plain: bytes, salt: bytes, seed: bytes) -> None:
    browser, other = Browser(), Browser()
    body = encrypted(plain, Receiver.of(**browser.keys()), salt=salt, key=key_of(seed))
    assert len(body) <= RECORD_BYTES
    assert browser.decrypted(body) == plain
    with pytest.raises(InvalidTag):
        other.decrypted(body)
    with pytest.raises(InvalidTag):
        browser.decrypted(body[:-1] + bytes([body[-1] ^ 1]))


def test_what_is_too_long_is_not_sealed() -> None:
    key = key_of(bytes(SEED_BYTES))
    receiver = Receiver.of(BROWSER_PUBLIC, AUTH)
    assert len(encrypted(bytes(PLAIN_BYTES), receiver, salt=bytes(16), key=key)) == RECORD_BYTES
    with pytest.raises(ValueError, match="too long"):
        encrypted(bytes(PLAIN_BYTES + 1), receiver, salt=bytes(16), key=key)


COMPRESSED = base64url(bytes([2]) + from_base64url(BROWSER_PUBLIC)[1:33])


@pytest.mark.parametrize(
    ("p256dh", "auth", "wrong"),
    [
        ("", AUTH, "p256dh"),
        ("no base64 at all!", AUTH, "p256dh"),
        (BROWSER_PUBLIC[:-2], AUTH, "p256dh"),
        (base64url(b"\x04" + bytes(64)), AUTH, "p256dh"),  # no point of the curve
        (COMPRESSED, AUTH, "p256dh"),
        ("ü" * 87, AUTH, "p256dh"),
        (BROWSER_PUBLIC, "", "auth"),
        (BROWSER_PUBLIC, base64url(bytes(15)), "auth"),
        (BROWSER_PUBLIC, "*" * 22, "auth"),
    ],
)
def test_keys_that_are_none(p256dh: str, auth: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=f"^{wrong}$"):
        Receiver.of(p256dh, auth)


def test_keys_in_the_other_alphabet_with_padding() -> None:
    plain = BROWSER_PUBLIC.replace("-", "+").replace("_", "/") + "="
    assert Receiver.of(plain, AUTH + "==") == Receiver.of(BROWSER_PUBLIC, AUTH)


def test_a_token_for_each_push_service() -> None:
    clock = Now(1_790_000_000_000)
    keys = Keys(bytes(32), random.Random(1))
    vapid = Vapid(keys, clock, "mailto:operator@chat.example")
    assert Vapid(keys, clock, "").public_key == vapid.public_key  # after every start
    assert Vapid(Keys(b"\x01" * 32, random.Random(1)), clock, "").public_key != vapid.public_key
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from_base64url(vapid.public_key))

    def claims(header: str, origin: str) -> dict[str, object]:
        assert header.startswith("vapid t=")
        assert header.endswith(f", k={vapid.public_key}")
        token = header.removeprefix("vapid t=").partition(",")[0]
        found: dict[str, object] = jwt.decode(
            token, point, algorithms=["ES256"], audience=origin, options={"verify_exp": False}
        )
        return found

    here, there = "https://push.example", "https://other.example:8443"
    first = vapid.authorization(here)
    assert claims(first, here) == {
        "aud": here,
        "exp": (clock.ms + TOKEN_MS) // 1_000,
        "sub": "mailto:operator@chat.example",
    }
    assert claims(vapid.authorization(there), there)["aud"] == there
    clock.ms += TOKEN_MS - RENEWED_BEFORE_MS - 1
    assert vapid.authorization(here) == first
    clock.ms += 1
    renewed = vapid.authorization(here)
    assert claims(renewed, here)["exp"] == (clock.ms + TOKEN_MS) // 1_000
    clock.ms -= 2 * TOKEN_MS  # a clock that was wrong and is put right
    assert claims(vapid.authorization(here), here)["exp"] == (clock.ms + TOKEN_MS) // 1_000


@pytest.mark.parametrize(
    ("endpoint", "accepted"),
    [
        ("https://push.example/send/abc?x=1", True),
        ("https://push.example:8443/send", True),
        ("https://1.1.1.1/send", True),
        ("http://push.example/send", False),
        ("https://localhost/send", False),
        ("https://intranet/send", False),
        ("https://127.0.0.1/send", False),
        ("https://10.0.0.1/send", False),
        ("https://169.254.169.254/latest", False),
        ("https://[::1]/send", False),
        ("https://[::ffff:10.0.0.1]/send", False),
        ("https://user@push.example/send", False),
        ("https://push.example:22/send", False),
        ("ftp://push.example/send", False),
        ("/send", False),
        ("https://push.example/\x00", False),
        ("https://" + "a" * 3_000 + ".example/", False),
    ],
)
def test_addresses_that_may_be_asked(endpoint: str, accepted: bool) -> None:
    assert PushSender().accepts(endpoint) is accepted


def test_addresses_of_allowed_networks() -> None:
    sender = PushSender(["127.0.0.0/8"])
    assert sender.accepts("http://127.0.0.1:4000/send")
    assert not sender.accepts("http://10.0.0.1:4000/send")
    assert not sender.accepts("http://1.1.1.1/send")


def test_the_origin_of_an_endpoint() -> None:
    assert origin_of("https://push.example:8443/send/abc?d=e") == "https://push.example:8443"


def test_the_key_of_the_browser_is_a_point() -> None:
    assert len(point_of(Browser().key)) == 65
