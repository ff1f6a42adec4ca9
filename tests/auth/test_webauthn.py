"""Registration and assertion responses: honest ones, lies of every kind, and bytes that are nothing at all."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webauthn.helpers import encode_cbor

from chat.auth.webauthn import (
    Descriptor,
    NewCredential,
    RelyingParty,
    UnreadablePublicKey,
    asserted,
    authentication_options,
    base64url,
    claim_of,
    credential_id_of,
    registered,
    registration_options,
)
from chat.config import Settings
from chat.testing.authenticator import AAGUID, Algorithm, Lie, NotAllowed, SoftwareAuthenticator, from_base64url
from chat.testing.strategies import json_values

PARTY = RelyingParty("chat.example", "Chat", ("https://chat.example", "http://localhost:8080"))
ORIGIN = PARTY.origins[0]
CHALLENGE = base64url(b"c" * 32)
OTHER = base64url(b"d" * 32)
HANDLE = b"1234"


def creation() -> dict[str, Any]:
    return registration_options(PARTY, CHALLENGE, handle=HANDLE, name="bob", display_name="Bob", known=())


def made(key: SoftwareAuthenticator, lie: Lie | None = None) -> NewCredential:
    credential = registered(PARTY, key.create(creation(), lie or Lie()), CHALLENGE)
    assert credential is not None
    return credential


def judged(
    key: SoftwareAuthenticator, credential: NewCredential, lie: Lie | None = None, *, verifies_user: bool = False
) -> int | None:
    response = key.get(authentication_options(PARTY, CHALLENGE), lie or Lie())
    return asserted(PARTY, response, CHALLENGE, credential.public_key, verifies_user=verifies_user)


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
def test_an_honest_authenticator_is_registered_and_signs(algorithm: Algorithm) -> None:
    key = SoftwareAuthenticator(ORIGIN, algorithm=algorithm)
    credential = made(key)
    assert credential.credential_id == key.passkeys[0].credential_id
    assert credential.aaguid.replace("-", "") == AAGUID.hex()
    assert credential.transports == ("nfc", "usb")
    assert (credential.sign_count, credential.backed_up) == (0, False)
    assert [judged(key, credential), judged(key, credential)] == [1, 2]
    assert judged(key, credential, verifies_user=True) == 3


def test_it_may_come_from_either_origin() -> None:
    for origin in PARTY.origins:
        key = SoftwareAuthenticator(origin)
        assert judged(key, made(key)) == 1


LIES = [
    Lie(challenge=OTHER),
    Lie(challenge=""),
    Lie(origin="https://evil.example"),
    Lie(origin="https://chat.example.evil.example"),
    Lie(origin="http://chat.example"),
    Lie(origin="https://chat.example:8443"),
    Lie(origin="null"),
    Lie(rp_id="evil.example"),
    Lie(rp_id=""),
    Lie(type="payment.get"),
    Lie(user_present=False),
]


@pytest.mark.parametrize("lie", [*LIES, Lie(type="webauthn.get"), Lie(credential_id=b"")], ids=str)
def test_no_lie_registers(lie: Lie) -> None:
    response = SoftwareAuthenticator(ORIGIN).create(creation(), lie)
    assert registered(PARTY, response, CHALLENGE) is None


@pytest.mark.parametrize(
    "lie",
    [*LIES, Lie(type="webauthn.create"), Lie(signature=b""), Lie(signature=b"x" * 70), Lie(signature=b"\x30\x00")],
    ids=str,
)
@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
def test_no_lie_signs(algorithm: Algorithm, lie: Lie) -> None:
    key = SoftwareAuthenticator(ORIGIN, algorithm=algorithm)
    assert judged(key, made(key), lie) is None


def test_another_key_signs_in_vain() -> None:
    mine, other = SoftwareAuthenticator(ORIGIN), SoftwareAuthenticator(ORIGIN, chance=random.Random(2))
    credential = made(mine)
    made(other)
    assert judged(other, credential) is None


def test_a_signature_is_for_one_challenge() -> None:
    key = SoftwareAuthenticator(ORIGIN)
    credential = made(key)
    response = key.get(authentication_options(PARTY, CHALLENGE))
    assert asserted(PARTY, response, OTHER, credential.public_key, verifies_user=False) is None
    assert asserted(PARTY, response, CHALLENGE, credential.public_key, verifies_user=False) == 1


def test_who_has_to_know_the_person_says_so() -> None:
    key = SoftwareAuthenticator(ORIGIN, verifies_user=False)
    credential = made(key)
    with pytest.raises(NotAllowed):
        key.get(authentication_options(PARTY, CHALLENGE))  # a browser would not even ask
    allowed = [Descriptor(credential.credential_id)]
    response = key.get(authentication_options(PARTY, CHALLENGE, allowed))
    assert asserted(PARTY, response, CHALLENGE, credential.public_key, verifies_user=True) is None
    assert asserted(PARTY, response, CHALLENGE, credential.public_key, verifies_user=False) == 1


@pytest.mark.parametrize(
    "key",
    [
        encode_cbor({1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)}),  # on no curve
        encode_cbor({1: 2, 3: -7, -1: 9, -2: bytes(32), -3: bytes(32)}),  # an unknown curve
        encode_cbor({1: 2, 3: -7, -1: 1, -2: "x", -3: "y"}),
        encode_cbor({1: 3, 3: -257, -1: b"", -2: b""}),  # a modulus of nothing
        encode_cbor({1: 99, 3: -7}),
    ],
)
def test_public_keys_that_nothing_can_be_checked_with(key: bytes) -> None:
    response = SoftwareAuthenticator(ORIGIN).create(creation(), Lie(public_key=key))
    with pytest.raises(UnreadablePublicKey):
        registered(PARTY, response, CHALLENGE)


@pytest.mark.parametrize("algorithm", [-35, -36, -259, 0, 7])
def test_kinds_of_keys_that_were_not_offered(algorithm: int) -> None:
    cose = encode_cbor({1: 2, 3: algorithm, -1: 1, -2: bytes(32), -3: bytes(32)})
    response = SoftwareAuthenticator(ORIGIN).create(creation(), Lie(public_key=cose))
    with contextlib.suppress(UnreadablePublicKey):
        assert registered(PARTY, response, CHALLENGE) is None


def _without(name: str) -> Callable[[dict[str, Any]], None]:
    def change(response: dict[str, Any]) -> None:
        (response if name in response else response["response"]).pop(name)

    return change


def _with(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(response: dict[str, Any]) -> None:
        (response if name in response else response["response"])[name] = value

    return change


NAMES = ["id", "rawId", "type", "response", "clientDataJSON", "authenticatorData", "signature", "attestationObject"]
VALUES: list[object] = [None, 1, True, [], {}, "", "é", "====", "A", "a" * 70_000, "bnVsbA", "W10", "AAAA", ["x"]]


@pytest.mark.parametrize("name", NAMES)
def test_responses_in_pieces_are_refused_and_break_nothing(name: str) -> None:
    changes = [_without(name), *(_with(name, value) for value in VALUES)]
    key = SoftwareAuthenticator(ORIGIN)
    credential = made(key)
    for change in changes:
        creating = SoftwareAuthenticator(ORIGIN).create(creation())
        signing = key.get(authentication_options(PARTY, CHALLENGE))
        if name in creating or name in creating["response"]:
            change(creating)
            assert registered(PARTY, creating, CHALLENGE) is None
        if name in signing or name in signing["response"]:
            change(signing)
            assert asserted(PARTY, signing, CHALLENGE, credential.public_key, verifies_user=False) is None
            claim_of(signing)


def test_members_that_do_not_count_may_be_anything() -> None:
    key = SoftwareAuthenticator(ORIGIN)
    creating = key.create(creation())
    creating.update(authenticatorAttachment="unheard of", clientExtensionResults=None, extra=[1])
    creating["response"].update(transports=["usb", 7, "carrier pigeon", "usb"], publicKey="?")
    credential = registered(PARTY, creating, CHALLENGE)
    assert credential is not None
    assert credential.transports == ("usb",)
    for transports in (None, "usb", {"usb": 1}, [None]):
        other = SoftwareAuthenticator(ORIGIN).create(creation())
        other["response"]["transports"] = transports
        read = registered(PARTY, other, CHALLENGE)
        assert read is not None
        assert read.transports == ()


@given(st.data())
def test_whatever_comes_it_is_an_answer(data: st.DataObject) -> None:
    values = st.dictionaries(st.sampled_from([*NAMES, "userHandle"]), json_values(), max_size=9)
    response = data.draw(values)
    if data.draw(st.booleans()):
        response["response"] = data.draw(values)
    assert registered(PARTY, response, CHALLENGE) is None
    claim_of(response)
    assert asserted(PARTY, response, CHALLENGE, b"", verifies_user=False) is None


@given(position=st.integers(min_value=0, max_value=400), value=st.integers(min_value=0, max_value=255))
def test_no_byte_of_an_attestation_breaks_the_reader(position: int, value: int) -> None:
    response = SoftwareAuthenticator(ORIGIN).create(creation())
    attestation = bytearray(from_base64url(response["response"]["attestationObject"]))
    attestation[position % len(attestation)] = value
    response["response"]["attestationObject"] = base64url(bytes(attestation))
    with contextlib.suppress(UnreadablePublicKey):
        registered(PARTY, response, CHALLENGE)  # some bytes do not matter: the counter, the model


@given(st.binary(max_size=300))
def test_no_attestation_of_whatever_bytes_breaks_the_reader(attestation: bytes) -> None:
    response = SoftwareAuthenticator(ORIGIN).create(creation())
    response["response"]["attestationObject"] = base64url(attestation)
    assert registered(PARTY, response, CHALLENGE) is None


def test_deeply_nested_attestations_are_no_attestations() -> None:
    response = SoftwareAuthenticator(ORIGIN).create(creation())
    for bomb in (b"\x81" * 40_000, b"\x9f" * 40_000, b"\x5b" + b"\xff" * 8, b"\x9b\x00" + b"\xff" * 7):
        response["response"]["attestationObject"] = base64url(bomb)
        assert registered(PARTY, response, CHALLENGE) is None


def test_what_an_assertion_claims() -> None:
    key = SoftwareAuthenticator(ORIGIN)
    credential = made(key)
    response = key.get(authentication_options(PARTY, CHALLENGE))
    claim = claim_of(response)
    assert claim is not None
    assert (claim.credential_id, claim.user_handle) == (credential.credential_id, HANDLE)
    response["response"]["userHandle"] = None
    claim = claim_of(response)
    assert claim is not None
    assert claim.user_handle is None
    response["response"]["userHandle"] = 7
    assert claim_of(response) is None


# Options


def test_registration_options_have_the_documented_form() -> None:
    known = [Descriptor(b"old", ("usb",)), Descriptor(b"older")]
    options = registration_options(PARTY, CHALLENGE, handle=HANDLE, name="bob", display_name="Bob B.", known=known)
    assert options == {
        "rp": {"name": "Chat", "id": "chat.example"},
        "user": {"id": base64url(b"1234"), "name": "bob", "displayName": "Bob B."},
        "challenge": CHALLENGE,
        "pubKeyCredParams": [
            {"alg": -8, "type": "public-key"},
            {"alg": -7, "type": "public-key"},
            {"alg": -257, "type": "public-key"},
        ],
        "timeout": 60_000,
        "excludeCredentials": [
            {"id": "b2xk", "type": "public-key", "transports": ["usb"]},
            {"id": "b2xkZXI", "type": "public-key"},
        ],
        "authenticatorSelection": {
            "residentKey": "preferred",
            "requireResidentKey": False,
            "userVerification": "preferred",
        },
        "attestation": "none",
        "extensions": {"credProps": True},
        "hints": [],
    }


def test_authentication_options_have_the_documented_form() -> None:
    assert authentication_options(PARTY, CHALLENGE) == {
        "challenge": CHALLENGE,
        "timeout": 60_000,
        "rpId": "chat.example",
        "userVerification": "required",
    }
    assert authentication_options(PARTY, CHALLENGE, [Descriptor(b"old", ("usb", "nfc"))]) == {
        "challenge": CHALLENGE,
        "timeout": 60_000,
        "rpId": "chat.example",
        "allowCredentials": [{"id": "b2xk", "type": "public-key", "transports": ["usb", "nfc"]}],
        "userVerification": "discouraged",
    }


@pytest.mark.parametrize(
    ("public_url", "rp_id", "origin"),
    [
        ("https://chat.example", "chat.example", "https://chat.example"),
        ("https://Chat.Example:443", "chat.example", "https://chat.example"),
        ("http://chat.example:80", "chat.example", "http://chat.example"),
        ("https://chat.example:8443", "chat.example", "https://chat.example:8443"),
        ("http://127.0.0.1:8080", "localhost", "http://127.0.0.1:8080"),
        ("http://[::1]:8080", "localhost", "http://[::1]:8080"),
    ],
)
def test_the_relying_party_follows_from_the_public_address(public_url: str, rp_id: str, origin: str) -> None:
    party = RelyingParty.of(Settings(port=8080, public_url=public_url, service_name="Teahouse"))
    assert party == RelyingParty(rp_id, "Teahouse", (origin, "http://localhost:8080"))


@given(st.binary(max_size=100))
def test_the_name_of_a_credential_leads_back_to_it(data: bytes) -> None:
    assert credential_id_of(base64url(data)) == data


@pytest.mark.parametrize("text", ["a", "AB", "AAAA=", "AA==", "a b", "é", "+/+/", "AA\n", "%41%41"])
def test_names_that_no_credential_has(text: str) -> None:
    assert credential_id_of(text) is None
