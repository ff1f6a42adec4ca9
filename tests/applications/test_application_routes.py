"""Applications and their bots (wire facts 5.7; appendix D, OAuth2).

Area: applications. Rules: 000.credentials.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response, RestClient
from chat.testing.world import World

PATH = "/v1/oauth2/applications"


def errors(answer: Response) -> list[tuple[str, str]]:
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    return [(error["path"], error["code"]) for error in answer.json()["errors"]]


async def create(client: RestClient, **members: object) -> dict[str, Any]:
    body: dict[str, Any] = (await client.post(PATH, {"name": "Chess master", **members})).expect(200)
    return body


@pytest.mark.rule("000.credentials.20")
async def test_an_application_comes_with_a_bot_and_its_secrets(chat_world: World) -> None:
    made = await create(chat_world.bob.rest, redirect_uris=["https://example.com/back", "com.example.app:/back"])
    assert set(made) == {
        "id", "name", "icon", "description", "redirect_uris", "bot_public", "bot_require_code_grant", "public_client",
        "client_secret", "bot", "interactions_endpoint_url", "verify_key",
    }  # fmt: skip
    assert made["redirect_uris"] == ["https://example.com/back", "com.example.app:/back"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", made["client_secret"])
    assert made["bot"]["id"] == made["id"]
    assert made["bot"]["username"] == "Chess_master"
    assert re.fullmatch(rf"{made['id']}\.[A-Za-z0-9_-]{{43}}", made["bot"]["token"])
    robot = chat_world.anyone.signed_in(f"Bot {made['bot']['token']}")
    user = (await robot.get("/v1/users/@me")).expect(200)
    assert (user["id"], user["bot"], user["verified"]) == (made["id"], True, True)


async def test_secrets_are_told_once(chat_world: World) -> None:
    made = await create(chat_world.bob.rest)
    for answer in (
        await chat_world.bob.rest.get(f"{PATH}/{made['id']}"),
        await chat_world.bob.rest.patch(f"{PATH}/{made['id']}", {"name": "Other"}),
        await chat_world.bob.rest.get(f"{PATH}/@me"),
        await chat_world.bob.rest.get("/v1/users/@me/applications"),
        await chat_world.anyone.signed_in(f"Bot {made['bot']['token']}").get("/v1/applications/@me"),
    ):
        assert answer.status == 200
        assert made["client_secret"].encode() not in answer.body
        assert made["bot"]["token"].encode() not in answer.body
        assert b'"token"' not in answer.body


async def test_a_bot_that_asks_for_its_own_application_gets_it_in_either_place(chat_world: World) -> None:
    """Libraries ask at login where a person's applications are listed."""
    await create(chat_world.bot.rest.signed_in(chat_world.alice.token))
    own = (await chat_world.bot.rest.get("/v1/applications/@me")).expect(200)
    assert own["id"] == chat_world.bot.application_id
    assert (await chat_world.bot.rest.get(f"{PATH}/@me")).expect(200) == own
    refused = await chat_world.bot.rest.get("/v1/users/@me/applications")
    assert (refused.status, refused.code) == (403, "ACCESS_DENIED")


async def test_the_list_is_ones_own(chat_world: World) -> None:
    first, second = await create(chat_world.bob.rest), await create(chat_world.bob.rest)
    for path in (f"{PATH}/@me", "/v1/users/@me/applications"):
        listed = (await chat_world.bob.rest.get(path)).expect(200)
        assert [application["id"] for application in listed] == [first["id"], second["id"]]
    assert (await chat_world.carol.rest.get(f"{PATH}/@me")).expect(200) == []


