"""The HTTP engine, on connections that were accepted elsewhere: operations are answered at once, and everything else by
an ASGI application under Hypercorn's protocol.

Hypercorn has no public entry for such a connection. What we use of its inside is in this package's `asgi_request` and
here, nowhere else.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from wsgiref.handlers import format_date_time

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.lifespan import Lifespan
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework

from chat.api.asgi_request import AsgiRequest
from chat.api.http_connection import HttpConnection, Operations
from chat.api.http_wire import Write
from chat.clock import Clock
from chat.port.transport import Transport
from chat.registries.limits import REQUEST_HEADER_BYTES


class HttpServer:
    """Serves operations, and an ASGI application, over HTTP/1.1 on connections it is given. `clock` is for the `Date`
    of answers."""

    def __init__(self, app: ASGIFramework, clock: Clock, operations: Operations | None = None) -> None:
        self.operations = operations
        self.draining = False
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
        connection = HttpConnection(self, transport)
        self._connections.add(connection)
        try:
            return await connection.run()
        finally:
            self._connections.discard(connection)

    async def drain(self) -> None:
        """From now on a connection ends with the answer to its present request, an idle one at once."""
        self.draining = True
        await self._context.terminated.set()
        for connection in list(self._connections):
            connection.finish()

    # For its connections

    def date(self) -> list[tuple[bytes, bytes]]:
        """The `Date` header of an answer that leaves now."""
        return self._config.response_headers("h11")

    async def through_application(self, transport: Transport, write: Write, received: bytes) -> bytes | None:
        """Have the ASGI application answer the request that begins with `received`.

        What was received behind it, or None where the connection is to end.
        """
        return await AsgiRequest(self._app, self._config, self._context, transport, write).run(received)


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
