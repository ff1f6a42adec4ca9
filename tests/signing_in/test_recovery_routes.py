"""Forgotten passwords, recovery kits and suggestions for usernames (wire facts 6.1; design 7).

Area: signing_in. Rules: 000.outcomes.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import trio

from chat.auth.tokens import token_hash
from chat.registries.user_flags import UserFlag
from chat.store.accounts import accounts
from chat.store.signing_in import one_time_codes, tickets
from chat.store.signing_in.tickets import EmailToken
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.mailed import MAIL_TOKEN, NEW_PASSWORD, Clock, last_token, mails
from tests.signing_in.signing_in import Holder, errors, holder_of, refusal, set_account

REFUSED = [("token", "INVALID_OR_EXPIRED_RESET_TOKEN")]
WRONG_KIT = [("username", "INVALID_CODE"), ("code", "INVALID_CODE")]
username_instance = pytest.mark.chat_settings(sign_in="username")


@pytest.fixture
def bob(chat_server: ChatServer, chat_world: World) -> Holder:
    """Bob, who forgets his password."""
    return Holder(chat_server, chat_world, chat_world.bob)


async def forgot(world: World, email: str) -> None:
    (await world.anyone.post("/v1/auth/forgot", {"email": email})).expect(204)


async def reset(world: World, token: str, password: object = NEW_PASSWORD) -> Response:
    return await world.anyone.post("/v1/auth/reset", {"token": token, "password": password})


async def is_valid(world: World, token: str) -> bool:
    answer: dict[str, bool] = (await world.anyone.get(f"/v1/auth/reset/{token}")).expect(200)
    assert set(answer) == {"valid"}
    return answer["valid"]


# Asking for a link


@pytest.mark.parametrize("spelling", [str, str.upper])
async def test_the_address_is_mailed_a_link(chat_world: World, spelling: Any) -> None:
    await forgot(chat_world, spelling(chat_world.bob.email))
    (mail,) = await mails(chat_world)
    assert (mail["to"], mail["kind"]) == (chat_world.bob.email, "password_reset")
    assert re.fullmatch(r"[A-Za-z0-9]{64}", mail["token"])
    assert f"/reset#token={mail['token']}\n" in mail["text"]
    assert await is_valid(chat_world, mail["token"])


async def test_an_unknown_address_gets_the_same_answer_and_no_mail(chat_world: World) -> None:
    known = await chat_world.anyone.post("/v1/auth/forgot", {"email": chat_world.bob.email})
    unknown = await chat_world.anyone.post("/v1/auth/forgot", {"email": "nobody@example.com"})
    assert (known.status, known.body) == (unknown.status, unknown.body) == (204, b"")
    assert [mail["to"] for mail in await mails(chat_world)] == [chat_world.bob.email]


async def test_asking_in_vain_costs_a_write_too(chat_server: ChatServer, chat_world: World) -> None:
    """The commit is what takes time, so there is one either way."""
    writes = []
    for email in (chat_world.bob.email, "nobody@example.com"):
        before = chat_server.database.reader.execute("PRAGMA data_version").fetchone()
        await forgot(chat_world, email)
        writes.append(chat_server.database.reader.execute("PRAGMA data_version").fetchone() != before)
    assert writes == [True, True]


async def test_asking_in_vain_leaves_nothing_behind_for_long(chat_server: ChatServer, chat_world: World) -> None:
    for number in range(5):
        await forgot(chat_world, f"nobody{number}@example.com")
    (rows,) = chat_server.database.reader.execute("SELECT count(*) FROM tickets").fetchone()
    assert rows <= 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, ("email", "INVALID_FORMAT")),
        ({"email": ""}, ("email", "INVALID_FORMAT")),
        ({"email": 5}, ("email", "INVALID_FORMAT")),
        ({"email": ["bob@example.com"]}, ("email", "INVALID_FORMAT")),
        ({"email": "not an address"}, ("email", "INVALID_EMAIL_ADDRESS")),
        ({"email": "a" * 100_000}, ("email", "CONTENT_EXCEEDS_MAX_LENGTH")),
    ],
)
async def test_what_is_no_address(chat_world: World, body: object, expected: tuple[str, str]) -> None:
    assert errors(await chat_world.anyone.post("/v1/auth/forgot", body)) == [expected]


@pytest.mark.chat_settings(**{"mail.mode": "off"})
async def test_an_instance_without_mail_answers_and_sends_nothing(chat_world: World) -> None:
    await forgot(chat_world, chat_world.bob.email)
    assert await mails(chat_world) == []


@username_instance
async def test_a_username_instance_sends_no_links(chat_world: World) -> None:
    answer = await chat_world.anyone.post("/v1/auth/forgot", {"email": chat_world.bob.email})
    assert refusal(answer) == (400, "EMAIL_UNAVAILABLE_ON_INSTANCE")


@pytest.mark.rule("000.outcomes.14")
async def test_a_bot_recovers_nothing(chat_world: World) -> None:
    await set_account(chat_world, chat_world.bot.id, email="robot@example.com")
    answers = [
        await chat_world.anyone.post("/v1/auth/forgot", {"email": "robot@example.com"}),
        await chat_world.bot.rest.post("/v1/auth/forgot", {"email": chat_world.bob.email}),
        await chat_world.bot.rest.post("/v1/auth/reset", {"token": MAIL_TOKEN, "password": NEW_PASSWORD}),
        await chat_world.bot.rest.get(f"/v1/auth/reset/{MAIL_TOKEN}"),
        await chat_world.bot.rest.post("/v1/auth/email-revert", {"token": MAIL_TOKEN, "password": NEW_PASSWORD}),
        await chat_world.bot.rest.post("/v1/auth/username-suggestions", {"global_name": "x"}),
    ]
    assert {refusal(answer) for answer in answers} == {(403, "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")}
    assert await mails(chat_world) == []


@pytest.mark.rule("000.outcomes.14")
async def test_a_token_of_an_account_that_has_become_a_bot_s(chat_server: ChatServer, chat_world: World) -> None:
    await forgot(chat_world, chat_world.bob.email)
    token = await last_token(chat_world, "password_reset")
    with chat_server.database.reader as connection:
        connection.execute("PRAGMA query_only = OFF")
        connection.execute("UPDATE users SET bot = 1 WHERE id = ?", (int(chat_world.bob.id),))
    assert refusal(await reset(chat_world, token)) == (403, "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")


# Limits, which come before any work


@pytest.mark.chat_settings(rate_limits=True)
async def test_five_links_an_address_whether_anybody_has_it(
    chat_server: ChatServer, chat_world: World, autojump_clock: Clock
) -> None:
    for email in (chat_world.bob.email, "nobody@example.com"):
        for number in range(5):
            client = RestClient(chat_server.route(f"10.0.0.{number}"))
            (await client.post("/v1/auth/forgot", {"email": email})).expect(204)
        refused = await RestClient(chat_server.route("10.0.0.9")).post("/v1/auth/forgot", {"email": email.upper()})
        assert refusal(refused) == (429, "RATE_LIMITED")
    assert len(await mails(chat_world)) == 5
    await trio.sleep(30 * 60)
    await forgot(chat_world, chat_world.bob.email)


@pytest.mark.chat_settings(rate_limits=True)
async def test_twenty_links_from_one_network(chat_world: World, autojump_clock: Clock) -> None:
    for number in range(20):
        await forgot(chat_world, f"somebody{number}@example.com")
        await trio.sleep(4)  # within the bucket of the operation, which empties faster
    refused = await chat_world.anyone.post("/v1/auth/forgot", {"email": chat_world.bob.email})
    assert refusal(refused) == (429, "RATE_LIMITED")


# Following it


async def test_a_new_password_signs_in_and_ends_what_was_there(chat_world: World) -> None:
    gateway = await chat_world.bob.connect()
    await forgot(chat_world, chat_world.bob.email)
    await forgot(chat_world, chat_world.bob.email)
    first, second = [mail["token"] for mail in await mails(chat_world)]
    answer = await reset(chat_world, first)
    assert await holder_of(chat_world, answer) == chat_world.bob.id
    assert (await gateway.expect_opcode(9)).data is False
    assert (await chat_world.bob.rest.get("/v1/users/@me")).status == 401
    assert errors(await chat_world.anyone.login(email=chat_world.bob.email, password=chat_world.bob.password))
    assert (await chat_world.anyone.login(email=chat_world.bob.email, password=NEW_PASSWORD)).status == 200
    for token in (first, second):
        assert not await is_valid(chat_world, token)
        assert errors(await reset(chat_world, token)) == REFUSED
    own = (await chat_world.anyone.signed_in(answer.json()["token"]).get("/v1/users/@me")).expect(200)
    assert own["password_last_changed_at"] is not None


async def test_a_link_works_for_an_hour(chat_world: World, autojump_clock: Clock) -> None:
    await forgot(chat_world, chat_world.bob.email)
    token = await last_token(chat_world, "password_reset")
    await trio.sleep(3_599)
    assert await is_valid(chat_world, token)
    await trio.sleep(1)
    assert not await is_valid(chat_world, token)
    assert errors(await reset(chat_world, token)) == REFUSED


@pytest.mark.parametrize("token", ["x", MAIL_TOKEN, "é" * 64, "%00", "A" * 256, "cht_" + "a" * 36])
async def test_tokens_that_nobody_was_sent_look_all_the_same(chat_world: World, token: str) -> None:
    unknown = await reset(chat_world, token)
    assert errors(unknown) == REFUSED
    weak = await reset(chat_world, token, "password")
    assert (weak.status, weak.body) == (unknown.status, unknown.body), "the password is not looked at"


@pytest.mark.parametrize("token", ["x", MAIL_TOKEN, "%C3%A9", "%00", "A" * 2_000, "a%2Fb"])
async def test_no_token_is_too_strange_to_be_asked_about(chat_world: World, token: str) -> None:
    assert not await is_valid(chat_world, token)


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("seven77", "PASSWORD_LENGTH_INVALID"),
        ("x" * 257, "PASSWORD_LENGTH_INVALID"),
        ("password123", "PASSWORD_IS_TOO_COMMON"),
        ("bob@example.com", "PASSWORD_IS_TOO_COMMON"),
        (None, "INVALID_FORMAT"),
        (12345678, "INVALID_FORMAT"),
    ],
)
async def test_a_password_that_cannot_be_leaves_the_link_good(chat_world: World, password: object, code: str) -> None:
    await set_account(chat_world, chat_world.bob.id, email="bob@example.com")
    await forgot(chat_world, "bob@example.com")
    token = await last_token(chat_world, "password_reset")
    assert errors(await reset(chat_world, token, password)) == [("password", code)]
    assert (await chat_world.bob.rest.get("/v1/users/@me")).status == 200
    assert (await reset(chat_world, token)).status == 200


async def test_bytes_that_are_no_text(chat_world: World) -> None:
    for path in ("/v1/auth/forgot", "/v1/auth/reset", "/v1/auth/email-revert", "/v1/auth/username-suggestions"):
        answer = await chat_world.anyone.request(
            "POST", path, body=b'{"token": "\xff\xfe"}', headers={"Content-Type": "application/json"}
        )
        assert errors(answer) == [("body", "INVALID_FORMAT")]


@pytest.mark.parametrize("kind", ["verification", "email_revert"])
async def test_a_token_of_another_kind(chat_world: World, kind: str) -> None:
    body = {"email": "dave@example.com", "username": "dave", "password": NEW_PASSWORD}
    (await chat_world.anyone.register(**body)).expect(200)
    token = await last_token(chat_world, "verification")
    assert not await is_valid(chat_world, token)
    assert errors(await reset(chat_world, token)) == REFUSED
    await forgot(chat_world, chat_world.bob.email)
    token = await last_token(chat_world, "password_reset")
    path, code = {
        "verification": ("verify", "INVALID_OR_EXPIRED_VERIFICATION_TOKEN"),
        "email_revert": ("email-revert", "INVALID_OR_EXPIRED_REVERT_TOKEN"),
    }[kind]
    answer = await chat_world.anyone.post(f"/v1/auth/{path}", {"token": token, "password": NEW_PASSWORD})
    assert errors(answer) == [("token", code)]
    assert await is_valid(chat_world, token)


async def test_of_many_who_follow_one_link_one_gets_in(chat_world: World) -> None:
    await forgot(chat_world, chat_world.bob.email)
    token = await last_token(chat_world, "password_reset")
    answers: list[Response] = []

    async def follow(number: int) -> None:
        client = chat_world.anyone.signed_in(None)
        body = {"token": token, "password": f"{NEW_PASSWORD} {number}"}
        answers.append(await client.post("/v1/auth/reset", body))
        await client.aclose()

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(follow, number)
    assert sorted(answer.status for answer in answers) == [200, 400, 400, 400, 400]


async def test_a_password_that_was_changed_meanwhile_voids_the_link(chat_world: World) -> None:
    await forgot(chat_world, chat_world.bob.email)
    token = await last_token(chat_world, "password_reset")
    body = {"new_password": NEW_PASSWORD, "password": chat_world.bob.password}
    (await chat_world.bob.rest.patch("/v1/users/@me", body)).expect(200)
    assert errors(await reset(chat_world, token)) == REFUSED


async def test_a_link_is_for_the_address_that_it_was_sent_to(chat_world: World) -> None:
    await forgot(chat_world, chat_world.bob.email)
    token = await last_token(chat_world, "password_reset")
    await set_account(chat_world, chat_world.bob.id, email="robert@example.com")
    assert errors(await reset(chat_world, token)) == REFUSED


async def test_it_never_gets_around_a_second_factor(bob: Holder) -> None:
    await bob.enable_totp()
    await forgot(bob.world, bob.person.email)
    body = (await reset(bob.world, await last_token(bob.world, "password_reset"))).expect(200)
    assert (body["mfa"], body["totp"]) == (True, True)
    assert "token" not in body
    assert (await bob.person.rest.get("/v1/users/@me")).status == 401, "the sign-ins are over all the same"
    assert await holder_of(bob.world, await bob.show_code(body["ticket"], bob.phone.code())) == bob.person.id


async def test_a_login_begun_with_the_old_password_comes_to_nothing(bob: Holder) -> None:
    await bob.enable_totp()
    ticket = await bob.ticket()
    await forgot(bob.world, bob.person.email)
    (await reset(bob.world, await last_token(bob.world, "password_reset"))).expect(200)
    assert errors(await bob.show_code(ticket, bob.phone.code())) == [("ticket", "SESSION_TIMEOUT")]


async def test_a_ban_stands(chat_world: World) -> None:
    until = "2100-01-01T00:00:00Z"
    flags = str(int(UserFlag.DISABLED))
    await set_account(chat_world, chat_world.bob.id, flags=flags, temp_banned_until=until)
    await forgot(chat_world, chat_world.bob.email)
    token = await last_token(chat_world, "password_reset")
    assert refusal(await reset(chat_world, token)) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    await set_account(chat_world, chat_world.bob.id, flags="0", temp_banned_until=None)
    assert (await chat_world.anyone.login(email=chat_world.bob.email, password=chat_world.bob.password)).status == 200
    assert (await reset(chat_world, token)).status == 200, "nothing was used up"


@pytest.mark.parametrize("flag", [UserFlag.DISABLED, UserFlag.SELF_DELETED])
async def test_what_its_holder_closed_is_open_again(chat_world: World, flag: UserFlag) -> None:
    await set_account(chat_world, chat_world.bob.id, flags=str(int(flag)))
    await forgot(chat_world, chat_world.bob.email)
    assert (await reset(chat_world, await last_token(chat_world, "password_reset"))).status == 200
    assert (await set_account(chat_world, chat_world.bob.id))["flags"] == "0"


@pytest.mark.chat_settings(ip_authorization=True)
async def test_who_followed_a_mailed_link_needs_no_other_for_the_network(
    chat_server: ChatServer, chat_world: World
) -> None:
    await forgot(chat_world, chat_world.bob.email)
    body = {"token": await last_token(chat_world, "password_reset"), "password": NEW_PASSWORD}
    client = RestClient(chat_server.route("192.0.2.7"))
    assert (await client.post("/v1/auth/reset", body)).status == 200
    await client.aclose()


async def test_a_stolen_database_resets_nothing(chat_server: ChatServer, chat_world: World) -> None:
    await forgot(chat_world, chat_world.bob.email)
    token = await last_token(chat_world, "password_reset")
    (row,) = chat_server.database.reader.execute("SELECT * FROM email_tokens").fetchall()
    assert token not in map(str, row)
    assert token_hash(token) in row


@username_instance
async def test_a_link_that_an_administrator_hands_over(chat_server: ChatServer, chat_world: World) -> None:
    """Document 002, Create password reset link: a token that no address belongs to."""
    user_id, now = int(chat_world.bob.id), chat_server.clock.now_ms()
    issued = EmailToken(token_hash(MAIL_TOKEN), "password_reset", user_id, None, now, now + 3_600_000)
    await chat_server.database.write(lambda connection: tickets.insert_email_token(connection, issued))
    assert await is_valid(chat_world, MAIL_TOKEN)
    assert await holder_of(chat_world, await reset(chat_world, MAIL_TOKEN)) == chat_world.bob.id
    assert (await chat_world.anyone.login(username="bob", password=NEW_PASSWORD)).status == 200


# Recovery kits


@pytest.fixture
async def kit(chat_world: World) -> str:
    """The code of bob's kit, on a username instance."""
    answer = await chat_world.bob.rest.post("/v1/users/@me/recovery-kit", {"password": chat_world.bob.password})
    code: str = answer.expect(200)["code"]
    return code


