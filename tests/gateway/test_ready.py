"""What Ready says at the moment it is sent."""

from __future__ import annotations

from trio.testing import MockClock

from chat.testing.world import World


async def test_the_online_count_in_ready_includes_who_receives_it(chat_world: World, autojump_clock: MockClock) -> None:
    for person, online in ((chat_world.alice, 1), (chat_world.bob, 2)):
        client = await person.connect()
        assert client.ready is not None
        [guild] = client.ready["guilds"]
        read = (await person.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
        assert (guild["online_count"], read["online_count"]) == (online, online)
