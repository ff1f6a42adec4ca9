"""Create guild (document 001, POST /v1/guilds).

Area: guilds. Rules: 001.create, 001.credentials, 001.errors, 001.guild-object, 001.policy, 001.rate-limits.
"""

from __future__ import annotations

import base64
import io
from typing import Any

import PIL.Image
import pytest
import trio
from trio.testing import MockClock

from chat.registries.permissions import DEFAULT_EVERYONE
from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.applications.oauth2_client import OAuth2Client
from tests.image_samples import FORMATS, MOVING, heif
from tests.spec.ledger import proves

NEW_FEATURES = {"ANIMATED_ICON", "ANIMATED_BANNER", "BANNER", "INVITE_SPLASH"}
DECLARED = {"X-Service-Features": "channel_threads"}
EMPTY_TEMPLATE = {"name": "Template", "roles": [], "channels": []}
BAD_TEMPLATE = {**EMPTY_TEMPLATE, "roles": [{"id": 1}, {"id": 1}]}


def picture(form: str) -> bytes:
    """A small image in one of Pillow's formats."""
    stream = io.BytesIO()
    PIL.Image.new("RGB", (16, 12), (50, 20, 30)).save(stream, form)
    return stream.getvalue()


def text(content: bytes) -> str:
    """Base64."""
    return base64.b64encode(content).decode()


def wrong(answer: Response) -> tuple[str, str]:
    """The only wrong field, and its code."""
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body
    [error] = answer.json()["errors"]
    return error["path"], error["code"]


async def state(world: World, **members: Any) -> None:
    """Put bob's account into a state."""
    (await world.anyone.post(f"/v1/_dev/users/{world.bob.id}", members)).expect(200)


async def seen(world: World, guild_id: str) -> dict[str, Any]:
    """The guild as alice, who sees thread bits, gets it."""
    answer = await world.alice.rest.request("GET", f"/v1/guilds/{guild_id}", headers=DECLARED)
    guild: dict[str, Any] = answer.expect(200)
    return guild


async def test_a_guild_without_a_template(chat_world: World) -> None:
    with proves("001.create.1"):
        created = (await chat_world.alice.rest.create_guild("Harbour")).expect(200)
    assert created["name"] == "Harbour"
    assert created["owner_id"] == chat_world.alice.id
    with proves("001.create.13", "001.guild-object.21"):
        assert sorted(created["features"]) == sorted(NEW_FEATURES), "each of them once"
    with proves("001.guild-object.1"):
        assert created["icon"] is None
    assert not {"roles", "channels", "emojis", "stickers", "permissions", "member_count"} & created.keys()
    guild = await seen(chat_world, created["id"])
    assert created.items() <= guild.items()
    named = {channel["id"]: channel["name"] for channel in guild["channels"]}
    with proves("001.create.16", "001.create.17"):
        assert {(one["type"], one["name"], named.get(one.get("parent_id"))) for one in guild["channels"]} == {
            (4, "Text Channels", None),
            (0, "general", "Text Channels"),
            (4, "Voice Channels", None),
            (2, "General", "Voice Channels"),
        }
    with proves("001.create.19"):
        assert named[created["system_channel_id"]] == "general"
    with proves("001.create.30"):
        [everyone] = guild["roles"]
    with proves("001.create.18"):
        assert (everyone["id"], everyone["permissions"]) == (created["id"], str(DEFAULT_EVERYONE))
    with proves("001.create.30"):
        member = (await chat_world.alice.rest.get(f"/v1/guilds/{created['id']}/members/@me")).expect(200)
        assert member["user"]["id"] == chat_world.alice.id
    assert guild["member_count"] == 1


@pytest.mark.rule("001.create.14")
async def test_a_guild_that_starts_with_nothing(chat_world: World) -> None:
    for value, features in ((True, set()), (False, NEW_FEATURES), (None, NEW_FEATURES)):
        created = (await chat_world.alice.rest.create_guild("Harbour", empty_features=value)).expect(200)
        assert set(created["features"]) == features
    for value in ("true", 1, []):
        answer = await chat_world.alice.rest.create_guild("Harbour", empty_features=value)
        assert wrong(answer) == ("empty_features", "INVALID_FORMAT")


