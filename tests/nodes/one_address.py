"""One address for a core and a node: what a proxy does (manual, Gateway nodes), with the least that it takes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import trio

from chat.testing.network import TcpRoute
from tests.nodes.redis_server import HOST

HEAD_BYTES = 65_536


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
            head = await client.receive_some(HEAD_BYTES)
            is_socket = head.startswith(b"GET /gateway")
            address.sockets += is_socket
            way = node if is_socket else core
            try:
                async with await way.connect() as server, trio.open_nursery() as nursery:
                    await server.send_all(head)
                    nursery.start_soon(pass_on, client, server, nursery.cancel_scope)
                    await pass_on(server, client, nursery.cancel_scope)
            except* OSError:
                pass  # there is no server at present

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(port, host=HOST)
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield address
        nursery.cancel_scope.cancel()


async def pass_on(source: trio.abc.ReceiveStream, sink: trio.abc.SendStream, over: trio.CancelScope) -> None:
    """Until one side ends: then both do."""
    try:
        while data := await source.receive_some(HEAD_BYTES):
            await sink.send_all(data)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass  # a connection that was cut is over, too
    over.cancel()
