"""The HTTP engine: Hypercorn's protocol under an ASGI application, connection by connection.

Hypercorn has no public entry for a connection that was accepted elsewhere. What we use of its inside is in this
package's `http_protocol` and here, nowhere else.

Its own Trio connection shields its sends, so that a client which stops reading keeps a task, and after SIGTERM the
process (architecture.md, Deadlines of HTTP connections); it has no deadline for a body, and starts a task for every
pause between requests. Here nothing is shielded, each wait for the client has a limit, and all pauses share one cancel
scope.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final
from wsgiref.handlers import format_date_time

import attrs
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.lifespan import Lifespan
from hypercorn.trio.task_group import TaskGroup, _handle
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ASGIFramework, ASGIReceiveEvent, ASGISendEvent, Scope

from chat.api.http_protocol import HttpProtocol, Phase
from chat.clock import Clock
from chat.port.transport import Transport
from chat.registries.limits import REQUEST_HEADER_BYTES, REQUEST_HEADER_MS

READ_BYTES: Final = 65_536
KEEP_ALIVE_SECONDS: Final = 75.0
"""How long a connection may wait for its next request: longer than the pools of common clients and proxies keep
theirs, so that it is they who close."""

WRITE_SECONDS: Final = 30.0
WRITE_BYTES_PER_SECOND: Final = 8_192
"""A write may take WRITE_SECONDS and a second more for each of these bytes; a client that reads more slowly is
dropped."""

LINGER_SECONDS: Final = 1.0
"""How long a client gets to read the last answer before the connection is closed under what it still sends."""

UNREAD_BYTES: Final = 262_144
"""Bytes of a body that may wait for the application; until it reads some, no more is read from the client."""


class HttpServer:
    """Serves an ASGI application over HTTP/1.1 on connections it is given. `clock` is for the `Date` of answers."""

    def __init__(self, app: ASGIFramework, clock: Clock) -> None:
        self._app = ASGIWrapper(app)
        self._config = ServerConfig(clock)
        self._context = WorkerContext(None)
        self._connections: set[HttpConnection] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start the application (ASGI lifespan) for the time of the block, and shut it down after."""
        async with trio.open_nursery() as nursery:
            lifespan = Lifespan(self._app, self._config, {})
            await nursery.start(lifespan.handle_lifespan)
            await lifespan.wait_for_startup()
            try:
                yield
                await lifespan.wait_for_shutdown()
            finally:
                nursery.cancel_scope.cancel()

    async def serve(self, transport: Transport) -> bool:
        """Answer the requests of a connection and close it; true when its next request is for the gateway."""
        connection = HttpConnection(self._app, self._config, self._context, transport)
        self._connections.add(connection)
        try:
            return await connection.run()
        finally:
            self._connections.discard(connection)

    async def drain(self) -> None:
        """From now on a connection ends with the answer to its present request, an idle one at once."""
        await self._context.terminated.set()
        for connection in list(self._connections):
            connection.finish()


class ServerConfig(Config):
    """Hypercorn's settings as far as they still matter: what an answer says about the server, and the log."""

    errorlog = logging.getLogger("chat.http")
    h11_max_incomplete_size: int = REQUEST_HEADER_BYTES

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._date_headers: list[tuple[bytes, bytes]] = []
        self._date_second = 0

    def response_headers(self, protocol: str) -> list[tuple[bytes, bytes]]:
        """`Date` only; made once a second."""
        second = self._clock.now_ms() // 1000
        if second != self._date_second:
            self._date_second = second
            self._date_headers = [(b"date", format_date_time(second).encode("ascii"))]
        return self._date_headers


