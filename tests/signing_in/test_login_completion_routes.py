"""The second step of a login, and passkeys alone (wire facts 6.1, 6.2; design 7).

Area: signing_in. Rules: 000.gates.
"""

from __future__ import annotations

import pytest
import trio

from chat.registries.user_flags import UserFlag
from chat.testing.authenticator import Lie, SoftwareAuthenticator
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import PASSKEYS, Holder, errors, holder_of, refusal, set_account, set_password_hash

Clock = trio.testing.MockClock

TIMED_OUT = [("ticket", "SESSION_TIMEOUT")]
WRONG_CODE = [("code", "INVALID_CODE")]
FAILED = (401, "PASSKEY_AUTHENTICATION_FAILED")


@pytest.fixture
def bob(chat_server: ChatServer, chat_world: World) -> Holder:
    """Bob, who has a password so far."""
    return Holder(chat_server, chat_world, chat_world.bob)


# The challenge


async def test_a_password_alone_signs_in_where_there_is_no_factor(bob: Holder) -> None:
    assert await holder_of(bob.world, await bob.login()) == bob.person.id


async def test_an_authenticator_is_asked_for(bob: Holder) -> None:
    await bob.enable_totp()
    body = (await bob.login()).expect(200)
    assert {**body, "ticket": "..."} == {
        "mfa": True,
        "ticket": "...",
        "allowed_methods": ["totp"],
        "totp": True,
        "webauthn": False,
    }
    assert len(body["ticket"]) > 10


async def test_a_passkey_is_asked_for_only_where_its_holder_chose_so(bob: Holder) -> None:
    await bob.add_passkey()
    assert await holder_of(bob.world, await bob.login()) == bob.person.id
    (await bob.person.rest.put(PASSKEYS, {"enabled": True, **await bob.passkey_proof()})).expect(204)
    body = (await bob.login()).expect(200)
    assert (body["allowed_methods"], body["totp"], body["webauthn"]) == (["webauthn"], False, True)


async def test_both_are_offered_in_the_documented_order(bob: Holder) -> None:
    await bob.add_passkey(as_second_factor=True)
    code = await bob.phone.code_before()
    body = {"secret": bob.phone.secret, "code": code, **await bob.passkey_proof()}
    (await bob.person.rest.post("/v1/users/@me/mfa/totp/enable", body)).expect(200)
    assert (await bob.login()).expect(200)["allowed_methods"] == ["totp", "webauthn"]


@pytest.mark.chat_settings(sign_in="username")
async def test_an_instance_of_usernames_asks_too(bob: Holder) -> None:
    await bob.enable_totp()
    credentials = {"username": bob.person.username, "password": bob.person.password}
    challenge = (await bob.world.anyone.login(**credentials)).expect(200)
    assert challenge["allowed_methods"] == ["totp"]
    answer = await bob.show_code(challenge["ticket"], bob.phone.code())
    assert await holder_of(bob.world, answer) == bob.person.id


async def test_a_wrong_password_gets_no_challenge(bob: Holder) -> None:
    await bob.enable_totp()
    answer = await bob.login(password="wrong password")
    assert ("password", "INVALID_EMAIL_OR_PASSWORD") in errors(answer)
    assert b"ticket" not in answer.body


async def test_a_ticket_is_no_credential(bob: Holder) -> None:
    await bob.enable_totp()
    answer = await bob.world.anyone.signed_in(await bob.ticket()).get("/v1/users/@me")
    assert refusal(answer) == (401, "UNAUTHORIZED")


# Codes


async def test_a_code_completes_the_login(bob: Holder) -> None:
    await bob.enable_totp()
    answer = await bob.show_code(await bob.ticket(), bob.phone.code())
    assert await holder_of(bob.world, answer) == bob.person.id
    assert answer.json()["token"] != bob.person.token


async def test_every_completion_makes_a_sign_in_of_its_own(bob: Holder, autojump_clock: Clock) -> None:
    await bob.enable_totp()
    first = (await bob.show_code(await bob.ticket(), bob.phone.code())).expect(200)
    await trio.sleep(60)
    second = (await bob.show_code(await bob.ticket(), bob.phone.code())).expect(200)
    assert first["token"] != second["token"]
    assert len((await bob.person.rest.get("/v1/auth/sessions")).expect(200)) == 3


