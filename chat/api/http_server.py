"""The HTTP engine, on connections that were accepted elsewhere: operations are answered at once, and everything else by
an ASGI application under Hypercorn's protocol (`chat.api.asgi_host`)."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from wsgiref.handlers import format_date_time

import trio

from chat.api.http_connection import HttpConnection, Operations
from chat.api.http_wire import KEEP_ALIVE_SECONDS, Write
from chat.classes import frozen
from chat.clock import Clock
from chat.port.transport import Transport

if TYPE_CHECKING:
    from hypercorn.typing import ASGIFramework

    from chat.api.asgi_host import AsgiHost


@frozen
class Deferred:
    """An application that is made when the first request needs it.

    What it imports takes a tenth of a second and ten megabytes. With `in_threads` the modules that it names are
    imported in a thread before, so that the loop goes on meanwhile.
    """

    make: Callable[[], ASGIFramework]
    modules: tuple[str, ...]
    in_threads: bool

    async def made(self) -> ASGIFramework:
        """The application."""
        if self.in_threads:
            await trio.to_thread.run_sync(self._import)
        return self.make()

    def _import(self) -> None:
        for name in ("chat.api.asgi_host", *self.modules):
            importlib.import_module(name)


class HttpServer:
    """Serves operations, and an ASGI application, over HTTP/1.1 on connections it is given. `clock` is for the `Date`
    of answers; `besides` are headers of every answer."""

    def __init__(
        self,
        app: ASGIFramework | Deferred,
        clock: Clock,
        operations: Operations | None = None,
        *,
        besides: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        self.operations = operations
        self.draining = False
        self._app = app
        self._dates = Dates(clock, besides)
        self._host: AsgiHost | None = None
        self._starting = trio.Lock()
        self._nursery: trio.Nursery
        self.connections: set[HttpConnection] = set()
        self.idle: dict[HttpConnection, float] = {}
        self.some_idle = trio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start the application (ASGI lifespan) for the time of the block, unless it is deferred, and shut it down
        after."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            if not isinstance(self._app, Deferred):
                await self._started()
            nursery.start_soon(self._end_idle)
            try:
                yield
                if self._host is not None:
                    await self._host.shut_down()
            finally:
                nursery.cancel_scope.cancel()

    async def _end_idle(self) -> None:
        """Run for ever: end connections that have waited too long for a request."""
        while True:
            if not self.idle:
                self.some_idle = trio.Event()
                await self.some_idle.wait()
            now = longest = trio.current_time()
            for connection, since in list(self.idle.items()):
                if since + KEEP_ALIVE_SECONDS > now:
                    longest = since
                    break
                connection.finish()
            # No connection that begins to wait meanwhile is to end before this.
            await trio.sleep_until(longest + KEEP_ALIVE_SECONDS)

    def serve(self, transport: Transport) -> Coroutine[Any, Any, bool]:
        """Answer the requests of a connection and close it; true when its next request is for the gateway."""
        return HttpConnection(self, transport).run()

    async def drain(self) -> None:
        """From now on close each connection after the answer to its present request, and idle connections at once."""
        self.draining = True
        if self._host is not None:
            await self._host.drain()
        for connection in list(self.connections):
            connection.finish()

    async def _started(self) -> AsgiHost:
        """The application, which is started by the first that needs it."""
        async with self._starting:
            if self._host is None:
                app = await self._app.made() if isinstance(self._app, Deferred) else self._app
                from chat.api.asgi_host import AsgiHost

                host = AsgiHost(app, self._dates.header)
                await host.start(self._nursery)
                self._host = host
                if self.draining:
                    await host.drain()
        return self._host

    # For its connections

    def date_line(self) -> bytes:
        """The `Date` header of an answer that leaves now."""
        return self._dates.line()

    async def through_application(self, transport: Transport, write: Write, received: bytes) -> bytes | None:
        """Have the ASGI application answer the request that begins with `received`.

        What was received behind it, or None where the connection is to end.
        """
        host = self._host or await self._started()
        return await host.answer(transport, write, received)


class Dates:
    """Makes the `Date` header, once a second, with those that every answer has besides."""

    def __init__(self, clock: Clock, besides: Sequence[tuple[bytes, bytes]] = ()) -> None:
        self._clock = clock
        self._besides = tuple(besides)
        self._headers: list[tuple[bytes, bytes]] = []
        self._line = b""
        self._second = -1

    def header(self) -> list[tuple[bytes, bytes]]:
        """The header of an answer that leaves now."""
        second = self._clock.now_ms() // 1000
        if second != self._second:
            self._second = second
            date = format_date_time(second).encode("ascii")
            self._headers = [(b"date", date), *self._besides]
            self._line = b"".join([b"%b: %b\r\n" % header for header in self._headers])
        return self._headers

    def line(self) -> bytes:
        """The same headers as one line of bytes."""
        self.header()
        return self._line
