"""One port: what goes to the gateway, what to the HTTP server, and what is turned away."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock
from trio_websocket import connect_websocket

from chat.auth.client_address import ClientAddresses
from chat.gateway.websocket import Message, WebSocket
from chat.port.listener import (
    EXHAUSTED_SECONDS,
    REFUSAL_SECONDS,
    REFUSALS_MAXIMUM,
    GatewayHandler,
    Port,
    connections_maximum,
    open_listeners,
)
from chat.port.request_head import GATEWAY_PATHS, path
from chat.port.transport import SocketTransport, Transport
from chat.port.upgrade import UpgradeRequest
from chat.protocol.frames import text_frame
from chat.testing.network import MemoryListener, MemoryNetwork, MemoryStream
from tests.gateway.raw_websocket import RawWebSocket, client_frame, upgrade

PATIENCE_SECONDS = 60
"""What takes longer, in virtual time or not, hangs."""


SIOCOUTQNSD = 0x894B
"""Asks Linux how much of what a socket was given has not left yet."""


async def echo(_request: UpgradeRequest, transport: Transport) -> None:
    """A gateway that says what it hears."""
    websocket = WebSocket(transport, maximum_message_bytes=16_384)
    while isinstance(message := await websocket.receive(), Message):
        websocket.outbox.send(text_frame(message.data))
    await websocket.close()


class Http:
    """An HTTP engine that knows one answer, and gives a connection back at a request for the gateway."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.drained = False
        self.running = trio.Event()

    async def serve(self, connection: Transport) -> bool:
        while received := await connection.receive_some(65_536):
            if path(received) in GATEWAY_PATHS:
                connection.unread(received)
                return True
            self.heads.append(received)
            if b" /slow" in received:
                await trio.sleep(5)
            await connection.send_all(b"HTTP/1.1 204 No Content\r\n\r\n")
            if self.drained:
                break
        return False

    async def drain(self) -> None:
        self.drained = True


class Stage:
    """A port in memory with its surroundings."""

    def __init__(self, network: MemoryNetwork, port: Port, http: Http) -> None:
        self.network = network
        self.port = port
        self.http = http

    async def says(self, data: bytes, address: str = "10.0.0.7") -> MemoryStream:
        """A new connection that sends `data`."""
        stream = await self.network.connect(address)
        await stream.send_all(data)
        return stream


@asynccontextmanager
async def open_stage(
    gateway: GatewayHandler = echo, *, maximum_connections: int = 1_000, addresses: ClientAddresses | None = None
) -> AsyncIterator[Stage]:
    network, http = MemoryNetwork(), Http()
    port = Port(
        [network.listen()],
        gateway=gateway,
        http=http,
        addresses=ClientAddresses() if addresses is None else addresses,
        maximum_connections=maximum_connections,
    )
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(port.serve)
            yield Stage(network, port, http)
            nursery.cancel_scope.cancel()
    assert port.connections == 0


async def everything(stream: trio.abc.ReceiveStream) -> bytes:
    """What arrives until the end."""
    received = b""
    while data := await stream.receive_some():
        received += data
    return received


