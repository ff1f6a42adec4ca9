"""One HTTP connection: a task that reads a request, answers it, and reads the next.

    bytes -> a whole head, judged by the guard (`chat.port.request_head`)
                | plain, and for an operation      | for the gateway      | anything else
                v                                  v                      v
        answered here, in one write           handed back        Hypercorn and the ASGI application, for this request

An operation is answered by the task that read it: its body is read where the operation asks for it, and nothing is
started or passed on in between. What is not plain (`request_head.plain_request`) goes the longer way, where h11 reads
it, and so does whatever is to be refused; so the short way can only be stricter than h11.

Each wait for the client has a limit; that between two requests is the server's to watch, for all connections together.
Nothing is shielded (architecture.md, Deadlines of HTTP connections). At most READ_BYTES of later requests are read
ahead; requests that come together are answered in order, with a turn for others after each.
"""

from __future__ import annotations

import logging
import math
from typing import Any, Final, Protocol

import trio

from chat.api.answers import RawHeaders
from chat.api.http_wire import BODY_TOO_SLOW, READ_BYTES, Patience, Write, body_patience, error_answer, head_bytes
from chat.api.http_wire import DISCARDED_BYTES as DISCARDED_BYTES
from chat.api.http_wire import KEEP_ALIVE_SECONDS as KEEP_ALIVE_SECONDS
from chat.api.http_wire import LINGER_SECONDS as LINGER_SECONDS
from chat.api.http_wire import UNREAD_BYTES as UNREAD_BYTES
from chat.api.http_wire import WRITE_SECONDS as WRITE_SECONDS
from chat.api.http_wire import WRITE_STEP_BYTES as WRITE_STEP_BYTES
from chat.port import request_head
from chat.port.request_head import HeaderBlock, PlainRequest
from chat.port.transport import Transport
from chat.registries.limits import REQUEST_HEADER_MS

log: Final = logging.getLogger("chat.http")

BODYLESS: Final = frozenset({204, 304})
"""Statuses that have no body, whatever the headers say."""

DISCONNECT: Final = {"type": "http.disconnect"}
CLOSE: Final = (b"connection", b"close")


class Operations(Protocol):
    """Answers the requests that do not go to the ASGI application."""

    def find(self, method: str, path: str) -> Any:
        """The answerer of requests for a path (still percent-encoded); None if no operation has the path."""
        ...

    async def completed(self, path: str) -> bool:
        """Take in operations that come later than the start, for a path that was not found. Whether any came."""
        ...

    async def serve(self, found: Any, call: Call) -> None:
        """Answer the request, or nothing where its client left."""
        ...


class Surroundings(Protocol):
    """Objects that all connections of a server share."""

    operations: Operations | None
    draining: bool
    connections: set[HttpConnection]
    """The connections that are open now."""
    idle: dict[HttpConnection, float]
    """Connections that wait for a request, since when, the longest first; they end after KEEP_ALIVE_SECONDS."""
    some_idle: trio.Event
    """To be set when one begins to."""

    def date_line(self) -> bytes:
        """The `Date` header of an answer that leaves now."""
        ...

    async def through_application(self, transport: Transport, write: Write, received: bytes) -> bytes | None:
        """Have the ASGI application answer the request that begins with `received`; what was received behind it, or
        None where the connection is to end."""
        ...


