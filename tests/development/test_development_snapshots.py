"""Snapshots of the world: it is as it was, for everybody, whatever happened since."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from chat.registries.opcodes import Opcode
from chat.testing.server import ChatServer
from chat.testing.world import World


async def take(world: World, name: str) -> dict[str, object]:
    return dict((await world.anyone.put(f"/v1/_dev/snapshots/{name}")).expect(200))


async def go_back(world: World, name: str) -> None:
    (await world.anyone.post(f"/v1/_dev/snapshots/{name}/restore")).expect(200)


async def contents(world: World) -> list[str]:
    listed = (await world.alice.rest.messages(world.channel_id)).expect(200)
    return [message["content"] for message in listed]


async def test_there_and_back_again(world: World) -> None:
    (await world.alice.rest.send_message(world.channel_id, "kept")).expect(200)
    dora = await world.anyone.register(
        email="dora@example.com", username="dora", password="a long password", date_of_birth="1990-01-01", consent=True
    )
    token = dora.expect(200)["token"]
    taken = await take(world, "with-dora")
    assert (taken["name"], taken["offset_ms"]) == ("with-dora", 0)

    (await world.bob.rest.send_message(world.channel_id, "forgotten")).expect(200)
    (await world.alice.rest.patch(f"/v1/guilds/{world.guild_id}", {"name": "Renamed"})).expect(200)
    (await world.anyone.post("/v1/_dev/reset")).expect(204)
    assert (await world.anyone.request("GET", "/v1/users/@me", headers={"Authorization": token})).status == 401
    assert await contents(world) == []

    await go_back(world, "with-dora")
    assert await contents(world) == ["kept"]
    own = await world.anyone.request("GET", "/v1/users/@me", headers={"Authorization": token})
    assert own.expect(200)["username"] == "dora"
    assert (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)["name"] != "Renamed"
    assert (await world.anyone.get("/v1/_dev/mail")).expect(200) != [], "mail belongs to the world"
    bob = await world.bob.connect()
    (await world.alice.rest.send_message(world.channel_id, "and on")).expect(200)
    await bob.expect("MESSAGE_CREATE", where=lambda d: d["content"] == "and on")


async def test_sessions_end_and_levers_are_released(world: World) -> None:
    await take(world, "quiet")
    bob = await world.bob.connect()
    await bob.update_voice_state(world.guild_id, world.voice_channel_id)
    await bob.expect("VOICE_STATE_UPDATE")
    (await world.anyone.post("/v1/_dev/faults", {"action": "http", "status": 500, "times": 100})).expect(200)
    (await world.anyone.post("/v1/_dev/gateway", {"storage_failing": True})).expect(200)
    await go_back(world, "quiet")
    assert (await bob.expect_opcode(Opcode.INVALID_SESSION)).data is False
    assert await world.anyone.gateway_sessions() == []
    alice = await world.alice.connect()
    [guild] = alice.ready["guilds"] if alice.ready is not None else []
    assert guild["voice_states"] == []
    (await world.alice.rest.send_message(world.channel_id, "works")).expect(200)


async def test_the_clock_is_that_of_the_snapshot(chat_world: World, autojump_clock: MockClock) -> None:
    await chat_world.anyone.advance_clock(1_000_000)
    await take(chat_world, "later")
    await chat_world.anyone.advance_clock(86_400_000)
    (await chat_world.anyone.post("/v1/_dev/clock", {"paused": True})).expect(200)
    await go_back(chat_world, "later")
    reading = (await chat_world.anyone.get("/v1/_dev/clock")).expect(200)
    assert (reading["offset_ms"], reading["paused"]) == (1_000_000, True)
    first = (await chat_world.alice.rest.send_message(chat_world.channel_id, "1")).expect(200)
    await go_back(chat_world, "later")
    second = (await chat_world.alice.rest.send_message(chat_world.channel_id, "1")).expect(200)
    assert abs(int(first["id"]) - int(second["id"])) < 10_000 << 22, "ids follow the clock, and the store"
    (await chat_world.anyone.post("/v1/_dev/clock", {"paused": False})).expect(200)


async def test_a_file_comes_back_with_its_message(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    sent = (await chat_world.alice.rest.send_files(chat_world.channel_id, {"a.txt": b"all of it"})).expect(200)
    url = sent["attachments"][0]["url"]
    await take(chat_world, "file")
    (await chat_world.alice.rest.delete_message(chat_world.channel_id, sent["id"])).expect(204)
    await chat_server.server.areas.policy.media.sweep()
    assert (await chat_world.alice.rest.fetch(url)).status == 404
    await go_back(chat_world, "file")
    assert (await chat_world.alice.rest.fetch(url)).body == b"all of it"
    (await chat_world.anyone.delete("/v1/_dev/snapshots/file")).expect(204)
    assert (await chat_world.alice.rest.fetch(url)).body == b"all of it", "the kept name was not the only one"


async def test_names(chat_server: ChatServer, chat_world: World, tmp_path: Path, autojump_clock: MockClock) -> None:
    assert (await chat_world.anyone.get("/v1/_dev/snapshots")).expect(200) == []
    await take(chat_world, "b")
    first = await take(chat_world, "a")
    assert [each["name"] for each in (await chat_world.anyone.get("/v1/_dev/snapshots")).expect(200)] == ["a", "b"]
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "x" * 2000)).expect(200)
    assert (await take(chat_world, "a"))["name"] == first["name"]
    await chat_server.restart()
    await go_back(chat_world, "a")
    assert len(await contents(chat_world)) == 1, "it was taken anew"

    unknown = await chat_world.anyone.post("/v1/_dev/snapshots/c/restore")
    assert (unknown.status, "a, b" in unknown.json()["message"]) == (404, True)
    assert (await chat_world.anyone.delete("/v1/_dev/snapshots/c")).status == 404
    for name in ("..", "%2e%2e", "a.b", "a%2Fb", "x" * 65):
        answer = await chat_world.anyone.put(f"/v1/_dev/snapshots/{name}")
        assert answer.status in {400, 404}, name
    assert sorted(path.name for path in (tmp_path / "snapshots").iterdir()) == ["a", "b"]


@pytest.mark.parametrize("times", [20])
async def test_back_under_load(world: World, times: int) -> None:
    """Going back while others write neither breaks the store nor leaves memory behind it."""
    await take(world, "base")
    async with trio.open_nursery() as nursery:

        async def chatter() -> None:
            while True:
                answer = await world.alice.rest.send_message(world.channel_id, "chatter")
                assert answer.status in {200, 503, 404}, answer

        nursery.start_soon(chatter)
        for _ in range(times):
            await go_back(world, "base")
        nursery.cancel_scope.cancel()
    await go_back(world, "base")
    assert await contents(world) == []
    (await world.bob.rest.send_message(world.channel_id, "works")).expect(200)
