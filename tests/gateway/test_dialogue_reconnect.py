"""Document 000, Gateway behaviour rules, Reconnect and Invalid Session, Sequencing, and the section Limits.

Area: gateway. Rules: 000.identify, 000.limits, 000.reconnect, 000.sequencing, 000.states.
"""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from chat.registries.close_codes import (
    DRAIN_REQUESTED,
    PAYLOAD_TOO_LARGE,
    SHARDING_REQUIRED,
    TOO_MANY_CONNECTIONS,
    TOO_MANY_SESSIONS,
)
from chat.registries.opcodes import Opcode
from chat.testing import ChatServer, World
from chat.testing.strategies.gateway import heartbeat_of
from tests.gateway.conversations import closes, invalidated, is_unauthenticated, post, resumed
from tests.spec.ledger import proves

WHOLE = ("roles", "channels", "emojis", "stickers", "voice_states", "threads")


@pytest.mark.own_gateway
@pytest.mark.rule("000.reconnect.1", "000.reconnect.3", "000.reconnect.4")
async def test_a_drain_sends_every_session_elsewhere(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    clients = [await chat_world.bob.connect(), await chat_world.carol.connect(compressed=True)]
    idle = await chat_world.open()
    await chat_world.anyone.node(draining=True)
    for client in clients:
        assert dict((await client.expect_opcode(Opcode.RECONNECT)).members) == {"op": 7}
        await closes(client, DRAIN_REQUESTED)
    await is_unauthenticated(idle)
    await trio.sleep(58)
    await resumed(await chat_world.bob.resume(clients[0]))


@pytest.mark.rule("000.reconnect.1", "000.reconnect.4")
async def test_a_session_is_resumed_after_a_restart_with_the_same_numbers(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect()
    await post(chat_world, "before", times=2)
    await bob.expect("MESSAGE_CREATE", where=lambda _: bob.sequence == 3)
    await chat_server.restart()
    await post(chat_world, "after")
    again = await chat_world.bob.resume(bob, sequence=2)
    assert await resumed(again) == [3, 4]
    assert [payload.data["content"] for payload in again.dispatches[:2]] == ["before", "after"]


@pytest.mark.rule("000.reconnect.2", "000.reconnect.3", "000.reconnect.4")
async def test_a_session_that_moves_is_told_to_reconnect(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    assert await chat_world.anyone.fault("reconnect", {"session_id": bob.session_id}) == 1
    await bob.expect_opcode(Opcode.RECONNECT)
    await closes(bob, DRAIN_REQUESTED)
    await resumed(await chat_world.bob.resume(bob))


@pytest.mark.rule("000.reconnect.5", "000.reconnect.6")
@pytest.mark.parametrize("cause", ["unknown", "ended", "revoked"])
async def test_after_invalid_session_the_socket_may_identify(
    chat_world: World, autojump_clock: MockClock, cause: str
) -> None:
    bob = await chat_world.bob.connect()
    if cause == "unknown":
        await bob.resume(chat_world.bob.token, "0" * 32, 0)
    elif cause == "ended":
        await chat_world.anyone.fault("end_session", {"session_id": bob.session_id})
    else:
        assert (await chat_world.bob.rest.logout()).status == 204
    await invalidated(bob)
    await bob.identify(chat_world.carol.token)
    ready = await bob.expect("READY")
    assert ready.data["user"]["id"] == chat_world.carol.id
    assert ready.sequence == 1


# Sequencing


async def test_each_session_counts_for_itself_from_one(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect(ignored_events=["SESSIONS_REPLACE"])
    await post(chat_world, times=2)
    other = await chat_world.bob.connect(ignored_events=["SESSIONS_REPLACE"])
    sent = await post(chat_world, times=3)
    await bob.expect("MESSAGE_CREATE", where=lambda d: d["id"] == sent[-1])
    await other.expect("MESSAGE_CREATE", where=lambda d: d["id"] == sent[-1])
    with proves("000.sequencing.1", "000.sequencing.2"):
        assert [payload.sequence for payload in bob.dispatches] == [1, 2, 3, 4, 5, 6]
    with proves("000.sequencing.7"):
        assert [payload.sequence for payload in other.dispatches] == [1, 2, 3, 4]
    with proves("000.sequencing.8"):
        assert [payload.data["id"] for payload in bob.dispatches[3:]] == sent


@pytest.mark.rule("000.sequencing.3", "000.sequencing.5", "000.sequencing.6")
async def test_resumed_takes_no_number(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    await post(chat_world, times=3)
    again = await chat_world.bob.resume(bob)
    assert await resumed(again) == [2, 3, 4]
    assert again.payloads[-1].sequence == 4
    await post(chat_world)
    assert (await again.expect("MESSAGE_CREATE")).sequence == 5


async def test_guild_create_and_guild_sync_are_whole(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    bot = await chat_world.bot.connect()
    created = (await bot.expect("GUILD_CREATE")).data
    await bob.send(Opcode.LAZY_REQUEST, {"subscriptions": {chat_world.guild_id: {"sync": True}}})
    synced = (await bob.expect("GUILD_SYNC")).data
    assert bob.ready is not None
    (ready,) = bob.ready["guilds"]
    for guild in (created, synced, ready):
        assert guild["id"] == chat_world.guild_id
        with proves("000.sequencing.9", "000.sequencing.10"):
            assert all(isinstance(guild[part], list) for part in WHOLE)
        assert {channel["id"] for channel in guild["channels"]} >= {chat_world.channel_id, chat_world.voice_channel_id}
        with proves("000.sequencing.9", "000.sequencing.10"):
            assert [role["id"] for role in guild["roles"]] == [chat_world.guild_id]
    assert [member["user"] for member in ready["members"]] == [{"id": chat_world.bob.id}]
    for guild, person in ((created, chat_world.bot), (synced, chat_world.bob)):
        user = (await person.rest.get(f"/v1/users/{person.id}")).expect(200)
        assert [member["user"] for member in guild["members"]] == [user]
    for part in WHOLE:
        with proves("000.sequencing.11", "000.sequencing.12"):
            assert synced[part] == ready[part]


@pytest.mark.rule("000.sequencing.11", "000.sequencing.12", "000.sequencing.13")
async def test_ready_and_what_follows_add_up_to_a_fresh_guild(chat_world: World, autojump_clock: MockClock) -> None:
    """A client that replaces its lists and applies the rest knows what a fresh session is told (zulip's way)."""
    bob = await chat_world.bob.connect()
    assert bob.ready is not None
    (guild,) = bob.ready["guilds"]
    await chat_world.alice.rest.send_message(chat_world.channel_id, "one")
    carol = await chat_world.carol.connect()
    voice = {"guild_id": chat_world.guild_id, "channel_id": chat_world.voice_channel_id}
    await carol.send(Opcode.VOICE_STATE_UPDATE, voice)
    await bob.expect("VOICE_STATE_UPDATE")
    for payload in bob.dispatches:
        if payload.name == "MESSAGE_CREATE":
            channel = next(entry for entry in guild["channels"] if entry["id"] == payload.data["channel_id"])
            channel["last_message_id"] = payload.data["id"]
        elif payload.name == "VOICE_STATE_UPDATE":
            guild["voice_states"].append(payload.data)
    fresh = await chat_world.bob.connect()
    assert fresh.ready is not None
    (expected,) = fresh.ready["guilds"]
    for part in ("roles", "channels", "emojis", "stickers", "threads"):
        assert guild[part] == expected[part]
    assert [state["user_id"] for state in guild["voice_states"]] == [
        state["user_id"] for state in expected["voice_states"]
    ]


# Limits


@pytest.mark.rule("000.limits.1", "000.limits.2")
@pytest.mark.parametrize("compressed", [False, True])
async def test_a_message_of_16384_bytes_is_the_longest(
    chat_world: World, autojump_clock: MockClock, compressed: bool
) -> None:
    client = await chat_world.bob.open(compressed=compressed, heartbeats=False)
    await client.send_text(heartbeat_of(16_384).decode())
    assert (await client.next_payload()).op == Opcode.HEARTBEAT_ACK
    await client.send_text(heartbeat_of(16_385).decode())
    await closes(client, PAYLOAD_TOO_LARGE)


@pytest.mark.rule("000.limits.3", "000.limits.4", "000.states.4")
async def test_an_address_holds_256_connections(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    route = chat_server.route("10.0.0.7")
    clients = [await chat_world.bob.open(route=route) for _ in range(256)]
    one_more = await chat_world.bob.open(route=route, hello=False)
    await closes(one_more, TOO_MANY_CONNECTIONS)
    assert not one_more.payloads
    await chat_world.bob.open(route=chat_server.route("10.0.0.8"))
    clients[0].drop()
    await clients[0].closed()
    await trio.testing.wait_all_tasks_blocked()
    await chat_world.bob.open(route=route)


@pytest.mark.rule("000.limits.5", "000.identify.1")
async def test_a_user_has_100_live_sessions_retained_ones_included(
    chat_world: World, autojump_clock: MockClock
) -> None:
    ignoring = {"ignored_events": ["SESSIONS_REPLACE"]}
    clients = [await chat_world.bob.connect(**ignoring) for _ in range(100)]
    clients[0].drop()
    one_more = await chat_world.bob.open()
    await one_more.identify(chat_world.bob.token)
    await closes(one_more, TOO_MANY_SESSIONS)
    await chat_world.carol.connect()
    await trio.sleep(61)
    await chat_world.bob.connect()


@pytest.mark.rule("000.limits.6", "000.identify.10")
async def test_a_bot_shard_owns_2500_guilds(chat_world: World, autojump_clock: MockClock) -> None:
    mine = (int(chat_world.guild_id) >> 22) % 2
    await chat_world.anyone.make_guilds(chat_world.bot.id, 2_499, (mine, 2))
    whole = await chat_world.bot.connect()
    assert whole.ready is not None
    assert len(whole.ready["guilds"]) == 2_500
    await chat_world.anyone.make_guilds(chat_world.bot.id, 1, (1 - mine, 2))
    unsharded = await chat_world.bot.open()
    await unsharded.identify(chat_world.bot.token)
    await closes(unsharded, SHARDING_REQUIRED)
    half = await chat_world.bot.connect(shard=[mine, 2])
    assert half.ready is not None
    assert (half.ready["shard"], len(half.ready["guilds"])) == ([mine, 2], 2_500)
    await chat_world.anyone.make_guilds(chat_world.bot.id, 1, (mine, 2))
    too_large = await chat_world.bot.open()
    await too_large.identify(chat_world.bot.token, shard=[mine, 2])
    await closes(too_large, SHARDING_REQUIRED)
    await chat_world.bot.connect(shard=[1 - mine, 2])