async def recover(world: World, username: str, code: str, password: str = NEW_PASSWORD) -> Response:
    return await world.anyone.post("/v1/auth/recovery", {"username": username, "code": code, "password": password})


@username_instance
async def test_a_kit_brings_somebody_back(chat_world: World, kit: str) -> None:
    assert re.fullmatch(r"[A-Z0-9]{32}", kit)
    assert await holder_of(chat_world, await recover(chat_world, "BOB", kit)) == chat_world.bob.id
    assert (await chat_world.bob.rest.get("/v1/users/@me")).status == 401
    assert (await chat_world.anyone.login(username="bob", password=NEW_PASSWORD)).status == 200
    assert errors(await recover(chat_world, "bob", kit)) == WRONG_KIT, "it is used up"


@username_instance
async def test_a_code_is_typed_as_people_type(chat_world: World, kit: str) -> None:
    typed = " ".join(kit[at : at + 4].lower() for at in range(0, 32, 4)).replace(" ", "- ", 1)
    assert (await recover(chat_world, "bob", typed)).status == 200


@username_instance
async def test_the_next_kit_takes_the_place_of_the_last(chat_world: World, kit: str) -> None:
    answer = await chat_world.bob.rest.post("/v1/users/@me/recovery-kit", {"password": chat_world.bob.password})
    assert errors(await recover(chat_world, "bob", kit)) == WRONG_KIT
    assert (await recover(chat_world, "bob", answer.expect(200)["code"])).status == 200


