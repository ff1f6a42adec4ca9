"""Avatars and banners of accounts and bots over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.image_samples import MOVING
from tests.webhooks.surfaces import data_uri, fetch, png

premium_for_none = pytest.mark.chat_settings(premium_mode="none")


async def change(world: World, **members: Any) -> Response:
    """Bob changes his account."""
    return await world.bob.rest.patch("/v1/users/@me", members)


def field_codes(answer: Response) -> dict[str, str]:
    """The wrong fields with their codes."""
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body
    return {entry["path"]: entry["code"] for entry in answer.json()["errors"]}


def count_files(server: ChatServer) -> int:
    """What lies on the disk."""
    return sum(path.is_file() for path in (server.server.surroundings.directory / "uploads").rglob("*"))


async def test_an_avatar_is_taken_shown_replaced_and_taken_away(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    bob = chat_world.bob
    listening = await bob.connect()
    avatar = (await change(chat_world, avatar=data_uri(png(4, 4)))).expect(200)["avatar"]
    assert (await listening.expect("USER_UPDATE")).data["avatar"] == avatar
    assert (await chat_world.alice.rest.get(f"/v1/users/{bob.id}")).expect(200)["avatar"] == avatar
    first = f"/media/avatars/{bob.id}/{avatar}.png"
    assert (await fetch(chat_world.anyone, first)).body == png(4, 4)
    second = (await change(chat_world, avatar=data_uri(png(5, 5)), global_name="Robert")).expect(200)
    assert second["global_name"] == "Robert"
    assert (await fetch(chat_world.anyone, first)).status == 404
    again = (await change(chat_world, avatar=data_uri(png(5, 5)))).expect(200)["avatar"]
    assert again == second["avatar"]
    assert (await fetch(chat_world.anyone, f"/media/avatars/{bob.id}/{again}.png")).body == png(5, 5)
    assert (await change(chat_world, bio="here")).expect(200)["avatar"] == again
    for nothing in (None, ""):
        assert (await change(chat_world, avatar=nothing)).expect(200)["avatar"] is None
        assert (await fetch(chat_world.anyone, f"/media/avatars/{bob.id}/{again}.png")).status == 404
    await trio.sleep(1_300)
    assert count_files(chat_server) == 0


async def test_images_that_are_refused_change_nothing(chat_world: World, chat_server: ChatServer) -> None:
    avatar = (await change(chat_world, avatar=data_uri(png(4, 4)))).expect(200)["avatar"]
    wrong = await change(chat_world, avatar="data:image/png;base64,", banner="!!!!", bio="other")
    assert field_codes(wrong) == {"avatar": "BASE64_LENGTH_INVALID", "banner": "INVALID_BASE64_FORMAT"}
    assert field_codes(await change(chat_world, avatar=data_uri(b"words"))) == {"avatar": "INVALID_IMAGE_FORMAT"}
    assert (await change(chat_world, avatar=data_uri(png(9, 9)), username="no spaces here")).status == 400
    own = (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)
    assert (own["avatar"], own["bio"]) == (avatar, None)
    assert count_files(chat_server) == 1


async def test_where_everybody_has_premium(chat_world: World) -> None:
    moving = data_uri(MOVING["GIF"]())
    own = (await change(chat_world, avatar=moving, banner=moving)).expect(200)
    assert own["avatar"] == own["banner"]
    assert own["avatar"].startswith("a_")
    for place in ("avatars", "banners"):
        answer = await fetch(chat_world.anyone, f"/media/{place}/{chat_world.bob.id}/{own['avatar']}.gif")
        assert answer.body == MOVING["GIF"]()


@premium_for_none
async def test_what_premium_is_for(chat_world: World) -> None:
    moving = data_uri(MOVING["GIF"]())
    assert field_codes(await change(chat_world, avatar=moving, banner=data_uri(png()))) == {
        "avatar": "ANIMATED_AVATARS_REQUIRE_PREMIUM",
        "banner": "BANNERS_REQUIRE_PREMIUM",
    }
    assert (await change(chat_world, avatar=data_uri(png()), banner=None)).expect(200)["avatar"] is not None


@premium_for_none
async def test_bots_have_images_too(chat_world: World) -> None:
    alice = chat_world.alice.rest
    made = (await alice.post("/v1/oauth2/applications", {"name": "Helper"})).expect(200)
    path = f"/v1/oauth2/applications/{made['id']}/bot"
    moving = data_uri(MOVING["GIF"]())
    bot = (await alice.patch(path, {"avatar": moving, "banner": data_uri(png()), "bio": "I help"})).expect(200)
    assert bot["avatar"].startswith("a_")
    assert (await fetch(chat_world.anyone, f"/media/avatars/{bot['id']}/{bot['avatar']}.gif")).body == MOVING["GIF"]()
    assert (await fetch(chat_world.anyone, f"/media/banners/{bot['id']}/{bot['banner']}.png")).body == png()
    assert field_codes(await alice.patch(path, {"avatar": "!!!!"})) == {"avatar": "INVALID_BASE64_FORMAT"}
    foreign = await chat_world.bob.rest.patch(path, {"avatar": moving})
    assert (foreign.status, foreign.code) == (403, "ACCESS_DENIED")
    (await alice.patch(path, {"avatar": None})).expect(200)
    assert (await fetch(chat_world.anyone, f"/media/avatars/{bot['id']}/{bot['avatar']}.gif")).status == 404
