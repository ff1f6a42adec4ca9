"""One address for a core and a node: what a proxy does (manual, Gateway nodes), with the least that it takes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import trio

from chat.testing.network import TcpRoute
from tests.nodes.redis_server import HOST

PIECE_BYTES = 65_536
UPGRADE = b"GET /gateway"


@attrs.define
class Address:
    """How many gateway sockets went to the node."""

    sockets: int = 0


@asynccontextmanager
async def one_address(port: int, core: TcpRoute, node: TcpRoute) -> AsyncIterator[Address]:
    """Serve at this port for as long as the block lasts."""
    address = Address()

    async def serve(client: trio.SocketStream) -> None:
        async with client:
            asked = await client.receive_some(PIECE_BYTES)
            while asked:
                is_socket = asked.startswith(UPGRADE)
                address.sockets += is_socket
                asked = await _carried(client, asked, node if is_socket else core)

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(port, host=HOST)
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield address
        nursery.cancel_scope.cancel()


async def _carried(client: trio.SocketStream, asked: bytes, way: TcpRoute) -> bytes:
    """Carry a connection until one side ends it. A client may upgrade a connection that it kept for HTTP: what it asks
    for then is returned, for the node."""
    upgrade = b""
    try:
        async with await way.connect() as server, trio.open_nursery() as nursery:
            nursery.start_soon(_pass_on, server, client, nursery.cancel_scope)
            while asked and not upgrade:
                await server.send_all(asked)
                asked = await client.receive_some(PIECE_BYTES)
                if asked.startswith(UPGRADE):  # a frame of a client never begins like this
                    upgrade = asked
            nursery.cancel_scope.cancel()
    except* (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
        pass  # there is no server at present, or a connection was cut
    return upgrade


async def _pass_on(source: trio.abc.ReceiveStream, sink: trio.abc.SendStream, over: trio.CancelScope) -> None:
    """Until the source ends: then both do."""
    try:
        while data := await source.receive_some(PIECE_BYTES):
            await sink.send_all(data)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    over.cancel()