def parsed(answer: bytes) -> tuple[int, Any]:
    """Status and JSON body of a refusal."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\nContent-Type: application/json\r\n" in head
    assert b"\r\nConnection: close" in head
    return int(head.split()[1]), json.loads(body)


# Telling them apart


@pytest.mark.parametrize(
    "target", [b"/gateway", b"/gateway?v=1&encoding=json", b"/gateway/?v=1", b"http://example.test/gateway?v=1"]
)
async def test_the_gateway_gets_the_path_of_the_gateway_whatever_the_query(target: bytes) -> None:
    requests: list[UpgradeRequest] = []

    async def gateway(request: UpgradeRequest, transport: Transport) -> None:
        requests.append(request)
        await echo(request, transport)

    async with open_stage(gateway) as stage:
        stream = await stage.says(upgrade(target))
        client = await RawWebSocket.after_answer(stream)
        await client.text("hello")
        assert await client.frame() == (1, b"hello")
    assert requests[0].query_string == target.decode().partition("?")[2]
    assert requests[0].address == "10.0.0.7"


@pytest.mark.parametrize("target", [b"/", b"/v1/gateway/bot", b"/gateways", b"/v1/gateway", b"/%67ateway", b"/GATEWAY"])
async def test_every_other_path_goes_to_http_with_its_bytes_as_they_came(target: bytes) -> None:
    request = b"GET " + target + b" HTTP/1.1\r\nHost: example.test\r\n\r\nand what follows"
    async with open_stage() as stage:
        stream = await stage.says(request)
        assert await stream.receive_some() == b"HTTP/1.1 204 No Content\r\n\r\n"
        assert stage.http.heads == [request]


async def test_a_request_in_single_bytes_is_told_apart_as_well() -> None:
    async with open_stage() as stage:
        stream = await stage.network.connect()
        for byte in upgrade() + client_frame(1, b"hello"):
            await stream.send_all(bytes((byte,)))
        client = await RawWebSocket.after_answer(stream)
        assert await client.frame() == (1, b"hello")


async def test_frames_that_follow_the_request_at_once_are_not_lost() -> None:
    async with open_stage() as stage:
        stream = await stage.says(upgrade() + client_frame(1, b"hello") + client_frame(1, b"again"))
        client = await RawWebSocket.after_answer(stream)
        assert await client.frame() == (1, b"hello")
        assert await client.frame() == (1, b"again")


async def test_a_kept_http_connection_can_still_become_a_gateway_connection() -> None:
    async with open_stage() as stage:
        stream = await stage.says(b"GET /v1 HTTP/1.1\r\nHost: example.test\r\n\r\n")
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 204 ")
        await stream.send_all(upgrade() + client_frame(1, b"hello"))
        client = await RawWebSocket.after_answer(stream)
        assert await client.frame() == (1, b"hello")


async def test_the_address_may_come_from_a_trusted_proxy() -> None:
    addresses: list[str] = []

    async def gateway(request: UpgradeRequest, _transport: Transport) -> None:
        addresses.append(request.address)

    async with open_stage(gateway, addresses=ClientAddresses(["10.0.0.0/8"])) as stage:
        for peer in ("10.0.0.7", "192.0.2.1"):
            stream = await stage.says(upgrade(headers=b"X-Forwarded-For: 198.51.100.4\r\n"), peer)
            await everything(stream)
    assert addresses == ["198.51.100.4", "192.0.2.1"]


# Turning away


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        pytest.param(b"GET /gateway HTTP/1.1\r\nHost: example.test\r\n\r\n", 426, id="no upgrade"),
        pytest.param(upgrade().replace(b"Version: 13", b"Version: 12"), 426, id="wrong version"),
        pytest.param(upgrade().replace(b"Key: dGhl", b"Key: ****"), 400, id="wrong key"),
        pytest.param(b"GET / HTTP/1.1\nHost: example.test\n\n", 400, id="bare line feeds"),
        pytest.param(b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400, id="folded line"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n", 400, id="101 headers"),
        pytest.param(b"GET / HTTP/1.1\r\nA: " + b"b" * 50_000 + b"\r\n\r\n", 400, id="50,000 bytes"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, id="TLS"),
    ],
)
async def test_what_neither_can_serve_is_told_in_json_and_closed(request_bytes: bytes, status: int) -> None:
    async with open_stage() as stage:
        stream = await stage.says(request_bytes)
        stream.half_close()
        answered, body = parsed(await everything(stream))
    assert answered == status
    assert body.keys() == {"code", "message"}
    assert body["code"] == "BAD_REQUEST"


async def test_a_refused_peer_has_a_moment_to_read_why(autojump_clock: MockClock) -> None:
    async with open_stage() as stage:
        stream = await stage.says(b"nonsense\n")
        started = trio.current_time()
        status, _ = parsed(await everything(stream))
        assert status == 400
        assert stage.port.connections == 1
        await trio.sleep(REFUSAL_SECONDS + 1)
        assert stage.port.connections == 0
        assert trio.current_time() - started == pytest.approx(REFUSAL_SECONDS + 1)


@pytest.mark.parametrize("received", [b"", b"G", b"GET /gateway HTTP/1.1\r\nHost: example.test\r\n"])
async def test_a_head_that_is_not_complete_in_ten_seconds_is_not_waited_for(
    received: bytes, autojump_clock: MockClock
) -> None:
    async with open_stage() as stage:
        started = trio.current_time()
        stream = await stage.says(received)
        assert await everything(stream) == b""
        assert trio.current_time() - started == pytest.approx(10)


async def test_a_head_that_drips_does_not_get_more_time(autojump_clock: MockClock) -> None:
    async with open_stage() as stage:
        started = trio.current_time()
        stream = await stage.network.connect()
        with pytest.raises(trio.BrokenResourceError):  # noqa: PT012 -- at some byte the other end is gone
            for byte in upgrade():
                await stream.send_all(bytes((byte,)))
                await trio.sleep(1)
        assert trio.current_time() - started == pytest.approx(10, abs=1)


async def test_a_peer_that_leaves_before_it_said_anything_is_forgotten() -> None:
    async with open_stage() as stage:
        for leave in (MemoryStream.close, MemoryStream.cut, MemoryStream.half_close):
            leave(await stage.network.connect())
        await trio.testing.wait_all_tasks_blocked()
        assert stage.port.connections == 0


async def test_a_peer_that_does_not_read_the_answer_to_its_handshake_is_dropped(autojump_clock: MockClock) -> None:
    async with open_stage() as stage:
        client = await stage.network.connect(capacity=100)
        for start in range(0, len(upgrade()), 100):
            await client.send_all(upgrade()[start : start + 100])
        await trio.sleep(REFUSAL_SECONDS + 1)
        assert stage.port.connections == 0


async def test_one_connection_more_than_can_be_held_is_told_503(autojump_clock: MockClock) -> None:
    async with open_stage(maximum_connections=3) as stage:
        held = [await stage.says(upgrade()) for _ in range(3)]
        await trio.testing.wait_all_tasks_blocked()
        refused = await stage.says(upgrade())
        status, body = parsed(await everything(refused))
        assert (status, body["code"]) == (503, "SERVICE_UNAVAILABLE")
        assert stage.port.connections == 3
        held[0].close()
        await trio.sleep(REFUSAL_SECONDS)
        accepted = await stage.says(upgrade())
        assert (await accepted.receive_some()).startswith(b"HTTP/1.1 101 ")


async def test_a_flood_beyond_what_can_be_held_does_not_pile_up(autojump_clock: MockClock) -> None:
    async with open_stage(maximum_connections=1) as stage:
        await stage.says(upgrade())
        await trio.testing.wait_all_tasks_blocked()
        tasks = trio.lowlevel.current_statistics().tasks_living
        flood = [await stage.network.connect() for _ in range(3 * REFUSALS_MAXIMUM)]
        await trio.testing.wait_all_tasks_blocked()
        assert trio.lowlevel.current_statistics().tasks_living == tasks + REFUSALS_MAXIMUM
        answers = [await everything(stream) for stream in flood]
        assert sum(answer.startswith(b"HTTP/1.1 503 ") for answer in answers) == REFUSALS_MAXIMUM


# What goes wrong


async def test_a_failing_connection_is_logged_and_takes_no_other_with_it() -> None:
    async def gateway(request: UpgradeRequest, transport: Transport) -> None:
        if "fail" in request.query_string:
            raise RuntimeError("a bug")
        await echo(request, transport)

    async with open_stage(gateway) as stage:
        with capture_logs() as logged:
            healthy = await stage.says(upgrade())
            failing = await stage.says(upgrade(b"/gateway?fail"))
            assert (await everything(failing)).startswith(b"HTTP/1.1 101 ")
        assert [line["event"] for line in logged] == ["a connection failed"]
        client = await RawWebSocket.after_answer(healthy)
        await client.text("still here")
        assert await client.frame() == (1, b"still here")


class ExhaustedListener(MemoryListener):
    """Runs out of file descriptors a few times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times

    async def accept(self) -> MemoryStream:
        if self._times:
            self._times -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return await super().accept()