async def test_a_backup_code_does_too_and_only_once(bob: Holder) -> None:
    await bob.enable_totp()
    code = bob.backup_codes[0]
    assert await holder_of(bob.world, await bob.show_code(await bob.ticket(), code)) == bob.person.id
    assert errors(await bob.show_code(await bob.ticket(), code)) == WRONG_CODE
    assert await holder_of(bob.world, await bob.show_code(await bob.ticket(), bob.backup_codes[1])) == bob.person.id


async def test_a_ticket_works_once(bob: Holder) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    (await bob.show_code(ticket, bob.phone.code())).expect(200)
    assert errors(await bob.show_code(ticket, bob.backup_codes[0])) == TIMED_OUT
    assert await holder_of(bob.world, await bob.show_code(await bob.ticket(), bob.backup_codes[0])), "nothing was spent"


async def test_a_code_works_once_even_with_another_ticket(bob: Holder) -> None:
    await bob.enable_totp()
    tickets = [await bob.ticket(), await bob.ticket()]
    code = bob.phone.code()
    (await bob.show_code(tickets[0], code)).expect(200)
    assert errors(await bob.show_code(tickets[1], code)) == WRONG_CODE


async def test_of_many_requests_with_one_ticket_one_gets_in(bob: Holder) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    answers = []

    async def show(code: str) -> None:
        answers.append(await bob.show_code(ticket, code, RestClient(bob.world.route)))

    async with trio.open_nursery() as nursery:
        for code in (bob.phone.code(), *bob.backup_codes):
            nursery.start_soon(show, code)
    assert sorted(answer.status for answer in answers) == [200] + [400] * 10
    left = [code for code in bob.backup_codes if (await bob.show_code(await bob.ticket(), code)).status == 200]
    assert len(left) >= 9, "who came too late has not spent a backup code"


@pytest.mark.parametrize("ticket", ["x", "A" * 43, pytest.param("é" * 50, id="no ASCII")])
async def test_an_unknown_ticket_has_timed_out(bob: Holder, ticket: str) -> None:
    await bob.enable_totp()
    assert errors(await bob.show_code(ticket, bob.phone.code())) == TIMED_OUT
    path = "/v1/auth/login/mfa/webauthn/authentication-options"
    assert errors(await bob.world.anyone.post(path, {"ticket": ticket})) == TIMED_OUT
    body = {"ticket": ticket, "response": {"id": "x"}, "challenge": "x"}
    assert errors(await bob.world.anyone.post("/v1/auth/login/mfa/webauthn", body)) == TIMED_OUT


async def test_a_ticket_is_good_for_five_minutes(bob: Holder, autojump_clock: Clock) -> None:
    await bob.enable_totp()
    tickets = [await bob.ticket(), await bob.ticket()]
    await trio.sleep(299)
    (await bob.show_code(tickets[0], bob.phone.code())).expect(200)
    await trio.sleep(1)
    late = await bob.show_code(tickets[1], bob.backup_codes[0])
    used = await bob.show_code(tickets[0], bob.backup_codes[0])
    unknown = await bob.show_code("A" * 43, bob.backup_codes[0])
    assert errors(late) == TIMED_OUT
    assert late.body == used.body == unknown.body


async def test_the_fifth_wrong_code_destroys_the_ticket(bob: Holder) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    for _ in range(5):
        assert errors(await bob.show_code(ticket, bob.phone.wrong_code())) == WRONG_CODE
    assert errors(await bob.show_code(ticket, bob.phone.code())) == TIMED_OUT
    assert await holder_of(bob.world, await bob.show_code(await bob.ticket(), bob.phone.code())) == bob.person.id


