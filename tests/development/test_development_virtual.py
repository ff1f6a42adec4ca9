"""The development routes of a server inside the test's own Trio run, on virtual time."""

from __future__ import annotations

from trio.testing import MockClock

from chat.testing.server import ChatServer
from chat.testing.world import World


async def test_moving_a_virtual_clock(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    alice = await chat_world.alice.connect()
    before = chat_server.clock.now_ms()
    reading = await chat_world.anyone.advance_clock(86_400_000)
    assert reading["offset_ms"] == 86_400_000
    assert chat_server.clock.now_ms() - before >= 86_400_000
    assert alice.is_open, "its own heartbeats fell due as well"


async def test_a_reset_on_a_virtual_clock(chat_world: World, autojump_clock: MockClock) -> None:
    alice = await chat_world.alice.connect()
    await chat_world.anyone.advance_clock(10_000)
    (await chat_world.anyone.post("/v1/_dev/reset")).expect(204)
    await alice.expect_opcode(9)
    assert (await chat_world.anyone.get("/v1/_dev/clock")).expect(200)["offset_ms"] == 0
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "again")).expect(200)