@username_instance
async def test_a_kit_takes_a_proof(chat_world: World) -> None:
    path = "/v1/users/@me/recovery-kit"
    assert refusal(await chat_world.bob.rest.post(path)) == (403, "SUDO_MODE_REQUIRED")
    assert errors(await chat_world.bob.rest.post(path, {"password": "wrong password"})) == [
        ("password", "INVALID_PASSWORD")
    ]
    assert refusal(await chat_world.bot.rest.post(path)) == (403, "ACCESS_DENIED")


@username_instance
async def test_wrong_codes_unknown_names_and_people_without_a_kit_look_the_same(chat_world: World, kit: str) -> None:
    answers = [
        await recover(chat_world, "bob", "A" * 32),
        await recover(chat_world, "nobody", kit),
        await recover(chat_world, "alice", kit),
        await recover(chat_world, "bob", "ß" * 32),
        await recover(chat_world, "bob", kit[:-1]),
    ]
    assert errors(answers[0]) == WRONG_KIT
    assert len({(answer.status, answer.body) for answer in answers}) == 1
    assert (await chat_world.bob.rest.get("/v1/users/@me")).status == 200
    assert (await recover(chat_world, "bob", kit)).status == 200


@username_instance
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, {"username", "code", "password"}),
        ({"username": "", "code": 5, "password": ["x"]}, {"username", "code", "password"}),
        ({"username": "b" * 257, "code": "c" * 257, "password": "p" * 257}, {"username", "code", "password"}),
        ({"username": "bob", "code": "x", "password": "password"}, {"password"}),
        ({"username": "nobody", "code": "x", "password": "short"}, {"password"}),
    ],
)
async def test_what_a_recovery_cannot_be(chat_world: World, body: object, expected: set[str]) -> None:
    answer = await chat_world.anyone.post("/v1/auth/recovery", body)
    assert {path for path, _ in errors(answer)} == expected