async def test_names(chat_world: World) -> None:
    rest = chat_world.alice.rest
    with proves("001.create.3"):
        for name, stored in [
            (" \t Harbour\n", "Harbour"),
            ("x", "x"),
            (" " + "x" * 100 + " ", "x" * 100),
            ("a b", "a b"),
        ]:
            assert (await rest.create_guild(name)).expect(200)["name"] == stored
    for name in (" ", " \n ", "x" * 101):
        with proves("001.create.4", "001.errors.2"):
            assert wrong(await rest.create_guild(name)) == ("name", "STRING_LENGTH_INVALID")
    for body in ({}, {"name": None}, {"name": ""}, {"name": 5}, {"name": ["x"]}, {"name": True}):
        with proves("001.create.2", "001.errors.2"):
            assert wrong(await rest.post("/v1/guilds", body)) == ("name", "INVALID_FORMAT")
    with proves("001.create.25"):
        for content in (b"[]", b"null", b'"name"', b"5", b"{", b"\xff", b'{"name": "\xff"}', b'{"name": "x"'):
            answer = await rest.request(
                "POST", "/v1/guilds", body=content, headers={"Content-Type": "application/json"}
            )
            assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
            assert answer.json()["errors"]


@pytest.mark.rule("001.create.20", "001.credentials.1")
async def test_only_people_in_person_create_guilds(chat_world: World) -> None:
    assert (await chat_world.bot.rest.create_guild("Harbour")).code == "BOTS_CANNOT_CREATE_GUILDS"
    client = await OAuth2Client.make(chat_world)
    bearer = client.bearer((await client.tokens(chat_world.alice, "identify guilds"))["access_token"])
    refused = await bearer.create_guild("Harbour")
    assert (refused.status, refused.code) == (403, "ACCESS_DENIED")
    assert (await chat_world.anyone.create_guild("Harbour")).status == 401
    assert (await chat_world.alice.rest.create_guild("Harbour")).status == 200


@pytest.mark.rule("001.create.26", "001.create.29")
async def test_accounts_that_may_not(chat_world: World) -> None:
    rest = chat_world.bob.rest
    await state(chat_world, email_verified=False)
    refused = await rest.create_guild("Harbour")
    assert (refused.status, refused.code) == (403, "GUILD_CREATION_EMAIL_VERIFICATION_REQUIRED")
    await state(chat_world, flags=str(UserFlag.ACCOUNT_LIMITED.value))
    refused = await rest.post("/v1/guilds", {})
    assert (refused.status, refused.code) == (403, "ACCOUNT_LIMITED"), "before the address and the body"
    await state(chat_world, flags="0", email_verified=True)
    assert (await rest.create_guild("Harbour")).status == 200


@pytest.mark.chat_settings(single_community_enabled=True, single_community_guild_id=1)
@pytest.mark.rule("001.create.23")
async def test_an_instance_of_one_community(chat_world: World) -> None:
    refused = await chat_world.bob.rest.post("/v1/guilds", {"name": 5})
    assert (refused.status, refused.code) == (400, "SINGLE_COMMUNITY_CANNOT_CREATE_GUILDS")
    await state(chat_world, email_verified=False)
    assert (await chat_world.bob.rest.create_guild("x")).code == "GUILD_CREATION_EMAIL_VERIFICATION_REQUIRED"


@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["forbidden"]})
@pytest.mark.rule("001.create.27", "001.create.28", "001.policy.1")
async def test_blocked_words(chat_world: World) -> None:
    rest = chat_world.alice.rest
    refused = await rest.create_guild("The FORBIDDEN place")
    assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED")
    role, channel = {"id": 1}, {"id": 1, "type": 0, "position": 0}
    for template in (
        {**EMPTY_TEMPLATE, "name": "forbidden"},
        {**EMPTY_TEMPLATE, "description": "forbidden"},
        {**EMPTY_TEMPLATE, "roles": [{**role, "name": "Forbidden"}]},
        {**EMPTY_TEMPLATE, "channels": [{**channel, "name": "forbidden-city"}]},
        {**EMPTY_TEMPLATE, "channels": [{**channel, "topic": "a forbidden thing"}]},
    ):
        refused = await rest.create_guild("Harbour", template=template)
        assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED"), template
    assert (await rest.create_guild("Harbour", template=EMPTY_TEMPLATE)).status == 200
    assert wrong(await rest.create_guild("forbidden", template=5)) == ("template", "INVALID_FORMAT"), "the body first"
    blocked = await rest.create_guild("forbidden", template=BAD_TEMPLATE)
    assert blocked.code == "CONTENT_BLOCKED", "the template last"


