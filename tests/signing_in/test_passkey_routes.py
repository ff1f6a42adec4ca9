"""Passkeys of an account: registered, named, used, replaced, taken away (wire facts 6.4; design 7; document 002)."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.authenticator import AAGUID, Lie, NotAllowed, SoftwareAuthenticator, base64url
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.enrolment import (
    MFA,
    ORIGIN,
    PASSKEYS,
    SUDO_HEADER,
    SUDO_OPTIONS,
    Phone,
    assertion,
    errors,
    passkey_of,
    register,
    registration,
)

GATED = "/v1/auth/sessions/logout"
"""Any operation that asks for sudo mode and does nothing here."""


def another(seed: int, **options: Any) -> SoftwareAuthenticator:
    return SoftwareAuthenticator(ORIGIN, chance=random.Random(seed), **options)


async def names_of(person: Person) -> list[str]:
    return [credential["name"] for credential in (await person.rest.get(PASSKEYS)).expect(200)]


async def proves(person: Person, fields: dict[str, Any]) -> bool:
    """Whether sudo fields prove the person; a refusal is the documented one."""
    answer = await person.rest.post(GATED, {"session_id_hashes": [], **fields})
    if answer.status == 204:
        return True
    assert errors(answer) == [("mfa_code", "INVALID_MFA_CODE")]
    return False


# Registration


async def test_bob_registers_a_passkey(chat_world: World, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    gateway = await bob.connect()
    assert gateway.dispatches[0].data["webauthn_credentials"] == []
    answer = await bob.rest.post(f"{PASSKEYS}/registration-options", {"password": bob.password})
    options = answer.expect(200)
    assert answer.header(SUDO_HEADER) is None
    assert options["rp"] == {"name": "Chat", "id": "localhost"}
    assert options["user"] == {"id": base64url(bob.id.encode()), "name": "bob", "displayName": "Bob"}
    assert options["excludeCredentials"] == []
    key = SoftwareAuthenticator(ORIGIN)
    body = {"response": key.create(options), "challenge": options["challenge"], "name": "Bob's key"}
    assert (await bob.rest.post(PASSKEYS, body)).status == 204
    listed = (await bob.rest.get(PASSKEYS)).expect(200)
    assert listed == [
        {
            "id": base64url(key.passkeys[0].credential_id),
            "name": "Bob's key",
            "created_at": "2026-01-01T00:00:00.000Z",
            "last_used_at": None,
        }
    ]
    assert (await gateway.expect("WEBAUTHN_CREDENTIALS_UPDATE")).data == listed
    user = (await bob.rest.get("/v1/users/@me")).expect(200)
    assert user["mfa_enabled"] is False  # not until he wants it to be a second factor
    later = await bob.connect()
    assert later.dispatches[0].data["webauthn_credentials"] == listed
    assert (await chat_world.carol.rest.get(PASSKEYS)).expect(200) == []


@pytest.mark.parametrize("options", [{"algorithm": "EdDSA"}, {"verifies_user": False}, {"counts": False}], ids=str)
async def test_authenticators_of_all_kinds(chat_world: World, options: Any) -> None:
    bob, key = chat_world.bob, another(1, **options)
    (await register(bob.rest, key, password=bob.password)).expect(204)
    assert await proves(bob, await assertion(bob.rest, key))
    assert await proves(bob, await assertion(bob.rest, key))


async def test_what_browsers_add_is_no_obstacle(chat_world: World) -> None:
    """Empty objects become null before a body is read (wire facts 3.2)."""
    bob = chat_world.bob
    body = await registration(bob.rest, SoftwareAuthenticator(ORIGIN), password=bob.password)
    body["response"].update(clientExtensionResults={"credProps": {"rk": True}}, authenticatorAttachment="platform")
    body["response"]["response"].update(publicKeyAlgorithm=-7, publicKey="AAAA", authenticatorData="AAAA")
    assert (await bob.rest.post(PASSKEYS, {**body, "name": "Key"})).status == 204


@pytest.mark.parametrize(
    "lie",
    [
        Lie(challenge=base64url(bytes(32))),
        Lie(origin="https://evil.example"),
        Lie(origin="http://localhost:8081"),
        Lie(rp_id="evil.example"),
        Lie(type="webauthn.get"),
        Lie(user_present=False),
    ],
    ids=str,
)
async def test_no_lie_registers(chat_world: World, lie: Lie) -> None:
    bob = chat_world.bob
    body = await registration(bob.rest, SoftwareAuthenticator(ORIGIN), lie, password=bob.password)
    answer = await bob.rest.post(PASSKEYS, {**body, "name": "Key"})
    assert (answer.status, answer.code) == (400, "INVALID_WEBAUTHN_CREDENTIAL")
    assert await names_of(bob) == []


async def test_a_key_that_cannot_be_read(chat_world: World) -> None:
    bob = chat_world.bob
    broken = Lie(public_key=bytes.fromhex("a1613100"))
    body = await registration(bob.rest, SoftwareAuthenticator(ORIGIN), broken, password=bob.password)
    answer = await bob.rest.post(PASSKEYS, {**body, "name": "Key"})
    assert answer.status == 400
    assert answer.code in {"INVALID_WEBAUTHN_CREDENTIAL", "INVALID_WEBAUTHN_PUBLIC_KEY_FORMAT"}
    on_no_curve = Lie(public_key=bytes.fromhex("a5010203262001215820" + "00" * 32 + "225820" + "00" * 32))
    body = await registration(bob.rest, another(2), on_no_curve, password=bob.password)
    answer = await bob.rest.post(PASSKEYS, {**body, "name": "Key"})
    assert (answer.status, answer.code) == (400, "INVALID_WEBAUTHN_PUBLIC_KEY_FORMAT")


async def test_a_challenge_is_good_for_one_answer(chat_world: World) -> None:
    bob = chat_world.bob
    options = (await bob.rest.post(f"{PASSKEYS}/registration-options", {"password": bob.password})).expect(200)
    challenge = options["challenge"]
    wrong = {"response": another(1).create(options, Lie(type="webauthn.get")), "challenge": challenge, "name": "Key"}
    right = {"response": another(2).create(options), "challenge": challenge, "name": "Key"}
    refusals = [await bob.rest.post(PASSKEYS, body) for body in (wrong, right, right)]
    assert [(answer.status, answer.code) for answer in refusals] == [(400, "INVALID_WEBAUTHN_CREDENTIAL")] * 3
    body = {**await registration(bob.rest, another(3), password=bob.password), "name": "Key"}
    assert (await bob.rest.post(PASSKEYS, body)).status == 204
    again = await bob.rest.post(PASSKEYS, body)
    assert (again.status, again.json()) == (400, refusals[0].json())


@pytest.mark.parametrize(("seconds", "status"), [(299, 204), (301, 400)])
async def test_a_challenge_lasts_five_minutes(
    chat_world: World, autojump_clock: MockClock, seconds: int, status: int
) -> None:
    bob = chat_world.bob
    body = {**await registration(bob.rest, another(1), password=bob.password), "name": "Key"}
    await trio.sleep(seconds)
    assert (await bob.rest.post(PASSKEYS, body)).status == status


async def test_a_challenge_is_for_its_account_and_its_purpose(chat_world: World) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    body = {**await registration(bob.rest, another(1), password=bob.password), "name": "Key"}
    answer = await carol.rest.post(PASSKEYS, body)
    assert (answer.status, answer.code) == (400, "INVALID_WEBAUTHN_CREDENTIAL")
    assert await names_of(carol) == []
    key = await passkey_of(bob)
    sudo = (await bob.rest.post(SUDO_OPTIONS)).expect(200)
    options = (await bob.rest.post(f"{PASSKEYS}/registration-options", await assertion(bob.rest, key))).expect(200)
    options["challenge"] = sudo["challenge"]
    body = {"response": another(3).create(options), "challenge": sudo["challenge"], "name": "Key"}
    assert (await bob.rest.post(PASSKEYS, body)).status == 400


async def test_nobody_registers_without_proof(chat_world: World) -> None:
    bob = chat_world.bob
    path = f"{PASSKEYS}/registration-options"
    assert (await bob.rest.post(path)).code == "SUDO_MODE_REQUIRED"
    assert errors(await bob.rest.post(path, {"password": "wrong password"})) == [("password", "INVALID_PASSWORD")]
    key = await passkey_of(bob)
    assert (await bob.rest.post(path, {"password": bob.password})).code == "SUDO_MODE_REQUIRED"
    options = (await bob.rest.post(path, await assertion(bob.rest, key))).expect(200)
    assert [descriptor["id"] for descriptor in options["excludeCredentials"]] == [
        base64url(key.passkeys[0].credential_id)
    ]
    with pytest.raises(NotAllowed):
        key.create(options)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"name": None}, [("name", "INVALID_FORMAT")]),
        ({"name": ""}, [("name", "INVALID_FORMAT")]),
        ({"name": "   "}, [("name", "INVALID_FORMAT")]),
        ({"name": "n" * 101}, [("name", "CONTENT_EXCEEDS_MAX_LENGTH")]),
        ({"name": 5}, [("name", "INVALID_FORMAT")]),
        ({"challenge": None}, [("challenge", "INVALID_FORMAT")]),
        ({"challenge": "c" * 1_025}, [("challenge", "CONTENT_EXCEEDS_MAX_LENGTH")]),
        ({"response": None}, [("response", "INVALID_FORMAT")]),
        ({"response": {}}, [("response", "INVALID_FORMAT")]),
        ({"response": "x"}, [("response", "INVALID_FORMAT")]),
        ({"response": []}, [("response", "INVALID_FORMAT")]),
    ],
    ids=str,
)
async def test_bodies_that_register_nothing(chat_world: World, change: dict[str, object], wrong: Any) -> None:
    bob = chat_world.bob
    body = {**await registration(bob.rest, another(1), password=bob.password), "name": "Key"}
    assert errors(await bob.rest.post(PASSKEYS, {**body, **change})) == wrong
    assert (await bob.rest.post(PASSKEYS, body)).status == 204  # the challenge was not touched


@pytest.mark.parametrize("name", ["n", "n" * 100, "Schlüssel 🔑", "  Key  "])
async def test_names(chat_world: World, name: str) -> None:
    bob = chat_world.bob
    (await register(bob.rest, another(1), name, password=bob.password)).expect(204)
    assert await names_of(bob) == [name.strip()]


async def test_a_credential_is_registered_once_whoever_comes(chat_world: World) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    key = await passkey_of(bob)
    same = Lie(credential_id=key.passkeys[0].credential_id)
    for person, proof in ((carol, {"password": carol.password}), (bob, await assertion(bob.rest, key))):
        body = {**await registration(person.rest, another(9), same, **proof), "name": "Other"}
        answer = await person.rest.post(PASSKEYS, body)
        assert (answer.status, answer.code) == (400, "INVALID_WEBAUTHN_CREDENTIAL")
    assert await names_of(carol) == []
    assert await proves(bob, await assertion(bob.rest, key))


async def test_ten_and_no_more(chat_world: World) -> None:
    bob = chat_world.bob
    first = await passkey_of(bob, "Key 0")
    waiting = await registration(bob.rest, another(99), **await assertion(bob.rest, first))
    for number in range(1, 10):
        proof = await assertion(bob.rest, first)
        (await register(bob.rest, another(number), f"Key {number}", **proof)).expect(204)
    assert len(await names_of(bob)) == 10
    answer = await bob.rest.post(f"{PASSKEYS}/registration-options", await assertion(bob.rest, first))
    assert (answer.status, answer.code) == (400, "WEBAUTHN_CREDENTIAL_LIMIT_REACHED")
    answer = await bob.rest.post(PASSKEYS, {**waiting, "name": "One too many"})
    assert (answer.status, answer.code) == (400, "WEBAUTHN_CREDENTIAL_LIMIT_REACHED")
    assert len(await names_of(bob)) == 10
    last = (await bob.rest.get(PASSKEYS)).expect(200)[-1]["id"]
    (await bob.rest.delete(f"{PASSKEYS}/{last}", await assertion(bob.rest, first))).expect(204)
    proof = await assertion(bob.rest, first)
    (await register(bob.rest, another(100), "In its place", **proof)).expect(204)


# Replacement


async def test_the_same_model_with_the_same_name_replaces(chat_world: World, chat_server: ChatServer) -> None:
    bob = chat_world.bob
    old = await passkey_of(bob, "Key")
    new = another(2)
    (await register(bob.rest, new, "Key", **await assertion(bob.rest, old))).expect(204)
    listed = (await bob.rest.get(PASSKEYS)).expect(200)
    assert [credential["id"] for credential in listed] == [base64url(new.passkeys[0].credential_id)]
    # The replaced one is kept, but opens nothing, is not asked for, and is not there for its holder.
    stored = chat_server.database.reader.execute("SELECT count(*) FROM webauthn_credentials").fetchone()
    assert stored == (2,)
    options = (await bob.rest.post(SUDO_OPTIONS)).expect(200)
    assert len(options["allowCredentials"]) == 1
    with pytest.raises(NotAllowed):
        old.get(options)
    forced = {**options, "allowCredentials": []}
    fields = {
        "mfa_method": "webauthn",
        "webauthn_response": old.get(forced),
        "webauthn_challenge": options["challenge"],
    }
    assert not await proves(bob, fields)
    replaced = f"{PASSKEYS}/{base64url(old.passkeys[0].credential_id)}"
    assert (await bob.rest.patch(replaced, {"name": "x"})).code == "UNKNOWN_WEBAUTHN_CREDENTIAL"
    assert (await bob.rest.delete(replaced, {})).code == "UNKNOWN_WEBAUTHN_CREDENTIAL"
    # It goes with its successor.
    successor = f"{PASSKEYS}/{listed[0]['id']}"
    (await bob.rest.delete(successor, await assertion(bob.rest, new))).expect(204)
    stored = chat_server.database.reader.execute("SELECT count(*) FROM webauthn_credentials").fetchone()
    assert stored == (0,)


async def test_another_model_or_another_name_does_not(chat_world: World) -> None:
    bob = chat_world.bob
    first = await passkey_of(bob, "Key")
    other_model = another(2, aaguid=bytes(15) + b"\x01")
    (await register(bob.rest, other_model, "Key", **await assertion(bob.rest, first))).expect(204)
    (await register(bob.rest, another(3), "key", **await assertion(bob.rest, first))).expect(204)
    assert await names_of(bob) == ["Key", "Key", "key"]
    # Somebody else's with the same name and model is nobody's business here.
    await passkey_of(chat_world.carol, "Key")
    assert await proves(bob, await assertion(bob.rest, first))


async def test_a_full_account_may_still_replace(chat_world: World) -> None:
    bob = chat_world.bob
    first = await passkey_of(bob, "Key 0")
    for number in range(1, 9):
        proof = await assertion(bob.rest, first)
        (await register(bob.rest, another(number), f"Key {number}", **proof)).expect(204)
    waiting = await registration(bob.rest, another(50), **await assertion(bob.rest, first))
    (await register(bob.rest, another(51), "Key 9", **await assertion(bob.rest, first))).expect(204)
    (await bob.rest.post(PASSKEYS, {**waiting, "name": "Key 4"})).expect(204)
    assert sorted(await names_of(bob)) == [f"Key {number}" for number in range(10)]


async def test_chains_of_replacements_go_together(chat_world: World, chat_server: ChatServer) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    for number in range(1, 120):
        successor = another(number)
        (await register(bob.rest, successor, **await assertion(bob.rest, key))).expect(204)
        key = successor
    count = "SELECT count(*) FROM webauthn_credentials"
    assert chat_server.database.reader.execute(count).fetchone() == (101,)
    listed = (await bob.rest.get(PASSKEYS)).expect(200)
    (await bob.rest.delete(f"{PASSKEYS}/{listed[0]['id']}", await assertion(bob.rest, key))).expect(204)
    assert chat_server.database.reader.execute(count).fetchone() == (0,)


# Names


async def test_a_passkey_is_called_something_else(chat_world: World) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    gateway = await bob.connect()
    path = f"{PASSKEYS}/{base64url(key.passkeys[0].credential_id)}"
    assert (await bob.rest.patch(path, {"name": "Desk"})).status == 204
    assert await names_of(bob) == ["Desk"]
    update = await gateway.expect("WEBAUTHN_CREDENTIALS_UPDATE")
    assert [credential["name"] for credential in update.data] == ["Desk"]
    for body in ({}, {"name": ""}, {"name": "n" * 101}, {"name": 1}):
        assert (await bob.rest.patch(path, body)).code == "INVALID_FORM_BODY"
    assert await names_of(bob) == ["Desk"]


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_passkeys_that_are_not_ones_own(chat_world: World, method: str) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    own = base64url(key.passkeys[0].credential_id)
    body = {"name": "Mine", "password": chat_world.carol.password}
    answer = await chat_world.carol.rest.request(method, f"{PASSKEYS}/{own}", json=body)
    assert (answer.status, answer.code) == (404, "UNKNOWN_WEBAUTHN_CREDENTIAL")
    for unknown in ("AAAA", own + "=", own[:-1], "not base64", "%00", "a" * 2_000, "1"):
        path = f"{PASSKEYS}/{unknown.replace(' ', '%20')}"
        answer = await bob.rest.request(method, path, json={"name": "x"})
        assert (answer.status, answer.code) == (404, "UNKNOWN_WEBAUTHN_CREDENTIAL")
    assert await names_of(bob) == ["Key"]


# The second factor


async def test_bob_makes_passkeys_a_second_factor(chat_world: World) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    gateway = await bob.connect()
    answer = await bob.rest.put(f"{MFA}/webauthn", {"enabled": True, **await assertion(bob.rest, key)})
    assert answer.status == 204
    assert answer.header(SUDO_HEADER) is not None
    update = (await gateway.expect("USER_UPDATE")).data
    assert (update["mfa_enabled"], update["authenticator_types"]) == (True, [2])
    token = answer.header(SUDO_HEADER)
    assert token is not None
    answer = await bob.rest.request("PUT", f"{MFA}/webauthn", json={"enabled": False}, headers={SUDO_HEADER: token})
    assert answer.status == 204
    assert (await gateway.expect("USER_UPDATE")).data["mfa_enabled"] is False


async def test_there_has_to_be_a_passkey(chat_world: World) -> None:
    bob = chat_world.bob
    answer = await bob.rest.put(f"{MFA}/webauthn", {"enabled": True, "password": bob.password})
    assert (answer.status, answer.code) == (400, "NO_PASSKEYS_REGISTERED")
    assert (await bob.rest.put(f"{MFA}/webauthn", {"enabled": False})).code == "SUDO_MODE_REQUIRED"
    assert (await bob.rest.put(f"{MFA}/webauthn", {"enabled": False, "password": bob.password})).status == 204
    for body in ({}, {"enabled": None}, {"enabled": 1}, {"enabled": "true"}):
        assert errors(await bob.rest.put(f"{MFA}/webauthn", body)) == [("enabled", "INVALID_FORMAT")]


async def test_both_kinds_stand_beside_each_other(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    bob, phone = chat_world.bob, Phone(chat_server.clock)
    key = await passkey_of(bob)
    await phone.enable(bob.rest, **await assertion(bob.rest, key))
    (await bob.rest.put(f"{MFA}/webauthn", {"enabled": True, **await phone.proof()})).expect(204)
    user = (await bob.rest.get("/v1/users/@me")).expect(200)
    assert (user["mfa_enabled"], user["authenticator_types"]) == (True, [0, 2])
    body = {"code": await phone.next_code(), **await assertion(bob.rest, key)}
    (await bob.rest.post(f"{MFA}/totp/disable", body)).expect(204)
    user = (await bob.rest.get("/v1/users/@me")).expect(200)
    assert (user["mfa_enabled"], user["authenticator_types"]) == (True, [2])


# Taking away


async def test_with_the_last_passkey_the_second_factor_goes(chat_world: World) -> None:
    bob = chat_world.bob
    first, second = await passkey_of(bob, "First"), another(2)
    (await register(bob.rest, second, "Second", **await assertion(bob.rest, first))).expect(204)
    (await bob.rest.put(f"{MFA}/webauthn", {"enabled": True, **await assertion(bob.rest, first)})).expect(204)
    (await bob.rest.post(f"{MFA}/backup-codes", {"regenerate": True, **await assertion(bob.rest, first)})).expect(200)
    gateway = await bob.connect()
    paths = [f"{PASSKEYS}/{base64url(key.passkeys[0].credential_id)}" for key in (first, second)]
    for proof in ({}, {"password": bob.password}):
        assert (await bob.rest.delete(paths[0], proof)).code == "SUDO_MODE_REQUIRED"
    (await bob.rest.delete(paths[0], await assertion(bob.rest, first))).expect(204)
    update = await gateway.expect("WEBAUTHN_CREDENTIALS_UPDATE")
    assert [credential["name"] for credential in update.data] == ["Second"]
    assert (await bob.rest.get("/v1/users/@me")).expect(200)["authenticator_types"] == [2]
    answer = await bob.rest.delete(paths[1], await assertion(bob.rest, second))
    assert answer.status == 204
    names = [(await gateway.next_payload()).name for _ in range(2)]
    assert names == ["USER_UPDATE", "WEBAUTHN_CREDENTIALS_UPDATE"]
    assert gateway.dispatches[-1].data == []
    assert (await bob.rest.get("/v1/users/@me")).expect(200)["mfa_enabled"] is False
    assert (await bob.rest.get("/v1/users/@me/sudo/mfa-methods")).expect(200) == {
        "totp": False, "webauthn": False, "backup_codes": False, "has_mfa": False,
    }  # fmt: skip
    (await bob.rest.post(GATED, {"session_id_hashes": [], "password": bob.password})).expect(204)


async def test_of_two_who_delete_one_succeeds(chat_world: World) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    path = f"{PASSKEYS}/{base64url(key.passkeys[0].credential_id)}"
    token = (await bob.rest.post(GATED, {"session_id_hashes": [], **await assertion(bob.rest, key)})).header(
        SUDO_HEADER
    )
    assert token is not None
    statuses: list[int] = []

    async def delete() -> None:
        client = bob.rest.signed_in(bob.token)
        statuses.append((await client.request("DELETE", path, headers={SUDO_HEADER: token})).status)

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(delete)
    assert sorted(statuses) == [204, 404, 404, 404]


async def test_what_happens_at_once_leaves_no_factor_without_a_passkey(chat_world: World) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    own = f"{PASSKEYS}/{base64url(key.passkeys[0].credential_id)}"
    proofs = [await assertion(bob.rest, key) for _ in range(8)]
    statuses: list[tuple[str, int]] = []

    async def send(method: str, path: str, body: dict[str, Any]) -> None:
        answer = await bob.rest.signed_in(bob.token).request(method, path, json=body)
        statuses.append((method, answer.status))
        assert answer.code in {None, "NO_PASSKEYS_REGISTERED", "UNKNOWN_WEBAUTHN_CREDENTIAL", "SUDO_MODE_REQUIRED"} or (
            errors(answer) == [("mfa_code", "INVALID_MFA_CODE")]
        )

    async with trio.open_nursery() as nursery:
        for proof in proofs[:4]:
            nursery.start_soon(send, "PUT", f"{MFA}/webauthn", {"enabled": True, **proof})
        for proof in proofs[4:7]:
            nursery.start_soon(send, "DELETE", own, proof)
        nursery.start_soon(send, "PATCH", own, {"name": "Other"})
    assert statuses.count(("DELETE", 204)) <= 1
    listed = await names_of(bob)
    user = (await bob.rest.get("/v1/users/@me")).expect(200)
    assert listed or user["mfa_enabled"] is False


# Assertions


async def test_the_options_of_sudo_mode(chat_world: World) -> None:
    bob = chat_world.bob
    answer = await bob.rest.post(SUDO_OPTIONS)
    assert (answer.status, answer.code) == (400, "NO_PASSKEYS_REGISTERED")
    key = await passkey_of(bob)
    answer = await bob.rest.post(SUDO_OPTIONS)
    options = answer.expect(200)
    assert answer.header(SUDO_HEADER) is None
    assert options == {
        "challenge": options["challenge"],
        "timeout": 60_000,
        "rpId": "localhost",
        "allowCredentials": [
            {"id": base64url(key.passkeys[0].credential_id), "type": "public-key", "transports": ["nfc", "usb"]}
        ],
        "userVerification": "discouraged",
    }
    again = (await bob.rest.post(SUDO_OPTIONS)).expect(200)
    assert again["challenge"] != options["challenge"]


@pytest.mark.parametrize(
    "lie",
    [
        Lie(challenge=base64url(bytes(32))),
        Lie(origin="https://evil.example"),
        Lie(rp_id="evil.example"),
        Lie(type="webauthn.create"),
        Lie(signature=b"\x30\x06\x02\x01\x01\x02\x01\x01"),
        Lie(user_present=False),
        Lie(user_handle=b"1"),
        Lie(credential_id=b"unheard of"),
        Lie(counter=0),
    ],
    ids=str,
)
async def test_no_lie_proves(chat_world: World, lie: Lie) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    assert await proves(bob, await assertion(bob.rest, key))
    assert not await proves(bob, await assertion(bob.rest, key, lie))
    assert await proves(bob, await assertion(bob.rest, key))


async def test_a_proof_is_good_once(chat_world: World, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    fields = await assertion(bob.rest, key)
    assert await proves(bob, fields)
    assert not await proves(bob, fields)
    failed = await assertion(bob.rest, key)
    broken = copy.deepcopy(failed)
    broken["webauthn_response"]["response"]["signature"] = "AAAA"
    assert not await proves(bob, broken)
    assert not await proves(bob, failed)  # a wrong answer uses the challenge up as well
    late = await assertion(bob.rest, key)
    await trio.sleep(301)
    assert not await proves(bob, late)


async def test_a_proof_is_the_accounts_own(chat_world: World) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    bobs, carols = await passkey_of(bob), another(7)
    (await register(carol.rest, carols, password=carol.password)).expect(204)
    # Carol's passkey in Bob's name, on his challenge and on her own.
    options = (await bob.rest.post(SUDO_OPTIONS)).expect(200)
    foreign = {
        "mfa_method": "webauthn",
        "webauthn_response": carols.get({**options, "allowCredentials": []}),
        "webauthn_challenge": options["challenge"],
    }
    assert not await proves(bob, foreign)
    assert not await proves(bob, await assertion(carol.rest, carols))
    # Bob's passkey on a challenge that was made for Carol.
    options = (await carol.rest.post(SUDO_OPTIONS)).expect(200)
    borrowed = {
        "mfa_method": "webauthn",
        "webauthn_response": bobs.get({**options, "allowCredentials": []}),
        "webauthn_challenge": options["challenge"],
    }
    assert not await proves(bob, borrowed)
    assert not await proves(carol, borrowed)


async def test_a_challenge_of_signing_in_proves_nothing_here(chat_world: World) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    options = (await chat_world.anyone.post("/v1/auth/webauthn/authentication-options")).expect(200)
    fields = {
        "mfa_method": "webauthn",
        "webauthn_response": key.get(options),
        "webauthn_challenge": options["challenge"],
    }
    assert not await proves(bob, fields)


@pytest.mark.parametrize("missing", ["webauthn_response", "webauthn_challenge"])
async def test_half_a_proof_is_none(chat_world: World, missing: str) -> None:
    bob = chat_world.bob
    fields = await assertion(bob.rest, await passkey_of(bob))
    del fields[missing]
    assert not await proves(bob, fields)
    assert not await proves(bob, {"mfa_method": "webauthn"})
    assert not await proves(bob, {"mfa_method": "totp"})


async def test_a_copied_passkey_is_found_out(chat_world: World) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    copied = copy.copy(key)
    copied.passkeys = [copy.copy(key.passkeys[0])]
    assert await proves(bob, await assertion(bob.rest, key))
    assert await proves(bob, await assertion(bob.rest, key))
    assert not await proves(bob, await assertion(bob.rest, copied))
    assert not await proves(bob, await assertion(bob.rest, copied))
    assert await proves(bob, await assertion(bob.rest, copied))  # now it is the copy that is ahead,
    assert not await proves(bob, await assertion(bob.rest, key))  # and the original that stands out


async def test_a_counter_that_was_there_does_not_vanish(chat_world: World) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    assert await proves(bob, await assertion(bob.rest, key))
    assert not await proves(bob, await assertion(bob.rest, key, Lie(counter=0)))
    silent = another(5, counts=False)
    (await register(bob.rest, silent, "Silent", **await assertion(bob.rest, key))).expect(204)
    for _ in range(3):
        assert await proves(bob, await assertion(bob.rest, silent))


async def test_use_is_noted(chat_world: World, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    await trio.sleep(60)
    assert await proves(bob, await assertion(bob.rest, key))
    assert (await bob.rest.get(PASSKEYS)).expect(200)[0]["last_used_at"] == "2026-01-01T00:01:00.000Z"


async def test_passkeys_survive_a_restart(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    waiting = await assertion(bob.rest, key)
    await chat_server.restart()
    assert await proves(bob, waiting)
    assert await names_of(bob) == ["Key"]


async def test_both_origins_of_the_instance_are_good(chat_world: World) -> None:
    bob = chat_world.bob
    key = SoftwareAuthenticator("http://127.0.0.1:8080")
    (await register(bob.rest, key, password=bob.password)).expect(204)
    key.origin = ORIGIN
    assert await proves(bob, await assertion(bob.rest, key))


@pytest.mark.chat_settings(**{"webauthn.rp_id": "chat.example", "public_url": "https://app.chat.example"})
async def test_the_operator_names_the_relying_party(chat_world: World) -> None:
    bob = chat_world.bob
    key = SoftwareAuthenticator("https://app.chat.example")
    (await register(bob.rest, key, password=bob.password)).expect(204)
    assert key.passkeys[0].rp_id == "chat.example"
    assert await proves(bob, await assertion(bob.rest, key))


async def test_the_models_are_remembered(chat_world: World, chat_server: ChatServer) -> None:
    await passkey_of(chat_world.bob)
    row = chat_server.database.reader.execute("SELECT aaguid FROM webauthn_credentials").fetchone()
    assert row[0].replace("-", "") == AAGUID.hex()


async def test_a_reset_forgets_them(chat_world: World) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    (await register(bob.rest, another(2), **await assertion(bob.rest, key))).expect(204)
    (await chat_world.anyone.post("/v1/_dev/reset")).expect(204)
    assert await names_of(bob) == []
    assert (await passkey_of(bob)).passkeys
