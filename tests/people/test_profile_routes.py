"""Profiles: who sees how much of whom (wire facts 5.1)."""

from __future__ import annotations

from typing import Any

import pytest

from chat.registries.user_flags import UserFlag
from chat.testing.world import Actor, World
from tests.people.friends import befriend, block

NOTHING = {"bio": None, "pronouns": None, "banner": None, "banner_color": None, "accent_color": None}


async def profile(viewer: Actor, whom: Actor, **query: Any) -> dict[str, Any]:
    shown: dict[str, Any] = (await viewer.rest.profile(whom.id, **query)).expect(200)
    return shown


async def test_a_profile_shows_what_one_says_of_oneself(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    words = {"bio": "I paint.", "pronouns": "she/her", "accent_color": 0x336699}
    (await alice.rest.patch("/v1/users/@me", words)).expect(200)
    shown = await profile(bob, alice)
    assert shown == {
        "user": (await bob.rest.get(f"/v1/users/{alice.id}")).expect(200),
        "user_profile": {**NOTHING, **words},
        "timezone_offset": None,
        "connected_accounts": [],
    }


async def test_what_two_have_in_common(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(carol, alice, bob)
    (await bob.rest.patch(f"/v1/guilds/{chat_world.guild_id}/members/@me", {"nick": "bobby"})).expect(200)
    shown = await profile(alice, bob, with_mutual_friends=True, with_mutual_guilds=True)
    assert [friend["id"] for friend in shown["mutual_friends"]] == [carol.id]
    assert shown["mutual_guilds"] == [{"id": chat_world.guild_id, "nick": "bobby"}]
    own = await profile(alice, alice, with_mutual_friends=True, with_mutual_guilds=True)
    assert "mutual_friends" not in own
    assert "mutual_guilds" not in own


async def test_as_a_member_of_a_guild(chat_world: World) -> None:
    alice, bob, admin = chat_world.alice, chat_world.bob, chat_world.admin
    shown = await profile(alice, bob, guild_id=chat_world.guild_id)
    assert shown["guild_member"] == (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/members/{bob.id}")).expect(
        200
    )
    assert shown["guild_member_profile"] == {"bio": None, "pronouns": None, "banner": None, "accent_color": None}
    assert "guild_member" not in await profile(alice, admin, guild_id=chat_world.guild_id)

    outside = await admin.rest.profile(bob.id, guild_id=chat_world.guild_id)
    assert (outside.status, outside.code) == (403, "MISSING_PERMISSIONS")
    unknown = await alice.rest.profile(bob.id, guild_id="999999999999999999")
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_GUILD")


async def test_privacy(chat_world: World) -> None:
    """0 shows to everybody, 1 to friends and members of a guild in common, 2 to friends."""
    admin, alice, bob, carol = chat_world.admin, chat_world.alice, chat_world.bob, chat_world.carol
    (await alice.rest.patch("/v1/users/@me", {"bio": "I paint."})).expect(200)
    await befriend(alice, carol)

    async def who_sees() -> list[str]:
        seen = []
        for viewer in (admin, bob, carol, alice):
            shown = await profile(viewer, alice, with_mutual_guilds=True)
            if shown["user_profile"]["bio"] is not None:
                assert "profile_limited" not in shown
                seen.append(viewer.username)
            else:
                assert (shown["user_profile"], shown["profile_limited"]) == (NOTHING, True)
                assert "mutual_guilds" not in shown
        return seen

    everybody = [admin.username, bob.username, carol.username, alice.username]
    for privacy, expected in ((0, everybody), (1, everybody[1:]), (2, everybody[2:])):
        (await alice.rest.patch("/v1/users/@me/settings", {"profile_privacy": privacy})).expect(200)
        assert await who_sees() == expected
    (await chat_world.anyone.post(f"/v1/_dev/users/{alice.id}", {"flags": str(int(UserFlag.PROFILE_HIDDEN))})).expect(
        200
    )
    assert await who_sees() == [alice.username]


async def test_a_block_limits_what_the_blocked_one_sees_alone(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    for person in (alice, bob):
        (await person.rest.patch("/v1/users/@me", {"bio": "here I am"})).expect(200)
    await block(alice, bob)
    assert (await profile(bob, alice))["profile_limited"] is True
    assert "profile_limited" not in await profile(alice, bob)


async def test_what_a_badge_tells(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    (await chat_world.anyone.post(f"/v1/_dev/users/{alice.id}", {"premium_type": 2})).expect(200)
    assert (await profile(bob, alice))["premium_type"] == 2
    own = (await alice.rest.patch("/v1/users/@me", {"premium_badge_masked": True})).expect(200)
    assert own["premium_badge_masked"] is True
    assert own["premium_badge_hidden"] is False
    assert (await profile(bob, alice))["premium_type"] == 1
    own = (await alice.rest.patch("/v1/users/@me", {"premium_badge_hidden": True})).expect(200)
    assert own["premium_badge_masked"] is True
    assert own["premium_badge_hidden"] is True
    assert "premium_type" not in await profile(bob, alice)
    own = (await alice.rest.get("/v1/users/@me")).expect(200)
    assert own["premium_badge_hidden"] is True
    assert own["premium_type"] == 2


async def test_of_whom_there_is_none(chat_world: World) -> None:
    unknown = await chat_world.alice.rest.profile("999999999999999999")
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_USER")
    assert (await profile(chat_world.bot, chat_world.alice))["user"]["id"] == chat_world.alice.id
    assert (await profile(chat_world.alice, chat_world.bot))["user"]["bot"] is True


@pytest.mark.parametrize("query", [{"guild_id": "somewhere"}, {"with_mutual_friends": "perhaps"}])
async def test_queries_that_cannot_be_read(chat_world: World, query: dict[str, str]) -> None:
    refused = await chat_world.alice.rest.profile(chat_world.bob.id, **query)
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
