"""What the chosen packages do wrong by themselves (reliability, F1 to F10), provoked against this server over loopback.

Where only a deadline is in question the case runs on a virtual clock in memory instead.
"""

from __future__ import annotations

import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from chat.gateway.websocket import CLOSE_SECONDS, WebSocket
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.testing.server import ChatServer, open_chat_server
from tests.api.raw_http import Receive, Scope, Send, answer_with, request
from tests.api.raw_http import open_stage as open_http
from tests.gateway.raw_websocket import RawWebSocket, client_frame, upgrade
from tests.port.test_listener import everything
from tests.port.test_listener import open_stage as open_port

TEXT, BINARY = 1, 2
PATIENCE_SECONDS = 30


class Visitor:
    """Somebody who opens connections to a whole server."""

    def __init__(self, server: ChatServer) -> None:
        self.server = server
        self.streams: list[trio.abc.HalfCloseableStream] = []

    async def says(self, data: bytes) -> trio.abc.HalfCloseableStream:
        """A new connection that sends `data`."""
        stream = await self.server.route().connect()
        self.streams.append(stream)
        await stream.send_all(data)
        return stream

    async def hears(self, data: bytes) -> bytes:
        """All that the server answers to it on a new connection."""
        return await everything(await self.says(data))

    async def gateway(self, headers: bytes = b"") -> RawWebSocket:
        """An open socket that has read its Hello."""
        client = await RawWebSocket.after_answer(await self.says(upgrade(headers=headers)))
        opcode, hello = await client.frame()
        assert opcode == TEXT
        assert json.loads(hello)["op"] == 10
        return client

    async def is_served(self) -> None:
        """Nobody else has noticed anything."""
        client = await self.gateway()
        await client.text('{"op":1,"d":null}')
        assert await client.frame() == (TEXT, b'{"op":11}')


@pytest.fixture
async def visitor(tmp_path: Path) -> AsyncIterator[Visitor]:
    """Somebody at a whole server on a loopback port."""
    with trio.fail_after(PATIENCE_SECONDS):
        async with open_chat_server(tmp_path, sockets=True) as server:
            visitor = Visitor(server)
            yield visitor
            for stream in visitor.streams:
                await trio.aclose_forcefully(stream)


