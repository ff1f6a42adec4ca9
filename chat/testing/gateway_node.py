"""A gateway node inside a test's own Trio run, beside the core that it asks (architecture.md, Beyond one process)."""

from __future__ import annotations

import random
from typing import Final

import attrs
import trio

from chat.classes import define
from chat.nodes.memory_broker import MemoryBroker
from chat.nodes.node_server import NodeServer
from chat.port.listener import Listener, open_listeners
from chat.server import Server
from chat.testing.network import MemoryNetwork, MemoryRoute

CONNECTIONS_MAXIMUM: Final = 10_000
DRAIN_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.05
LOOPBACK: Final = "127.0.0.1"


@define(eq=False)
class GatewayNode:
    """A node that serves; `kill` ends it without a word."""

    server: NodeServer
    broker: MemoryBroker
    network: MemoryNetwork = attrs.field(factory=MemoryNetwork)
    port: int = 0
    """Of the loopback address, where it listens on a socket."""
    _life: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    over: trio.Event = attrs.field(factory=trio.Event, init=False)

    @classmethod
    def beside(cls, broker: MemoryBroker, chance: random.Random, name: str) -> GatewayNode:
        """A node of this name on a connection of its own to the broker."""
        own = broker.client()
        return cls(NodeServer(own, name, random.Random(chance.random()), lambda: (0.0, 0)), own)  # noqa: S311 - replays

    async def live(
        self, *, sockets: bool = False, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve until killed or drained."""
        try:
            with self._life:
                async with self.server.running(await self._listen(sockets), maximum_connections=CONNECTIONS_MAXIMUM):
                    task_status.started()
                    await self.server.over.wait()
                    await self.server.port.drain(DRAIN_SECONDS)
        finally:
            self.over.set()

    async def _listen(self, sockets: bool) -> list[Listener]:
        if not sockets:
            return [self.network.listen()]
        listeners = await open_listeners(LOOPBACK, 0)
        self.port = listeners[0].port
        return list(listeners)

    def route(self, address: str = LOOPBACK) -> MemoryRoute:
        """The way to its gateway."""
        return MemoryRoute(self.network, address)

    async def serves(self, core: Server | None = None) -> None:
        """Return once it can be asked for sessions (of this core, if one is named)."""
        while not (self.server.node.is_up and (core is None or self._is_met_by(core))):  # noqa: ASYNC110 - no event says so
            await trio.sleep(LOOK_SECONDS)

    def _is_met_by(self, core: Server) -> bool:
        line = None if core.nodes is None else core.nodes.lines.get(self.server.node.id)
        return line is not None and line.welcome

    async def kill(self) -> None:
        """End at once: sockets are gone, and nothing is said to the core."""
        self._life.cancel()
        await self.over.wait()