@pytest.mark.parametrize(
    ("method", "suffix"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("PATCH", "/bot"),
        ("POST", "/bot/reset-token"),
        ("POST", "/client-secret/reset"),
    ],
)
async def test_only_the_owner_comes_near(chat_world: World, method: str, suffix: str) -> None:
    made = await create(chat_world.bob.rest)
    foreign = await chat_world.carol.rest.request(method, f"{PATH}/{made['id']}{suffix}", json={})
    assert (foreign.status, foreign.code) == (403, "ACCESS_DENIED")
    unknown = await chat_world.carol.rest.request(method, f"{PATH}/999999999999999999{suffix}", json={})
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_APPLICATION")
    robot = await chat_world.bot.rest.request(method, f"{PATH}/{made['id']}{suffix}", json={})
    assert (robot.status, robot.code) == (403, "ACCESS_DENIED")


async def test_a_change(chat_world: World) -> None:
    made = await create(chat_world.bob.rest)
    change = {"name": "Go master", "redirect_uris": ["https://example.com/"], "bot_public": False}
    changed = (await chat_world.bob.rest.patch(f"{PATH}/{made['id']}", change)).expect(200)
    assert {name: changed[name] for name in change} == change
    assert (await chat_world.bob.rest.get(f"{PATH}/{made['id']}")).expect(200) == changed
    cleared = (await chat_world.bob.rest.patch(f"{PATH}/{made['id']}", {"redirect_uris": None})).expect(200)
    assert cleared["redirect_uris"] == []


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"name": ""}, ("name", "INVALID_FORMAT")),
        ({"name": "x" * 101}, ("name", "CONTENT_EXCEEDS_MAX_LENGTH")),
        ({"redirect_uris": ["https://example.com", "nonsense"]}, ("redirect_uris.1", "INVALID_FORMAT")),
        ({"redirect_uris": ["https://example.com/#fragment"]}, ("redirect_uris.0", "INVALID_FORMAT")),
        ({"redirect_uris": ["https://[broken"]}, ("redirect_uris.0", "INVALID_FORMAT")),
        ({"redirect_uris": ["https://example.com"] * 11}, ("redirect_uris", "INVALID_FORMAT")),
        ({"bot_public": "yes"}, ("bot_public", "INVALID_FORMAT")),
    ],
)
async def test_what_an_application_cannot_be(
    chat_world: World, members: dict[str, object], expected: tuple[str, str]
) -> None:
    assert errors(await chat_world.bob.rest.post(PATH, {"name": "x", **members})) == [expected]
    made = await create(chat_world.bob.rest)
    assert errors(await chat_world.bob.rest.patch(f"{PATH}/{made['id']}", members)) == [expected]


@pytest.mark.chat_settings(**{"limits.max_applications_per_user": 2})
async def test_there_is_a_limit(chat_world: World) -> None:
    for _ in range(2):
        await create(chat_world.bob.rest)
    answer = await chat_world.bob.rest.post(PATH, {"name": "one more"})
    assert (answer.status, answer.code) == (400, "MAX_APPLICATIONS")


async def test_an_unclaimed_account_makes_none(chat_world: World) -> None:
    token = (await chat_world.anyone.register(username="dave")).expect(200)["token"]
    answer = await chat_world.anyone.signed_in(token).post(PATH, {"name": "x"})
    assert (answer.status, answer.code) == (400, "UNCLAIMED_ACCOUNT_CANNOT_CREATE_APPLICATIONS")


async def test_a_limited_account_makes_none(chat_world: World) -> None:
    flags = str(int(UserFlag.ACCOUNT_LIMITED))
    await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.bob.id}", {"flags": flags})
    answer = await chat_world.bob.rest.post(PATH, {"name": "x"})
    assert (answer.status, answer.code) == (403, "ACCOUNT_LIMITED")
    assert (await chat_world.bob.rest.get(f"{PATH}/@me")).status == 200


# The bot