class HttpConnection:
    """A connection that speaks HTTP until one side ends it."""

    __slots__ = ("_block", "_head_began", "_patience", "_waiting", "around", "over", "received", "transport")

    def __init__(self, around: Surroundings, transport: Transport) -> None:
        self.around: Final = around
        self.transport: Final = transport
        self.received = b""
        """Bytes that were read and are not used yet."""
        self.over = False
        """Whether no further request is read."""
        self._patience = trio.CancelScope()
        self._waiting = False
        self._head_began: float | None = None
        self._block: HeaderBlock | None = None

    async def run(self) -> bool:
        """Answer requests; true when the next one is for the gateway, which then finds it unread."""
        self.around.connections.add(self)
        try:
            with self._patience:
                if await self._until_over():
                    return True
            await self.transport.aclose_gracefully(LINGER_SECONDS)
            return False
        finally:
            self.around.connections.discard(self)

    def finish(self) -> None:
        """End the connection now if no request is under way; else it ends with its answer."""
        if self._waiting:
            self.over = True
            self._patience.cancel()

    async def _until_over(self) -> bool:
        operations = self.around.operations
        await self._wait()
        while not self.over:
            if operations is None or not await self._answered(operations):
                path = self._path()
                if path is None:
                    await self._wait_for_head()
                    continue
                if path in request_head.SOCKET_PATHS:
                    self.transport.unread(self.received)
                    return True
                left = await self.around.through_application(self.transport, self.write, self.received)
                self.over = left is None
                self.received = left or b""
            self._head_began = None
            if self.over:
                break
            if not self.received:
                await self._wait()
            else:
                await trio.lowlevel.checkpoint()  # others have their turn between requests that came together
        return False

    def _path(self) -> bytes | None:
        """The path of the request that has come; None before its head is whole, and empty for one to be refused."""
        try:
            return request_head.path_of_whole(self.received)
        except request_head.HeadRefused:
            return b""

    async def _wait(self) -> None:
        """Wait for a request."""
        idle = self.around.idle
        idle[self] = trio.current_time()
        self.around.some_idle.set()
        self._waiting = True
        try:
            self.received = await self.transport.receive_next(READ_BYTES)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.over = True
        finally:
            del idle[self]
        self._waiting = False
        self.over = self.over or not self.received

    async def _wait_for_head(self) -> None:
        """Wait for more of a request's head."""
        if self._head_began is None:
            self._head_began = trio.current_time()
        self._patience.deadline = self._head_began + REQUEST_HEADER_MS / 1000
        self._waiting = True
        data = await self.receive()
        self._waiting = False
        self._patience.deadline = math.inf
        self.over = self.over or not data
        self.received += data

    async def _answered(self, operations: Operations) -> bool:
        """Have an operation answer, and go on behind its request's body; False for what is not plain, and where the
        path leads to none."""
        request = request_head.plain_request(self.received, self._block)
        if request is None:
            return False
        self._block = request.block
        call = Call(self, request)
        found = operations.find(request.method, request.path)
        if found is None and await operations.completed(request.path):
            found = operations.find(request.method, request.path)
        if found is None:
            return False
        self.received = self.received[request.length :]
        try:
            await operations.serve(found, call)
        except Exception:
            log.exception("an operation failed")
            await call.refuse(500)
        if not call.complete:
            if not self.over:
                await call.refuse(500)
            self.over = True
        while call.left and not self.over:
            await call.next_piece()  # its operation did not want it
        return True

    # The client

    async def receive(self) -> bytes:
        """The next bytes from the client; empty when it has finished or is gone."""
        try:
            return await self.transport.receive_some(READ_BYTES)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    async def write(self, data: bytes) -> None:
        """Send all of it, or close the transport: reading then ends, which tells the application."""
        sent = 0
        try:
            sent = self.transport.try_send(data)
            if sent < len(data):
                sent = await self._write_rest(memoryview(data), sent)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            if sent < len(data):
                self.transport.close()

    async def _write_rest(self, data: memoryview, sent: int) -> int:
        """Send what the client takes; how much of the data was sent when it was done or too slow."""
        patience = Patience(WRITE_SECONDS, WRITE_STEP_BYTES)
        while sent < len(data):
            started, before = trio.current_time(), sent
            with trio.move_on_at(started + patience.seconds) as scope:
                await self.transport.wait_writable()
                sent += self.transport.try_send(data[sent:])
            if scope.cancelled_caught:
                break
            patience.waited(trio.current_time() - started, sent - before)
        return sent