@username_instance
async def test_a_kit_never_gets_around_a_second_factor(bob: Holder, kit: str) -> None:
    await bob.enable_totp()
    body = (await recover(bob.world, "bob", kit)).expect(200)
    assert "token" not in body
    assert await holder_of(bob.world, await bob.show_code(body["ticket"], bob.phone.code())) == bob.person.id


@username_instance
@pytest.mark.rule("000.outcomes.14")
async def test_a_bot_s_name_recovers_nothing(chat_world: World, kit: str) -> None:
    username = (await chat_world.bot.rest.get("/v1/users/@me")).expect(200)["username"]
    assert refusal(await recover(chat_world, username, kit)) == (403, "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")


async def test_where_there_are_addresses_there_are_no_kits(chat_world: World) -> None:
    assert refusal(await recover(chat_world, "bob", "A" * 32)) == (400, "USERNAME_SIGN_IN_ONLY")
    answer = await chat_world.bob.rest.post("/v1/users/@me/recovery-kit", {"password": chat_world.bob.password})
    assert refusal(answer) == (400, "USERNAME_SIGN_IN_ONLY")


@pytest.mark.chat_settings(sign_in="username", rate_limits=True)
async def test_codes_are_tried_five_times_a_name(
    chat_server: ChatServer, chat_world: World, autojump_clock: Clock
) -> None:
    for username in ("bob", "nobody"):
        body = {"username": username, "code": "A" * 32, "password": NEW_PASSWORD}
        for number in range(5):
            client = RestClient(chat_server.route(f"10.0.0.{number}"))
            assert errors(await client.post("/v1/auth/recovery", body)) == WRONG_KIT
        client = RestClient(chat_server.route("10.0.0.9"))
        assert refusal(await client.post("/v1/auth/recovery", body)) == (429, "RATE_LIMITED")