async def test_four_wrong_codes_leave_it_as_it_is(bob: Holder) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    for _ in range(4):
        assert errors(await bob.show_code(ticket, bob.phone.wrong_code())) == WRONG_CODE
    (await bob.show_code(ticket, bob.phone.code())).expect(200)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, [("code", "INVALID_FORMAT"), ("ticket", "INVALID_FORMAT")]),
        ({"ticket": "x"}, [("code", "INVALID_FORMAT")]),
        ({"code": "123456"}, [("ticket", "INVALID_FORMAT")]),
        ({"code": 123456, "ticket": "x"}, [("code", "INVALID_FORMAT")]),
        ({"code": "1" * 33, "ticket": "x"}, [("code", "CONTENT_EXCEEDS_MAX_LENGTH")]),
        ({"code": "1", "ticket": "x" * 257}, [("ticket", "CONTENT_EXCEEDS_MAX_LENGTH")]),
        ({"code": ["1"], "ticket": {}}, [("code", "INVALID_FORMAT"), ("ticket", "INVALID_FORMAT")]),
    ],
)
async def test_what_is_no_code_and_no_ticket(
    chat_world: World, body: dict[str, object], expected: list[tuple[str, str]]
) -> None:
    assert errors(await chat_world.anyone.post("/v1/auth/login/mfa/totp", body)) == expected


async def test_another_account_s_code_does_not_fit(chat_server: ChatServer, bob: Holder) -> None:
    carol = Holder(chat_server, bob.world, bob.world.carol)
    carol.phone.secret = "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU"
    await bob.enable_totp()
    await carol.enable_totp()
    ticket = await bob.ticket()
    for code in (carol.phone.code(), carol.backup_codes[0]):
        assert errors(await bob.show_code(ticket, code)) == WRONG_CODE


async def test_a_login_may_still_join_what_its_invite_leads_to(bob: Holder) -> None:
    guild = (await bob.world.alice.rest.create_guild("Chess")).expect(200)
    invite = (await bob.world.alice.rest.create_channel_invite(guild["system_channel_id"])).expect(200)
    await bob.enable_totp()
    ticket = (await bob.login(invite_code=invite["code"])).expect(200)["ticket"]
    assert guild["id"] not in [entry["id"] for entry in (await bob.person.rest.get("/v1/users/@me/guilds")).expect(200)]
    (await bob.show_code(ticket, bob.phone.code())).expect(200)
    assert guild["id"] in [entry["id"] for entry in (await bob.person.rest.get("/v1/users/@me/guilds")).expect(200)]


# What changes between the two steps


async def test_totp_taken_away_in_between(bob: Holder) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    await bob.disable_totp()
    assert errors(await bob.show_code(ticket, bob.phone.code())) == [("code", "TOTP_NOT_ENABLED")]
    assert await holder_of(bob.world, await bob.login()) == bob.person.id


async def test_passkeys_taken_away_in_between(bob: Holder) -> None:
    await bob.add_passkey(as_second_factor=True)
    ticket = await bob.ticket()
    path = "/v1/auth/login/mfa/webauthn"
    options = (await bob.world.anyone.post(f"{path}/authentication-options", {"ticket": ticket})).expect(200)
    body = {**bob.assertion(options), "ticket": ticket}
    await bob.remove_passkey()
    assert refusal(await bob.world.anyone.post(path, body)) == (400, "NO_PASSKEYS_REGISTERED")
    again = await bob.world.anyone.post(f"{path}/authentication-options", {"ticket": ticket})
    assert refusal(again) == (400, "NO_PASSKEYS_REGISTERED")


async def test_a_new_password_in_between_times_the_ticket_out(bob: Holder) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    proof = {"mfa_method": "totp", "mfa_code": bob.phone.code()}
    body = {"new_password": "another correct horse", **proof}
    (await bob.person.rest.patch("/v1/users/@me", body)).expect(200)
    assert errors(await bob.show_code(ticket, bob.backup_codes[0])) == TIMED_OUT


async def test_whoever_changed_it(bob: Holder) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    await set_password_hash(bob.server, bob.person.id, "another")
    assert errors(await bob.show_code(ticket, bob.backup_codes[0])) == TIMED_OUT


