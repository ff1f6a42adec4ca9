"""What members show of themselves in one guild alone (wire facts 5.1, 5.2; appendix B)."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.accounts.test_account_image_routes import count_files, field_codes
from tests.image_samples import MOVING
from tests.webhooks.surfaces import data_uri, fetch, png


async def change(world: World, **members: Any) -> Response:
    """Bob changes what he shows in the guild."""
    return await world.bob.rest.patch(f"/v1/guilds/{world.guild_id}/members/@me", members)


def place(world: World, kind: str, name: str) -> str:
    return f"/media/guilds/{world.guild_id}/users/{world.bob.id}/{kind}/{name}"


async def test_an_avatar_for_one_guild(chat_world: World, chat_server: ChatServer, autojump_clock: MockClock) -> None:
    alice, bob, anyone = chat_world.alice, chat_world.bob, chat_world.anyone
    at_alice = await alice.connect()
    own = (await bob.rest.patch("/v1/users/@me", {"avatar": data_uri(png(3, 3))})).expect(200)["avatar"]
    await at_alice.expect("GUILD_MEMBER_UPDATE")

    changed = (await change(chat_world, avatar=data_uri(png(4, 4)), banner=data_uri(png(6, 2)))).expect(200)
    assert changed["user"]["avatar"] == own
    assert changed["avatar"] not in (None, own)
    told = (await at_alice.expect("GUILD_MEMBER_UPDATE")).data
    assert (told["avatar"], told["banner"]) == (changed["avatar"], changed["banner"])
    first = place(chat_world, "avatars", f"{changed['avatar']}.png")
    assert (await fetch(anyone, first)).body == png(4, 4)
    assert (await fetch(anyone, place(chat_world, "banners", f"{changed['banner']}.png"))).body == png(6, 2)
    # It is no avatar of the account, nor of another guild.
    assert (await fetch(anyone, f"/media/avatars/{bob.id}/{changed['avatar']}.png")).status == 404
    assert (await fetch(anyone, first.replace(chat_world.guild_id, "1"))).status == 404
    assert (await fetch(anyone, first.replace(chat_world.guild_id, "guild"))).status == 404

    written = (await bob.rest.send_message(chat_world.channel_id, "look at me")).expect(200)
    assert (await at_alice.expect("MESSAGE_CREATE")).data["member"]["avatar"] == changed["avatar"]
    assert written["author"]["avatar"] == own

    again = (await change(chat_world, avatar=data_uri(png(5, 5)))).expect(200)
    assert (await fetch(anyone, first)).status == 404
    second = place(chat_world, "avatars", f"{again['avatar']}.png")
    assert (await fetch(anyone, second)).status == 200
    # Whoever leaves takes all of it along.
    (await bob.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
    assert (await fetch(anyone, second)).status == 404
    await chat_world.anyone.advance_clock(1_300_000)
    assert count_files(chat_server) == 1


async def test_words_for_one_guild(chat_world: World) -> None:
    alice = chat_world.alice
    words = {"bio": "Here I paint.", "pronouns": "they/them", "accent_color": 0x123456}
    changed = (await change(chat_world, **words)).expect(200)
    assert changed["accent_color"] == 0x123456
    shown = (await alice.rest.profile(chat_world.bob.id, guild_id=chat_world.guild_id)).expect(200)
    assert shown["guild_member_profile"] == {**words, "banner": None}
    assert shown["user_profile"]["bio"] is None
    (await change(chat_world, bio=None, pronouns="")).expect(200)
    shown = (await alice.rest.profile(chat_world.bob.id, guild_id=chat_world.guild_id)).expect(200)
    assert shown["guild_member_profile"] == {"bio": None, "pronouns": None, "banner": None, "accent_color": 0x123456}


async def test_what_is_refused_changes_nothing(chat_world: World, chat_server: ChatServer) -> None:
    before = (await change(chat_world, avatar=data_uri(png(4, 4)), bio="before")).expect(200)
    refused = await change(chat_world, avatar="data:image/png;base64,", banner="!!!!", bio="after")
    assert field_codes(refused) == {"avatar": "BASE64_LENGTH_INVALID", "banner": "INVALID_BASE64_FORMAT"}
    assert field_codes(await change(chat_world, avatar=data_uri(png(9, 9)), bio="b" * 321)) == {
        "bio": "CONTENT_EXCEEDS_MAX_LENGTH"
    }
    assert field_codes(await change(chat_world, pronouns="p" * 41)) == {"pronouns": "CONTENT_EXCEEDS_MAX_LENGTH"}
    assert field_codes(await change(chat_world, accent_color=-1)) == {"accent_color": "COLOR_VALUE_TOO_LOW"}
    outside = await chat_world.admin.rest.patch(
        f"/v1/guilds/{chat_world.guild_id}/members/@me", {"avatar": data_uri(png(4, 4))}
    )
    assert (outside.status, outside.code) == (403, "MISSING_PERMISSIONS")
    after = (await chat_world.bob.rest.get(f"/v1/guilds/{chat_world.guild_id}/members/@me")).expect(200)
    assert after == before
    assert count_files(chat_server) == 1


@pytest.mark.chat_settings(premium_mode="none")
async def test_where_only_some_have_premium(chat_world: World) -> None:
    moving = data_uri(MOVING["GIF"]())
    refused = await change(chat_world, avatar=moving, banner=data_uri(png(4, 4)))
    assert field_codes(refused) == {
        "avatar": "ANIMATED_AVATARS_REQUIRE_PREMIUM",
        "banner": "BANNERS_REQUIRE_PREMIUM",
    }
    (await chat_world.anyone.post(f"/v1/_dev/users/{chat_world.bob.id}", {"premium_type": 1})).expect(200)
    changed = (await change(chat_world, avatar=moving, banner=moving)).expect(200)
    assert changed["avatar"].startswith("a_")
    assert (await fetch(chat_world.anyone, place(chat_world, "banners", f"{changed['banner']}.gif"))).status == 200


@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["forbidden"]})
@pytest.mark.parametrize("field", ["nick", "bio", "pronouns"])
async def test_blocked_text(chat_world: World, field: str) -> None:
    refused = await change(chat_world, **{field: "forbidden"})
    assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED")
