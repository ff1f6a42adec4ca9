"""Client commands over real frames, on a whole server in memory.

Area: gateway. Rules: 000.resume.
"""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from chat.registries.opcodes import Opcode
from chat.testing import GatewayClient
from chat.testing.world import Person, World


async def befriend(world: World, one: Person, other: Person) -> None:
    """Make two people friends by the development route."""
    wish = {"user_id": one.id, "target_user_id": other.id, "type": 1}
    response = await world.alice.rest.post("/v1/_dev/relationships", wish)
    assert response.status < 300, response.body


async def status_of(client: GatewayClient, user_id: str) -> str:
    """The status in the next presence of an account."""
    payload = await client.expect("PRESENCE_UPDATE", where=lambda data: data["user"]["id"] == user_id)
    status: str = payload.data["status"]
    return status


@pytest.mark.rule("000.resume.21", "000.resume.22", "000.resume.23")
async def test_a_friend_sees_a_status_come_change_and_go(chat_world: World, autojump_clock: MockClock) -> None:
    await befriend(chat_world, chat_world.alice, chat_world.bob)
    bob = await chat_world.bob.connect()
    alice = await chat_world.alice.connect()
    assert await status_of(bob, chat_world.alice.id) == "online"
    await alice.send(Opcode.PRESENCE_UPDATE, {"status": "dnd", "since": None, "activities": [], "afk": False})
    assert await status_of(bob, chat_world.alice.id) == "dnd"
    alice.drop()
    started = trio.current_time()
    assert await status_of(bob, chat_world.alice.id) == "offline"
    assert trio.current_time() - started == pytest.approx(5, abs=0.1)
    again = await chat_world.alice.resume(alice)
    await again.expect("RESUMED")
    assert await status_of(bob, chat_world.alice.id) == "dnd"


async def test_a_presence_without_a_status_closes(chat_world: World, autojump_clock: MockClock) -> None:
    alice = await chat_world.alice.connect()
    await alice.send(Opcode.PRESENCE_UPDATE, {"afk": True})
    close = await alice.closed()
    assert (close.code, close.reason) == (4002, "Invalid presence payload")


@pytest.mark.chat_settings(rate_limits=True)
async def test_a_bot_asks_for_the_members_of_its_guild(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await chat_world.bot.connect()
    await bot.expect("GUILD_CREATE")
    wish = {"guild_id": chat_world.guild_id, "query": "", "limit": 0, "presences": True, "nonce": "n"}
    await bot.send(Opcode.REQUEST_GUILD_MEMBERS, wish)
    chunk = (await bot.expect("GUILD_MEMBERS_CHUNK")).data
    ids = {member["user"]["id"] for member in chunk["members"]}
    assert ids == {chat_world.alice.id, chat_world.bob.id, chat_world.carol.id, chat_world.bot.id}
    assert [presence["user"]["id"] for presence in chunk["presences"]] == [chat_world.bot.id]
    await bot.send(Opcode.REQUEST_GUILD_MEMBERS, wish)
    limited = (await bot.expect("RATE_LIMITED")).data
    assert limited["meta"] == {"guild_id": chat_world.guild_id, "nonce": "n"}


async def test_without_rate_limits_a_bot_gets_whole_lists_at_once(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await chat_world.bot.connect()
    for nonce in ("first", "second"):
        wish = {"guild_id": chat_world.guild_id, "query": "", "limit": 0, "nonce": nonce}
        await bot.send(Opcode.REQUEST_GUILD_MEMBERS, wish)
        chunk = (await bot.expect("GUILD_MEMBERS_CHUNK")).data
        assert (len(chunk["members"]), chunk["nonce"]) == (4, nonce)


async def test_a_client_watches_the_member_list_and_the_counts(chat_world: World, autojump_clock: MockClock) -> None:
    alice = await chat_world.alice.connect(compressed=True)
    lists = {chat_world.channel_id: [[0, 99]]}
    subscription = {"active": True, "member_list_channels": lists, "members": [chat_world.bob.id]}
    await alice.send(Opcode.LAZY_REQUEST, {"subscriptions": {chat_world.guild_id: subscription}})
    assert (await alice.expect("GUILD_SYNC")).data["id"] == chat_world.guild_id
    shown = (await alice.expect("GUILD_MEMBER_LIST_UPDATE")).data
    assert (shown["member_count"], shown["online_count"]) == (4, 1)
    await chat_world.bob.connect()
    assert await status_of(alice, chat_world.bob.id) == "online"
    assert (await alice.expect("GUILD_MEMBER_LIST_UPDATE")).data["online_count"] == 2
    await alice.send(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": [chat_world.guild_id]})
    counts = (await alice.expect("GUILD_COUNTS_UPDATE")).data["counts"]
    assert counts == [{"guild_id": chat_world.guild_id, "member_count": 4, "online_count": 2}]


async def test_somebody_joins_and_leaves_voice(chat_world: World, autojump_clock: MockClock) -> None:
    alice = await chat_world.alice.connect()
    bob = await chat_world.bob.connect()
    wish = {"guild_id": chat_world.guild_id, "channel_id": chat_world.voice_channel_id, "mutation_id": "m"}
    await alice.send(Opcode.VOICE_STATE_UPDATE, {**wish, "self_mute": True, "self_deaf": False})
    state = (await bob.expect("VOICE_STATE_UPDATE")).data
    assert (state["user_id"], state["channel_id"], state["self_mute"]) == (
        chat_world.alice.id,
        chat_world.voice_channel_id,
        True,
    )
    ack = (await alice.expect("VOICE_STATE_ACK")).data
    assert (ack["status"], ack["connection_id"]) == ("applied", state["connection_id"])
    # Whoever connects now finds alice there already.
    carol = await chat_world.carol.open()
    await carol.identify(chat_world.carol.token)
    (guild,) = (await carol.expect("READY")).data["guilds"]
    assert [entry["user_id"] for entry in guild["voice_states"]] == [chat_world.alice.id]
    assert chat_world.alice.id in {member["user"]["id"] for member in guild["members"]}
    alice.drop()
    left = await bob.expect("VOICE_STATE_UPDATE", seconds=61)
    assert left.data["channel_id"] is None


async def test_commands_that_end_in_an_error_of_their_own(chat_world: World, autojump_clock: MockClock) -> None:
    alice = await chat_world.alice.connect()
    await alice.send(Opcode.VOICE_SIGNAL, {"channel_id": chat_world.voice_channel_id})
    error = await alice.expect_opcode(Opcode.GATEWAY_ERROR)
    assert error.data["code"] == "VOICE_P2P_UNAVAILABLE"
    assert error.sequence is None
    await alice.send(Opcode.REQUEST_FORUM_UNREADS, {"guild_id": chat_world.guild_id})
    close = await alice.closed()
    assert (close.code, close.reason) == (4001, "Unknown opcode")


async def test_a_reset_forgets_who_was_a_member(chat_world: World, autojump_clock: MockClock) -> None:
    async def listed() -> int:
        bot = await chat_world.bot.connect()
        await bot.expect("GUILD_CREATE")
        await bot.send(Opcode.REQUEST_GUILD_MEMBERS, {"guild_id": chat_world.guild_id})
        return len((await bot.expect("GUILD_MEMBERS_CHUNK")).data["members"])

    assert await listed() == 4
    response = await chat_world.alice.rest.post(
        f"/v1/_dev/guilds/{chat_world.guild_id}", {"members": {chat_world.carol.id: None}}
    )
    assert response.status == 200
    (await chat_world.alice.rest.post("/v1/_dev/reset")).expect(204)
    assert await listed() == 4
