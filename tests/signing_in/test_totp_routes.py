"""An authenticator app and backup codes: set up, used, taken away (wire facts 6.4; design 7)."""

from __future__ import annotations

import re
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.auth.typed_codes import STEP_MS
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.enrolment import MFA, SECRET, SUDO_HEADER, Phone, assertion, errors, passkey_of

METHODS = "/v1/users/@me/sudo/mfa-methods"


@pytest.fixture
async def phone(chat_server: ChatServer) -> Phone:
    return Phone(chat_server.clock)


# Setting up


async def test_bob_sets_up_an_authenticator(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    gateway = await bob.connect()
    user = (await bob.rest.get("/v1/users/@me")).expect(200)
    assert user["mfa_enabled"] is False
    assert "authenticator_types" not in user
    body = {"secret": phone.secret, "code": phone.code(), "password": bob.password}
    answer = await bob.rest.post(f"{MFA}/totp/enable", body)
    codes = answer.expect(200)["backup_codes"]
    assert answer.header(SUDO_HEADER) is None
    assert len({code["code"] for code in codes}) == 10
    assert all(re.fullmatch(r"[a-z0-9]{4}-[a-z0-9]{4}", code["code"]) for code in codes)
    assert all(code["consumed"] is False and len(code) == 2 for code in codes)
    update = await gateway.expect("USER_UPDATE")
    assert (update.data["mfa_enabled"], update.data["authenticator_types"]) == (True, [0])
    assert (await bob.rest.get("/v1/users/@me")).expect(200)["authenticator_types"] == [0]
    assert (await bob.rest.get(METHODS)).expect(200) == {
        "totp": True, "webauthn": False, "backup_codes": True, "has_mfa": True,
    }  # fmt: skip
    assert SECRET.encode() not in (await bob.rest.get("/v1/users/@me")).body


async def test_an_account_without_factors_has_no_methods(chat_world: World) -> None:
    assert (await chat_world.bob.rest.get(METHODS)).expect(200) == {
        "totp": False, "webauthn": False, "backup_codes": False, "has_mfa": False,
    }  # fmt: skip


async def test_the_secret_lies_sealed_in_the_database(
    chat_world: World, phone: Phone, autojump_clock: MockClock, chat_server: ChatServer
) -> None:
    codes = await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    connection = chat_server.database.reader
    rows = repr(connection.execute("SELECT * FROM users").fetchall())
    rows += repr(connection.execute("SELECT * FROM backup_codes").fetchall())
    assert SECRET not in rows
    assert not any(code in rows or code.replace("-", "") in rows for code in codes)


async def test_nobody_sets_up_a_second_one(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    again = {"secret": phone.secret, "code": await phone.next_code()}
    answer = await chat_world.bob.rest.post(f"{MFA}/totp/enable", again)
    assert (answer.status, answer.code) == (400, "TWO_FA_NOT_ENABLED")


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({"code": "123456"}, [("secret", "INVALID_FORMAT")]),
        ({"secret": SECRET}, [("code", "INVALID_FORMAT")]),
        ({}, [("secret", "INVALID_FORMAT"), ("code", "INVALID_FORMAT")]),
        ({"secret": "", "code": ""}, [("secret", "INVALID_FORMAT"), ("code", "INVALID_FORMAT")]),
        ({"secret": 7, "code": 123456}, [("secret", "INVALID_FORMAT"), ("code", "INVALID_FORMAT")]),
        ({"secret": [SECRET], "code": {"a": 1}}, [("secret", "INVALID_FORMAT"), ("code", "INVALID_FORMAT")]),
        ({"secret": "A" * 15, "code": "123456"}, [("secret", "INVALID_FORMAT")]),
        ({"secret": "A" * 129, "code": "123456"}, [("secret", "INVALID_FORMAT")]),
        ({"secret": "A" * 300, "code": "123456"}, [("secret", "CONTENT_EXCEEDS_MAX_LENGTH")]),
        ({"secret": "not base32, is it", "code": "123456"}, [("secret", "INVALID_FORMAT")]),
        ({"secret": SECRET, "code": "1" * 33}, [("code", "CONTENT_EXCEEDS_MAX_LENGTH")]),
        ({"secret": SECRET, "code": "abcdef"}, [("code", "INVALID_CODE")]),
        ({"secret": SECRET, "code": "1234567"}, [("code", "INVALID_CODE")]),
    ],
)
async def test_bodies_that_set_up_nothing(chat_world: World, body: dict[str, object], wrong: Any) -> None:
    answer = await chat_world.bob.rest.post(f"{MFA}/totp/enable", {"password": chat_world.bob.password, **body})
    assert sorted(errors(answer)) == sorted(wrong)
    assert (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)["mfa_enabled"] is False


