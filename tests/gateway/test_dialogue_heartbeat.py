"""Document 000, Gateway behaviour rules, Heartbeat: as conversations with a whole server, on virtual time.

Area: gateway. Rules: 000.heartbeat.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.close_codes import HEARTBEAT_TIMEOUT, INVALID_SEQUENCE
from chat.registries.opcodes import Opcode
from chat.testing import World
from tests.gateway.conversations import acknowledged, closes, post, resumed, session_of
from tests.spec.ledger import proves


@pytest.mark.rule("000.heartbeat.1", "000.heartbeat.2")
@pytest.mark.parametrize("data", [None, 0, -5, 10**12, 1.5, True, "text", {"a": 1}, [1], "\u2603"])
async def test_without_a_session_any_heartbeat_is_acknowledged(
    chat_world: World, autojump_clock: MockClock, data: Any
) -> None:
    client = await chat_world.open(heartbeats=False)
    await acknowledged(client, data)
    await acknowledged(client, data)


@pytest.mark.rule("000.heartbeat.3")
async def test_with_a_session_every_sequence_up_to_the_current_one_is_acknowledged(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    await post(chat_world, times=3)
    await bob.expect("MESSAGE_CREATE", where=lambda _: bob.sequence == 4)
    for sequence in (None, 0, 1, 2, 3, 4):
        await acknowledged(bob, sequence)


@pytest.mark.rule("000.heartbeat.4", "000.heartbeat.5")
@pytest.mark.parametrize("data", ["text", "1", {}, {"s": 1}, [], [1], True, False, 1.0, 0.5, -1, -(10**9), 2, 10**9])
async def test_with_a_session_anything_else_closes(chat_world: World, autojump_clock: MockClock, data: Any) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    await bob.heartbeat(data)
    await closes(bob, INVALID_SEQUENCE)


@pytest.mark.own_gateway
@pytest.mark.rule("000.heartbeat.6")
async def test_a_sequence_that_cannot_be_confirmed_closes_after_5_seconds(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    await chat_world.anyone.node(rpc_failing=True)
    await bob.heartbeat(1)
    await bob.expect_silence(4.99)
    await closes(bob, INVALID_SEQUENCE, seconds=0.02)


@pytest.mark.own_gateway
@pytest.mark.rule("000.heartbeat.6")
async def test_a_sequence_that_is_confirmed_in_time_is_acknowledged(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    await chat_world.anyone.node(rpc_failing=True)
    await bob.heartbeat(1)
    await bob.expect_silence(4.9)
    await chat_world.anyone.node(rpc_failing=False)
    assert (await bob.next_payload(seconds=0.01)).op == Opcode.HEARTBEAT_ACK


@pytest.mark.rule("000.heartbeat.7", "000.heartbeat.8", "000.heartbeat.10")
async def test_the_server_asks_after_90_per_cent_of_the_interval(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    for _ in range(3):
        await acknowledged(bob, None)
        since = trio.current_time()
        request = await bob.expect_opcode(Opcode.HEARTBEAT, seconds=40)
        assert dict(request.members) == {"op": 1, "d": None}
        assert trio.current_time() - since == pytest.approx(37.125, abs=0.002)
    await bob.expect_silence(7.8)
    await closes(bob, HEARTBEAT_TIMEOUT, seconds=0.2)
    assert trio.current_time() - since == pytest.approx(45.001, abs=0.002)


@pytest.mark.rule("000.heartbeat.9")
async def test_a_clients_own_interval_goes_on_whatever_the_server_asks(
    chat_world: World, autojump_clock: MockClock
) -> None:
    """The kit's client answers the server at once and goes on every 41,250 ms; both keep the connection for hours."""
    bob = await chat_world.bob.connect()
    started = trio.current_time()
    await trio.sleep(3 * 41.25 + 1)
    requests = [payload for payload in bob.payloads if payload.op == Opcode.HEARTBEAT]
    assert len(requests) == 3
    assert bob.acknowledgements == 3 + len(requests)
    assert trio.current_time() - started < 4 * 41.25
    assert bob.is_open


@pytest.mark.rule("000.heartbeat.10")
async def test_only_an_acknowledged_heartbeat_moves_the_deadline(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    await acknowledged(bob, None)
    since = trio.current_time()
    while trio.current_time() < since + 44:
        await bob.send(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": [chat_world.guild_id]})
        await bob.expect("GUILD_COUNTS_UPDATE")
        await trio.sleep(1)
    await closes(bob, HEARTBEAT_TIMEOUT, seconds=2)


async def test_an_acknowledged_sequence_is_trimmed_for_good(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    await post(chat_world, times=5)
    await bob.expect("MESSAGE_CREATE", where=lambda _: bob.sequence == 6)
    assert (await session_of(chat_world, bob))["retained_dispatches"] == 5
    await acknowledged(bob, 4)
    shown = await session_of(chat_world, bob)
    with proves("000.heartbeat.11", "000.heartbeat.12"):
        assert (shown["acknowledged"], shown["retained_dispatches"]) == (4, 2)
    await acknowledged(bob, 2)
    with proves("000.heartbeat.14"):
        assert await session_of(chat_world, bob) == shown
    bob.drop()
    with proves("000.heartbeat.13"):
        too_low = await chat_world.bob.resume(bob, sequence=3)
        await closes(too_low, INVALID_SEQUENCE)
    with proves("000.heartbeat.11"):
        again = await chat_world.bob.resume(bob, sequence=4)
        assert await resumed(again) == [5, 6]
