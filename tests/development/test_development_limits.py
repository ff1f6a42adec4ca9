"""Request limits on demand: all as in production, or chosen buckets by chosen numbers."""

from __future__ import annotations

from typing import Any

import trio
from trio.testing import MockClock

from chat.testing.world import World

SEND = "channel:message:create::channel_id"


async def bucket_of(world: World, name: str) -> dict[str, Any]:
    listed = (await world.anyone.get("/v1/_dev/limits")).expect(200)["buckets"]
    [found] = [bucket for bucket in listed if bucket["name"] == name]
    return dict(found)


async def statuses(world: World, count: int) -> list[int]:
    return [(await world.bot.rest.send_message(world.channel_id, "x")).status for _ in range(count)]


async def test_a_small_limit_of_one_bucket(chat_world: World, autojump_clock: MockClock) -> None:
    assert (await bucket_of(chat_world, SEND))["enabled"] is False
    change = {"buckets": {SEND: {"limit": 2, "window_ms": 10_000}}}
    (await chat_world.anyone.post("/v1/_dev/limits", change)).expect(200)
    told = await bucket_of(chat_world, SEND)
    assert (told["enabled"], told["chosen"], told["limit"], told["window_ms"]) == (True, True, 2, 10_000)
    assert "POST /v1/channels/{channel_id}/messages" in told["operations"]

    first = await chat_world.bot.rest.send_message(chat_world.channel_id, "1")
    assert (first.status, first.header("x-ratelimit-limit"), first.header("x-ratelimit-remaining")) == (200, "2", "1")
    assert first.header("x-ratelimit-bucket") == told["public_name"]
    assert await statuses(chat_world, 2) == [200, 429]
    refused = await chat_world.bot.rest.send_message(chat_world.channel_id, "4")
    assert refused.code == "RATE_LIMITED"
    await trio.sleep(refused.json()["retry_after"])
    assert await statuses(chat_world, 1) == [200]
    for _ in range(60):
        (await chat_world.bot.rest.get("/v1/users/@me")).expect(200)  # others do not count, the global limit included

    (await chat_world.anyone.post("/v1/_dev/limits", {"buckets": {SEND: None}})).expect(200)
    assert set(await statuses(chat_world, 5)) == {200}


async def test_all_as_in_production_but_for_one(chat_world: World, autojump_clock: MockClock) -> None:
    change = {"enabled": True, "buckets": {SEND: {"enabled": False}}}
    state = (await chat_world.anyone.post("/v1/_dev/limits", change)).expect(200)
    assert state["enabled"] is True
    assert [bucket["name"] for bucket in state["buckets"] if not bucket["enabled"]] == [SEND]
    assert set(await statuses(chat_world, 20)) == {200}
    answers = [await chat_world.bot.rest.get("/v1/users/@me") for _ in range(60)]
    assert answers[-1].status == 429
    assert answers[-1].header("x-ratelimit-scope") == "global"


async def test_the_budgets_of_the_gateway(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    for _ in range(700):
        await bob.heartbeat()
    await trio.sleep(1)
    assert bob.is_open
    (await chat_world.anyone.post("/v1/_dev/limits", {"gateway": True})).expect(200)
    for _ in range(700):
        await bob.heartbeat()
    close = await bob.closed()
    assert (close.code, close.reason) == (4008, "Rate limited")


async def test_a_reset_takes_it_back(chat_world: World, autojump_clock: MockClock) -> None:
    change = {"enabled": True, "gateway": True, "buckets": {SEND: {"limit": 1}}}
    (await chat_world.anyone.post("/v1/_dev/limits", change)).expect(200)
    (await chat_world.anyone.post("/v1/_dev/reset")).expect(204)
    state = (await chat_world.anyone.get("/v1/_dev/limits")).expect(200)
    assert (state["enabled"], state["gateway"]) == (False, False)
    assert not any(bucket["enabled"] or bucket["chosen"] for bucket in state["buckets"])
    assert set(await statuses(chat_world, 60)) == {200}


async def test_a_wrong_name_is_told_with_similar_ones(chat_world: World) -> None:
    change = {"enabled": True, "buckets": {"channel:message:creat": {"limit": 1}}}
    refused = await chat_world.anyone.post("/v1/_dev/limits", change)
    [error] = refused.json()["errors"]
    assert (refused.status, error["path"]) == (400, "buckets.channel:message:creat")
    assert SEND in error["message"]
    assert (await chat_world.anyone.get("/v1/_dev/limits")).expect(200)["enabled"] is False, "nothing was changed"
