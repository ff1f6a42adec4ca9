"""Whose address a connection to a gateway node comes from, and how many one may have: as the core's settings say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from chat.registries.close_codes import TOO_MANY_CONNECTIONS
from chat.testing.gateway_client import GatewayClient
from tests.gateway.conversations import closes
from tests.gateway.test_connections_per_address import HALF, is_refused
from tests.nodes.cluster import open_cluster

Clock = trio.testing.MockClock

LIMIT = 3
SETTINGS = {"gateway.connections_per_address": LIMIT}
PROXY, CLIENT, OTHER = "10.0.0.1", "192.0.2.7", "192.0.2.8"


async def test_half_sent_requests_to_a_node_take_an_addresss_places(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path, settings=SETTINGS) as cluster:
        (node,) = cluster.nodes
        for _ in range(LIMIT):
            stream = await node.network.connect(CLIENT)
            await stream.send_all(HALF)
        await trio.testing.wait_all_tasks_blocked()
        await is_refused(await node.network.connect(CLIENT))
        await cluster.world.alice.connect(route=node.route(OTHER))


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Test-Address"])
async def test_sockets_at_a_node_count_for_the_address_that_is_named(
    tmp_path: Path, autojump_clock: Clock, header: str
) -> None:
    peer = PROXY if header == "X-Forwarded-For" else "127.0.0.1"
    async with open_cluster(tmp_path, settings={**SETTINGS, "trusted_proxies": [f"{PROXY}/32"]}) as cluster:
        world, (node,) = cluster.world, cluster.nodes

        async def opened(address: str, **options: Any) -> GatewayClient:
            route = node.route(peer)
            return await GatewayClient.connect(world.nursery, route, headers={header: address}, **options)

        sockets = [await opened(CLIENT) for _ in range(LIMIT)]
        await closes(await opened(CLIENT, hello=False), TOO_MANY_CONNECTIONS)
        other = await opened(OTHER)
        await other.identify(world.alice.token)
        await other.expect("READY")
        assert all(each.is_open for each in sockets)
        (told,) = [each for each in cluster.core.server.gateway.table if each.id == other.session_id]
        assert told.address == OTHER


async def test_a_node_believes_no_header_of_tests_unless_the_core_does(tmp_path: Path, autojump_clock: Clock) -> None:
    settings = {**SETTINGS, "gateway.address_header_for_tests": False}
    async with open_cluster(tmp_path, settings=settings) as cluster:
        (node,) = cluster.nodes
        for number in range(LIMIT):
            headers = {"X-Test-Address": f"192.0.2.{number}"}
            await GatewayClient.connect(cluster.world.nursery, node.route(), headers=headers)
        refused = await GatewayClient.connect(
            cluster.world.nursery, node.route(), headers={"X-Test-Address": OTHER}, hello=False
        )
        await closes(refused, TOO_MANY_CONNECTIONS)