async def test_running_out_of_descriptors_pauses_accepting(autojump_clock: MockClock) -> None:
    listener = ExhaustedListener(5)
    port = Port([listener], gateway=echo, http=Http(), addresses=ClientAddresses(), maximum_connections=10)
    network = MemoryNetwork()
    network._listener = listener
    async with trio.open_nursery() as nursery:
        started = trio.current_time()
        with capture_logs() as logged:
            nursery.start_soon(port.serve)
            stream = await network.connect()
            await stream.send_all(upgrade())
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 101 ")
        assert trio.current_time() - started == pytest.approx(5 * EXHAUSTED_SECONDS)
        assert len(logged) == 5
        nursery.cancel_scope.cancel()


# The end


async def test_draining_lets_requests_finish_and_takes_no_more(autojump_clock: MockClock) -> None:
    async with open_stage() as stage:
        slow = await stage.says(b"GET /slow HTTP/1.1\r\nHost: example.test\r\n\r\n")
        await trio.testing.wait_all_tasks_blocked()
        started = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stage.port.drain, 60)
            await trio.testing.wait_all_tasks_blocked()
            for path, status, word in (
                (b"/_ready", b"503", b'"status":"draining"'),
                (b"/_health", b"200", b'"status":"ok"'),
                (b"/v1/users/@me", b"503", b'"code":"SERVICE_UNAVAILABLE"'),
                (b"/gateway?v=1", b"503", b'"code":"SERVICE_UNAVAILABLE"'),
            ):
                late = await stage.says(b"GET " + path + b" HTTP/1.1\r\nHost: example.test\r\n\r\n")
                answer = await everything(late)
                assert answer.startswith(b"HTTP/1.1 " + status + b" ")
                assert word in answer
            assert await everything(slow) == b"HTTP/1.1 204 No Content\r\n\r\n"
        assert trio.current_time() - started == pytest.approx(5)


