"""What the protocol machine wishes, carried out on a socket: alarms that move forward, commands that waited.

Area: gateway. Rules: 000.framing, 000.heartbeat, 000.states.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
import trio
import trio.testing
from wsproto.frame_protocol import FrameProtocol

from chat.registries.opcodes import Opcode
from chat.testing import GatewayClient
from chat.testing.server import ChatServer
from chat.testing.world import World

PROPERTIES = {"os": "linux", "browser": "test", "device": "test"}


async def send_together(client: GatewayClient, *payloads: dict[str, Any]) -> None:
    """Several messages in one segment, so that the server reads them in one go."""
    frames = FrameProtocol(client=True, extensions=[])
    await client._stream.send_all(b"".join(frames.send_data(json.dumps(payload), fin=True) for payload in payloads))


@pytest.mark.own_gateway
@pytest.mark.rule("000.heartbeat.6")
async def test_an_unconfirmed_sequence_closes_after_5000_ms_and_not_when_the_heartbeat_is_due(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    chat_server.server.gateway.node.rpc_failing = True
    begun = trio.current_time()
    await bob.heartbeat(1)
    close = await bob.closed(seconds=100)
    assert (close.code, close.reason) == (4007, "Invalid sequence")
    assert trio.current_time() - begun == pytest.approx(5.0, abs=0.1)


@pytest.mark.parametrize(
    "following",
    [
        {"op": Opcode.PRESENCE_UPDATE, "d": {"status": "asleep"}},
        {"op": 99, "d": {}},
        {"op": Opcode.IDENTIFY, "d": {"token": "t", "properties": PROPERTIES}},
        {"op": Opcode.RESUME, "d": {"token": "t", "session_id": "s", "seq": 1}},
    ],
)
async def test_the_first_waiting_command_that_fails_names_the_close(
    chat_world: World, autojump_clock: trio.testing.MockClock, following: dict[str, Any]
) -> None:
    bob = await chat_world.open()
    await send_together(
        bob,
        {"op": Opcode.IDENTIFY, "d": {"token": chat_world.bob.token, "properties": PROPERTIES}},
        {"op": Opcode.PRESENCE_UPDATE, "d": {"status": "asleep"}},
        following,
    )
    close = await bob.closed()
    assert (close.code, close.reason) == (4002, "Invalid presence payload")
    again = await chat_world.bob.resume(bob)
    await again.expect("RESUMED")


@pytest.mark.rule("000.states.34")
async def test_a_resume_that_waited_takes_the_place_of_the_session_that_started(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    first = await chat_world.bob.connect()
    first.drop()
    second = await chat_world.open()
    resume = {"token": first.token, "session_id": first.session_id, "seq": first.sequence}
    await send_together(
        second,
        {"op": Opcode.IDENTIFY, "d": {"token": chat_world.bob.token, "properties": PROPERTIES}},
        {"op": Opcode.RESUME, "d": resume},
    )
    started = (await second.expect("READY")).data["session_id"]
    await second.expect("RESUMED")
    attached = {session["id"]: session["attached"] for session in await chat_world.anyone.gateway_sessions()}
    assert attached == {first.session_id: True, started: False}


@pytest.mark.rule("000.framing.19")
async def test_where_zstd_cannot_be_loaded_a_compressed_connection_closes_instead_of_hello(
    chat_world: World, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)  # how Python marks a module that cannot be imported
    refused = await chat_world.open(query="v=1&compress=zstd-stream&stream=1", hello=False)
    close = await refused.closed()
    assert (close.code, close.reason) == (4002, "Compression failed: zstd-stream")
    assert not refused.payloads
    uncompressed = await chat_world.open(query="v=1&compress=zstd-stream")
    assert uncompressed.heartbeat_interval_ms == 41_250


async def test_not_even_a_close_frame_leaves_a_stalled_socket(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    anyone = chat_world.anyone
    assert await anyone.fault("stall", {"user_id": chat_world.bob.id}, ms=10_000) == 1
    assert await anyone.fault("close", {"user_id": chat_world.bob.id}, code=4321, reason="enough") == 1
    await trio.sleep(9.9)
    assert bob.is_open
    close = await bob.closed(seconds=1)
    assert (close.code, close.reason) == (4321, "enough")
