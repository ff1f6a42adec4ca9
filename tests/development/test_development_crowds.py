"""Many guilds, channels and members by one request."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from chat.testing.rest_client import RestClient
from chat.testing.world import World


async def crowd(world: World, user_id: str, **members: object) -> dict[str, Any]:
    body = {"user_id": user_id, "count": 1, **members}
    return dict((await world.anyone.post("/v1/_dev/guilds/bulk", body)).expect(200))


async def test_a_large_guild(chat_world: World, autojump_clock: MockClock) -> None:
    alice, at_bob = await chat_world.alice.connect(), await chat_world.bob.connect()
    made = await crowd(chat_world, chat_world.alice.id, channels=500, members=1_200, signed_in=2)
    [guild_id] = made["guild_ids"]
    assert (len(made["member_ids"]), len(made["tokens"])) == (1_200, 2)
    assert made["member_ids"] == sorted(made["member_ids"], key=int)
    event = await alice.expect("GUILD_CREATE", where=lambda d: d["id"] == guild_id)
    assert (event.data["member_count"], len(event.data["channels"])) == (1_201, 500)
    guild = (await chat_world.alice.rest.get(f"/v1/guilds/{guild_id}")).expect(200)
    assert guild["owner_id"] == chat_world.alice.id
    channels = (await chat_world.alice.rest.get(f"/v1/guilds/{guild_id}/channels")).expect(200)
    assert [channel["position"] for channel in channels] == list(range(500))
    seen: list[str] = []
    while page := (
        await chat_world.alice.rest.get(
            f"/v1/guilds/{guild_id}/members", {"limit": 1_000, "after": seen[-1] if seen else "0"}
        )
    ).expect(200):
        seen += [member["user"]["id"] for member in page]
    assert sorted(seen, key=int) == sorted([*made["member_ids"], chat_world.alice.id], key=int)
    assert "GUILD_CREATE" not in {payload.name for payload in at_bob.unread()}, "bob is no member"


async def test_who_is_signed_in_takes_part(chat_world: World, autojump_clock: MockClock) -> None:
    made = await crowd(chat_world, chat_world.alice.id, members=3, signed_in=1)
    [(member_id, token)] = made["tokens"].items()
    member = RestClient(chat_world.route, token)
    assert (await member.get("/v1/users/@me")).expect(200)["id"] == member_id
    [channel, *_] = (await member.get(f"/v1/guilds/{made['guild_ids'][0]}/channels")).expect(200)
    (await member.send_message(channel["id"], "hello from the crowd")).expect(200)
    await member.aclose()


async def test_the_same_crowd_in_each_of_many_guilds(chat_world: World, autojump_clock: MockClock) -> None:
    made = await crowd(chat_world, chat_world.bot.id, count=30, members=40, channels=3, shard=[1, 4])
    assert len(made["guild_ids"]) == 30
    assert {(int(guild_id) >> 22) % 4 for guild_id in made["guild_ids"]} == {1}
    listed = (await chat_world.bot.rest.get("/v1/users/@me/guilds", {"with_counts": "true"})).expect(200)
    assert {guild["id"] for guild in listed} == {*made["guild_ids"], chat_world.guild_id}
    again = await crowd(chat_world, chat_world.bot.id, count=2, members=2)
    assert not {*again["guild_ids"]} & {*made["guild_ids"]}
    assert not {*again["member_ids"]} & {*made["member_ids"]}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"members": 50_001}, "members"),
        ({"channels": 0}, "channels"),
        ({"channels": 501}, "channels"),
        ({"count": 5, "members": 50_000}, "members"),
        ({"count": 41, "channels": 500}, "channels"),
        ({"signed_in": 1_001}, "signed_in"),
    ],
)
async def test_bounds(chat_world: World, body: dict[str, object], path: str) -> None:
    refused = await chat_world.anyone.post("/v1/_dev/guilds/bulk", {"user_id": chat_world.alice.id, "count": 1, **body})
    assert (refused.status, refused.json()["errors"][0]["path"]) == (400, path)
