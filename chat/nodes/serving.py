"""A gateway node as a process: from the broker to the open port, and in good order to its end."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from chat.allocator import keep_large_blocks
from chat.collector import start_is_over
from chat.ending import Ending
from chat.nodes.node_server import NodeServer
from chat.nodes.redis_broker import open_broker
from chat.port.listener import connections_maximum, listening
from chat.service_manager import ServiceManager

DRAIN_SECONDS: Final = 5.0
"""How long closing sockets may take once all sessions were sent elsewhere."""


async def serve_node(url: str, host: str, port: int, name: str | None, announce: Callable[[int], None]) -> None:
    """Run a node until a signal, or its core, has drained it. `announce` is told the port once it listens.

    Raises OperatorError (in a group) when it cannot listen, or cannot use the broker.
    """
    ending, manager = Ending(), ServiceManager.of(os.environ)
    async with (
        ending.heard(),
        manager.kept_informed(),
        listening(host, port) as listeners,
        open_broker(url) as broker,
    ):
        port = listeners[0].port
        name = name or f"{socket.gethostname()}:{port}"
        server = NodeServer(broker, name, secrets.SystemRandom())
        async with server.running(listeners, maximum_connections=connections_maximum()):
            ending.started()
            keep_large_blocks()
            start_is_over()
            announce(port)
            manager.ready(f"gateway node {name}")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_after, server.over.wait, nursery.cancel_scope)
                nursery.start_soon(_cancel_after, ending.asked.wait, nursery.cancel_scope)
            manager.stopping("sending sessions elsewhere")
            await server.finish(DRAIN_SECONDS)


async def _cancel_after(wait: Callable[[], Awaitable[None]], scope: trio.CancelScope) -> None:
    await wait()
    scope.cancel()