class Call:
    """One request for an operation, with its answer."""

    __slots__ = (
        "_announced",
        "_begun",
        "_chunked",
        "_connection",
        "_ended",
        "_has_body",
        "_head",
        "_patience",
        "complete",
        "left",
        "request",
    )

    def __init__(self, connection: HttpConnection, request: PlainRequest) -> None:
        self._connection: Final = connection
        self.request: Final = request
        self.left = request.block.body_length
        """Bytes of the request's body that have not been read."""
        self.complete = False
        """Whether all of the answer was sent, as far as it was announced."""
        self._ended = self._begun = False
        self._patience: Patience | None = None

    @property
    def peer(self) -> str:
        """The IP address of the other end."""
        return self._connection.transport.address

    # The body

    async def receive(self) -> Any:
        """ASGI's `receive`."""
        if self.left:
            piece = await self.next_piece()
            if not piece:
                return DISCONNECT
            self._ended = not self.left
            return {"type": "http.request", "body": piece, "more_body": self.left > 0}
        if not self._ended:
            self._ended = True
            return {"type": "http.request", "body": b"", "more_body": False}
        return await self._client_gone()

    def arrived(self) -> bytes | None:
        """The whole body if it has arrived and nothing of it was read; None if the caller has to wait for it."""
        connection = self._connection
        length = self.request.block.body_length
        if self.left != length or self._ended or len(connection.received) < length:
            return None
        body, connection.received = connection.received[:length], connection.received[length:]
        self.left, self._ended = 0, True
        return body

    async def next_piece(self) -> bytes:
        """The next bytes of the body; empty when the connection is over, for the client that was too slow too."""
        connection = self._connection
        if connection.over:
            return b""
        if not connection.received:
            await self._wait_for_body()
        piece = connection.received[: self.left]
        connection.received = connection.received[len(piece) :]
        self.left -= len(piece)
        return piece

    async def _wait_for_body(self) -> None:
        connection, started = self._connection, trio.current_time()
        if self._patience is None:
            self._patience = body_patience()
        with trio.move_on_at(started + self._patience.seconds) as scope:
            connection.received = await connection.receive()
        # Only waiting for the client counts, not what the operation does with what has come.
        self._patience.waited(trio.current_time() - started, len(connection.received))
        if scope.cancelled_caught:
            await self.refuse(408, BODY_TOO_SLOW)
        connection.over = not connection.received

    async def _client_gone(self) -> dict[str, str]:
        connection = self._connection
        while len(connection.received) < READ_BYTES:
            data = await connection.receive()
            if not data:
                connection.over = True
                return DISCONNECT
            connection.received += data
        # After reading this much ahead, the server cannot see whether the client has hung up.
        return await trio.sleep_forever()

    # The answer

    async def send_whole(self, status: int, headers: RawHeaders | bytes, body: bytes) -> None:
        """Send an answer that is there, in one write; its headers name the length."""
        head = self._begin(status, headers, chunked=False)
        await self._connection.write(head + body if self._has_body else head)
        self.complete = True

    async def send(self, event: Any) -> None:
        """ASGI's `send`; the head waits for the first piece of the body.

        :raises ValueError: when the body is not of the announced length.
        """
        if event["type"] == "http.response.start":
            self._announced = next((int(value) for name, value in event["headers"] if name == b"content-length"), None)
            self._chunked = self._announced is None and event["status"] not in BODYLESS
            self._head = self._begin(event["status"], event["headers"], chunked=self._chunked)
            return
        is_last = not event.get("more_body", False)
        head, self._head = self._head, b""
        data = self._framed(event.get("body", b""), is_last=is_last) if self._has_body else b""
        if head or data:
            await self._connection.write(head + data)
        if not head and data:
            await trio.lowlevel.checkpoint()  # a long answer lets others have their turn between its pieces
        self.complete = is_last

    def _framed(self, piece: bytes, *, is_last: bool) -> bytes:
        if self._chunked:
            return (b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b"") + (b"0\r\n\r\n" if is_last else b"")
        if self._announced is not None:
            self._announced -= len(piece)
            if self._announced < 0 or (is_last and self._announced):
                raise ValueError("an answer's body is not as long as its head says")
        return piece

    def _begin(self, status: int, headers: RawHeaders | bytes, *, chunked: bool) -> bytes:
        """The head; from here on the connection ends with this answer where it says so."""
        connection, keep_alive = self._connection, self.request.block.keep_alive
        self._begun = True
        self._has_body = self.request.method != "HEAD" and status not in BODYLESS
        closes = connection.around.draining or self.left > DISCARDED_BYTES
        if closes or not keep_alive or (type(headers) is list and CLOSE in headers):
            connection.over = True
        date = connection.around.date_line()
        return head_bytes(status, headers, date=date, chunked=chunked, closes=closes, keep_alive=keep_alive)

    async def refuse(self, status: int, message: str | None = None) -> None:
        """Answer an error in the API's form if nothing was answered yet; this ends the connection either way."""
        self._connection.over = True
        if not self._begun:
            await self.send_whole(status, *error_answer(status, message))