async def test_the_code_has_to_be_of_the_moment(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    path, bob = f"{MFA}/totp/enable", chat_world.bob.rest
    body = {"secret": phone.secret, "password": chat_world.bob.password}
    for code in (phone.wrong_code(), phone.code(-2), phone.code(2)):
        assert errors(await bob.post(path, {**body, "code": code})) == [("code", "INVALID_CODE")]
    assert (await bob.post(path, {**body, "code": phone.code(-1)})).status == 200


async def test_the_secret_may_be_written_as_an_app_shows_it(
    chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    body = {"secret": " ".join(SECRET[place : place + 4].lower() for place in range(0, 32, 4)), "code": phone.code(-1)}
    body["password"] = chat_world.bob.password
    (await chat_world.bob.rest.post(f"{MFA}/totp/enable", body)).expect(200)
    proof = {"regenerate": False, **await phone.proof()}
    assert (await chat_world.bob.rest.post(f"{MFA}/backup-codes", proof)).status == 200


async def test_an_old_sign_in_proves_itself_first(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    # Bob signed in a day ago; whoever came by his session does not know his password.
    bob = chat_world.bob
    body = {"secret": phone.secret, "code": phone.code()}
    refused = await bob.rest.post(f"{MFA}/totp/enable", body)
    assert (refused.status, refused.code) == (403, "SUDO_MODE_REQUIRED")
    assert refused.json()["has_mfa"] is False
    wrong = await bob.rest.post(f"{MFA}/totp/enable", {**body, "password": "wrong password"})
    assert errors(wrong) == [("password", "INVALID_PASSWORD")]
    assert (await bob.rest.get(METHODS)).expect(200)["has_mfa"] is False
    answer = await bob.rest.post(f"{MFA}/totp/enable", {**body, "password": bob.password})
    assert len(answer.expect(200)["backup_codes"]) == 10
    assert answer.header(SUDO_HEADER) is None


async def test_the_code_that_set_it_up_is_used_up(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    body = {"secret": phone.secret, "code": phone.code(), "password": bob.password}
    (await bob.rest.post(f"{MFA}/totp/enable", body)).expect(200)
    proof = {"mfa_method": "totp", "mfa_code": body["code"]}
    assert errors(await bob.rest.post(f"{MFA}/backup-codes", proof)) == [("mfa_code", "INVALID_MFA_CODE")]
    ticket = (await chat_world.anyone.login(email=bob.email, password=bob.password)).expect(200)["ticket"]
    shown = await chat_world.anyone.post("/v1/auth/login/mfa/totp", {"ticket": ticket, "code": body["code"]})
    assert errors(shown) == [("code", "INVALID_CODE")]
    await trio.sleep(30)
    (await bob.rest.post(f"{MFA}/backup-codes", await phone.proof())).expect(200)


async def test_whoever_has_a_passkey_proves_it_first(
    chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    body = {"secret": phone.secret, "code": phone.code()}
    for proof in ({}, {"password": bob.password}):
        answer = await bob.rest.post(f"{MFA}/totp/enable", {**body, **proof})
        assert (answer.status, answer.code) == (403, "SUDO_MODE_REQUIRED")
    answer = await bob.rest.post(f"{MFA}/totp/enable", {**body, **await assertion(bob.rest, key)})
    assert len(answer.expect(200)["backup_codes"]) == 10
    assert answer.header(SUDO_HEADER) is not None


@pytest.mark.chat_settings(**{"mail.mode": "keep"})
async def test_an_address_is_verified_first(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.bob.id}", {"email_verified": False})
    body = {"secret": phone.secret, "code": phone.code()}
    answer = await chat_world.bob.rest.post(f"{MFA}/totp/enable", body)
    assert (answer.status, answer.code) == (403, "MFA_EMAIL_VERIFICATION_REQUIRED")
    await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.bob.id}", {"email_verified": True})
    await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, marks=pytest.mark.chat_settings(**{"mail.mode": "off"}), id="no mail"),
        pytest.param({}, marks=pytest.mark.chat_settings(sign_in="username"), id="usernames"),
        pytest.param({}, marks=pytest.mark.chat_settings(email_verification_required=False), id="none required"),
    ],
)
async def test_where_addresses_need_no_verification_none_is_asked_for(
    chat_world: World, phone: Phone, autojump_clock: MockClock, settings: object
) -> None:
    await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.bob.id}", {"email_verified": False})
    await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)


