"""The network in memory: who connects from where, and what goes wrong on request."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from trio.testing import MockClock
from trio_websocket import wrap_client_stream, wrap_server_stream

from chat.testing.network import BACKLOG, MemoryNetwork, MemoryStream


async def _pair(network: MemoryNetwork | None = None, address: str = "10.0.0.7") -> tuple[MemoryStream, MemoryStream]:
    network = MemoryNetwork() if network is None else network
    listener = network.listen()
    client = await network.connect(address)
    return await listener.accept(), client


async def test_the_server_sees_the_address_that_the_client_comes_from() -> None:
    server, client = await _pair()
    assert server.address == "10.0.0.7"
    assert client.address == "127.0.0.1"


async def test_connections_are_accepted_in_the_order_of_their_arrival() -> None:
    network = MemoryNetwork()
    listener = network.listen()
    for number in range(5):
        await network.connect(f"10.0.0.{number}")
    assert [(await listener.accept()).address for _ in range(5)] == [f"10.0.0.{number}" for number in range(5)]


async def test_nobody_listening_refuses_connections() -> None:
    network = MemoryNetwork()
    with pytest.raises(ConnectionRefusedError):
        await network.connect()
    listener = network.listen()
    waiting = await network.connect()
    await listener.aclose()
    with pytest.raises(ConnectionRefusedError):
        await network.connect()
    with pytest.raises(trio.BrokenResourceError):
        await waiting.receive_some()
    with pytest.raises(trio.ClosedResourceError):
        await listener.accept()


async def test_a_backlog_that_is_full_refuses_connections() -> None:
    network = MemoryNetwork()
    network.listen()
    for _ in range(BACKLOG):
        await network.connect()
    with pytest.raises(ConnectionRefusedError):
        await network.connect()


async def test_closing_a_listener_wakes_whoever_accepts(nursery: trio.Nursery) -> None:
    listener = MemoryNetwork().listen()

    async def accept() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await listener.accept()

    nursery.start_soon(accept)
    await trio.testing.wait_all_tasks_blocked()
    await listener.aclose()


async def test_stalled_bytes_arrive_when_the_stall_ends(autojump_clock: MockClock) -> None:
    server, client = await _pair()
    client.stall(incoming=False)
    await client.send_all(b"up")
    await server.send_all(b"down")
    assert await client.receive_some() == b"down"
    with trio.move_on_after(1_000) as waiting:
        await server.receive_some()
    assert waiting.cancelled_caught
    client.unstall()
    assert await server.receive_some() == b"up"


async def test_the_end_of_a_stalled_stream_is_stalled_too(autojump_clock: MockClock) -> None:
    server, client = await _pair()
    server.stall()
    client.close()
    with trio.move_on_after(1_000) as waiting:
        await server.receive_some()
    assert waiting.cancelled_caught
    server.unstall()
    assert await server.receive_some() == b""


async def test_a_cut_loses_what_is_under_way_and_resets_both_ends() -> None:
    server, client = await _pair()
    await client.send_all(b"lost")
    client.cut()
    for end in (server, client):
        with pytest.raises(trio.BrokenResourceError):
            await end.receive_some()
        with pytest.raises(trio.BrokenResourceError):
            await end.send_all(b"x")


async def test_a_half_closed_stream_still_reads() -> None:
    server, client = await _pair()
    client.half_close()
    assert await server.receive_some() == b""
    await server.send_all(b"still here")
    assert await client.receive_some() == b"still here"
    with pytest.raises(trio.ClosedResourceError):
        await client.send_all(b"x")


async def test_trio_websocket_runs_on_it(nursery: trio.Nursery) -> None:
    server, client = await _pair()

    async def serve() -> None:
        request = await wrap_server_stream(nursery, server)
        websocket = await request.accept()
        await websocket.send_message((await websocket.get_message())[::-1])

    nursery.start_soon(serve)
    websocket = await wrap_client_stream(nursery, client, "example.test", "/gateway")
    await websocket.send_message("abc")
    assert await websocket.get_message() == "cba"
    await websocket.aclose()
    nursery.cancel_scope.cancel()
