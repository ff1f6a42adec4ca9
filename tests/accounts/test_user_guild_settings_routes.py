"""What accounts want to be told of guilds, over HTTP."""

from __future__ import annotations

import pytest

from chat.testing.world import World

OUTSIDE = "/v1/users/@me/guilds/@me/settings"


def settings_of(guild_id: str) -> str:
    """The address of the settings for a guild."""
    return f"/v1/users/@me/guilds/{guild_id}/settings"


async def test_settings_of_a_guild(chat_world: World) -> None:
    bob, path = chat_world.bob, settings_of(chat_world.guild_id)
    at_bob, at_carol = await bob.connect(), await chat_world.carol.connect()
    body = {
        "message_notifications": 1,
        "muted": True,
        "mute_config": {"end_time": "2030-01-01T00:00:00Z", "selected_time_window": 3600},
        "channel_overrides": {chat_world.channel_id: {"collapsed": True, "muted": True, "message_notifications": 2}},
    }
    changed = (await bob.rest.patch(path, body)).expect(200)
    assert changed == {
        "guild_id": chat_world.guild_id,
        "message_notifications": 1,
        "muted": True,
        "mute_config": {"end_time": "2030-01-01T00:00:00.000Z", "selected_time_window": 3600},
        "mobile_push": True,
        "suppress_everyone": False,
        "suppress_roles": False,
        "hide_muted_channels": False,
        "channel_overrides": {
            chat_world.channel_id: {
                "collapsed": True,
                "message_notifications": 2,
                "muted": True,
                "mute_config": None,
            }
        },
        "unread_badges": None,
        "version": 1,
    }
    assert (await at_bob.expect("USER_GUILD_SETTINGS_UPDATE")).data == changed
    second = (await bob.rest.patch(path, {"suppress_roles": True, "mute_config": None})).expect(200)
    assert second == {**changed, "suppress_roles": True, "mute_config": None, "version": 2}
    cleared = (await bob.rest.patch(path, {"channel_overrides": None})).expect(200)
    assert cleared == {**second, "channel_overrides": None, "version": 3}
    assert (await bob.connect()).ready["user_guild_settings"] == [cleared]
    assert (await chat_world.carol.connect()).ready["user_guild_settings"] == []
    assert "USER_GUILD_SETTINGS_UPDATE" not in {payload.name for payload in at_carol.payloads}


async def test_settings_outside_of_guilds(chat_world: World) -> None:
    bob = chat_world.bob
    changed = (await bob.rest.patch(OUTSIDE, {"hide_muted_channels": True})).expect(200)
    assert (changed["guild_id"], changed["hide_muted_channels"], changed["version"]) == (None, True, 1)
    assert (await bob.connect()).ready["user_guild_settings"] == [changed]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"message_notifications": 4}, "message_notifications"),
        ({"message_notifications": None}, "message_notifications"),
        ({"muted": 1}, "muted"),
        ({"mute_config": []}, "mute_config"),
        ({"mute_config": {"end_time": "later"}}, "mute_config.end_time"),
        ({"channel_overrides": []}, "channel_overrides"),
        ({"channel_overrides": {"x": {"muted": True}}}, "channel_overrides.x"),
        ({"channel_overrides": {"1": {"muted": "no"}}}, "channel_overrides.1.muted"),
        ({"channel_overrides": {str(number): {"muted": True} for number in range(1, 2_002)}}, "channel_overrides"),
        ({"unread_badges": -1}, "unread_badges"),
        ([], "root"),
    ],
)
async def test_bad_bodies(chat_world: World, body: object, path: str) -> None:
    for address in (OUTSIDE, settings_of(chat_world.guild_id)):
        refused = await chat_world.bob.rest.patch(address, body)
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
        assert [entry["path"] for entry in refused.json()["errors"]] == [path]
    assert (await chat_world.bob.connect()).ready["user_guild_settings"] == []


async def test_only_members_have_settings(chat_world: World) -> None:
    for actor, guild_id, expected in (
        (chat_world.admin, chat_world.guild_id, (403, "MISSING_PERMISSIONS")),
        (chat_world.bob, "5", (404, "UNKNOWN_GUILD")),
        (chat_world.bot, chat_world.guild_id, (403, "ACCESS_DENIED")),
    ):
        refused = await actor.rest.patch(settings_of(guild_id), {"muted": True})
        assert (refused.status, refused.code) == expected