@username_instance
async def test_a_stolen_database_shows_no_code(chat_server: ChatServer, chat_world: World, kit: str) -> None:
    stored = one_time_codes.recovery_kit_of(chat_server.database.reader, int(chat_world.bob.id))
    assert stored is not None
    assert kit.encode() not in stored.code_hash
    assert kit not in repr(stored)


# Suggestions


async def suggestions(world: World, global_name: str) -> list[str]:
    answer = await world.anyone.post("/v1/auth/username-suggestions", {"global_name": global_name})
    found: list[str] = answer.expect(200)["suggestions"]
    return found


@pytest.mark.parametrize(
    ("global_name", "expected"),
    [
        ("Zoë from Málaga", ["Zoe_from_Malaga"]),
        ("Dave", ["Dave"]),
        ("bob", ["bob"]),
        ("x" * 60, ["x" * 32]),
        ("日本", []),
        ("everyone", []),
        ("The Chat Team", []),
    ],
)
async def test_a_name_makes_a_username(chat_world: World, global_name: str, expected: list[str]) -> None:
    assert await suggestions(chat_world, global_name) == expected


@pytest.mark.chat_settings(tag_style="none")
async def test_a_suggested_username_is_free_where_names_are_not_shared(chat_world: World) -> None:
    (name,) = await suggestions(chat_world, "bob")
    assert re.fullmatch(r"bob[0-9]{6}", name)
    assert (await chat_world.anyone.register(username=name)).expect(200)["user"]["username"] == name


@pytest.mark.parametrize("body", [{}, {"global_name": ""}, {"global_name": 5}, {"global_name": "x" * 257}])
async def test_what_no_username_is_made_of(chat_world: World, body: object) -> None:
    assert [path for path, _ in errors(await chat_world.anyone.post("/v1/auth/username-suggestions", body))] == [
        "global_name"
    ]


async def test_an_account_that_is_gone_recovers_nothing(chat_server: ChatServer, chat_world: World) -> None:
    await forgot(chat_world, chat_world.bob.email)
    token = await last_token(chat_world, "password_reset")
    before = accounts.by_id(chat_server.database.reader, int(chat_world.bob.id))
    assert before is not None
    await set_account(chat_world, chat_world.bob.id, flags=str(int(UserFlag.DELETED)))
    await forgot(chat_world, chat_world.bob.email)
    assert len(await mails(chat_world)) == 1
    assert not await is_valid(chat_world, token)
    assert errors(await reset(chat_world, token)) == REFUSED
    after = accounts.by_id(chat_server.database.reader, int(chat_world.bob.id))
    assert after is not None
    assert after.password_hash == before.password_hash
