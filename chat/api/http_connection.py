"""One HTTP connection on Trio: reads, writes and every deadline.

Hypercorn's own Trio connection shields its sends, so that a client which stops reading keeps a task, and after SIGTERM
the process (architecture.md, Deadlines of HTTP connections); it has no deadline for a body, and starts a task for every
pause between requests. Here nothing is shielded, each wait for the client has a limit, and all pauses share one cancel
scope.
"""

from __future__ import annotations

import math
from typing import Final, Protocol

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper

from chat.api.http_protocol import Phase
from chat.api.http_protocol import Protocol as HttpProtocol
from chat.api.http_tasks import RequestTasks
from chat.registries.limits import REQUEST_HEADER_MS

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


class Transport(Protocol):
    """What an HTTP connection needs of the byte stream below it (a subset of the listener's `Connection`)."""

    @property
    def address(self) -> str:
        """The peer's address."""
        ...

    def try_send(self, data: bytes | memoryview, /) -> int:
        """Send what goes at once; how many bytes that was."""
        ...

    async def wait_writable(self) -> None:
        """Wait until `try_send` is likely to take something."""
        ...

    async def receive_some(self, maximum: int, /) -> bytes:
        """What the peer sent next; empty at the end."""
        ...

    def unread(self, data: bytes, /) -> None:
        """Put `data` back in front of what is received next."""
        ...

    def close(self) -> None:
        """Close at once."""
        ...

    async def aclose_gracefully(self, seconds: float) -> None:
        """Finish sending, let the peer read, close."""
        ...


class HttpConnection:
    """A connection that speaks HTTP until either side is done with it."""

    def __init__(self, app: AppWrapper, config: Config, context: WorkerContext, transport: Transport) -> None:
        self._app = app
        self._config = config
        self._context = context
        self._transport = transport
        self._patience = trio.CancelScope()
        self._receiving = False
        self._protocol: HttpProtocol | None = None
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
