"""Transports that are the two ends of a real connection."""

from __future__ import annotations

import socket

import trio

from chat.port.listener import open_listeners
from chat.port.transport import SocketTransport


async def sockets() -> tuple[SocketTransport, SocketTransport]:
    """The server's end and the client's, over loopback."""
    (listener,) = await open_listeners("127.0.0.1", 0)
    client = await trio.open_tcp_stream("127.0.0.1", listener.port)
    server = await listener.accept()
    await listener.aclose()
    return server, SocketTransport(socket.socket(fileno=client.socket.detach()), "127.0.0.1")
