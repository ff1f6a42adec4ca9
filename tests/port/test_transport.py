"""Sockets and in-memory streams keep the promises of Trio's streams and those of a gateway transport."""

from __future__ import annotations

import itertools
import socket
from collections.abc import AsyncIterator

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from chat.port.listener import ACCEPTED_AT_ONCE, open_listeners
from chat.port.transport import MUCH_UNSENT_BYTES, READS_PER_TURN, UNSENT_BYTES, SocketTransport
from chat.testing.network import MemoryNetwork, MemoryStream, Pipe
from tests.port.loopback import sockets

Ends = tuple[SocketTransport, SocketTransport] | tuple[MemoryStream, MemoryStream]


async def memory() -> tuple[MemoryStream, MemoryStream]:
    """Two ends of a connection in memory."""
    network = MemoryNetwork()
    listener = network.listen()
    client = await network.connect("10.0.0.7")
    return await listener.accept(), client


async def clogged_sockets() -> tuple[SocketTransport, SocketTransport]:
    """The same with no room left to send."""
    server, client = await sockets()
    for end in (server, client):
        while end.try_send(bytes(65_536)):
            pass
    return server, client


async def clogged_memory() -> tuple[MemoryStream, MemoryStream]:
    """The same with no room left to send."""
    one, other = Pipe(1), Pipe(1)
    one.put(b"x")
    other.put(b"x")
    return MemoryStream(one, other, "10.0.0.7"), MemoryStream(other, one, "127.0.0.1")


@pytest.fixture(params=[sockets, memory])
async def ends(request: pytest.FixtureRequest) -> AsyncIterator[Ends]:
    """A server's and a client's end, over loopback and in memory."""
    pair: Ends = await request.param()
    yield pair
    for end in pair:
        end.close()


@pytest.fixture
async def socket_ends() -> AsyncIterator[tuple[SocketTransport, SocketTransport]]:
    """A server's and a client's end over loopback."""
    pair = await sockets()
    yield pair
    for end in pair:
        end.close()


async def test_connections_that_come_together_leave_others_their_turn() -> None:
    (listener,) = await open_listeners("127.0.0.1", 0)
    streams = [await trio.open_tcp_stream("127.0.0.1", listener.port) for _ in range(4 * ACCEPTED_AT_ONCE)]
    accepted: list[SocketTransport] = []
    seen: list[int] = []

    async def accept_all() -> None:
        while True:
            accepted.append(await listener.accept())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(accept_all)
        while len(accepted) < len(streams):
            await trio.lowlevel.checkpoint()
            seen.append(len(accepted))
        nursery.cancel_scope.cancel()
    # Trio shuffles the tasks of a turn: between two looks of this one the other has at most two turns.
    assert max(later - earlier for earlier, later in itertools.pairwise([0, *seen])) <= 2 * ACCEPTED_AT_ONCE
    await listener.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await listener.accept()
    for stream in (*streams, *accepted):
        await stream.aclose()


@pytest.mark.parametrize("read", ["receive_some", "receive_next"])
async def test_what_many_send_at_once_leaves_others_their_turn(read: str) -> None:
    (listener,) = await open_listeners("127.0.0.1", 0)
    in_turn: list[int] = []

    class Turns(trio.abc.Instrument):
        def after_io_wait(self, timeout: float) -> None:
            in_turn.append(0)

    async def read_all(server: SocketTransport) -> None:
        while await getattr(server, read)(100):
            in_turn[-1] += 1
        server.close()

    trio.lowlevel.add_instrument(Turns())
    clients = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(4 * READS_PER_TURN)]
    async with trio.open_nursery() as nursery:
        for _ in clients:
            nursery.start_soon(read_all, await listener.accept())
        for rounds in range(1, 4):
            await trio.testing.wait_all_tasks_blocked()
            for client in clients:
                client.send(b"x")
            while sum(in_turn) < rounds * len(clients):
                await trio.lowlevel.checkpoint()
        assert READS_PER_TURN // 2 <= max(in_turn) <= READS_PER_TURN
        for client in clients:
            client.close()
    assert sum(in_turn) == 3 * len(clients)
    await listener.aclose()


async def test_what_has_come_is_read_without_waiting(ends: Ends) -> None:
    server, client = ends
    assert server.receive_now(10) == b""
    server.unread(b"read ahead")
    assert server.receive_now(4) == b"read"
    assert server.receive_now(100) == b" ahead"
    await client.send_all(b"sent")
    received = server.receive_now(100) or await server.receive_some()
    assert received == b"sent"
    server.close()
    if isinstance(server, SocketTransport):
        with pytest.raises(trio.ClosedResourceError):
            server.receive_now(1)


async def test_a_memory_stream_is_a_trio_stream() -> None:
    await trio.testing.check_half_closeable_stream(memory, clogged_memory)


async def test_a_socket_transport_is_a_trio_stream() -> None:
    await trio.testing.check_half_closeable_stream(sockets, clogged_sockets)


