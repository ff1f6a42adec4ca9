"""Channels and typing over HTTP."""

from __future__ import annotations

from chat.testing.world import World


async def test_channels_of_a_guild_and_one_of_them(chat_world: World) -> None:
    bob = chat_world.bob.rest
    channels = (await bob.get(f"/v1/guilds/{chat_world.guild_id}/channels")).expect(200)
    by_id = {channel["id"]: channel for channel in channels}
    assert by_id[chat_world.channel_id]["type"] == 0
    assert by_id[chat_world.voice_channel_id]["type"] == 2
    assert (await bob.get(f"/v1/channels/{chat_world.channel_id}")).expect(200) == by_id[chat_world.channel_id]


async def test_channels_that_cannot_be_read(chat_world: World) -> None:
    path = f"/v1/channels/{chat_world.channel_id}"
    assert (await chat_world.bob.rest.get("/v1/channels/999999999999999999")).code == "UNKNOWN_CHANNEL"
    assert (await chat_world.admin.rest.get(path)).code == "MISSING_PERMISSIONS"
    assert (await chat_world.anyone.get(path)).code == "UNAUTHORIZED"
    wrong = (await chat_world.bob.rest.get("/v1/channels/01")).expect(400)
    assert wrong["errors"][0] == {**wrong["errors"][0], "path": "channel_id", "code": "INVALID_SNOWFLAKE_FORMAT"}
    state = f"/v1/_dev/guilds/{chat_world.guild_id}"
    (await chat_world.anyone.post(state, {"features": ["UNAVAILABLE_FOR_EVERYONE"]})).expect(200)
    answer = await chat_world.bob.rest.get(path)
    assert (answer.status, answer.code) == (403, "MISSING_ACCESS")


async def test_typing_reaches_who_sees_the_channel(chat_world: World) -> None:
    alice = await chat_world.alice.connect()
    answer = await chat_world.bob.rest.start_typing(chat_world.channel_id)
    assert (answer.status, answer.body) == (204, b"")
    typing = (await alice.expect("TYPING_START")).data
    assert (typing["channel_id"], typing["user_id"]) == (chat_world.channel_id, chat_world.bob.id)
    assert typing["guild_id"] == chat_world.guild_id
    assert isinstance(typing["timestamp"], int)
