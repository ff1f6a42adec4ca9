"""A network in memory: a listener and byte streams for tests and for the simulation, with faults on demand.

Everything happens on Trio's loop, in an order that depends on the program alone: no threads, no sockets, no wall
time. A connection is a pair of bounded pipes, so a peer that does not read makes the other wait, as on a real
network.

    network = MemoryNetwork()
    listener = network.listen()
    client = await network.connect(address="10.0.0.7")
    server = await listener.accept()        # server.address == "10.0.0.7"
    client.stall()                          # nothing arrives in either direction ...
    client.unstall()                        # ... until now
    client.cut()                            # both ends see a reset

Both ends are transports as the server knows them, and so Trio streams (for trio-websocket's `wrap_client_stream`, for
raw clients). The kit's clients reach a server by a `Route`: through such a network, or over TCP at a base URL.
"""

from __future__ import annotations

import errno
import operator
import os
import ssl
from collections import deque
from typing import Final, Protocol
from urllib.parse import urlsplit

import attrs
import trio

from chat.classes import frozen
from chat.port.transport import Transport
from chat.testing.conversation import Conversation

PIPE_BYTES: Final = 65_536
"""What one direction holds before its sender has to wait."""

BACKLOG: Final = 4_096
"""Connections that wait to be accepted; further ones are refused."""


class Pipe:
    """One direction of a connection: at most `capacity` bytes under way, none of which arrive while `stalled`."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._data = bytearray()
        self._waiting = trio.lowlevel.ParkingLot()
        self.finished = False
        self.unread_for_good = False
        self.stalled = False
        self.reset = False

    @property
    def room(self) -> int:
        """How many bytes a sender may add."""
        return self._capacity - len(self._data)

    @property
    def has_news(self) -> bool:
        """Whether a reader need not wait."""
        return self.reset or (not self.stalled and (len(self._data) > 0 or self.finished))

    def put(self, data: bytes | bytearray | memoryview) -> int:
        """Add what there is room for; return how many bytes that was."""
        taken = data[: self.room]
        self._data += taken
        self.wake()
        return len(taken)

    def take(self, maximum: int) -> bytes:
        """Remove and return what has arrived."""
        data = bytes(self._data[:maximum])
        del self._data[:maximum]
        self.wake()
        return data

    def drop(self) -> None:
        """Lose what is under way; both ends see a reset."""
        self._data.clear()
        self.reset = True
        self.wake()

    def wake(self) -> None:
        """Let the tasks that wait look again."""
        self._waiting.unpark_all()

    async def changed(self) -> None:
        """Wait for `wake`."""
        await self._waiting.park()


class MemoryStream(Transport):
    """One end of a connection. `address` is the other end's, as text."""

    def __init__(self, incoming: Pipe, outgoing: Pipe, address: str) -> None:
        super().__init__(address)
        self._incoming = incoming
        self._outgoing = outgoing
        self._closed = False
        self._receiving = False

    def try_send(self, data: bytes | memoryview, /) -> int:
        self._check_outgoing()
        return self._outgoing.put(data)

    async def wait_writable(self) -> None:
        await trio.lowlevel.checkpoint()
        self._check_outgoing()
        while self._outgoing.room <= 0:
            await self._outgoing.changed()
            self._check_outgoing()

    async def receive_some(self, maximum: int | None = None, /) -> bytes:
        if maximum is not None and operator.index(maximum) < 1:
            raise ValueError("a read takes at least one byte")
        if self._receiving:
            raise trio.BusyResourceError("another task is receiving here")
        self._receiving = True
        try:
            await trio.lowlevel.checkpoint()
            if self._unread:
                return self._read_ahead(maximum or len(self._unread))
            self._check_incoming()
            while not self._incoming.has_news:
                await self._incoming.changed()
                self._check_incoming()
            return self._incoming.take(PIPE_BYTES if maximum is None else maximum)
        finally:
            self._receiving = False

    def half_close(self) -> None:
        """Nothing more comes from this end, which still reads."""
        if self._closed:
            raise trio.ClosedResourceError("the stream is closed")
        self._outgoing.finished = True
        self._outgoing.wake()

    def close(self) -> None:
        """Close both directions at once: the other end reads what is under way, then the end, and can send no more."""
        self._closed = True
        self._outgoing.finished = True
        self._incoming.unread_for_good = True
        self._outgoing.wake()
        self._incoming.wake()

    # Faults

    def stall(self, *, incoming: bool = True, outgoing: bool = True) -> None:
        """From now on nothing arrives in these directions, as seen from this end; senders find out when a pipe is
        full."""
        self._incoming.stalled |= incoming
        self._outgoing.stalled |= outgoing

    def unstall(self) -> None:
        """What was held up arrives."""
        for pipe in (self._incoming, self._outgoing):
            pipe.stalled = False
            pipe.wake()

    def cut(self) -> None:
        """The connection breaks: what is under way is lost and both ends see a reset."""
        self._incoming.drop()
        self._outgoing.drop()

    def _check_outgoing(self) -> None:
        if self._closed or self._outgoing.finished:
            raise trio.ClosedResourceError("the stream is closed for sending")
        if self._outgoing.reset or self._outgoing.unread_for_good:
            raise trio.BrokenResourceError("the other end is gone")

    def _check_incoming(self) -> None:
        if self._closed:
            raise trio.ClosedResourceError("the stream is closed")
        if self._incoming.reset:
            raise trio.BrokenResourceError("the connection was reset")


