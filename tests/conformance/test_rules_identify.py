"""Identify and sharding: how many sessions and guilds, which shard, and what a bot is told after Ready.

Area: conformance. Rules: 000.events, 000.gateway-bot, 000.identify, 000.limits, 000.states.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
import trio
import trio.testing

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient
from chat.testing.world import Actor, World
from tests.conformance.outcomes import end
from tests.spec.ledger import proves

SESSIONS: Final = 100
GUILDS: Final = 2_500

TOO_MANY_SESSIONS: Final = (4008, "Too many sessions")
SHARDING_REQUIRED: Final = (4011, "Sharding required")
INVALID_TOKEN: Final = (4004, "Invalid token")


async def together(connect: Callable[[], Awaitable[GatewayClient]], count: int) -> list[GatewayClient]:
    """`count` clients, connected at the same time."""
    clients: list[GatewayClient] = []

    async def one() -> None:
        clients.append(await connect())

    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(one)
    return clients


async def refused(actor: Actor, **members: object) -> tuple[int, str]:
    """How an Identify of the actor's is closed."""
    client = await actor.open()
    await client.identify(actor.token, **members)
    return await end(client)


def guild_ids(client: GatewayClient) -> list[str]:
    assert client.ready is not None
    return [guild["id"] for guild in client.ready["guilds"]]


def shard_of(guild_id: str, count: int) -> int:
    return (int(guild_id) >> 22) % count


