"""Registration, login, logout, sign-ins and verification of addresses (wire facts 6.1, 6.2; design 7).

Area: signing_in. Rules: 000.auth-family, 000.outcomes, 000.sudo-mode.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import trio

from chat.clock import iso_timestamp
from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World

Clock = trio.testing.MockClock
PASSWORD = "correct horse"


def errors(answer: Response) -> list[tuple[str, str]]:
    """Path and code of each wrong field."""
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    return [(error["path"], error["code"]) for error in answer.json()["errors"]]


async def mails(world: World) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = (await world.anyone.get("/v1/_dev/mail")).expect(200)
    return kept


async def set_account(world: World, user_id: str, **members: object) -> None:
    (await world.anyone.post(f"/v1/_dev/users/{user_id}", members)).expect(200)


# Registration


@pytest.mark.rule("000.auth-family.1")
async def test_who_registers_is_signed_in(chat_world: World) -> None:
    answer = await chat_world.anyone.register(
        email="dave@example.com",
        username="dave_1",
        global_name=" Dave\u0000 the Great ",
        password=PASSWORD,
        date_of_birth="1990-02-28",
        consent=True,
    )
    body = answer.expect(200)
    assert set(body) == {"token", "user_id", "user"}
    assert re.fullmatch(r"cht_[A-Za-z0-9]{36}", body["token"])
    assert body["user"]["id"] == body["user_id"]
    assert body["user"]["global_name"] == "Dave the Great"
    assert re.fullmatch(r"[0-9]{4}", body["user"]["discriminator"])
    own = (await chat_world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    assert own["email"] == "dave@example.com"
    assert own["verified"] is False
    assert own["terms_agreed_at"] == own["privacy_agreed_at"] != None  # noqa: E711 - both, and not null
    assert own["nsfw_allowed"] is True


async def test_nobody_else_learns_the_address(chat_world: World) -> None:
    body = (await chat_world.anyone.register(email="dave@example.com", username="dave", password=PASSWORD)).expect(200)
    assert "email" not in body["user"]
    assert "email" not in (await chat_world.alice.rest.get(f"/v1/users/{body['user_id']}")).expect(200)


async def test_without_an_address_the_account_is_unclaimed(chat_world: World) -> None:
    body = (await chat_world.anyone.register(global_name="Zoë from Málaga!")).expect(200)
    assert body["user"]["username"] == "Zoe_from_Malaga"
    client = chat_world.anyone.signed_in(body["token"])
    own = (await client.get("/v1/users/@me")).expect(200)
    assert (own["email"], own["verified"]) == (None, False)
    assert "email_bounced" not in own
    assert (await client.post("/v1/auth/verify/resend")).status == 204
    assert await mails(chat_world) == []


@pytest.mark.parametrize("settings", [pytest.param({}, id="mail"), pytest.param({"mail.mode": "off"}, id="no mail")])
async def test_nor_does_a_password_alone_claim_it(settings: dict[str, object], chat_world: World) -> None:
    body = (await chat_world.anyone.register(username="dave", password=PASSWORD)).expect(200)
    client = chat_world.anyone.signed_in(body["token"])
    assert (await client.get("/v1/users/@me")).expect(200)["verified"] is False
    assert (await client.create_guild("Chess")).code == "UNCLAIMED_ACCOUNT_CANNOT_CREATE_GUILDS"


@pytest.mark.parametrize("name", [{}, {"global_name": "日本語"}, {"global_name": "Chat"}])
async def test_a_name_that_makes_no_username(chat_world: World, name: dict[str, str]) -> None:
    body = (await chat_world.anyone.register(password=PASSWORD, **name)).expect(200)
    assert body["user"]["username"] == "user"


async def test_equal_usernames_differ_in_the_discriminator(chat_world: World) -> None:
    tags = set()
    for number in range(5):
        body = (await chat_world.anyone.register(email=f"d{number}@example.com", username="Dave")).expect(200)
        tags.add((body["user"]["username"], body["user"]["discriminator"]))
    assert len(tags) == 5


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"username": "a" * 33}, ("username", "USERNAME_LENGTH_INVALID")),
        ({"username": "white space"}, ("username", "USERNAME_INVALID_CHARACTERS")),
        ({"username": "café"}, ("username", "USERNAME_INVALID_CHARACTERS")),
        ({"username": "Everyone"}, ("username", "USERNAME_RESERVED_VALUE")),
        ({"username": "here"}, ("username", "USERNAME_RESERVED_VALUE")),
        ({"username": "the_C_h_a_T_team"}, ("username", "USERNAME_CANNOT_CONTAIN_RESERVED_TERMS")),
        ({"username": "System_Message1"}, ("username", "USERNAME_CANNOT_CONTAIN_RESERVED_TERMS")),
        ({"username": 5}, ("username", "INVALID_FORMAT")),
        ({"global_name": "x" * 33}, ("global_name", "GLOBAL_NAME_LENGTH_INVALID")),
        ({"global_name": "HERE"}, ("global_name", "GLOBAL_NAME_RESERVED_VALUE")),
        ({"email": "nobody"}, ("email", "INVALID_EMAIL_ADDRESS")),
        ({"email": "a@b@example.com"}, ("email", "INVALID_EMAIL_ADDRESS")),
        ({"email": "x" * 250 + "@example.com"}, ("email", "EMAIL_LENGTH_INVALID")),
        ({"email": "ALICE@example.com"}, ("email", "EMAIL_ALREADY_IN_USE")),
        ({"password": "short"}, ("password", "PASSWORD_LENGTH_INVALID")),
        ({"password": "x" * 257}, ("password", "PASSWORD_LENGTH_INVALID")),
        ({"password": "Password123"}, ("password", "PASSWORD_IS_TOO_COMMON")),
        ({"password": "dave@EXAMPLE.com"}, ("password", "PASSWORD_IS_TOO_COMMON")),
        ({"date_of_birth": "1990-2-28"}, ("date_of_birth", "INVALID_DATE_OF_BIRTH_FORMAT")),
        ({"date_of_birth": "1990-02-30"}, ("date_of_birth", "INVALID_DATE_OF_BIRTH_FORMAT")),
        ({"date_of_birth": "20000101"}, ("date_of_birth", "INVALID_DATE_OF_BIRTH_FORMAT")),
        ({"date_of_birth": "2020-01-01"}, ("date_of_birth", "MUST_BE_MINIMUM_AGE")),
        ({"date_of_birth": "2999-01-01"}, ("date_of_birth", "MUST_BE_MINIMUM_AGE")),
        ({"theme": "pink"}, ("theme", "INVALID_FORMAT")),
        ({"consent": "yes"}, ("consent", "INVALID_FORMAT")),
        ({"invite_code": "x" * 257}, ("invite_code", "CONTENT_EXCEEDS_MAX_LENGTH")),
    ],
)
async def test_what_an_account_cannot_have(
    chat_world: World, members: dict[str, object], expected: tuple[str, str]
) -> None:
    answer = await chat_world.anyone.register(
        **{"email": "dave@example.com", "username": "dave", "password": PASSWORD, **members}
    )
    assert errors(answer) == [expected]


async def test_thirteen_years_to_the_day(chat_world: World, autojump_clock: Clock) -> None:
    # Virtual time begins on 2026-01-01.
    assert (await chat_world.anyone.register(username="old", date_of_birth="2013-01-01")).status == 200
    answer = await chat_world.anyone.register(username="young", date_of_birth="2013-01-02")
    assert errors(answer) == [("date_of_birth", "MUST_BE_MINIMUM_AGE")]


async def test_the_first_settings_follow_from_what_was_said(chat_world: World) -> None:
    client = RestClient(chat_world.route, headers={"Accept-Language": "pt-BR,pt;q=0.9"})
    body = (await client.register(username="ana", theme="dark", date_of_birth="1990-01-01")).expect(200)
    settings = (await client.signed_in(body["token"]).get("/v1/users/@me/settings")).expect(200)
    assert (settings["locale"], settings["theme"]) == ("pt-BR", "dark")
    assert settings["friend_source_flags"] == 7
    assert settings["sensitive_content_friend_dm_filter"] == 0


async def test_registration_may_join_a_guild(chat_world: World) -> None:
    invite = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    body = (await chat_world.anyone.register(username="dave", invite_code=invite["code"])).expect(200)
    guilds = (await chat_world.anyone.signed_in(body["token"]).get("/v1/users/@me/guilds")).expect(200)
    assert [guild["id"] for guild in guilds] == [chat_world.guild_id]


async def test_an_invite_that_leads_nowhere_is_no_obstacle(chat_world: World) -> None:
    assert (await chat_world.anyone.register(username="dave", invite_code="nothing")).status == 200


@pytest.mark.chat_settings(registration="closed")
async def test_closed_registration(chat_world: World) -> None:
    answer = await chat_world.anyone.register(username="dave", password=PASSWORD)
    assert (answer.status, answer.code) == (403, "REGISTRATION_CLOSED")


@pytest.mark.chat_settings(tag_style="none")
async def test_an_instance_without_discriminators_has_each_username_once(chat_world: World) -> None:
    body = (await chat_world.anyone.register(username="dave")).expect(200)
    assert body["user"]["discriminator"] == "0000"
    assert errors(await chat_world.anyone.register(username="DAVE")) == [("username", "USERNAME_ALREADY_TAKEN")]


@pytest.mark.chat_settings(tag_style="none")
async def test_who_asks_for_no_username_gets_a_free_one(chat_world: World) -> None:
    names = [(await chat_world.anyone.register(global_name="Zoë")).expect(200)["user"]["username"] for _ in range(3)]
    assert names[0] == "Zoe"
    assert all(re.fullmatch("Zoe[0-9]{6}", name) for name in names[1:])
    token = (await chat_world.anyone.register(email="d@example.com", username="dave")).expect(200)["token"]
    made = (await chat_world.anyone.signed_in(token).post("/v1/oauth2/applications", {"name": "Dave"})).expect(200)
    assert re.fullmatch("Dave[0-9]{6}", made["bot"]["username"])


# Login


async def test_login_gives_a_token_of_its_own(chat_world: World) -> None:
    body = (await chat_world.anyone.login(email=chat_world.bob.email, password=chat_world.bob.password)).expect(200)
    assert set(body) == {"token", "user_id", "user"}
    assert body["user_id"] == chat_world.bob.id
    assert body["token"] != chat_world.bob.token
    assert (await chat_world.anyone.signed_in(body["token"]).get("/v1/users/@me")).status == 200
    assert (await chat_world.bob.rest.get("/v1/users/@me")).status == 200


async def test_addresses_compare_without_case(chat_world: World) -> None:
    answer = await chat_world.anyone.login(email=chat_world.bob.email.upper(), password=chat_world.bob.password)
    assert answer.status == 200


async def test_a_wrong_address_and_a_wrong_password_are_answered_alike(chat_world: World) -> None:
    wrong_password = await chat_world.anyone.login(email=chat_world.bob.email, password="wrong password")
    wrong_address = await chat_world.anyone.login(email="nobody@example.com", password=chat_world.bob.password)
    assert wrong_password.body == wrong_address.body
    assert errors(wrong_password) == [
        ("email", "INVALID_EMAIL_OR_PASSWORD"),
        ("password", "INVALID_EMAIL_OR_PASSWORD"),
    ]


async def test_so_is_an_account_without_a_password(chat_world: World) -> None:
    (await chat_world.anyone.register(email="dave@example.com", username="dave")).expect(200)
    assert errors(await chat_world.anyone.login(email="dave@example.com", password="")) == [
        ("password", "INVALID_FORMAT")
    ]
    answer = await chat_world.anyone.login(email="dave@example.com", password="anything")
    assert ("email", "INVALID_EMAIL_OR_PASSWORD") in errors(answer)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"password": PASSWORD}, "email"),
        ({"username": "bob", "password": PASSWORD}, "username"),
        ({"email": "bob@example.com", "username": "bob", "password": PASSWORD}, "username"),
        ({"email": "bob@example.com"}, "password"),
        ({"email": 5, "password": PASSWORD}, "email"),
    ],
)
async def test_an_email_instance_takes_an_address_and_a_password(
    chat_world: World, body: dict[str, object], path: str
) -> None:
    assert errors(await chat_world.anyone.login(**body)) == [(path, "INVALID_FORMAT")]


async def test_a_ban_stands_until_it_is_over(chat_world: World, autojump_clock: Clock) -> None:
    bob = chat_world.bob
    banned = int(UserFlag.DISABLED)
    await set_account(chat_world, bob.id, flags=str(banned), temp_banned_until="2026-01-01T01:00:00Z")
    answer = await chat_world.anyone.login(email=bob.email, password=bob.password)
    assert (answer.status, answer.code) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    wrong = await chat_world.anyone.login(email=bob.email, password="wrong password")
    assert wrong.code == "INVALID_FORM_BODY", "who does not know the password learns nothing of the ban"
    await trio.sleep(3_600)
    assert (await chat_world.anyone.login(email=bob.email, password=bob.password)).status == 200
    account = (await chat_world.anyone.post(f"/v1/_dev/users/{bob.id}", {})).expect(200)
    assert int(account["flags"]) & banned == 0
    assert account["temp_banned_until"] is None


async def test_what_the_holder_closed_the_password_opens_again(chat_world: World) -> None:
    bob = chat_world.bob
    await set_account(chat_world, bob.id, flags=str(int(UserFlag.DISABLED | UserFlag.SELF_DELETED | UserFlag.PARTNER)))
    assert (await chat_world.anyone.login(email=bob.email, password=bob.password)).status == 200
    account = (await chat_world.anyone.post(f"/v1/_dev/users/{bob.id}", {})).expect(200)
    assert int(account["flags"]) == UserFlag.PARTNER


async def test_a_deleted_account_is_refused_outright(chat_world: World) -> None:
    await set_account(chat_world, chat_world.bob.id, flags=str(int(UserFlag.DELETED)))
    answer = await chat_world.anyone.login(email=chat_world.bob.email, password=chat_world.bob.password)
    assert ("email", "INVALID_EMAIL_OR_PASSWORD") in errors(answer)


async def test_login_may_join_a_guild(chat_world: World) -> None:
    guild = (await chat_world.alice.rest.create_guild("Chess")).expect(200)
    channel_id = guild["system_channel_id"]
    invite = (await chat_world.alice.rest.create_channel_invite(channel_id)).expect(200)
    bob = chat_world.bob
    (await chat_world.anyone.login(email=bob.email, password=bob.password, invite_code=invite["code"])).expect(200)
    assert guild["id"] in [entry["id"] for entry in (await bob.rest.get("/v1/users/@me/guilds")).expect(200)]


# An instance of usernames


username_instance = pytest.mark.chat_settings(sign_in="username")


@username_instance
async def test_a_username_instance_takes_usernames(chat_world: World) -> None:
    body = (await chat_world.anyone.register(username="Dave", password=PASSWORD)).expect(200)
    dave = chat_world.anyone.signed_in(body["token"])
    own = (await dave.get("/v1/users/@me")).expect(200)
    assert (own["email"], own["verified"]) == (None, True)
    assert (await dave.create_guild("Chess")).status == 200
    assert (await chat_world.anyone.login(username="dave", password=PASSWORD)).expect(200)["user_id"] == body["user_id"]
    assert errors(await chat_world.anyone.login(username="dave", password="wrong password")) == [
        ("username", "INVALID_EMAIL_OR_PASSWORD"),
        ("password", "INVALID_EMAIL_OR_PASSWORD"),
    ]


@username_instance
@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"email": "d@example.com", "username": "dave", "password": PASSWORD}, ("email", "INVALID_FORMAT")),
        ({"password": PASSWORD}, ("username", "INVALID_FORMAT")),
        ({"username": "dave"}, ("password", "INVALID_FORMAT")),
        ({"username": "ALICE", "password": PASSWORD}, ("username", "USERNAME_ALREADY_TAKEN")),
    ],
)
async def test_and_nothing_else(chat_world: World, members: dict[str, object], expected: tuple[str, str]) -> None:
    assert errors(await chat_world.anyone.register(**members)) == [expected]


@username_instance
async def test_login_by_address_is_refused_there(chat_world: World) -> None:
    assert errors(await chat_world.anyone.login(email="alice@example.com", password=PASSWORD)) == [
        ("email", "INVALID_FORMAT")
    ]


@username_instance
@pytest.mark.rule("000.outcomes.14")
async def test_a_body_that_names_a_bot(chat_world: World) -> None:
    username = (await chat_world.bot.rest.get("/v1/users/@me")).expect(200)["username"]
    answer = await chat_world.anyone.login(username=username, password=PASSWORD)
    assert (answer.status, answer.code) == (403, "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")


# Sign-ins


async def test_the_list_of_sign_ins(chat_world: World) -> None:
    client = RestClient(
        chat_world.route,
        headers={
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "X-Service-Client-Properties": "eyJvcyI6ICJIYWlrdSJ9",
        },
    )
    body = (await client.login(email=chat_world.bob.email, password=chat_world.bob.password)).expect(200)
    client = client.signed_in(body["token"])
    sessions = (await client.get("/v1/auth/sessions")).expect(200)
    assert len(sessions) == 2
    assert [session["current"] for session in sessions] == [True, False]
    newest = sessions[0]
    assert newest["id"] == newest["id_hash"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", newest["id_hash"])
    assert newest["masked_ip"] == "127.0.0.*"
    assert newest["client_info"] == {
        "platform": None,
        "os": "Haiku",
        "browser": "Firefox",
        "device": "desktop",
        "location": None,
    }


@pytest.mark.parametrize("properties", ["", "%%%", "bnVsbA==", "W10=", "eyJvcyI6IDV9"])
async def test_client_properties_that_say_nothing(chat_world: World, properties: str) -> None:
    client = RestClient(chat_world.route, headers={"X-Service-Client-Properties": properties})
    assert (await client.login(email=chat_world.bob.email, password=chat_world.bob.password)).status == 200


async def test_a_sign_in_is_activity_at_once(chat_world: World, chat_server: ChatServer, autojump_clock: Clock) -> None:
    bob, admin = chat_world.bob, chat_world.admin
    somewhere = RestClient(chat_server.route("198.51.100.7"))
    await trio.sleep(100)
    login = await somewhere.login(email=bob.email, password=bob.password)
    made = await somewhere.register(email="dave@example.com", username="dave", password="correct horse battery")
    for answer in (login, made):
        shown = await admin.rest.get(f"/v1/admin/users/{answer.expect(200)['user_id']}")
        (user,) = shown.expect(200)["users"]
        assert user["last_active_ip"] == "198.51.100.7"
        assert user["last_active_at"] == iso_timestamp(chat_server.clock.now_ms())


async def test_the_last_use_is_noted_at_most_once_a_minute(
    chat_world: World, chat_server: ChatServer, autojump_clock: Clock
) -> None:
    def stored() -> int:
        return int(chat_server.database.reader.execute("SELECT max(last_used_at) FROM auth_sessions").fetchone()[0])

    await trio.sleep(100)
    before = stored()
    await chat_world.bob.rest.get("/v1/users/@me")
    used_at = chat_server.clock.now_ms()
    assert stored() == before
    await trio.sleep(61)
    assert stored() == used_at
    address = chat_server.database.reader.execute(
        "SELECT last_active_ip FROM users WHERE id = ?", (int(chat_world.bob.id),)
    ).fetchone()
    assert address == ("127.0.0.1",)


async def test_ending_sign_ins_takes_the_password(chat_world: World) -> None:
    bob = chat_world.bob
    other = (await chat_world.anyone.login(email=bob.email, password=bob.password)).expect(200)["token"]
    sessions = (await bob.rest.get("/v1/auth/sessions")).expect(200)
    hashes = [session["id_hash"] for session in sessions if not session["current"]]
    refused = await bob.rest.post("/v1/auth/sessions/logout", {"session_id_hashes": hashes})
    assert (refused.status, refused.code) == (403, "SUDO_MODE_REQUIRED")
    assert refused.json()["has_mfa"] is False
    assert refused.json()["methods"] == {"totp": False, "webauthn": False, "backup_codes": False}
    wrong = await bob.rest.post("/v1/auth/sessions/logout", {"session_id_hashes": hashes, "password": "wrong"})
    assert errors(wrong) == [("password", "INVALID_PASSWORD")]
    body = {"session_id_hashes": [*hashes, "unknown", "A" * 43], "password": bob.password}
    assert (await bob.rest.post("/v1/auth/sessions/logout", body)).status == 204
    assert (await chat_world.anyone.signed_in(other).get("/v1/users/@me")).status == 401
    assert (await bob.rest.get("/v1/users/@me")).status == 200


async def test_nobody_ends_the_sign_ins_of_others(chat_world: World) -> None:
    sessions = (await chat_world.alice.rest.get("/v1/auth/sessions")).expect(200)
    body = {"session_id_hashes": [sessions[0]["id_hash"]], "password": chat_world.bob.password}
    assert (await chat_world.bob.rest.post("/v1/auth/sessions/logout", body)).status == 204
    assert (await chat_world.alice.rest.get("/v1/users/@me")).status == 200


async def test_a_list_of_sign_ins_has_a_limit(chat_world: World) -> None:
    body = {"session_id_hashes": ["x"] * 101, "password": chat_world.bob.password}
    assert errors(await chat_world.bob.rest.post("/v1/auth/sessions/logout", body)) == [
        ("session_id_hashes", "INVALID_FORMAT")
    ]


@pytest.mark.rule("000.sudo-mode.8", "000.sudo-mode.1")
async def test_each_time_anew(chat_world: World) -> None:
    body: dict[str, object] = {"session_id_hashes": ["x"], "password": chat_world.bob.password}
    answer = await chat_world.bob.rest.post("/v1/auth/sessions/logout", body)
    assert answer.status == 204
    assert answer.header("X-Service-Sudo-Mode-JWT") is None
    del body["password"]
    assert (await chat_world.bob.rest.post("/v1/auth/sessions/logout", body)).code == "SUDO_MODE_REQUIRED"


@pytest.mark.rule("000.sudo-mode.14")
async def test_an_account_with_nothing_to_prove_itself_with_passes(chat_world: World) -> None:
    token = (await chat_world.anyone.register(username="dave")).expect(200)["token"]
    client = chat_world.anyone.signed_in(token)
    assert (await client.post("/v1/auth/sessions/logout", {"session_id_hashes": []})).status == 204


async def test_logout_ends_the_gateway_sessions_of_that_sign_in(chat_world: World) -> None:
    client = await chat_world.bob.connect()
    other_token = (await chat_world.anyone.login(email=chat_world.bob.email, password=chat_world.bob.password)).expect(
        200
    )["token"]
    assert (await chat_world.anyone.signed_in(other_token).logout()).status == 204
    assert await chat_world.session_of(client) is not None, "another sign-in's logout leaves this session alone"
    assert (await chat_world.bob.rest.logout()).status == 204
    assert await chat_world.session_of(client) is None


# Verification of addresses


@pytest.fixture
async def dave(chat_world: World) -> RestClient:
    """Somebody who has just registered."""
    body = (await chat_world.anyone.register(email="dave@example.com", username="dave", password=PASSWORD)).expect(200)
    return chat_world.anyone.signed_in(body["token"])


async def test_the_token_of_the_mail_verifies_the_address(chat_world: World, dave: RestClient) -> None:
    (mail,) = await mails(chat_world)
    assert (mail["to"], mail["kind"]) == ("dave@example.com", "verification")
    assert re.fullmatch(r"[A-Za-z0-9]{64}", mail["token"])
    assert f"#token={mail['token']}" in mail["text"]
    assert (await chat_world.anyone.post("/v1/auth/verify", {"token": mail["token"]})).status == 204
    assert (await dave.get("/v1/users/@me")).expect(200)["verified"] is True
    again = await chat_world.anyone.post("/v1/auth/verify", {"token": mail["token"]})
    assert errors(again) == [("token", "INVALID_OR_EXPIRED_VERIFICATION_TOKEN")]


@pytest.mark.parametrize("token", ["x", "A" * 64])
async def test_an_unknown_token_verifies_nothing(chat_world: World, token: str) -> None:
    answer = await chat_world.anyone.post("/v1/auth/verify", {"token": token})
    assert errors(answer) == [("token", "INVALID_OR_EXPIRED_VERIFICATION_TOKEN")]


async def test_a_token_works_for_a_day(chat_world: World, dave: RestClient, autojump_clock: Clock) -> None:
    (mail,) = await mails(chat_world)
    await trio.sleep(24 * 3_600)
    answer = await chat_world.anyone.post("/v1/auth/verify", {"token": mail["token"]})
    assert errors(answer) == [("token", "INVALID_OR_EXPIRED_VERIFICATION_TOKEN")]


async def test_a_token_is_for_the_address_that_it_was_sent_to(chat_world: World, dave: RestClient) -> None:
    (mail,) = await mails(chat_world)
    user_id = (await dave.get("/v1/users/@me")).expect(200)["id"]
    await set_account(chat_world, user_id, email="other@example.com")
    answer = await chat_world.anyone.post("/v1/auth/verify", {"token": mail["token"]})
    assert errors(answer) == [("token", "INVALID_OR_EXPIRED_VERIFICATION_TOKEN")]


async def test_three_mails_in_a_quarter_of_an_hour(chat_world: World, dave: RestClient, autojump_clock: Clock) -> None:
    await trio.sleep(60)
    for _ in range(2):
        assert (await dave.post("/v1/auth/verify/resend")).status == 204
    refused = await dave.post("/v1/auth/verify/resend")
    assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    assert refused.json()["retry_after"] == pytest.approx(14 * 60, abs=1)
    assert len(await mails(chat_world)) == 3
    await trio.sleep(refused.json()["retry_after"])
    assert (await dave.post("/v1/auth/verify/resend")).status == 204
    tokens = [mail["token"] for mail in await mails(chat_world)]
    assert (await chat_world.anyone.post("/v1/auth/verify", {"token": tokens[0]})).status == 204


async def test_a_verified_address_gets_no_mail(chat_world: World) -> None:
    assert (await chat_world.bob.rest.post("/v1/auth/verify/resend")).status == 204
    assert await mails(chat_world) == []


@pytest.mark.parametrize(
    "settings", [pytest.param({"mail.mode": "off"}, id="no mail"), {"email_verification_required": False}]
)
async def test_where_nothing_needs_verifying(settings: dict[str, object], chat_world: World) -> None:
    body = (await chat_world.anyone.register(email="dave@example.com", username="dave", password=PASSWORD)).expect(200)
    own = (await chat_world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    assert own["verified"] is True
    assert await mails(chat_world) == []


@pytest.fixture
def chat_server_options(chat_server_options: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings of a test may also come from its parameters."""
    parameters = getattr(request.node, "callspec", None)
    settings = {} if parameters is None else parameters.params.get("settings", {})
    return {**chat_server_options, "settings": {**chat_server_options["settings"], **settings}}
