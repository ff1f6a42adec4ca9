"""Latency and jitter of a session: what it is sent comes late, and in its order."""

from __future__ import annotations

import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.gateway.delay import Delay, DelayedOutbox
from chat.gateway.outbox import Outbox
from chat.testing.gateway_client import GatewayClient
from chat.testing.network import MemoryNetwork
from chat.testing.world import World


async def delay(world: World, target: object, ms: int, jitter_ms: int = 0) -> int:
    fault = {"action": "delay", "target": target, "ms": ms, "jitter_ms": jitter_ms}
    affected: int = (await world.anyone.post("/v1/_dev/faults", fault)).expect(200)["affected"]
    return affected


async def lateness(world: World, client: GatewayClient, text: str) -> float:
    """Seconds from the answer to a message to its event."""
    (await world.alice.rest.send_message(world.channel_id, text)).expect(200)
    began = trio.current_time()
    await client.expect("MESSAGE_CREATE", where=lambda d: d["content"] == text)
    return trio.current_time() - began


async def test_one_session_is_late_and_others_are_not(chat_world: World, autojump_clock: MockClock) -> None:
    bob, carol = await chat_world.bob.connect(), await chat_world.carol.connect()
    assert await delay(chat_world, {"session_id": bob.session_id}, 700) == 1
    with trio.fail_after(5):
        assert await lateness(chat_world, carol, "to carol") < 0.1
        assert 0.65 < await lateness(chat_world, bob, "to bob") < 0.75
    assert await delay(chat_world, {"session_id": bob.session_id}, 0) == 1
    assert await lateness(chat_world, bob, "again") < 0.1


async def test_jitter_changes_the_time_and_never_the_order(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    await delay(chat_world, "all", 300, 250)
    sent: list[float] = []
    sequences, late = [], []

    async def speak() -> None:
        for number in range(30):
            (await chat_world.alice.rest.send_message(chat_world.channel_id, str(number))).expect(200)
            sent.append(trio.current_time())
            await trio.sleep(0.05)  # else all wait for the first where chance delays that one most

    async with trio.open_nursery() as nursery:
        nursery.start_soon(speak)
        for number in range(30):
            event = await bob.expect("MESSAGE_CREATE")
            assert event.data["content"] == str(number)
            sequences.append(event.sequence)
            late.append(round(trio.current_time() - sent[number], 3))
    assert sequences == sorted(sequences, key=lambda sequence: sequence or 0)
    assert len(set(late)) > 1


async def test_the_next_socket_of_an_account_is_late_from_hello_or_ready_on(
    chat_world: World, autojump_clock: MockClock
) -> None:
    assert await delay(chat_world, {"user_id": chat_world.bob.id}, 2_000) == 0
    began = trio.current_time()
    bob = await chat_world.bob.connect()
    assert 1.9 < trio.current_time() - began < 2.5
    bob.drop()
    resumed = await chat_world.bob.resume(bob)
    began = trio.current_time()
    await resumed.expect("RESUMED")
    assert 1.9 < trio.current_time() - began < 2.1
    await delay(chat_world, "all", 1_000)  # the latest rule counts
    began = trio.current_time()
    await chat_world.open()
    assert 0.9 < trio.current_time() - began < 1.5


async def test_a_close_comes_after_what_was_sent_before_it(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    await delay(chat_world, "all", 1_000)
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "last words")).expect(200)
    fault = {"action": "close", "target": "all", "code": 4000, "reason": "bye"}
    (await chat_world.anyone.post("/v1/_dev/faults", fault)).expect(200)
    await bob.expect("MESSAGE_CREATE")
    assert (await bob.closed()).code == 4000


async def test_a_reset_takes_it_back(chat_world: World, autojump_clock: MockClock) -> None:
    await delay(chat_world, "all", 5_000)
    (await chat_world.anyone.post("/v1/_dev/reset")).expect(204)
    began = trio.current_time()
    await chat_world.bob.connect()
    assert trio.current_time() - began < 0.5


async def test_what_waits_is_bounded(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    listener = network.listen()
    await network.connect("10.0.0.1")
    transport = await listener.accept()
    full = []
    outbox = DelayedOutbox(Outbox(transport, 1 << 30), lambda low, high: low, lambda: full.append(True), Delay(1_000))
    for _ in range(5):
        outbox.push(bytes(1_000_000))
    assert full == [True]
    assert outbox.pending_bytes < 4 * 1_048_576


@given(ms=st.integers(0, 60_000), jitter=st.integers(0, 60_000), draw=st.integers(-60_000, 60_000))
def test_no_frame_leaves_before_it_was_sent(ms: int, jitter: int, draw: int) -> None:
    seconds = Delay(ms, jitter).seconds(lambda low, high: min(max(draw, low), high))
    assert max(0, ms - jitter) / 1000 <= seconds <= (ms + jitter) / 1000
