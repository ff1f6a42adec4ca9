"""Moving the clock of a real server: its timers and time stamps see it, its clients stay connected."""

from __future__ import annotations

from datetime import datetime

from chat.testing.world import World
from tests.development.waiting import detached


async def test_the_clock_is_read_and_moved(world: World) -> None:
    before = (await world.anyone.get("/v1/_dev/clock")).expect(200)
    assert before["offset_ms"] == 0
    after = await world.anyone.advance_clock(7_200_000)
    assert after["offset_ms"] == 7_200_000
    passed = datetime.fromisoformat(after["now"]) - datetime.fromisoformat(before["now"])
    assert 7_200 <= passed.total_seconds() < 7_230
    assert (await world.anyone.get("/v1/_dev/clock")).expect(200)["offset_ms"] == 7_200_000


async def test_time_stamps_follow(world: World) -> None:
    await world.anyone.advance_clock(3_600_000)
    now = (await world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    message = (await world.alice.rest.send_message(world.channel_id, "later")).expect(200)
    passed = datetime.fromisoformat(message["timestamp"]) - datetime.fromisoformat(now)
    assert abs(passed.total_seconds()) < 10


async def test_a_client_that_answers_heartbeats_outlives_an_hour(world: World) -> None:
    alice = await world.alice.connect()
    await world.anyone.advance_clock(3_600_000)
    assert alice.is_open
    await world.bob.rest.send_message(world.channel_id, "still there?")
    await alice.expect("MESSAGE_CREATE")


async def test_a_client_that_does_not_is_closed_in_time(world: World) -> None:
    alice = await world.alice.connect(heartbeats=False)
    await world.anyone.advance_clock(44_000)
    assert alice.is_open
    assert alice.payloads[-1].op == 1, "the server asks before it gives up"
    await world.anyone.advance_clock(2_000)
    close = await alice.closed()
    assert (close.code, close.reason) == (4009, "Heartbeat timeout")


async def test_a_session_is_retained_for_sixty_seconds_and_no_longer(world: World) -> None:
    alice = await world.alice.connect()
    alice.drop()
    await detached(world)
    session = await world.session_of(alice)
    assert session is not None
    assert session["status"] == "online"
    await world.anyone.advance_clock(50_000)
    session = await world.session_of(alice)
    assert session is not None
    assert session["status"] == "offline"
    await world.anyone.advance_clock(11_000)
    assert await world.session_of(alice) is None


async def test_bounds(world: World) -> None:
    await world.anyone.advance_clock(1)
    # The last of them is a hundred years by itself, and one millisecond more with what was before.
    for advance in (-1, 3_155_760_000_001, "5", 1.5, None, 3_155_760_000_000):
        answer = await world.anyone.post("/v1/_dev/clock", {"advance_ms": advance})
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), advance
        assert answer.json()["errors"][0]["path"] == "advance_ms", advance