def parts(answer: bytes) -> tuple[int, bytes, Any]:
    """Status, head and JSON body of the first of the answers."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\ncontent-type: application/json\r\n" in head.lower() + b"\r\n"
    return int(head.split()[1]), head.lower(), json.loads(body)


# F1: a send that cannot be cancelled


async def test_f1_a_deadline_ends_the_answer_to_a_client_that_does_not_read() -> None:
    given_up = trio.Event()

    async def impatient(_scope: Scope, _receive: Receive, send: Send) -> None:
        with trio.move_on_after(0.05) as deadline:
            await answer_with(send, bytes(64 * 1_048_576))
        assert deadline.cancelled_caught
        given_up.set()

    async with open_http(impatient) as stage:
        await stage.connect().says(request())
        with trio.fail_after(PATIENCE_SECONDS):
            await given_up.wait()


async def test_f1_draining_does_not_wait_for_a_hundred_clients_that_do_not_read(autojump_clock: MockClock) -> None:
    async def generous(_request: UpgradeRequest, transport: Transport) -> None:
        websocket = WebSocket(transport, maximum_message_bytes=16_384)
        websocket.outbox.send(bytes(1_000_000))
        await websocket.receive()

    async with open_port(generous) as stage:
        for _ in range(100):
            await stage.says(upgrade())
        await trio.testing.wait_all_tasks_blocked()
        started = trio.current_time()
        await stage.port.drain(3)
        assert trio.current_time() - started == pytest.approx(3)
        assert stage.port.connections == 0


# F2: compression that nobody asked for


async def test_f2_no_extension_is_agreed_to_and_a_bomb_is_a_breach(visitor: Visitor) -> None:
    offering = upgrade(headers=b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n")
    stream = await visitor.says(offering)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += await stream.receive_some()
    assert b"extensions" not in answer.partition(b"\r\n\r\n")[0].lower()

    compressor = zlib.compressobj(9, wbits=-15)
    bomb = compressor.compress(bytes(60 * 1_048_576)) + compressor.flush(zlib.Z_SYNC_FLUSH)
    assert len(bomb) < 70_000
    client = await visitor.gateway(b"Sec-WebSocket-Extensions: permessage-deflate\r\n")
    tracemalloc.start()
    try:
        await client.send(BINARY, bomb, reserved=0b100)
        assert await client.closed() == (1002, "")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * 1_048_576
    await visitor.is_served()


# F3: the wrong close code for a message that is too large


@pytest.mark.parametrize("size", [16_385, 65_536, 1_048_576, 8 * 1_048_576])
async def test_f3_every_size_above_the_limit_closes_4002_every_time(size: int, visitor: Visitor) -> None:
    frame = client_frame(BINARY, bytes(size))
    for _ in range(20):
        client = await visitor.gateway()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.stream.send_all, frame)
            assert await client.closed() == (4002, "Payload too large")
            nursery.cancel_scope.cancel()
        await client.stream.aclose()


async def test_f3_the_limit_itself_is_judged_as_json(visitor: Visitor) -> None:
    client = await visitor.gateway()
    heartbeat = b'{"op":1,"d":null}'
    await client.send(TEXT, heartbeat + b" " * (16_384 - len(heartbeat)))
    assert await client.frame() == (TEXT, b'{"op":11}')


# F4: an empty message


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
async def test_f4_an_empty_message_has_its_own_verdict(opcode: int, visitor: Visitor) -> None:
    client = await visitor.gateway()
    await client.send(opcode)
    assert await client.closed() == (4002, "Decode failed")


# F5 to F8: framing of HTTP


async def test_f5_a_request_with_two_lengths_carries_no_second_request(visitor: Visitor) -> None:
    smuggled = b"0\r\n\r\n" + request("/v1/_dev/sessions")
    lengths = b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % len(smuggled)
    stream = await visitor.says(request("/_health", method="POST", headers=lengths) + smuggled)
    answer = await everything(stream)
    status, head, body = parts(answer)
    assert (status, body["code"]) == (400, "BAD_REQUEST")
    assert b"connection: close" in head
    assert answer.count(b"HTTP/1.1") == 1


async def test_f6_a_doubled_credential_is_none(visitor: Visitor) -> None:
    token = visitor.server.world.users[0].token.encode()
    twice = b"Authorization: %b\r\n" % token * 2
    stream = await visitor.says(request("/v1/users/@me", headers=twice + b"Connection: close\r\n"))
    status, _, body = parts(await everything(stream))
    assert (status, body["code"]) == (401, "UNAUTHORIZED")
    once = request("/v1/users/@me", headers=b"Authorization: %b\r\nConnection: close\r\n" % token)
    assert parts(await visitor.hears(once))[0] == 200


@pytest.mark.parametrize(
    "unclear",
    [
        pytest.param(request("/_health").replace(b"\r\n", b"\n"), id="bare line feeds"),
        pytest.param(request("/_health", headers=b"A: b\r\n c\r\n"), id="folded line"),
        pytest.param(request("/_health", headers=b"A: b\nC: d\r\n"), id="one bare line feed"),
    ],
)
async def test_f6_lines_that_others_read_differently_are_refused(unclear: bytes, visitor: Visitor) -> None:
    assert parts(await visitor.hears(unclear))[0] == 400


@pytest.mark.parametrize("kept", [False, True])
async def test_f7_headers_are_bounded_also_when_they_come_in_one_read(kept: bool, visitor: Visitor) -> None:
    large = request("/_health", headers=b"A: " + b"b" * 50_000 + b"\r\n")
    stream = await visitor.says(request("/_health") + large if kept else large)
    received = await everything(stream)
    if kept:
        assert received.startswith(b"HTTP/1.1 200 ")
        received = received[received.rindex(b"HTTP/1.1") :]
    assert parts(received)[0] == 400


async def test_f8_http2_is_not_spoken(visitor: Visitor) -> None:
    upgrading = request(
        "/_health",
        headers=b"Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
    )
    answer = await visitor.hears(upgrading)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"101" not in answer.partition(b"\r\n")[0]
    knowing = await visitor.hears(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9))
    assert parts(knowing)[0] == 400


# F9, F10: slow clients


async def test_f9_two_hundred_slow_heads_are_gone_after_ten_seconds(autojump_clock: MockClock) -> None:
    async with open_port() as stage:
        for _ in range(200):
            await stage.says(b"GET / HTTP/1.1\r\nHost: example.test\r\nX-a: b\r\n")
        await trio.sleep(11)
        assert stage.port.connections == 0


async def test_f9_two_hundred_slow_bodies_are_gone_after_a_minute(autojump_clock: MockClock) -> None:
    async def swallow(_scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        await answer_with(send, b"")

    async with open_http(swallow) as stage:
        for _ in range(200):
            await stage.connect().says(request(method="POST", headers=b"Content-Length: 8192\r\n") + b"x")
        await trio.sleep(59)
        assert stage.open == 200
        await trio.sleep(3)
        assert stage.open == 0


async def test_f10_silent_and_dripping_handshakes_are_gone_after_ten_seconds(autojump_clock: MockClock) -> None:
    async with open_port() as stage:
        silent = await stage.network.connect()
        dripping = await stage.network.connect()
        for byte in upgrade()[:10]:
            await dripping.send_all(bytes((byte,)))
            await trio.sleep(1)
        await trio.sleep(1)
        assert stage.port.connections == 0
        assert await everything(silent) == await everything(dripping) == b""


async def test_f10_closing_a_stalled_peer_ends(autojump_clock: MockClock) -> None:
    async def say_much_and_leave(_request: UpgradeRequest, transport: Transport) -> None:
        websocket = WebSocket(transport, maximum_message_bytes=16_384)
        websocket.outbox.send(bytes(1_000_000))
        await websocket.close(4000)

    async with open_port(say_much_and_leave) as stage:
        await stage.says(upgrade())  # and reads nothing
        await trio.sleep(CLOSE_SECONDS + 0.1)
        assert stage.port.connections == 0
