"""The software authenticator of the test kit is held against py_webauthn, which is not ours."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers.exceptions import InvalidAuthenticationResponse, InvalidRegistrationResponse
from webauthn.helpers.structs import PublicKeyCredentialDescriptor, UserVerificationRequirement
from webauthn.registration.verify_registration_response import VerifiedRegistration

import chat.testing
from chat.testing.authenticator import Algorithm, Lie, NotAllowed, SoftwareAuthenticator, from_base64url

ORIGIN = "https://chat.example"
RP = "chat.example"
CHALLENGE = bytes(range(32))


def creation(**options: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        options_to_json(
            generate_registration_options(
                rp_id=RP, rp_name="Chat", user_name="bob", user_id=b"1234", challenge=CHALLENGE, **options
            )
        )
    )
    return made


def request(**options: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        options_to_json(generate_authentication_options(rp_id=RP, challenge=CHALLENGE, **options))
    )
    return made


def verified(response: dict[str, Any]) -> VerifiedRegistration:
    return verify_registration_response(
        credential=response, expected_challenge=CHALLENGE, expected_rp_id=RP, expected_origin=ORIGIN
    )


def counter_of(key: SoftwareAuthenticator, made: VerifiedRegistration, lie: Lie, known: int = 0) -> int:
    return verify_authentication_response(
        credential=key.get(request(), lie),
        expected_challenge=CHALLENGE,
        expected_rp_id=RP,
        expected_origin=ORIGIN,
        credential_public_key=made.credential_public_key,
        credential_current_sign_count=known,
        require_user_verification=True,
    ).new_sign_count


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA"])
def test_it_is_honest(algorithm: Algorithm) -> None:
    key = SoftwareAuthenticator(ORIGIN, algorithm=algorithm)
    made = verified(key.create(creation()))
    assert made.credential_id == key.passkeys[0].credential_id
    assert key.passkeys[0].user_handle == b"1234"
    assert [counter_of(key, made, Lie()) for _ in range(3)] == [1, 2, 3]


def test_one_without_a_counter_stays_at_zero() -> None:
    key = SoftwareAuthenticator(ORIGIN, counts=False)
    made = verified(key.create(creation()))
    assert [counter_of(key, made, Lie()) for _ in range(3)] == [0, 0, 0]


LIES = [
    Lie(challenge="AAAA"),
    Lie(origin="https://evil.example"),
    Lie(rp_id="evil.example"),
    Lie(type="webauthn.lie"),
    Lie(user_present=False),
]


@pytest.mark.parametrize("lie", LIES, ids=str)
def test_it_lies_when_it_registers(lie: Lie) -> None:
    with pytest.raises(InvalidRegistrationResponse):
        verified(SoftwareAuthenticator(ORIGIN).create(creation(), lie))


@pytest.mark.parametrize("lie", [*LIES, Lie(user_verified=False), Lie(signature=b"x"), Lie(counter=5)], ids=str)
def test_it_lies_when_it_signs(lie: Lie) -> None:
    key = SoftwareAuthenticator(ORIGIN)
    made = verified(key.create(creation()))
    with pytest.raises(InvalidAuthenticationResponse):
        counter_of(key, made, lie, known=5)


def test_a_lie_does_not_stick() -> None:
    key = SoftwareAuthenticator(ORIGIN)
    made = verified(key.create(creation()))
    assert counter_of(key, made, Lie(counter=100)) == 100
    assert counter_of(key, made, Lie()) == 2


def test_it_keeps_to_the_options_as_a_browser_does() -> None:
    key = SoftwareAuthenticator(ORIGIN)
    made = verified(key.create(creation()))
    own = PublicKeyCredentialDescriptor(id=made.credential_id)
    foreign = PublicKeyCredentialDescriptor(id=b"somebody else's")
    for options in (creation(exclude_credentials=[own]), {**creation(), "pubKeyCredParams": [{"alg": -257}]}):
        with pytest.raises(NotAllowed):
            key.create(options)
    for options in (request(allow_credentials=[foreign]), {**request(), "rpId": "other.example"}):
        with pytest.raises(NotAllowed):
            key.get(options)
    assert from_base64url(key.get(request(allow_credentials=[foreign, own]))["id"]) == made.credential_id
    ignorant = SoftwareAuthenticator(ORIGIN, verifies_user=False, chance=random.Random(1))
    ignorant.create(creation())
    with pytest.raises(NotAllowed):
        ignorant.get(request(user_verification=UserVerificationRequirement.REQUIRED))


def test_the_same_seed_gives_the_same_keys() -> None:
    first, second = (SoftwareAuthenticator(ORIGIN, chance=random.Random(7)) for _ in range(2))
    assert first.create(creation()) == second.create(creation())
    assert first.passkeys[0].public_key == second.passkeys[0].public_key
    other = SoftwareAuthenticator(ORIGIN, chance=random.Random(8))
    assert other.create(creation())["id"] != first.create(creation())["id"]


def test_it_is_part_of_the_kit() -> None:
    assert chat.testing.SoftwareAuthenticator is SoftwareAuthenticator
    assert (chat.testing.Lie, chat.testing.NotAllowed) == (Lie, NotAllowed)
