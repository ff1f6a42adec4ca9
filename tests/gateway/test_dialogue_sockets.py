"""The same conversations over real sockets and real time: a few of each kind, against what memory cannot show.

Area: gateway. Rules: 000.heartbeat, 000.overview, 000.reconnect, 000.resume, 000.states.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from chat.registries.close_codes import DRAIN_REQUESTED, INVALID_SEQUENCE, PAYLOAD_TOO_LARGE
from chat.registries.opcodes import Opcode
from chat.testing import ChatServer, World, open_chat_server
from tests.gateway.conversations import LONG, acknowledged, closes, post, resumed, session_of


@pytest.fixture
async def tcp_server(tmp_path: Path) -> AsyncIterator[ChatServer]:
    async with open_chat_server(tmp_path, sockets=True) as server:
        yield server


@pytest.fixture
async def tcp_world(tcp_server: ChatServer) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        async with World(tcp_server.description(), tcp_server.route(), nursery) as world:
            yield world
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.rule("000.overview.1", "000.overview.2")
async def test_http_and_the_gateway_share_one_port(tcp_world: World, compressed: bool) -> None:
    bob = await tcp_world.bob.connect(compressed=compressed)
    bot = await tcp_world.bot.connect(compressed=compressed)
    sent = await post(tcp_world, times=5)
    for client in (bob, bot):
        assert [(await client.expect("MESSAGE_CREATE")).data["id"] for _ in sent] == sent
        assert all(payload.binary is compressed for payload in client.payloads)


@pytest.mark.rule("000.states.36", "000.resume.19")
async def test_a_reset_connection_keeps_its_session(tcp_world: World) -> None:
    bob = await tcp_world.bob.connect()
    bob.drop()
    sent = await post(tcp_world, times=3)
    again = await tcp_world.bob.resume(bob)
    assert [(await again.expect("MESSAGE_CREATE")).data["id"] for _ in sent] == sent
    await again.expect("RESUMED")


@pytest.mark.rule("000.resume.25", "000.reconnect.3")
async def test_a_displaced_socket_gets_its_close_frame(tcp_world: World) -> None:
    first = await tcp_world.bob.connect()
    second = await tcp_world.bob.resume(first)
    await resumed(second)
    await first.expect_opcode(Opcode.RECONNECT)
    await closes(first, DRAIN_REQUESTED)


@pytest.mark.rule("000.heartbeat.4")
async def test_close_frames_arrive_with_code_and_reason(tcp_world: World) -> None:
    bob = await tcp_world.bob.connect(heartbeats=False)
    await acknowledged(bob, 1)
    await bob.heartbeat("one")
    await closes(bob, INVALID_SEQUENCE)


async def test_a_message_far_too_large_still_gets_its_close_frame(tcp_world: World) -> None:
    client = await tcp_world.open()
    with trio.move_on_after(5):
        await client.send_message("x" * 8_000_000)
    await closes(client, PAYLOAD_TOO_LARGE)


async def test_a_stalled_reader_hears_everything_later(tcp_world: World) -> None:
    bob = await tcp_world.bob.connect()
    bob.stop_reading()
    sent = await post(tcp_world, LONG, times=300)
    bob.go_on_reading()
    assert [(await bob.expect("MESSAGE_CREATE")).data["id"] for _ in sent] == sent


@pytest.mark.rule("000.reconnect.1", "000.reconnect.4")
async def test_a_session_survives_a_drained_restart(tcp_server: ChatServer, tcp_world: World) -> None:
    bob = await tcp_world.bob.connect()
    sent = await post(tcp_world, times=2)
    await bob.expect("MESSAGE_CREATE", where=lambda d: d["id"] == sent[-1])
    await tcp_server.restart()
    await closes(bob, DRAIN_REQUESTED)
    again = await tcp_world.bob.resume(bob, sequence=2)
    assert await resumed(again) == [3]
    assert (await session_of(tcp_world, again))["sequence"] == 3
