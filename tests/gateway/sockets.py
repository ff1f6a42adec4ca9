"""The sockets that a test's clients are on: those of the server, or of the gateway node beside it."""

from __future__ import annotations

from chat.gateway.connection import Connection
from chat.gateway.outbox import OutboxSum
from chat.testing import ChatServer


def sockets_of(server: ChatServer) -> list[Connection]:
    """All that are open."""
    gateway = server.server.gateway if server.node is None else server.node.server.node
    return list(gateway.connections)


def outboxes_of(server: ChatServer) -> OutboxSum:
    """What waits for all peers together."""
    return server.server.gateway.outboxes if server.node is None else server.node.server.node.outboxes