async def test_a_ban_in_between(bob: Holder) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    banned = str(int(UserFlag.DISABLED))
    await set_account(bob.world, bob.person.id, flags=banned, temp_banned_until="2999-01-01T00:00:00Z")
    refused = await bob.show_code(ticket, bob.backup_codes[0])
    assert refusal(refused) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    await set_account(bob.world, bob.person.id, flags="0", temp_banned_until=None)
    (await bob.show_code(ticket, bob.backup_codes[0])).expect(200)


async def test_a_ban_that_is_over_is_lifted_by_the_password(bob: Holder, autojump_clock: Clock) -> None:
    await bob.enable_totp()
    banned = str(int(UserFlag.DISABLED | UserFlag.PARTNER))
    await set_account(bob.world, bob.person.id, flags=banned, temp_banned_until="2026-01-01T01:00:00Z")
    assert refusal(await bob.login()) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    await trio.sleep(3_600)
    ticket = await bob.ticket()
    account = await set_account(bob.world, bob.person.id)
    assert (int(account["flags"]), account["temp_banned_until"]) == (UserFlag.PARTNER, None)
    (await bob.show_code(ticket, bob.phone.code())).expect(200)


@pytest.mark.parametrize("flag", [UserFlag.DELETED, UserFlag.DISABLED, UserFlag.SELF_DELETED])
async def test_an_account_closed_in_between(bob: Holder, flag: UserFlag) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    await set_account(bob.world, bob.person.id, flags=str(int(flag)))
    assert errors(await bob.show_code(ticket, bob.backup_codes[0])) == TIMED_OUT
    account = await set_account(bob.world, bob.person.id)
    assert int(account["flags"]) == flag, "a refused completion opens nothing"


async def test_what_was_closed_before_the_password_opens_at_the_end(bob: Holder) -> None:
    await bob.enable_totp()
    await set_account(bob.world, bob.person.id, flags=str(int(UserFlag.DISABLED)))
    ticket = await bob.ticket()
    assert int((await set_account(bob.world, bob.person.id))["flags"]) == UserFlag.DISABLED
    (await bob.show_code(ticket, bob.phone.code())).expect(200)
    assert int((await set_account(bob.world, bob.person.id))["flags"]) == 0


# Passkeys as the second step


async def test_a_passkey_completes_the_login(bob: Holder) -> None:
    await bob.add_passkey(as_second_factor=True)
    assert await holder_of(bob.world, await bob.show_key(await bob.ticket())) == bob.person.id


async def test_the_options_name_the_account_s_passkeys(bob: Holder) -> None:
    await bob.add_passkey(as_second_factor=True)
    path = "/v1/auth/login/mfa/webauthn/authentication-options"
    options = (await bob.world.anyone.post(path, {"ticket": await bob.ticket()})).expect(200)
    (listed,) = (await bob.person.rest.get(f"{PASSKEYS}/credentials")).expect(200)
    assert [allowed["id"] for allowed in options["allowCredentials"]] == [listed["id"]]
    assert options["userVerification"] == "discouraged"


async def test_an_authenticator_that_knows_nobody_is_enough_for_a_second_step(bob: Holder) -> None:
    bob.key.verifies_user = False
    await bob.add_passkey(as_second_factor=True)
    assert await holder_of(bob.world, await bob.show_key(await bob.ticket())) == bob.person.id


@pytest.mark.parametrize(
    "lie",
    [
        Lie(signature=b"forged"),
        Lie(origin="https://evil.example"),
        Lie(rp_id="evil.example"),
        Lie(challenge="AAAA"),
        Lie(type="webauthn.create"),
        Lie(user_present=False),
        Lie(user_handle=b"1"),
        Lie(credential_id=b"x" * 32),
    ],
)
async def test_a_lying_authenticator_fails(bob: Holder, lie: Lie) -> None:
    await bob.add_passkey(as_second_factor=True)
    ticket = await bob.ticket()
    assert refusal(await bob.show_key(ticket, lie)) == FAILED
    assert await holder_of(bob.world, await bob.show_key(ticket)) == bob.person.id


async def test_five_lies_destroy_the_ticket(bob: Holder) -> None:
    await bob.add_passkey(as_second_factor=True)
    ticket = await bob.ticket()
    for _ in range(5):
        assert refusal(await bob.show_key(ticket, Lie(signature=b"forged"))) == FAILED
    path = "/v1/auth/login/mfa/webauthn/authentication-options"
    assert errors(await bob.world.anyone.post(path, {"ticket": ticket})) == TIMED_OUT