@pytest.mark.rule("000.identify.1", "000.identify.2", "000.limits.5")
async def test_a_hundred_sessions_of_a_user_live_and_no_more_attached_or_not(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    # Nobody here wants to hear of the other 99 each time one of them comes or goes.
    connect = functools.partial(chat_world.bob.connect, ignored_events=["SESSIONS_REPLACE"])
    clients = await together(connect, SESSIONS)
    assert await refused(chat_world.bob) == TOO_MANY_SESSIONS
    for client in clients[: SESSIONS // 2]:
        client.drop()
    await trio.sleep(1)
    sessions = await chat_world.anyone.gateway_sessions()
    assert [session["attached"] for session in sessions].count(True) == SESSIONS // 2
    assert await refused(chat_world.bob) == TOO_MANY_SESSIONS
    await chat_world.carol.connect()  # each account is counted for itself
    resumed = await chat_world.bob.resume(clients[0])  # no new session
    await resumed.expect("RESUMED")
    await trio.sleep(61)  # the others that were dropped are over
    await together(connect, SESSIONS // 2 - 1)
    assert await refused(chat_world.bob) == TOO_MANY_SESSIONS


@pytest.mark.rule("000.identify.3")
async def test_a_bot_starts_one_session_after_the_other(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    await together(chat_world.bot.connect, SESSIONS + 20)
    assert len(await chat_world.anyone.gateway_sessions()) == SESSIONS + 20
    await chat_world.bot.connect()


async def test_a_shard_has_its_guilds_in_ready_and_hears_of_no_other(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    count = 3
    for actor in (chat_world.bot, chat_world.bob):
        for shard in range(count):
            await chat_world.anyone.make_guilds(actor.id, 10, (shard, count))
    for actor in (chat_world.bot, chat_world.bob):
        whole = await actor.connect()
        everything = guild_ids(whole)
        assert len(everything) == 31
        with proves("000.identify.5"):
            assert all(int(guild_id) > 2**53 for guild_id in everything)
        shards = [await actor.connect(shard=[shard, count]) for shard in range(count)]
        for number, client in enumerate(shards):
            with proves("000.identify.4", "000.identify.5", "000.identify.6"):
                assert sorted(guild_ids(client)) == sorted(one for one in everything if shard_of(one, count) == number)
            assert guild_ids(client)
        mine = shard_of(chat_world.guild_id, count)
        (await chat_world.alice.rest.send_message(chat_world.channel_id, f"for {actor.id}")).expect(200)
        with proves("000.identify.7"):
            assert (await shards[mine].expect("MESSAGE_CREATE")).data["content"] == f"for {actor.id}"
        await trio.sleep(1)
        for number, client in enumerate(shards):
            heard = [payload for payload in client.dispatches if payload.name == "MESSAGE_CREATE"]
            with proves("000.identify.7"):
                assert len(heard) == (1 if number == mine else 0)
            of_guilds = {payload.data["id"] for payload in client.dispatches if payload.name == "GUILD_CREATE"}
            with proves("000.identify.7"):
                assert of_guilds <= set(guild_ids(client))


@pytest.mark.rule("000.identify.8", "000.identify.9", "000.events.2")
async def test_each_guild_of_a_bots_ready_is_followed_up_once(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    made = await chat_world.anyone.make_guilds(chat_world.bot.id, 40)
    closed, unknown = made[:3], made[3:5]
    for guild_id in closed:
        state = {"features": ["UNAVAILABLE_FOR_EVERYONE"]}
        (await chat_world.anyone.post(f"/v1/_dev/guilds/{guild_id}", state)).expect(200)
    await chat_world.anyone.node(missing_guild_ids=unknown)
    bot = await chat_world.bot.connect()
    await trio.sleep(5)
    assert bot.ready is not None
    for stub in bot.ready["guilds"]:
        assert stub.keys() - {"unavailable_hidden"} == {"id", "unavailable"}
        assert stub["unavailable"] is True
    creates = [payload.data["id"] for payload in bot.dispatches if payload.name == "GUILD_CREATE"]
    deletes = [payload.data["id"] for payload in bot.dispatches if payload.name == "GUILD_DELETE"]
    assert sorted(creates + deletes) == sorted(guild_ids(bot))
    assert sorted(deletes) == sorted(closed + unknown)
    assert bot.dispatches[0].name == "READY"


@pytest.mark.rule("000.identify.8")
async def test_a_user_finds_the_guilds_whole_in_ready(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    await trio.sleep(5)
    assert bob.ready is not None
    assert [guild["name"] for guild in bob.ready["guilds"]] != []
    assert not any(payload.name in {"GUILD_CREATE", "GUILD_DELETE"} for payload in bob.dispatches)


async def test_2500_guilds_of_the_shard_are_enough_and_one_more_is_too_many(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bot = chat_world.bot
    home = shard_of(chat_world.guild_id, 2)
    await chat_world.anyone.make_guilds(bot.id, GUILDS - 1, (home, 2))
    with proves("000.limits.6"):
        assert len(guild_ids(await bot.connect())) == GUILDS
    await chat_world.anyone.make_guilds(bot.id, 1, (1 - home, 2))
    with proves("000.identify.11"):
        assert await refused(bot) == SHARDING_REQUIRED  # 2,501 in all, and no shard named
    with proves("000.identify.12"):
        assert len(guild_ids(await bot.connect(shard=[home, 2]))) == GUILDS  # 2,500 on this one
    await chat_world.anyone.make_guilds(bot.id, 1, (home, 2))
    with proves("000.identify.10"):
        assert await refused(bot, shard=[home, 2]) == SHARDING_REQUIRED
    assert await refused(bot, shard=[0, 1]) == SHARDING_REQUIRED
    assert len(guild_ids(await bot.connect(shard=[1 - home, 2]))) == 1


@pytest.mark.rule("000.identify.13")
async def test_a_user_in_any_number_of_guilds_gets_a_session(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    await chat_world.anyone.make_guilds(chat_world.carol.id, GUILDS)
    carol = await chat_world.carol.connect()
    assert len(guild_ids(carol)) == GUILDS + 1
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    await carol.expect("MESSAGE_CREATE")


@pytest.mark.rule("000.identify.14", "000.identify.15", "000.gateway-bot.5")
async def test_large_bots_are_bots_like_others_and_may_cut_themselves_as_they_like(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bot = chat_world.bot
    small = await bot.connect()
    recommended = (await bot.rest.get("/v1/gateway/bot")).expect(200)
    await chat_world.anyone.make_guilds(bot.id, 300)
    large = await bot.connect()
    assert small.ready is not None
    assert large.ready is not None
    assert small.ready.keys() == large.ready.keys()
    assert large.heartbeat_interval_ms == small.heartbeat_interval_ms
    assert (await bot.rest.get("/v1/gateway/bot")).expect(200) == recommended
    everything = guild_ids(large)
    # Counts that have no divisor in common, beside each other and beside sessions without a shard.
    for count in (1, 2, 3, 5, 16, 1_000, 16_384):
        client = await bot.connect(shard=[count - 1, count])
        assert sorted(guild_ids(client)) == sorted(one for one in everything if shard_of(one, count) == count - 1)


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.rule("000.identify.16", "000.identify.14")
async def test_all_shards_identify_in_the_same_moment(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    count = 64
    clients = await together(chat_world.bot.open, count)
    began = trio.current_time()
    for shard, client in enumerate(clients):
        await client.identify(chat_world.bot.token, shard=[shard, count])
    for client in clients:
        await client.expect("READY")
    assert trio.current_time() - began < 0.5
    assert len(await chat_world.anyone.gateway_sessions()) == count


@pytest.mark.rule("000.identify.19", "000.states.16")
async def test_a_token_that_was_revoked_is_invalid(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    bob = await chat_world.bob.connect()
    (await chat_world.bob.rest.logout()).expect(204)
    await bob.expect_opcode(Opcode.INVALID_SESSION)
    assert await refused(chat_world.bob) == INVALID_TOKEN
    token = await new_bot_token(chat_world)
    assert await refused(chat_world.bot) == INVALID_TOKEN
    client = await chat_world.open()
    await client.identify(token)
    await client.expect("READY")


async def new_bot_token(world: World) -> str:
    """Give the world's bot another token; the old one is void."""
    path = f"/v1/oauth2/applications/{world.bot.application_id}/bot/reset-token"
    answer: Any = (await world.alice.rest.post(path, {"password": world.alice.password})).expect(200)
    token: str = answer["token"]
    return token


@pytest.mark.rule("000.identify.17", "000.identify.18")
async def test_no_token_and_an_empty_one_are_malformed_and_an_unknown_one_is_invalid(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    for token, close in (
        ("", (4002, "Invalid identify payload")),
        ("x", INVALID_TOKEN),
        ("cht_" + "a" * 36, INVALID_TOKEN),
    ):
        client = await chat_world.open()
        await client.identify(token)
        assert await end(client) == close