@pytest.mark.chat_settings(**{"limits.max_guilds": 2, "limits.max_guilds_premium": 2})
@pytest.mark.rule("001.create.22")
async def test_the_guild_limit(chat_world: World) -> None:
    rest = chat_world.alice.rest
    assert (await rest.create_guild("Second")).status == 200
    refused = await rest.create_guild("Third")
    assert (refused.status, refused.code) == (400, "MAX_GUILDS")
    assert (await rest.create_guild("Third", template=BAD_TEMPLATE)).code == "MAX_GUILDS", "the template last"
    assert wrong(await rest.create_guild(" ")) == ("name", "STRING_LENGTH_INVALID"), "the body first"
    second = (await rest.get("/v1/users/@me/guilds")).expect(200)[-1]
    body = {"password": chat_world.alice.password}
    (await rest.post(f"/v1/guilds/{second['id']}/delete", body)).expect(204)
    assert (await rest.create_guild("Third", template=BAD_TEMPLATE)).code == "GUILD_TEMPLATE_INVALID"
    assert (await rest.create_guild("Third")).status == 200


@pytest.mark.chat_settings(**{"limits.max_guilds": 3, "limits.max_guilds_premium": 3})
@pytest.mark.rule("001.create.22")
async def test_the_guild_limit_holds_for_those_who_hurry(chat_world: World) -> None:
    answers: list[tuple[int, str | None]] = []

    async def create(icon: str | None, template: object) -> None:
        answer = await chat_world.alice.rest.create_guild("Harbour", icon=icon, template=template)
        answers.append((answer.status, answer.code))

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(create, text(picture("PNG")), None)
            nursery.start_soon(create, None, EMPTY_TEMPLATE)
            nursery.start_soon(create, None, None)
    assert sorted(answers, key=str) == [(200, None)] * 2 + [(400, "MAX_GUILDS")] * 7
    assert len((await chat_world.alice.rest.get("/v1/users/@me/guilds")).expect(200)) == 3


