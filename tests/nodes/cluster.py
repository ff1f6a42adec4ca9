"""A core and its nodes in one Trio run, with a broker in memory between them."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import trio

from chat.nodes.memory_broker import MemoryBroker
from chat.nodes.node_server import NodeServer
from chat.testing.network import MemoryNetwork, MemoryRoute
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World

CONNECTIONS_MAXIMUM = 10_000


@attrs.define(eq=False)
class RunningNode:
    """A node that serves; `kill` ends it without a word."""

    server: NodeServer
    network: MemoryNetwork
    broker: MemoryBroker
    life: trio.CancelScope
    over: trio.Event

    def route(self, address: str = "127.0.0.1") -> MemoryRoute:
        """The way to its gateway."""
        return MemoryRoute(self.network, address)

    async def serves(self) -> None:
        """Return once it can be asked for sessions."""
        while not self.server.node.is_up:  # noqa: ASYNC110 - a node has no use for an event that says so
            await trio.sleep(0.05)

    async def kill(self) -> None:
        """End at once: sockets are gone, and nothing is said to the core."""
        self.life.cancel()
        await self.over.wait()


@attrs.define(eq=False)
class Cluster:
    """A core with nodes around it."""

    core: ChatServer
    world: World
    broker: MemoryBroker
    _chance: random.Random
    _nursery: trio.Nursery
    nodes: list[RunningNode] = attrs.field(factory=list)

    async def start_node(self) -> RunningNode:
        """One more node, which can serve when this returns."""
        node: RunningNode = await self._nursery.start(self._live)
        self.nodes.append(node)
        await node.serves()
        return node

    async def _live(self, task_status: trio.TaskStatus[RunningNode]) -> None:
        over, broker, network = trio.Event(), self.broker.client(), MemoryNetwork()
        name = f"node {len(self.nodes) + 1}"
        server = NodeServer(broker, name, random.Random(self._chance.random()), lambda: (0.0, 0))
        try:
            with trio.CancelScope() as life:
                async with server.running([network.listen()], maximum_connections=CONNECTIONS_MAXIMUM):
                    task_status.started(RunningNode(server, network, broker, life, over))
                    await server.over.wait()
                    await server.port.drain(1.0)
        finally:
            over.set()


@asynccontextmanager
async def open_cluster(
    folder: Path, *, nodes: int = 1, seed: int = 0, settings: Mapping[str, object] | None = None
) -> AsyncIterator[Cluster]:
    """A core with so many nodes, for as long as the block lasts."""
    chance = random.Random(seed)
    broker = MemoryBroker(chance=random.Random(seed))
    async with (
        open_chat_server(folder, seed=seed, settings=settings, broker=broker.client()) as core,
        trio.open_nursery() as nursery,
    ):
        world = World(core.description(), core.route(), nursery)
        cluster = Cluster(core, world, broker, chance, nursery)
        for _ in range(nodes):
            await cluster.start_node()
        yield cluster
        nursery.cancel_scope.cancel()