async def test_draining_ends_when_it_must(autojump_clock: MockClock) -> None:
    async def deaf(_request: UpgradeRequest, _transport: Transport) -> None:
        await trio.sleep_forever()

    async with open_stage(deaf) as stage:
        streams = [await stage.says(upgrade()) for _ in range(100)]
        await trio.testing.wait_all_tasks_blocked()
        started = trio.current_time()
        await stage.port.drain(7)
        assert trio.current_time() - started == pytest.approx(7)
        assert stage.port.connections == 0
        for stream in streams:
            assert (await everything(stream)).startswith(b"HTTP/1.1 101 ")


async def test_cancelling_the_port_leaves_no_task_and_no_connection(autojump_clock: MockClock) -> None:
    before = trio.lowlevel.current_statistics().tasks_living
    async with open_stage() as stage:
        slow = b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
        streams = [await stage.says(said) for said in (b"", b"GET /", upgrade(), slow, b"nonsense\n")]
        await trio.testing.wait_all_tasks_blocked()
    assert trio.lowlevel.current_statistics().tasks_living == before
    for stream in streams:
        await everything(stream)


# Over loopback


async def test_real_sockets_take_the_same_way() -> None:
    listeners = await open_listeners("127.0.0.1", 0)
    http = Http()
    port = Port(
        listeners, gateway=echo, http=http, addresses=ClientAddresses(), maximum_connections=connections_maximum()
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(port.serve)
        websocket = await connect_websocket(nursery, "127.0.0.1", listeners[0].port, "/gateway?v=1", use_ssl=False)
        await websocket.send_message("hello")
        assert await websocket.get_message() == "hello"
        stream = await trio.open_tcp_stream("127.0.0.1", listeners[0].port)
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: example.test\r\n\r\n")
        assert await stream.receive_some() == b"HTTP/1.1 204 No Content\r\n\r\n"
        await websocket.aclose()
        await stream.aclose()
        await port.drain(10)
        nursery.cancel_scope.cancel()
    assert port.connections == 0


@pytest.mark.parametrize("greets", [True, False])
async def test_the_answer_to_a_handshake_waits_for_what_a_gateway_sends_at_once(greets: bool) -> None:
    unsent: list[int] = []

    async def gateway(_request: UpgradeRequest, transport: Transport) -> None:
        assert isinstance(transport, SocketTransport)
        unsent.append(struct.unpack("i", fcntl.ioctl(transport.socket, SIOCOUTQNSD, bytes(4)))[0])
        transport.try_send(b"greeting")

    listeners = await open_listeners("127.0.0.1", 0)
    port = Port(
        listeners, gateway=gateway, http=Http(), addresses=ClientAddresses(), maximum_connections=10, greets=greets
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(port.serve)
        # The system holds it back for 200 ms: on a busy machine one of them may have left before it is looked at.
        for _ in range(5):
            async with await trio.open_tcp_stream("127.0.0.1", listeners[0].port) as stream:
                await stream.send_all(upgrade())
                answer = await everything(stream)
            assert answer.startswith(b"HTTP/1.1 101 ")
            assert answer.endswith(b"\r\n\r\ngreeting")
        nursery.cancel_scope.cancel()
    assert any(unsent) is greets


async def test_an_address_in_use_cannot_be_listened_on() -> None:
    (listener,) = await open_listeners("127.0.0.1", 0)
    with pytest.raises(OSError, match="in use"):
        await open_listeners("127.0.0.1", listener.port)
    await listener.aclose()


def test_as_many_connections_as_the_system_allows() -> None:
    make: Callable[[], int] = connections_maximum
    assert make() >= 256
    assert make() == make()