async def test_a_challenge_is_good_for_its_purpose_only(bob: Holder) -> None:
    await bob.add_passkey(as_second_factor=True)
    anyone, ticket = bob.world.anyone, await bob.ticket()
    path = "/v1/auth/login/mfa/webauthn"
    discoverable = (await anyone.post("/v1/auth/webauthn/authentication-options")).expect(200)
    assert refusal(await anyone.post(path, {**bob.assertion(discoverable), "ticket": ticket})) == FAILED
    second_step = (await anyone.post(f"{path}/authentication-options", {"ticket": ticket})).expect(200)
    body = bob.assertion(second_step)
    assert refusal(await anyone.post("/v1/auth/webauthn/authenticate", body)) == FAILED


async def test_an_assertion_works_once(bob: Holder) -> None:
    await bob.add_passkey(as_second_factor=True)
    path = "/v1/auth/login/mfa/webauthn"
    tickets = [await bob.ticket(), await bob.ticket()]
    options = (await bob.world.anyone.post(f"{path}/authentication-options", {"ticket": tickets[0]})).expect(200)
    body = bob.assertion(options)
    (await bob.world.anyone.post(path, {**body, "ticket": tickets[0]})).expect(200)
    assert refusal(await bob.world.anyone.post(path, {**body, "ticket": tickets[1]})) == FAILED


async def test_a_backup_code_helps_who_has_lost_a_passkey(bob: Holder) -> None:
    await bob.add_passkey(as_second_factor=True)
    body = {"regenerate": True, **await bob.passkey_proof()}
    codes = (await bob.person.rest.post("/v1/users/@me/mfa/backup-codes", body)).expect(200)["backup_codes"]
    ticket = await bob.ticket()
    assert errors(await bob.show_code(ticket, bob.phone.code())) == WRONG_CODE
    assert await holder_of(bob.world, await bob.show_code(ticket, codes[0]["code"])) == bob.person.id


async def test_without_any_the_account_has_no_totp(bob: Holder) -> None:
    await bob.add_passkey(as_second_factor=True)
    assert errors(await bob.show_code(await bob.ticket(), "123456")) == [("code", "TOTP_NOT_ENABLED")]


async def test_a_passkey_that_was_not_chosen_is_no_second_step(bob: Holder) -> None:
    await bob.enable_totp()
    await bob.add_passkey(mfa_method="totp", mfa_code=bob.phone.code())
    path = "/v1/auth/login/mfa/webauthn/authentication-options"
    answer = await bob.world.anyone.post(path, {"ticket": await bob.ticket()})
    assert refusal(answer) == (400, "NO_PASSKEYS_REGISTERED")


# A passkey alone


async def test_a_passkey_alone_signs_in(bob: Holder) -> None:
    await bob.add_passkey()
    options = (await bob.world.anyone.post("/v1/auth/webauthn/authentication-options")).expect(200)
    assert "allowCredentials" not in options
    assert options["userVerification"] == "required"
    answer = await bob.world.anyone.post("/v1/auth/webauthn/authenticate", bob.assertion(options))
    assert await holder_of(bob.world, answer) == bob.person.id


async def test_and_needs_no_further_factor(bob: Holder) -> None:
    await bob.enable_totp()
    await bob.add_passkey(mfa_method="totp", mfa_code=bob.phone.code())
    assert await holder_of(bob.world, await bob.show_key_alone()) == bob.person.id


async def test_it_must_know_who_touches_it(bob: Holder) -> None:
    await bob.add_passkey()
    assert refusal(await bob.show_key_alone(Lie(user_verified=False))) == FAILED
    assert await holder_of(bob.world, await bob.show_key_alone()) == bob.person.id


