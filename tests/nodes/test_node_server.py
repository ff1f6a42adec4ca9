"""A node as a server: what it answers before it has reached a core."""

from __future__ import annotations

from random import Random

import pytest
import trio
from trio.testing import MockClock

from chat.nodes.memory_broker import MemoryBroker
from chat.nodes.node_server import NodeServer
from chat.testing.gateway_client import GatewayClient, HandshakeRefused
from chat.testing.http_client import HttpClient
from chat.testing.network import MemoryNetwork, MemoryRoute


async def test_a_node_takes_no_socket_before_a_core_has_named_its_proxies(autojump_clock: MockClock) -> None:
    """The socket would count for the proxy's address instead of the client's, for as long as it is open."""
    network = MemoryNetwork()
    server = NodeServer(MemoryBroker(), "early", Random(1), lambda: (0.0, 0))
    async with server.running([network.listen()], maximum_connections=10), trio.open_nursery() as nursery:
        route = MemoryRoute(network)
        with pytest.raises(HandshakeRefused) as refused:
            await GatewayClient.connect(nursery, route)
        assert refused.value.status == 503
        client = HttpClient(route)
        assert (await client.get("/_health")).status == 200
        assert (await client.get("/_ready")).status == 503
        await client.aclose()