async def test_what_the_owner_hears_and_what_nobody_writes_down(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    async with await alice.connect() as client, await bob.connect() as other:
        headers = {"X-Audit-Log-Reason": "because%20we%20can"}
        answer = await alice.rest.request("POST", "/v1/guilds", json={"name": "Harbour"}, headers=headers)
        created = answer.expect(200)
        with proves("001.create.33"):
            arrived = (await client.expect("GUILD_CREATE")).data
            assert (arrived["id"], arrived["properties"]["name"]) == (created["id"], "Harbour")
        assert {channel["name"] for channel in arrived["channels"]} >= {"general", "General"}
        with proves("001.create.33"):
            settings = (await client.expect("USER_SETTINGS_UPDATE")).data
        with proves("001.create.32"):
            assert any(created["id"] in folder["guild_ids"] for folder in settings["guild_folders"])
        await other.expect_silence(1.0)
    with proves("001.create.32"):
        stored = (await alice.rest.get("/v1/users/@me/settings")).expect(200)
        assert stored["guild_folders"] == settings["guild_folders"]
    with proves("001.create.34", "001.create.35"):
        log = (await alice.rest.get(f"/v1/guilds/{created['id']}/audit-logs")).expect(200)
        assert log["audit_log_entries"] == []


@pytest.mark.rule("001.create.5", "001.create.6", "001.create.31")
async def test_an_icon_in_either_form(chat_world: World) -> None:
    rest = chat_world.alice.rest
    content = picture("PNG")
    for written in (text(content), f"data:image/png;base64,{text(content)}", f"anything,{text(content)}"):
        created = (await rest.create_guild("Harbour", icon=written)).expect(200)
        shown = await rest.get(f"/media/icons/{created['id']}/{created['icon']}.png")
        assert (shown.status, shown.body) == (200, content)
        assert (await rest.get(f"/v1/guilds/{created['id']}")).expect(200)["icon"] == created["icon"]
    for nothing in (None, ""):
        assert (await rest.create_guild("Harbour", icon=nothing)).expect(200)["icon"] is None


@pytest.mark.rule("001.create.11", "001.create.31")
@pytest.mark.parametrize("name", [*FORMATS, *(f"moving {name}" for name in MOVING)])
async def test_formats_of_an_icon(chat_world: World, name: str) -> None:
    rest = chat_world.alice.rest
    sample = MOVING[name.removeprefix("moving ")] if name.startswith("moving ") else FORMATS[name][1]
    icon = (await rest.create_guild("Harbour", icon=text(sample()))).expect(200)["icon"]
    assert icon.startswith("a_") is (name == "APNG" or name.startswith("moving "))
    created = (await rest.create_guild("Harbour", icon=text(sample()), empty_features=True)).expect(200)
    assert created["icon"] == icon.removeprefix("a_"), "shown without the mark while the guild lacks ANIMATED_ICON"


@pytest.mark.rule("001.create.11", "001.create.12")
async def test_what_is_no_image_for_an_icon(chat_world: World) -> None:
    moving_avif = heif(b"avis", sequence=True)
    for content in (picture("BMP"), picture("TIFF"), b"no image at all", picture("PNG")[:20], b"\0", moving_avif):
        answer = await chat_world.alice.rest.create_guild("Harbour", icon=text(content))
        assert wrong(answer) == ("icon", "INVALID_IMAGE_FORMAT")


@pytest.mark.rule("001.create.7", "001.create.8")
async def test_what_is_no_icon(chat_world: World) -> None:
    rest = chat_world.alice.rest
    assert wrong(await rest.create_guild("x", icon="data:image/png;base64,")) == ("icon", "BASE64_LENGTH_INVALID")
    too_long = await rest.request(
        "POST",
        "/v1/guilds",
        body=b'{"name":"x","icon":"%s"}' % (b"A" * 139_810_137),  # `json=` would take seconds to encode it
        headers={"Content-Type": "application/json"},
    )
    assert wrong(too_long) == ("icon", "BASE64_LENGTH_INVALID")
    for garbage in ("*", "ab", "data:image/png;base64,äöü", "abc=="):
        assert wrong(await rest.create_guild("x", icon=garbage)) == ("icon", "INVALID_BASE64_FORMAT")
    for other in (5, True, ["aGk="], {"url": "x"}):
        assert wrong(await rest.create_guild("x", icon=other)) == ("icon", "INVALID_FORMAT")


@pytest.mark.chat_settings(**{"limits.avatar_max_size": 200})
@pytest.mark.rule("001.create.9")
async def test_the_size_of_an_icon(chat_world: World) -> None:
    rest = chat_world.alice.rest
    content = picture("PNG")
    assert len(content) < 200
    assert (await rest.create_guild("x", icon=text(content + bytes(200 - len(content))))).status == 200
    for size in (201, 100_000):
        answer = await rest.create_guild("x", icon=text(content + bytes(size - len(content))))
        assert wrong(answer) == ("icon", "IMAGE_SIZE_EXCEEDS_LIMIT")
    assert len((await rest.get("/v1/users/@me/guilds")).expect(200)) == 2, "the seeded one and one more"


@pytest.mark.rule("001.create.10")
async def test_the_stock_size_of_an_icon_is_ten_mebibytes(chat_world: World) -> None:
    rest = chat_world.alice.rest
    content = picture("PNG")
    whole = content + bytes(10 * 1_048_576 - len(content))
    assert (await rest.create_guild("x", icon=text(whole))).status == 200
    assert wrong(await rest.create_guild("x", icon=text(whole + b"\0"))) == ("icon", "IMAGE_SIZE_EXCEEDS_LIMIT")


@pytest.mark.rule("001.create.31")
async def test_nothing_is_left_of_a_guild_that_could_not_be_written(chat_world: World) -> None:
    rest = chat_world.alice.rest
    before = (await rest.get("/v1/users/@me/guilds")).expect(200)
    await chat_world.anyone.node(storage_failing=True)
    for members in ({}, {"icon": text(picture("PNG"))}, {"template": EMPTY_TEMPLATE}):
        refused = await rest.create_guild("Harbour", **members)
        assert (refused.status, refused.code) == (503, "SERVICE_UNAVAILABLE")
    await chat_world.anyone.node(storage_failing=False)
    assert (await rest.get("/v1/users/@me/guilds")).expect(200) == before


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.rule("001.rate-limits.1", "001.rate-limits.2")
async def test_ten_a_minute(chat_world: World, autojump_clock: MockClock) -> None:
    for _ in range(10):
        assert (await chat_world.alice.rest.create_guild("x")).status == 200
    refused = await chat_world.alice.rest.create_guild("x")
    assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    assert 0 < refused.json()["retry_after"] <= 60
    assert (await chat_world.bob.rest.create_guild("x")).status == 200, "another caller has an allowance of their own"
