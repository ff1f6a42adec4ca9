"""An ASGI application on Hypercorn's protocol classes, from its start to its end.

Hypercorn has no public entry for a connection that was accepted elsewhere. What we use of its inside is here and in
this package's `asgi_request`, nowhere else. `chat.api.http_server` imports this module when the first request needs it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.lifespan import Lifespan
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework

from chat.api.asgi_request import AsgiRequest
from chat.api.http_wire import Write
from chat.port.transport import Transport
from chat.registries.limits import REQUEST_HEADER_BYTES

Headers = list[tuple[bytes, bytes]]


class AsgiHost:
    """Has an application answer requests. `date` makes the `Date` header of an answer that leaves now."""

    def __init__(self, app: ASGIFramework, date: Callable[[], Headers]) -> None:
        self._app = ASGIWrapper(app)
        self._config = ServerConfig(date)
        self._context = WorkerContext(None)
        self._lifespan = Lifespan(self._app, self._config, {})

    async def start(self, nursery: trio.Nursery) -> None:
        """Start the application (ASGI lifespan); what it raises ends the nursery."""
        await nursery.start(self._lifespan.handle_lifespan)
        await self._lifespan.wait_for_startup()

    async def shut_down(self) -> None:
        """Let the application end in an orderly way."""
        await self._lifespan.wait_for_shutdown()

    async def drain(self) -> None:
        """From now on close each connection after the answer to its present request."""
        await self._context.terminated.set()

    async def answer(self, transport: Transport, write: Write, received: bytes) -> bytes | None:
        """Answer the request that begins with `received`.

        What was received behind it, or None where the connection is to end.
        """
        return await AsgiRequest(self._app, self._config, self._context, transport, write).run(received)


class ServerConfig(Config):
    """Hypercorn's settings as far as they still matter: what an answer says about the server, and the log."""

    errorlog = logging.getLogger("chat.http")
    h11_max_incomplete_size: int = REQUEST_HEADER_BYTES

    def __init__(self, date: Callable[[], Headers]) -> None:
        self._date = date

    def response_headers(self, protocol: str) -> Headers:
        """`Date` only."""
        return self._date()
