"""A core and its nodes in one Trio run, with a broker in memory between them."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import trio

from chat.nodes.memory_broker import Engine, MemoryBroker
from chat.testing.gateway_node import GatewayNode
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World


@attrs.define(eq=False)
class Cluster:
    """A core with nodes around it."""

    core: ChatServer
    world: World
    broker: MemoryBroker
    _chance: random.Random
    _nursery: trio.Nursery
    nodes: list[GatewayNode] = attrs.field(factory=list)

    async def start_node(self, broker: MemoryBroker | None = None) -> GatewayNode:
        """One more node, which can serve when this returns. `broker` is its way to the broker."""
        node = await self.add_node(broker)
        await node.serves()
        return node

    async def add_node(self, broker: MemoryBroker | None = None) -> GatewayNode:
        """One more node, which may have to wait for broker and core."""
        node = GatewayNode.beside(broker or self.broker, self._chance, f"node {len(self.nodes) + 1}")
        await self._nursery.start(node.live)
        self.nodes.append(node)
        return node


@asynccontextmanager
async def open_cluster(
    folder: Path,
    *,
    nodes: int = 1,
    seed: int = 0,
    settings: Mapping[str, object] | None = None,
    engine: Engine | None = None,
    to_broker: Callable[[MemoryBroker], MemoryBroker] = MemoryBroker.client,
) -> AsyncIterator[Cluster]:
    """A core with `count` nodes, for as long as the block lasts. `to_broker` makes the core's way to the broker."""
    chance = random.Random(seed)
    broker = MemoryBroker(chance=random.Random(seed), engine=engine)
    async with (
        open_chat_server(folder, seed=seed, settings=settings, broker=to_broker(broker)) as core,
        trio.open_nursery() as nursery,
    ):
        world = World(core.description(), core.route(), nursery)
        cluster = Cluster(core, world, broker, chance, nursery)
        for _ in range(nodes):
            await cluster.start_node()
        yield cluster
        nursery.cancel_scope.cancel()
