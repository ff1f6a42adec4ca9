"""Document 000, Gateway behaviour rules, Resume: as conversations with a whole server, on virtual time.

Area: gateway. Rules: 000.limits, 000.reconnect, 000.resume, 000.sequencing.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.close_codes import (
    DRAIN_REQUESTED,
    INVALID_RESUME_PAYLOAD,
    INVALID_SEQUENCE,
    INVALID_TOKEN,
    SESSION_UNAVAILABLE,
)
from chat.registries.limits import REPLAY_DISPATCHES
from chat.registries.opcodes import Opcode
from chat.testing import ChatServer, World
from tests.gateway.conversations import LONG, acknowledged, closes, invalidated, no_turns, post, resumed, session_of
from tests.spec.ledger import proves


@pytest.mark.rule("000.resume.1", "000.resume.19", "000.sequencing.3")
async def test_from_the_current_sequence_nothing_is_replayed(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    await post(chat_world, times=3)
    await bob.expect("MESSAGE_CREATE", where=lambda _: bob.sequence == 4)
    bob.drop()
    again = await chat_world.bob.resume(bob)
    assert await resumed(again) == []
    assert again.sequence == 4


@pytest.mark.rule("000.resume.2", "000.resume.19", "000.sequencing.3")
async def test_from_the_acknowledged_sequence_everything_since_is_replayed(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    await post(chat_world, "first", times=3)
    await bob.expect("MESSAGE_CREATE", where=lambda _: bob.sequence == 4)
    await acknowledged(bob, 2)
    bob.drop()
    await post(chat_world, "second", times=2)
    again = await chat_world.bob.resume(bob, sequence=2)
    assert await resumed(again) == [3, 4, 5, 6]
    for payload in bob.dispatches:
        if payload.sequence in (3, 4):
            assert payload.members in [replayed.members for replayed in again.dispatches]


@pytest.mark.rule("000.resume.3", "000.resume.4")
@pytest.mark.parametrize("sequence", [2, 3, 10**9, -1, -(10**9)])
async def test_outside_of_both_bounds_it_closes(chat_world: World, autojump_clock: MockClock, sequence: int) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    again = await chat_world.bob.resume(bob, sequence=sequence)
    await closes(again, INVALID_SEQUENCE)


@pytest.mark.rule("000.resume.5", "000.resume.6", "000.resume.7")
@pytest.mark.parametrize("member", ["token", "session_id", "seq"])
@pytest.mark.parametrize("value", [..., None, True, [], {}, 1.5, "wrong"])
async def test_a_missing_or_mistyped_member_closes(
    chat_world: World, autojump_clock: MockClock, member: str, value: Any
) -> None:
    data: dict[str, Any] = {"token": "t", "session_id": "s", "seq": 0, member: 7 if value == "wrong" else value}
    if member == "seq" and value == "wrong":
        data["seq"] = "7"
    if value is ...:
        del data[member]
    client = await chat_world.open()
    await client.send(Opcode.RESUME, data)
    await closes(client, INVALID_RESUME_PAYLOAD)


@pytest.mark.rule("000.resume.8", "000.reconnect.5")
async def test_an_unknown_session_leaves_the_socket_open(chat_world: World, autojump_clock: MockClock) -> None:
    client = await chat_world.bob.open()
    await client.resume(chat_world.bob.token, "0" * 32, 0)
    await invalidated(client)
    await client.identify(chat_world.bob.token)
    await client.expect("READY")


@pytest.mark.rule("000.resume.9", "000.limits.8")
@pytest.mark.parametrize(("seconds", "lives"), [(0, True), (30, True), (59.99, True), (60.01, False), (3_600, False)])
async def test_a_session_waits_for_60_seconds(
    chat_world: World, autojump_clock: MockClock, seconds: float, lives: bool
) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    await trio.sleep(seconds)
    again = await chat_world.bob.resume(bob)
    if lives:
        await resumed(again)
    else:
        await invalidated(again)


async def test_below_the_replay_floor_a_session_is_lost_to_the_client(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    await trio.testing.wait_all_tasks_blocked()
    surplus = 3
    for _ in range(REPLAY_DISPATCHES + surplus):
        await chat_world.alice.rest.start_typing(chat_world.channel_id)
    shown = await session_of(chat_world, bob)
    with proves("000.resume.12"):
        assert shown["retained_dispatches"] == REPLAY_DISPATCHES
    with proves("000.resume.11"):
        assert shown["replay_floor"] == 1 + surplus
    with proves("000.resume.10"):
        below = await chat_world.bob.resume(bob, sequence=surplus)
        await invalidated(below)
    with proves("000.resume.11", "000.resume.18"):
        at = await chat_world.bob.resume(bob, sequence=1 + surplus)
        assert await resumed(at) == list(range(2 + surplus, 2 + surplus + REPLAY_DISPATCHES))


@pytest.mark.rule("000.resume.13", "000.sequencing.4")
async def test_what_is_never_replayed_leaves_gaps(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    await bob.send(Opcode.REQUEST_GUILD_MEMBERS, {"guild_id": chat_world.guild_id, "query": "b", "limit": 5})
    chunk = await bob.expect("GUILD_MEMBERS_CHUNK")
    await post(chat_world)
    message = await bob.expect("MESSAGE_CREATE")
    await bob.send(Opcode.LAZY_REQUEST, {"subscriptions": {chat_world.guild_id: {"sync": True}}})
    sync = await bob.expect("GUILD_SYNC")
    await post(chat_world)
    last = await bob.expect("MESSAGE_CREATE")
    assert [chunk.sequence, message.sequence, sync.sequence, last.sequence] == [2, 3, 4, 5]
    bob.drop()
    again = await chat_world.bob.resume(bob, sequence=0)
    assert await resumed(again) == [3, 5]
    assert again.sequence == 5


@pytest.mark.rule("000.resume.14")
async def test_a_bots_burst_of_guilds_is_replayed(chat_world: World, autojump_clock: MockClock) -> None:
    bot = await chat_world.bot.connect()
    created = await bot.expect("GUILD_CREATE")
    bot.drop()
    again = await chat_world.bot.resume(bot, sequence=1)
    replayed = await again.expect("GUILD_CREATE")
    assert replayed.members == created.members
    await again.expect("RESUMED")


@pytest.mark.rule("000.resume.15", "000.resume.18")
@pytest.mark.parametrize("who", ["carol", "bot", "nobody"])
async def test_a_token_that_does_not_own_the_session_closes(
    chat_world: World, autojump_clock: MockClock, who: str
) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    stranger = await chat_world.open()
    token = "cht_" + "0" * 36 if who == "nobody" else getattr(chat_world, who).token
    await stranger.resume(token, bob.session_id, bob.sequence)
    await closes(stranger, INVALID_TOKEN)
    await resumed(await chat_world.bob.resume(bob))


@pytest.mark.rule("000.resume.16")
async def test_another_token_of_the_account_owns_the_session(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    login = await chat_world.anyone.login(email=chat_world.bob.email, password=chat_world.bob.password)
    token = login.expect(200)["token"]
    assert token != chat_world.bob.token
    again = await chat_world.bob.open()
    await again.resume(token, bob.session_id, bob.sequence)
    await resumed(again)


@pytest.mark.rule("000.resume.17", "000.resume.18")
async def test_a_session_that_cannot_be_reached_closes_and_stays(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    await chat_world.anyone.node(rpc_failing=True)
    again = await chat_world.bob.resume(bob)
    await closes(again, SESSION_UNAVAILABLE)
    await chat_world.anyone.node(rpc_failing=False)
    await resumed(await chat_world.bob.resume(bob))


@pytest.mark.rule("000.resume.18")
async def test_no_failed_resume_destroys_the_session(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    await post(chat_world)
    malformed = await chat_world.bob.open()
    await malformed.send(Opcode.RESUME, {"session_id": bob.session_id})
    await closes(malformed, INVALID_RESUME_PAYLOAD)
    beyond = await chat_world.bob.resume(bob, sequence=99)
    await closes(beyond, INVALID_SEQUENCE)
    elsewhere = await chat_world.bob.open()
    await elsewhere.resume(chat_world.bob.token, "f" * 32, 1)
    await invalidated(elsewhere)
    assert await resumed(await chat_world.bob.resume(bob)) == [2]


@pytest.mark.rule("000.resume.20", "000.resume.25", "000.reconnect.3")
async def test_the_resuming_socket_takes_the_session_over(chat_world: World, autojump_clock: MockClock) -> None:
    first = await chat_world.bob.connect()
    second = await chat_world.bob.resume(first)
    await resumed(second)
    reconnect = await first.expect_opcode(Opcode.RECONNECT)
    assert dict(reconnect.members) == {"op": 7}
    await closes(first, DRAIN_REQUESTED)
    await post(chat_world, "to the second")
    assert (await second.expect("MESSAGE_CREATE")).data["content"] == "to the second"
    assert "MESSAGE_CREATE" not in [payload.name for payload in first.payloads]


@pytest.mark.rule("000.resume.21", "000.resume.22", "000.resume.23")
async def test_presence_goes_offline_after_5_seconds_and_comes_back(
    chat_world: World, autojump_clock: MockClock
) -> None:
    friends = {"user_id": chat_world.alice.id, "target_user_id": chat_world.bob.id, "type": 1}
    assert (await chat_world.anyone.post("/v1/_dev/relationships", friends)).status < 300
    alice = await chat_world.alice.connect()
    bob = await chat_world.bob.connect(presence={"status": "dnd"})
    await alice.expect("PRESENCE_UPDATE", where=lambda d: d["status"] == "dnd")
    bob.drop()
    dropped = trio.current_time()
    offline = await alice.expect("PRESENCE_UPDATE")
    assert offline.data["status"] == "offline"
    assert trio.current_time() - dropped == pytest.approx(5, abs=0.01)
    again = await chat_world.bob.resume(bob)
    await resumed(again)
    back = await alice.expect("PRESENCE_UPDATE")
    assert (back.data["user"]["id"], back.data["status"]) == (chat_world.bob.id, "dnd")
    assert (await session_of(chat_world, again))["status"] == "dnd"


@pytest.mark.rule("000.resume.22")
async def test_who_is_back_within_5_seconds_was_never_offline(chat_world: World, autojump_clock: MockClock) -> None:
    friends = {"user_id": chat_world.alice.id, "target_user_id": chat_world.bob.id, "type": 1}
    assert (await chat_world.anyone.post("/v1/_dev/relationships", friends)).status < 300
    alice = await chat_world.alice.connect()
    bob = await chat_world.bob.connect()
    await alice.expect("PRESENCE_UPDATE")
    bob.drop()
    await trio.sleep(4.9)
    await resumed(await chat_world.bob.resume(bob))
    await alice.expect_silence(30)


@pytest.mark.rule("000.resume.24")
async def test_a_resume_while_a_session_starts_waits_for_it(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    client = await chat_world.bob.open()
    async with no_turns(chat_server):
        await client.identify(chat_world.bob.token)
        await client.resume(chat_world.bob.token, bob.session_id, bob.sequence)
        await client.expect_silence(1)
    await client.expect("READY")
    await client.expect("RESUMED")
    shown = {session["id"]: session["attached"] for session in await chat_world.anyone.gateway_sessions()}
    assert shown[bob.session_id or ""]
    assert len(shown) == 2


@pytest.mark.rule("000.resume.19")
async def test_a_long_replay_is_whole_and_live_events_wait_for_it(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    sent = await post(chat_world, LONG, times=150)
    again = await chat_world.bob.open(compressed=True)
    again.stop_reading()
    await again.resume(chat_world.bob.token, bob.session_id, bob.sequence)
    await trio.testing.wait_all_tasks_blocked()
    sent += await post(chat_world, "live", times=3)
    again.go_on_reading()
    received = [(await again.expect("MESSAGE_CREATE")).data["id"] for _ in sent]
    assert received == sent
