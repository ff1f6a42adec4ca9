"""A world that stands still: nothing falls due until it is stepped, requests and events pass all the same."""

from __future__ import annotations

from datetime import datetime

import pytest
import trio
from trio.testing import MockClock

from chat.clock import SkippingClock
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.development.waiting import detached
from tests.patience import PATIENCE_SECONDS


async def test_time_stands_still_while_requests_and_events_pass(world: World) -> None:
    stopped = (await world.anyone.post("/v1/_dev/clock", {"paused": True})).expect(200)
    assert stopped["paused"] is True
    bob = await world.bob.connect(heartbeats=False)
    message = (await world.alice.rest.send_message(world.channel_id, "now")).expect(200)
    await bob.expect("MESSAGE_CREATE")
    assert datetime.fromisoformat(message["timestamp"]) == datetime.fromisoformat(stopped["now"])
    read = (await world.anyone.get("/v1/_dev/clock")).expect(200)
    assert (read["now"], read["offset_ms"]) == (stopped["now"], 0)
    assert 0 < read["next_timer_ms"] <= 41_250

    moved = (await world.anyone.post("/v1/_dev/clock", {"advance_ms": 45_500})).expect(200)
    assert (moved["paused"], moved["offset_ms"]) == (True, 45_500)
    assert (await bob.closed()).code == 4009, "its heartbeat fell due on the way"
    gone_on = (await world.anyone.post("/v1/_dev/clock", {"paused": False})).expect(200)
    assert gone_on["paused"] is False
    later = (await world.anyone.get("/v1/_dev/clock")).expect(200)
    assert 0 <= (datetime.fromisoformat(later["now"]) - datetime.fromisoformat(moved["now"])).total_seconds() < 10


async def test_steps_go_from_timer_to_timer(world: World) -> None:
    (await world.anyone.post("/v1/_dev/clock", {"paused": True})).expect(200)
    bob = await world.bob.connect()
    bob.drop()
    await detached(world)
    # What such a request answers is read after everything has come to rest, the end of bob's connection included.
    reading = (await world.anyone.post("/v1/_dev/clock", {"advance_ms": 1})).expect(200)
    offset, steps = reading["offset_ms"], 0
    while await world.session_of(bob) is not None:
        due = reading["next_timer_ms"]
        reading = (await world.anyone.post("/v1/_dev/clock", {"timers": 1})).expect(200)
        assert reading["offset_ms"] - offset == due, "a step is as long as the next timer is away"
        offset, steps = reading["offset_ms"], steps + 1
        assert steps < 500
    assert 59_000 <= offset <= 61_000, "a session is retained for a minute, however slowly it is stepped through"
    assert steps > 1


async def test_a_reset_lets_it_go_on(world: World) -> None:
    (await world.anyone.post("/v1/_dev/clock", {"paused": True, "advance_ms": 1_000, "timers": 2})).expect(200)
    (await world.anyone.post("/v1/_dev/reset")).expect(204)
    read = (await world.anyone.get("/v1/_dev/clock")).expect(200)
    assert (read["paused"], read["offset_ms"]) == (False, 0)


@pytest.mark.parametrize("body", [{}, {"timers": 0}, {"timers": 1_001}, {"paused": "yes"}, {"steps": 3}])
async def test_what_it_refuses(world: World, body: dict[str, object]) -> None:
    answer = await world.anyone.post("/v1/_dev/clock", body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")


async def test_virtual_time_is_held_as_well(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    (await chat_world.anyone.post("/v1/_dev/clock", {"paused": True})).expect(200)
    (await chat_world.anyone.post("/v1/_dev/gateway", {"starts_paused": True})).expect(200)
    bob = await chat_world.bob.open()
    await bob.identify(chat_world.bob.token)
    await trio.testing.wait_all_tasks_blocked()  # it has come
    before = trio.current_time()
    (await chat_world.anyone.post("/v1/_dev/gateway", {"starts_paused": False})).expect(200)
    await trio.testing.wait_all_tasks_blocked()
    assert (bob.ready, trio.current_time()) == (None, before), "the held Identify waits for its second try"
    (await chat_world.anyone.post("/v1/_dev/clock", {"advance_ms": 2_000})).expect(200)
    await trio.testing.wait_all_tasks_blocked()
    assert bob.ready is not None
    assert trio.current_time() == pytest.approx(before + 2)
    (await chat_world.anyone.post("/v1/_dev/clock", {"paused": False})).expect(200)
    await trio.sleep(3_600)  # jumps again


def test_a_stopped_clock_wakes_only_who_waits_for_the_machine() -> None:
    clock = SkippingClock()
    heard: list[str] = []

    async def main() -> None:
        async def say(word: str, seconds: float) -> None:
            await trio.sleep(seconds)
            heard.append(word)

        async with trio.open_nursery() as nursery:
            clock.stop()
            stopped_at, stopped_at_ms = trio.current_time(), clock.now_ms()
            nursery.start_soon(say, "first", 0.01)
            nursery.start_soon(say, "second", 0.02)
            with trio.fail_after(PATIENCE_SECONDS):
                await clock.sleep_unmoved(0.05)
            assert (heard, trio.current_time(), clock.now_ms()) == ([], stopped_at, stopped_at_ms)
            clock.skip(15)
            await clock.sleep_unmoved(0.001)
            assert (heard, clock.now_ms()) == (["first"], stopped_at_ms + 15)
            with clock.in_machine_time(PATIENCE_SECONDS) as scope:
                clock.go_on()
                assert 0 <= clock.now_ms() - stopped_at_ms - 15 < 10_000, "it goes on from where it stood"
                await trio.sleep(0.02)
            assert not scope.cancelled_caught
            nursery.cancel_scope.cancel()

    trio.run(main, clock=clock)
    assert heard == ["first", "second"]