@pytest.mark.parametrize(
    "lie",
    [
        Lie(signature=b"forged"),
        Lie(origin="https://evil.example"),
        Lie(challenge="AAAA"),
        Lie(user_handle=b"1"),
        Lie(counter=0),
        Lie(user_present=False),
    ],
)
async def test_lies_of_a_passkey_alone(bob: Holder, lie: Lie) -> None:
    await bob.add_passkey()
    await bob.show_key_alone()
    failed = await bob.show_key_alone(lie)
    assert refusal(failed) == FAILED
    assert failed.header("WWW-Authenticate") is None


@pytest.mark.parametrize(
    "response",
    [
        {"id": "x"},
        {"id": 5, "rawId": [], "response": "x", "type": None},
        {"response": {"clientDataJSON": "x" * 70_000}},
    ],
)
async def test_what_is_no_assertion_fails(bob: Holder, response: dict[str, object]) -> None:
    await bob.add_passkey()
    options = (await bob.world.anyone.post("/v1/auth/webauthn/authentication-options")).expect(200)
    body = {"response": response, "challenge": options["challenge"]}
    assert refusal(await bob.world.anyone.post("/v1/auth/webauthn/authenticate", body)) == FAILED


async def test_a_challenge_works_once_and_for_five_minutes(bob: Holder, autojump_clock: Clock) -> None:
    await bob.add_passkey()
    path = "/v1/auth/webauthn"
    options = [(await bob.world.anyone.post(f"{path}/authentication-options")).expect(200) for _ in range(2)]
    body = bob.assertion(options[0])
    (await bob.world.anyone.post(f"{path}/authenticate", body)).expect(200)
    assert refusal(await bob.world.anyone.post(f"{path}/authenticate", body)) == FAILED
    late = bob.assertion(options[1])
    await trio.sleep(300)
    assert refusal(await bob.world.anyone.post(f"{path}/authenticate", late)) == FAILED


async def test_a_passkey_that_nobody_registered(bob: Holder) -> None:
    await bob.add_passkey()
    stranger = SoftwareAuthenticator(bob.key.origin)
    stranger.passkeys = [*bob.key.passkeys]
    stranger.passkeys[0].credential_id = b"nobody's" * 4
    bob.key = stranger
    assert refusal(await bob.show_key_alone()) == FAILED


@pytest.mark.rule("000.gates.12")
async def test_a_deleted_account_signs_in_by_no_way_at_all(bob: Holder) -> None:
    await bob.enable_totp()
    await bob.add_passkey(as_second_factor=True, mfa_method="totp", mfa_code=bob.phone.code())
    ticket = await bob.ticket()
    (await bob.show_code(await bob.ticket(), bob.backup_codes[0])).expect(200)
    (await bob.show_key(await bob.ticket())).expect(200)
    (await bob.show_key_alone()).expect(200)
    sessions = (await bob.person.rest.get("/v1/auth/sessions")).expect(200)
    await set_account(bob.world, bob.person.id, flags=str(int(UserFlag.DELETED)))
    wrong = await bob.login(password="wrong password")
    assert (await bob.login()).body == wrong.body
    assert errors(await bob.show_code(ticket, bob.backup_codes[1])) == TIMED_OUT
    assert refusal(await bob.show_key_alone()) == FAILED
    await set_account(bob.world, bob.person.id, flags="0")
    assert len((await bob.person.rest.get("/v1/auth/sessions")).expect(200)) == len(sessions)


@pytest.mark.parametrize("way", ["password", "passkey"])
async def test_what_the_holder_closed_any_way_opens_again(bob: Holder, way: str) -> None:
    await bob.add_passkey()
    closed = UserFlag.DISABLED | UserFlag.SELF_DELETED
    await set_account(bob.world, bob.person.id, flags=str(int(closed | UserFlag.PARTNER)))
    answer = await bob.login() if way == "password" else await bob.show_key_alone()
    answer.expect(200)
    assert int((await set_account(bob.world, bob.person.id))["flags"]) == UserFlag.PARTNER


async def test_a_ban_stands_against_a_passkey_too(bob: Holder) -> None:
    await bob.add_passkey()
    banned = str(int(UserFlag.DISABLED))
    await set_account(bob.world, bob.person.id, flags=banned, temp_banned_until="2999-01-01T00:00:00Z")
    assert refusal(await bob.show_key_alone()) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