async def test_the_bot_is_changed_and_its_guilds_hear_of_it(chat_world: World) -> None:
    client = await chat_world.bob.connect()
    path = f"{PATH}/{chat_world.bot.application_id}/bot"
    bot = (await chat_world.alice.rest.patch(path, {"username": "HAL", "bio": "I am.", "bot_flags": 16})).expect(200)
    assert (bot["username"], bot["bio"], bot["flags"]) == ("HAL", "I am.", 16)
    member = (await client.expect("GUILD_MEMBER_UPDATE")).data
    assert (member["user"]["username"], member["user"]["bot"]) == ("HAL", True)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"username": "no blanks"}, ("username", "USERNAME_INVALID_CHARACTERS")),
        ({"bio": "x" * 321}, ("bio", "CONTENT_EXCEEDS_MAX_LENGTH")),
        ({"discriminator": "x"}, ("discriminator", "DISCRIMINATOR_INVALID_FORMAT")),
    ],
)
async def test_what_a_bot_cannot_be(chat_world: World, change: dict[str, object], expected: tuple[str, str]) -> None:
    path = f"{PATH}/{chat_world.bot.application_id}/bot"
    assert errors(await chat_world.alice.rest.patch(path, change)) == [expected]


async def test_flags_that_are_not_the_owners_to_set(chat_world: World) -> None:
    path = f"{PATH}/{chat_world.bot.application_id}/bot"
    answer = await chat_world.alice.rest.patch(path, {"bot_flags": int(UserFlag.STAFF)})
    assert (answer.status, answer.code) == (400, "INVALID_BOT_FLAG")


# Secrets


async def test_a_new_bot_token_takes_the_place_of_the_old(chat_world: World) -> None:
    gateway = await chat_world.bot.connect()
    path = f"{PATH}/{chat_world.bot.application_id}/bot/reset-token"
    body = (await chat_world.alice.rest.post(path, {"password": chat_world.alice.password})).expect(200)
    assert set(body) == {"token", "bot"}
    assert (await chat_world.bot.rest.get("/v1/users/@me")).code == "UNAUTHORIZED"
    assert await chat_world.session_of(gateway) is None
    assert (await chat_world.anyone.signed_in(f"Bot {body['token']}").get("/v1/users/@me")).status == 200


async def test_a_new_client_secret(chat_world: World) -> None:
    path = f"{PATH}/{chat_world.bot.application_id}/client-secret/reset"
    body = (await chat_world.alice.rest.post(path, {"password": chat_world.alice.password})).expect(200)
    assert set(body) == {"client_secret"}
    assert body["client_secret"] != chat_world.bot.client_secret


@pytest.mark.parametrize(
    ("method", "suffix"), [("POST", "/bot/reset-token"), ("POST", "/client-secret/reset"), ("DELETE", "")]
)
async def test_these_take_the_password(chat_world: World, method: str, suffix: str) -> None:
    path = f"{PATH}/{chat_world.bot.application_id}{suffix}"
    answer = await chat_world.alice.rest.request(method, path)
    assert (answer.status, answer.code) == (403, "SUDO_MODE_REQUIRED")
    assert errors(await chat_world.alice.rest.request(method, path, json={"password": "wrong"})) == [
        ("password", "INVALID_PASSWORD")
    ]
    assert (await chat_world.bot.rest.get("/v1/users/@me")).status == 200


# Deletion


async def test_a_deleted_application_takes_its_bot_along(chat_world: World) -> None:
    (await chat_world.bot.rest.send_message(chat_world.channel_id, "my last words")).expect(200)
    gateway, witness = await chat_world.bot.connect(), await chat_world.bob.connect()
    path = f"{PATH}/{chat_world.bot.application_id}"
    assert (await chat_world.alice.rest.delete(path, {"password": chat_world.alice.password})).status == 204
    assert (await chat_world.bot.rest.get("/v1/users/@me")).code == "UNAUTHORIZED"
    assert await chat_world.session_of(gateway) is None
    removed = (await witness.expect("GUILD_MEMBER_REMOVE")).data
    assert removed["user"]["id"] == chat_world.bot.id
    assert (await chat_world.alice.rest.get(path)).code == "UNKNOWN_APPLICATION"
    (message,) = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)
    assert message["content"] == "my last words"
    assert message["author"]["username"] == "DeletedUser"
    assert message["author"]["bot"] is True