async def test_bots_and_strangers_have_no_second_factors(chat_world: World) -> None:
    for method, path in (
        ("POST", f"{MFA}/totp/enable"),
        ("POST", f"{MFA}/totp/disable"),
        ("POST", f"{MFA}/backup-codes"),
        ("PUT", f"{MFA}/webauthn"),
        ("GET", f"{MFA}/webauthn/credentials"),
        ("GET", METHODS),
    ):
        answer = await chat_world.bot.rest.request(method, path)
        assert (answer.status, answer.code) == (403, "ACCESS_DENIED")
        answer = await chat_world.anyone.request(method, path)
        assert (answer.status, answer.code) == (401, "UNAUTHORIZED")


# Taking away


async def test_bob_takes_it_away_again(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    codes = await phone.enable(bob.rest, password=bob.password)
    gateway = await bob.connect()
    body = {"code": codes[0], **await phone.proof()}
    answer = await bob.rest.post(f"{MFA}/totp/disable", body)
    assert answer.status == 204
    assert answer.header(SUDO_HEADER) is not None
    assert (await gateway.expect("USER_UPDATE")).data["mfa_enabled"] is False
    assert (await bob.rest.get(METHODS)).expect(200)["backup_codes"] is False
    # The password proves again, and a new app has codes of its own.
    (await bob.rest.post("/v1/auth/sessions/logout", {"session_id_hashes": [], "password": bob.password})).expect(204)
    new = await phone.enable(bob.rest, password=bob.password)
    assert not set(codes) & set(new)


async def test_one_code_may_stand_in_both_places_of_one_request(
    chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    code = await phone.next_code()
    body = {"code": code, "mfa_method": "totp", "mfa_code": code}
    assert (await chat_world.bob.rest.post(f"{MFA}/totp/disable", body)).status == 204


async def test_whoever_lost_the_phone_gives_a_backup_code(
    chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    codes = await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    written = codes[3].upper().replace("-", " ")
    body = {"code": codes[3], "mfa_method": "totp", "mfa_code": written}
    assert (await chat_world.bob.rest.post(f"{MFA}/totp/disable", body)).status == 204


@pytest.mark.parametrize("code", ["000000", "wrong", "xxxx-xxxx"])
async def test_a_wrong_code_takes_nothing_away(
    chat_world: World, phone: Phone, autojump_clock: MockClock, code: str
) -> None:
    await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    answer = await chat_world.bob.rest.post(f"{MFA}/totp/disable", {"code": code, **await phone.proof()})
    assert errors(answer) == [("code", "INVALID_CODE")]
    assert answer.header(SUDO_HEADER) is None
    assert (await chat_world.bob.rest.get(METHODS)).expect(200)["totp"] is True


async def test_without_proof_nothing_is_taken_away_whatever_the_code(
    chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    answer = await chat_world.bob.rest.post(f"{MFA}/totp/disable", {"code": phone.code()})
    assert (answer.status, answer.code) == (403, "SUDO_MODE_REQUIRED")
    # It was not used up either.
    body = {"code": phone.code(), "mfa_method": "totp", "mfa_code": phone.code()}
    assert (await chat_world.bob.rest.post(f"{MFA}/totp/disable", body)).status == 204


async def test_there_has_to_be_one(chat_world: World) -> None:
    bob = chat_world.bob
    proof = {"password": bob.password}
    answer = await bob.rest.post(f"{MFA}/totp/disable", {"code": "123456", **proof})
    assert (answer.status, answer.code) == (400, "TWO_FA_NOT_ENABLED")
    answer = await bob.rest.post(f"{MFA}/backup-codes", {"regenerate": True, **proof})
    assert (answer.status, answer.code) == (400, "TWO_FA_NOT_ENABLED")


# Backup codes


async def test_backup_codes_are_shown_again(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    bob = chat_world.bob.rest
    codes = await phone.enable(bob, password=chat_world.bob.password)
    answer = await bob.post(f"{MFA}/backup-codes", {"regenerate": False, "mfa_method": "totp", "mfa_code": codes[4]})
    shown = answer.expect(200)["backup_codes"]
    assert [code["code"] for code in shown] == codes
    assert [code["consumed"] for code in shown] == [position == 4 for position in range(10)]
    assert answer.header(SUDO_HEADER) is not None


async def test_new_ones_take_their_place(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    bob = chat_world.bob.rest
    old = await phone.enable(bob, password=chat_world.bob.password)
    answer = await bob.post(f"{MFA}/backup-codes", {"regenerate": True, **await phone.proof()})
    new = [code["code"] for code in answer.expect(200)["backup_codes"]]
    assert len(new) == 10
    assert not set(old) & set(new)
    for code in old:
        proof = {"mfa_method": "totp", "mfa_code": code}
        assert errors(await bob.post(f"{MFA}/backup-codes", proof)) == [("mfa_code", "INVALID_MFA_CODE")]
    for code in new:
        (await bob.post(f"{MFA}/backup-codes", {"mfa_method": "totp", "mfa_code": code})).expect(200)


async def test_passkeys_alone_have_backup_codes_on_request(
    chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    bob = chat_world.bob
    key = await passkey_of(bob)
    proof = await assertion(bob.rest, key)
    assert (await bob.rest.post(f"{MFA}/backup-codes", proof)).expect(200) == {"backup_codes": []}
    body = {"regenerate": True, **await assertion(bob.rest, key)}
    assert len((await bob.rest.post(f"{MFA}/backup-codes", body)).expect(200)["backup_codes"]) == 10
    assert (await bob.rest.get(METHODS)).expect(200) == {
        "totp": False, "webauthn": True, "backup_codes": True, "has_mfa": True,
    }  # fmt: skip


@pytest.mark.parametrize("regenerate", [1, "true", [], "yes"])
async def test_regenerate_is_a_truth_value(
    chat_world: World, phone: Phone, autojump_clock: MockClock, regenerate: object
) -> None:
    await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    answer = await chat_world.bob.rest.post(f"{MFA}/backup-codes", {"regenerate": regenerate})
    assert errors(answer) == [("regenerate", "INVALID_FORMAT")]


# Codes that were used


async def test_a_code_counts_once_although_its_step_lasts(
    chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    bob = chat_world.bob.rest
    await phone.enable(bob, password=chat_world.bob.password)
    proof = {"mfa_method": "totp", "mfa_code": phone.code()}
    assert (await bob.post(f"{MFA}/backup-codes", proof)).status == 200
    for _ in range(3):
        assert errors(await bob.post(f"{MFA}/backup-codes", proof)) == [("mfa_code", "INVALID_MFA_CODE")]
        await trio.sleep(29)
    assert (await bob.post(f"{MFA}/backup-codes", await phone.proof())).status == 200


async def test_of_two_requests_with_one_code_one_passes(
    chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    codes = await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    for code in (phone.code(), codes[0]):
        proof = {"mfa_method": "totp", "mfa_code": code}
        statuses: list[int] = []

        async def ask(proof: dict[str, str], statuses: list[int]) -> None:
            answer = await chat_world.bob.rest.signed_in(chat_world.bob.token).post(f"{MFA}/backup-codes", proof)
            statuses.append(answer.status)

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(ask, proof, statuses)
        assert sorted(statuses) == [200, 400, 400, 400, 400]


async def test_of_two_who_set_one_up_one_succeeds(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    answers: list[tuple[int, str | None]] = []

    async def enable() -> None:
        client = chat_world.bob.rest.signed_in(chat_world.bob.token)
        body = {"secret": phone.secret, "code": phone.code(), "password": chat_world.bob.password}
        answer = await client.post(f"{MFA}/totp/enable", body)
        answers.append((answer.status, answer.code))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(enable)
    assert sorted(answers, key=str) == [(200, None)] + [(400, "TWO_FA_NOT_ENABLED")] * 3


async def test_of_two_who_take_it_away_one_succeeds(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    proved = await chat_world.bob.rest.post(f"{MFA}/backup-codes", await phone.proof())
    token = proved.header(SUDO_HEADER)
    assert token is not None
    await trio.sleep(2 * STEP_MS / 1_000)  # the codes below are used for the first time
    answers: list[tuple[int, str | None]] = []

    async def send(path: str, body: dict[str, object]) -> None:
        client = chat_world.bob.rest.signed_in(chat_world.bob.token)
        answer = await client.request("POST", f"{MFA}/{path}", json=body, headers={SUDO_HEADER: token})
        answers.append((answer.status, answer.code))

    async with trio.open_nursery() as nursery:
        for steps in (-1, 1):
            nursery.start_soon(send, "totp/disable", {"code": phone.code(steps)})
            nursery.start_soon(send, "backup-codes", {"regenerate": True})
    assert [status for status, _ in answers].count(204) == 1
    assert {code for status, code in answers if status >= 400} <= {"TWO_FA_NOT_ENABLED", "SUDO_MODE_REQUIRED"}
    assert (await chat_world.bob.rest.get(METHODS)).expect(200) == {
        "totp": False, "webauthn": False, "backup_codes": False, "has_mfa": False,
    }  # fmt: skip


async def test_used_codes_stay_used_over_a_restart(
    chat_server: ChatServer, chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    codes = await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    proofs = [{"mfa_method": "totp", "mfa_code": code} for code in (phone.code(), codes[0])]
    for proof in proofs:
        assert (await chat_world.bob.rest.post(f"{MFA}/backup-codes", proof)).status == 200
    await chat_server.restart()
    for proof in proofs:
        assert (await chat_world.bob.rest.post(f"{MFA}/backup-codes", proof)).status == 400
    await trio.sleep(30)
    assert (await chat_world.bob.rest.post(f"{MFA}/backup-codes", await phone.proof())).status == 200


@pytest.mark.chat_settings(rate_limits=True)
async def test_nobody_guesses_for_long(chat_world: World, phone: Phone, autojump_clock: MockClock) -> None:
    bob = chat_world.bob.rest
    codes = await phone.enable(bob, password=chat_world.bob.password)
    wrong = {"mfa_method": "totp", "mfa_code": phone.wrong_code()}
    for _ in range(10):
        assert errors(await bob.post("/v1/auth/sessions/logout", {"session_id_hashes": [], **wrong})) == [
            ("mfa_code", "INVALID_MFA_CODE")
        ]
    right = {"mfa_method": "totp", "mfa_code": codes[0]}
    answer = await bob.post("/v1/auth/sessions/logout", {"session_id_hashes": [], **right})
    assert errors(answer) == [("mfa_code", "INVALID_MFA_CODE")]
    await trio.sleep(15 * 60)
    (await bob.post("/v1/auth/sessions/logout", {"session_id_hashes": [], **right})).expect(204)


async def test_nothing_is_half_done_when_the_store_fails(
    chat_world: World, phone: Phone, autojump_clock: MockClock
) -> None:
    await chat_world.anyone.node(storage_failing=True)
    body = {"secret": phone.secret, "code": phone.code()}
    assert (await chat_world.bob.rest.post(f"{MFA}/totp/enable", body)).status == 503
    await chat_world.anyone.node(storage_failing=False)
    assert (await chat_world.bob.rest.get(METHODS)).expect(200)["has_mfa"] is False
    codes = await phone.enable(chat_world.bob.rest, password=chat_world.bob.password)
    proof = {"mfa_method": "totp", "mfa_code": codes[0]}
    await chat_world.anyone.node(storage_failing=True)
    assert (await chat_world.bob.rest.post(f"{MFA}/backup-codes", {"regenerate": True, **proof})).status == 503
    await chat_world.anyone.node(storage_failing=False)
    shown = (await chat_world.bob.rest.post(f"{MFA}/backup-codes", proof)).expect(200)["backup_codes"]
    assert [code["code"] for code in shown] == codes