@attrs.define(eq=False)
class HttpConnection:
    """A connection that speaks HTTP until either side is done with it."""

    _app: AppWrapper
    _config: Config
    _context: WorkerContext
    _transport: Transport
    _patience: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _receiving: bool = attrs.field(default=False, init=False)
    _protocol: HttpProtocol | None = attrs.field(default=None, init=False)
    """Only while it is at work: it refers back to this, and nothing shall wait for the cycle collector."""

    async def run(self) -> bool:
        """Answer requests; true when the next one is for the gateway, which then finds it unread."""
        async with RequestTasks() as tasks:
            self._protocol = protocol = HttpProtocol(
                self._app,
                self._config,
                self._context,
                tasks,
                self._transport.address,
                self._take,
                self._write,
            )
            with self._patience:
                await self._read(protocol)
            if self._patience.cancelled_caught and protocol.phase is Phase.BODY:
                await protocol.refuse(408, "The request's body took too long.")
            await protocol.handle(Closed())
        self._protocol = None
        if protocol.handed_back is not None:
            self._transport.unread(protocol.handed_back)
            return True
        await self._transport.aclose_gracefully(LINGER_SECONDS)
        return False

    def finish(self) -> None:
        """End the connection now if no request is under way; else it ends with its answer."""
        protocol = self._protocol
        if protocol is not None and protocol.phase in (Phase.IDLE, Phase.HEAD):
            protocol.over = True
            self._patience.cancel()

    async def _take(self, event: Event) -> None:
        """What Hypercorn's protocol wants of the connection; bytes come through `_write`."""
        if isinstance(event, Closed):
            self._patience.cancel()
        elif isinstance(event, Updated) and event.idle and self._receiving:
            self._patience.deadline = trio.current_time() + KEEP_ALIVE_SECONDS

    async def _read(self, protocol: HttpProtocol) -> None:
        """Give the protocol what the client sends, until that ends or nothing more is wanted."""
        while not protocol.over:
            started = trio.current_time()
            self._patience.deadline = _deadline(protocol, started)
            self._receiving = True
            try:
                data = await self._transport.receive_some(READ_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return
            finally:
                self._receiving = False
            self._patience.deadline = math.inf
            if not data:
                return
            if protocol.phase is Phase.BODY:
                # Only waiting for the client counts, not what the application does with what has come.
                protocol.body_seconds -= trio.current_time() - started
            await protocol.handle(RawData(data))

    async def _write(self, data: bytes) -> None:
        """Send all of it, or close the transport: reading then ends, which tells the application."""
        sent = 0
        try:
            sent = self._transport.try_send(data)
            if sent < len(data):
                with trio.move_on_after(WRITE_SECONDS + len(data) / WRITE_BYTES_PER_SECOND):
                    sent = await self._write_rest(memoryview(data), sent)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            if sent < len(data):
                self._transport.close()

    async def _write_rest(self, data: memoryview, sent: int) -> int:
        while sent < len(data):
            await self._transport.wait_writable()
            sent += self._transport.try_send(data[sent:])
        return sent


def _deadline(protocol: HttpProtocol, now: float) -> float:
    """When to give up waiting for the client."""
    match protocol.phase:
        case Phase.IDLE:
            return now + KEEP_ALIVE_SECONDS
        case Phase.HEAD:
            return (now if protocol.head_began is None else protocol.head_began) + REQUEST_HEADER_MS / 1000
        case Phase.BODY:
            return now + protocol.body_seconds
        case Phase.ANSWER:
            return math.inf


class RequestEvents:
    """The events of one request, in order: pieces of the body, then `http.disconnect`.

    Hypercorn passes them through a memory channel, at a turn of the loop each, and an application that answers without
    reading a long body leaves that channel full and its connection stuck. This costs no turn, joins what has not been
    read yet, and lets go when the answer is complete.
    """

    def __init__(self) -> None:
        self._events: deque[Any] = deque()
        self._parked = trio.lowlevel.ParkingLot()
        self._unread = 0

    async def put(self, event: Any) -> None:
        """Hand an event to the application; waits while UNREAD_BYTES are unread."""
        if event["type"] != "http.request":
            self._unread = 0  # the rest is not needed: a task that waits to add to it may go
            self._events.append(event)
        elif self._events:
            self._events[-1]["body"] += event["body"]
            self._events[-1]["more_body"] = event["more_body"]
            self._unread += len(event["body"])
        else:
            self._events.append(event)
            self._unread += len(event["body"])
        self._parked.unpark_all()
        while self._unread > UNREAD_BYTES:
            await self._parked.park()

    async def receive(self) -> Any:
        """ASGI's `receive`."""
        while not self._events:
            await self._parked.park()
        event = self._events.popleft()
        self._unread = 0
        self._parked.unpark_all()
        return event


class RequestTasks(TaskGroup):
    """The applications at work for one connection."""

    async def spawn_app(
        self,
        app: AppWrapper,
        config: Config,
        scope: Scope,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Run the application for a request; what is returned hands it the request's events."""
        events = RequestEvents()
        self.spawn(_handle, app, config, scope, events.receive, send, trio.to_thread.run_sync, trio.from_thread.run)
        return events.put