async def test_try_send_never_waits_and_says_how_much_went(ends: Ends) -> None:
    server, client = ends
    sent = 0
    while taken := server.try_send(bytes(100_000)):
        sent += taken
    received = 0
    while received < sent:
        received += len(await client.receive_some(65_536))
    await server.wait_writable()
    assert server.try_send(b"again") == 5
    assert await client.receive_some(100) == b"again"


async def test_unread_bytes_come_first(ends: Ends) -> None:
    server, client = ends
    await client.send_all(b"third")
    server.unread(b"second")
    server.unread(b"first")
    assert await server.receive_some(3) == b"fir"
    assert await server.receive_some(3) == b"sts"
    assert await server.receive_some(5) == b"econd"
    assert await server.receive_some(5) == b"third"


async def test_sending_to_a_peer_that_is_gone_is_a_broken_resource(ends: Ends) -> None:
    server, client = ends
    client.close()
    with pytest.raises(trio.BrokenResourceError):  # noqa: PT012 -- a socket learns of it only after the first attempt
        while True:
            server.try_send(b"x")
            await trio.testing.wait_all_tasks_blocked(0.01)


async def test_closing_wakes_whoever_waits(ends: Ends, nursery: trio.Nursery) -> None:
    server, _client = ends
    while server.try_send(bytes(65_536)):
        pass
    woken = []

    async def receive() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await server.receive_some(1)
        woken.append("reader")

    async def write() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await server.wait_writable()
        woken.append("writer")

    nursery.start_soon(receive)
    nursery.start_soon(write)
    await trio.testing.wait_all_tasks_blocked()
    server.close()
    server.close()
    await trio.testing.wait_all_tasks_blocked()
    assert sorted(woken) == ["reader", "writer"]
    with pytest.raises(trio.ClosedResourceError):
        server.try_send(b"x")


async def test_the_last_words_reach_a_peer_whose_own_words_nobody_read(ends: Ends) -> None:
    server, client = ends
    await client.send_all(bytes(50_000))
    await trio.testing.wait_all_tasks_blocked(0.01)
    server.try_send(b"goodbye")
    server.close()
    assert await client.receive_some(100) == b"goodbye"
    assert await client.receive_some(100) == b""


async def test_a_graceful_close_waits_for_the_peer_to_finish(ends: Ends, nursery: trio.Nursery) -> None:
    server, client = ends
    server.try_send(b"goodbye")
    nursery.start_soon(server.aclose_gracefully, 60)
    assert await client.receive_some(100) == b"goodbye"
    assert await client.receive_some(100) == b""
    await client.send_all(b"so long")
    await client.aclose()
    # the nursery ends, long before the minute is over


async def test_a_graceful_close_waits_so_long_and_no_longer(autojump_clock: MockClock) -> None:
    server, client = await memory()
    started = trio.current_time()
    await server.aclose_gracefully(3)
    assert trio.current_time() - started == pytest.approx(3)
    with pytest.raises(trio.BrokenResourceError):
        await client.send_all(b"anybody there?")


async def test_a_graceful_close_of_a_peer_that_left_is_immediate(ends: Ends) -> None:
    server, client = ends
    client.close()
    await server.aclose_gracefully(60)
    with pytest.raises(trio.ClosedResourceError):
        await server.receive_some(1)


async def test_a_reset_is_a_broken_resource(socket_ends: tuple[SocketTransport, SocketTransport]) -> None:
    server, client = socket_ends
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    client.close()
    with pytest.raises(trio.BrokenResourceError):
        await server.receive_some(1)
    assert server.address == "127.0.0.1"


async def test_sockets_send_small_frames_without_delay_and_keep_little_unsent(
    socket_ends: tuple[SocketTransport, SocketTransport],
) -> None:
    server, _client = socket_ends
    assert server.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert server.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT) == 16_384


async def test_something_large_is_taken_in_few_steps_and_small_frames_as_before(
    socket_ends: tuple[SocketTransport, SocketTransport],
) -> None:
    server, client = socket_ends
    one_by_one = server.try_send(bytes(MUCH_UNSENT_BYTES))
    with server.much_unsent():
        at_once = server.try_send(bytes(MUCH_UNSENT_BYTES))
    assert one_by_one < MUCH_UNSENT_BYTES
    assert at_once >= MUCH_UNSENT_BYTES - 2 * UNSENT_BYTES
    more = _sent_until_it_would_wait(server)
    assert more < MUCH_UNSENT_BYTES // 8  # no more than fits into the packet that was begun
    received = 0
    while received < one_by_one + at_once + more:
        received += len(await client.receive_some())
    assert server.try_send(b"next") == 4


def _sent_until_it_would_wait(transport: SocketTransport) -> int:
    sent = 0
    while taken := transport.try_send(bytes(UNSENT_BYTES)):
        sent += taken
    return sent


async def test_what_was_closed_takes_nothing_large_either(
    socket_ends: tuple[SocketTransport, SocketTransport],
) -> None:
    server, _client = socket_ends
    server.close()
    with server.much_unsent(), pytest.raises(trio.ClosedResourceError):
        server.try_send(bytes(MUCH_UNSENT_BYTES))