class MemoryListener(trio.abc.Listener[MemoryStream]):
    """Where connections to a MemoryNetwork arrive."""

    def __init__(self) -> None:
        self._arrived: deque[MemoryStream] = deque()
        self._waiting = trio.lowlevel.ParkingLot()
        self.closed = False

    def arrive(self, stream: MemoryStream) -> None:
        """Queue a connection; raises OSError (connection refused) when closed or full."""
        if self.closed or len(self._arrived) >= BACKLOG:
            raise OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        self._arrived.append(stream)
        self._waiting.unpark()

    async def accept(self) -> MemoryStream:
        await trio.lowlevel.checkpoint()
        while not self._arrived and not self.closed:
            await self._waiting.park()
        if self.closed:
            raise trio.ClosedResourceError("the listener is closed")
        return self._arrived.popleft()

    async def aclose(self) -> None:
        self.closed = True
        for stream in self._arrived:
            stream.cut()
        self._arrived.clear()
        self._waiting.unpark_all()
        await trio.lowlevel.checkpoint()


class MemoryNetwork:
    """A network with one host on it, which one server at a time listens on."""

    def __init__(self) -> None:
        self._listener: MemoryListener | None = None

    def listen(self) -> MemoryListener:
        """From now on connections arrive here."""
        self._listener = MemoryListener()
        return self._listener

    async def connect(self, address: str = "127.0.0.1", *, capacity: int = PIPE_BYTES) -> MemoryStream:
        """The client's end of a new connection from `address`; each direction holds `capacity` bytes.

        Raises OSError (connection refused) when no server listens.
        """
        await trio.lowlevel.checkpoint()
        if self._listener is None:
            raise OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        to_server, to_client = Pipe(capacity), Pipe(capacity)
        self._listener.arrive(MemoryStream(to_server, to_client, address))
        return MemoryStream(to_client, to_server, "127.0.0.1")


# Routes

CONNECT_SECONDS: Final = 10.0
"""A connection that is not there by then is not coming."""


class Route(Protocol):
    """A way to a server. What its clients say and hear is noted in `conversation`, where there is one."""

    @property
    def host(self) -> str: ...

    @property
    def conversation(self) -> Conversation | None: ...

    def noted_in(self, conversation: Conversation) -> Route:
        """The same way, with a conversation."""
        ...

    async def connect(self) -> trio.abc.HalfCloseableStream:
        """A new connection. Raises OSError when there is no listener, trio.TooSlowError when there is no answer."""
        ...

    async def connect_to_gateway(self) -> trio.abc.HalfCloseableStream:
        """A new connection for a gateway socket, where that is served; as `connect`."""
        ...


@frozen
class MemoryRoute:
    """Through a network in memory, as if from `address`. `gateway` is the network of a gateway node, if any."""

    network: MemoryNetwork
    address: str = "127.0.0.1"
    host: str = "127.0.0.1:8080"
    gateway: MemoryNetwork | None = None
    conversation: Conversation | None = attrs.field(default=None, eq=False, repr=False)

    def noted_in(self, conversation: Conversation) -> MemoryRoute:
        return attrs.evolve(self, conversation=conversation)

    async def connect(self) -> trio.abc.HalfCloseableStream:
        return await self.network.connect(self.address)

    async def connect_to_gateway(self) -> trio.abc.HalfCloseableStream:
        return await (self.gateway or self.network).connect(self.address)

    def from_address(self, address: str) -> MemoryRoute:
        """The same way for a client that comes from another address."""
        return attrs.evolve(self, address=address)


@frozen
class TcpRoute:
    """Over TCP. `ssl_context` is that of a server behind TLS; `gateway_port` that of a gateway node there."""

    hostname: str
    port: int
    gateway_port: int | None = attrs.field(default=None, kw_only=True)
    ssl_context: ssl.SSLContext | None = attrs.field(default=None, eq=False, repr=False)
    conversation: Conversation | None = attrs.field(default=None, eq=False, repr=False)

    @classmethod
    def of(cls, url: str) -> TcpRoute:
        """The way to the origin of an http, https, ws or wss URL. Raises ValueError for another one."""
        parts = urlsplit(url)
        if parts.scheme not in {"http", "ws", "https", "wss"} or parts.hostname is None:
            raise ValueError(f"{url!r} is not an http or ws URL")
        if parts.scheme in {"http", "ws"}:
            return cls(parts.hostname, parts.port or 80)
        return cls(parts.hostname, parts.port or 443, ssl.create_default_context())

    def noted_in(self, conversation: Conversation) -> TcpRoute:
        return attrs.evolve(self, conversation=conversation)

    @property
    def host(self) -> str:
        return f"[{self.hostname}]:{self.port}" if ":" in self.hostname else f"{self.hostname}:{self.port}"

    async def connect(self) -> trio.abc.HalfCloseableStream:
        return await self._connect(self.port)

    async def connect_to_gateway(self) -> trio.abc.HalfCloseableStream:
        return await self._connect(self.gateway_port or self.port)

    async def _connect(self, port: int) -> trio.abc.HalfCloseableStream:
        with trio.fail_after(CONNECT_SECONDS):
            stream = await trio.open_tcp_stream(self.hostname, port)
            if self.ssl_context is None:
                return stream
            return _Tls(stream, self.ssl_context, self.hostname)


class _Tls(trio.abc.HalfCloseableStream):
    """TLS over TCP as the clients hold a connection. TLS ends one direction only by ending both."""

    def __init__(self, stream: trio.SocketStream, context: ssl.SSLContext, hostname: str) -> None:
        self._stream = trio.SSLStream(stream, context, server_hostname=hostname, https_compatible=True)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, maximum: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(maximum)

    async def send_eof(self) -> None:
        await self._stream.aclose()

    async def aclose(self) -> None:
        await self._stream.aclose()
