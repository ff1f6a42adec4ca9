"""One HTTP connection: a task that reads a request, answers it, and reads the next.

    bytes -> a whole head, judged by the guard (`chat.port.request_head`)
                | plain, and for an operation      | for the gateway      | anything else
                v                                  v                      v
        answered here, in one write           handed back        Hypercorn and the ASGI application, for this request

An operation is answered by the task that read it: its body is read where the operation asks for it, and nothing is
started or passed on in between. What is not plain (`request_head.plain_request`) goes the longer way, where h11 reads
it, and so does whatever is to be refused; so the short way can only be stricter than h11.

Each wait for the client has a limit, and all waits between requests share one cancel scope. Nothing is shielded
(architecture.md, Deadlines of HTTP connections). At most READ_BYTES of later requests are read ahead; requests that
come together are answered in order, with a turn for others after each.
"""

from __future__ import annotations

import logging
import math
from typing import Any, Final, Protocol

import trio

from chat.api.answers import RawHeaders
from chat.api.bodies import Receive
from chat.api.http_wire import BODY_TOO_SLOW, READ_BYTES, Write, body_seconds, error_answer, head_bytes
from chat.api.http_wire import DISCARDED_BYTES as DISCARDED_BYTES
from chat.api.http_wire import KEEP_ALIVE_SECONDS as KEEP_ALIVE_SECONDS
from chat.api.http_wire import LINGER_SECONDS as LINGER_SECONDS
from chat.api.http_wire import UNREAD_BYTES as UNREAD_BYTES
from chat.api.http_wire import WRITE_BYTES_PER_SECOND as WRITE_BYTES_PER_SECOND
from chat.api.http_wire import WRITE_SECONDS as WRITE_SECONDS
from chat.port import request_head
from chat.port.request_head import PlainRequest
from chat.port.transport import Transport
from chat.registries.limits import REQUEST_HEADER_MS

log: Final = logging.getLogger("chat.http")

BODYLESS: Final = frozenset({204, 304})
"""Statuses that have no body, whatever the headers say."""

DISCONNECT: Final = {"type": "http.disconnect"}
CLOSE: Final = (b"connection", b"close")


class Operations(Protocol):
    """What is answered here rather than by the ASGI application."""

    def find(self, method: str, path: str) -> Any:
        """What answers requests for a path (still percent-encoded); None where no operation has it."""
        ...

    async def serve(self, found: Any, request: PlainRequest, peer: str, receive: Receive, output: Output) -> None:
        """Answer the request, or nothing where its client left. `peer` is an IP address, `receive` is ASGI's."""
        ...


class Surroundings(Protocol):
    """What the connections of a server share."""

    operations: Operations | None
    draining: bool

    def date(self) -> list[tuple[bytes, bytes]]:
        """The `Date` header of an answer that leaves now."""
        ...

    async def through_application(self, transport: Transport, write: Write, received: bytes) -> bytes | None:
        """Have the ASGI application answer the request that begins with `received`; what was received behind it, or
        None where the connection is to end."""
        ...


class HttpConnection:
    """A connection that speaks HTTP until either side is done with it."""

    __slots__ = ("_head_began", "_patience", "_transport", "_waiting", "around", "over", "received")

    def __init__(self, around: Surroundings, transport: Transport) -> None:
        self.around = around
        self._transport = transport
        self.received = b""
        self._patience = trio.CancelScope()
        self._waiting = False
        self._head_began: float | None = None
        self.over = False
        """Whether no further request is read."""

    async def run(self) -> bool:
        """Answer requests; true when the next one is for the gateway, which then finds it unread."""
        with self._patience:
            if await self._until_over():
                return True
        await self._transport.aclose_gracefully(LINGER_SECONDS)
        return False

    def finish(self) -> None:
        """End the connection now if no request is under way; else it ends with its answer."""
        if self._waiting:
            self.over = True
            self._patience.cancel()

    async def _until_over(self) -> bool:
        operations = self.around.operations
        while not self.over:
            if not self.received:
                await self._read_more()
                continue
            plain = None if operations is None else request_head.plain_request(self.received)
            found = None
            if operations is not None and plain is not None:
                found = operations.find(plain.method, plain.path)
            if plain is None or found is None:
                path = self._path()
                if path is None:
                    await self._read_more()
                    continue
                if path in request_head.GATEWAY_PATHS:
                    self._transport.unread(self.received)
                    return True
            self._head_began = None
            if operations is not None and plain is not None and found is not None:
                await self._answer(operations, found, plain)
            else:
                left = await self.around.through_application(self._transport, self.write, self.received)
                self.over = left is None
                self.received = left or b""
        return False

    def _path(self) -> bytes | None:
        """The path of the request that has come; None before its head is whole, and empty for one to be refused."""
        try:
            return request_head.path_of_whole(self.received)
        except request_head.HeadRefused:
            return b""

    async def _read_more(self) -> None:
        """Wait for more of the next request's head."""
        now = trio.current_time()
        if not self.received:
            self._patience.deadline = now + KEEP_ALIVE_SECONDS
        else:
            self._head_began = now if self._head_began is None else self._head_began
            self._patience.deadline = self._head_began + REQUEST_HEADER_MS / 1000
        self._waiting = True
        data = await self.receive()
        self._waiting = False
        self._patience.deadline = math.inf
        self.over = self.over or not data
        self.received += data

    async def _answer(self, operations: Operations, found: Any, request: PlainRequest) -> None:
        """Have an operation answer, and go on behind its request's body."""
        self.received = self.received[request.length :]
        body = Body(self, request)
        try:
            await operations.serve(found, request, self._transport.address, body.receive, body.output)
        except Exception:
            log.exception("an operation failed")
            await body.output.refuse(500)
        if not body.output.complete:
            if not self.over:
                await body.output.refuse(500)
            self.over = True
        while body.left and not self.over:
            await body.next_piece()  # its operation did not want it
        if self.received and not self.over:
            await trio.lowlevel.checkpoint()  # others have their turn between requests that came together

    # The client

    async def receive(self) -> bytes:
        """What the client sends next; empty when it has finished or is gone."""
        try:
            return await self._transport.receive_some(READ_BYTES)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    async def write(self, data: bytes) -> None:
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


class Body:
    """The body of a request, as far as it has come; `left` is how many bytes have not been read."""

    __slots__ = ("_connection", "_ended", "_seconds", "left", "output")

    def __init__(self, connection: HttpConnection, request: PlainRequest) -> None:
        self._connection = connection
        self.left = request.body_length
        self._seconds = body_seconds(request.body_length)
        self._ended = False
        self.output = Output(connection, self, request)

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

    async def next_piece(self) -> bytes:
        """The next bytes of the body; empty when the connection is over, for the client that was too slow too."""
        connection = self._connection
        if connection.over:
            return b""
        if not connection.received:
            started = trio.current_time()
            with trio.move_on_at(started + self._seconds) as patience:
                connection.received = await connection.receive()
            # Only waiting for the client counts, not what the operation does with what has come.
            self._seconds -= trio.current_time() - started
            if patience.cancelled_caught:
                await self.output.refuse(408, BODY_TOO_SLOW)
            connection.over = not connection.received
        piece = connection.received[: self.left]
        connection.received = connection.received[self.left :]
        self.left -= len(piece)
        return piece

    async def _client_gone(self) -> dict[str, str]:
        connection = self._connection
        while len(connection.received) < READ_BYTES:
            data = await connection.receive()
            if not data:
                connection.over = True
                return DISCONNECT
            connection.received += data
        # With so much read ahead, the client's end is beyond sight.
        return await trio.sleep_forever()


class Output:
    """The answer to one request, on its way; `complete` once all of it was sent, as far as it was announced."""

    __slots__ = (
        "_announced",
        "_body",
        "_chunked",
        "_connection",
        "_has_body",
        "_head",
        "_request",
        "begun",
        "complete",
    )

    def __init__(self, connection: HttpConnection, body: Body, request: PlainRequest) -> None:
        self._connection = connection
        self._body = body
        self._request = request
        self.begun = False
        self.complete = False

    async def send_whole(self, status: int, headers: RawHeaders, body: bytes) -> None:
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

    def _begin(self, status: int, headers: RawHeaders, *, chunked: bool) -> bytes:
        """The head; from here on the connection ends with this answer where it says so."""
        connection, keep_alive = self._connection, self._request.keep_alive
        self.begun = True
        self._has_body = self._request.method != "HEAD" and status not in BODYLESS
        headers = headers + connection.around.date()
        if connection.around.draining or self._body.left > DISCARDED_BYTES:
            headers.append(CLOSE)
        if not keep_alive or CLOSE in headers:
            connection.over = True
        return head_bytes(status, headers, chunked=chunked, keep_alive=keep_alive)

    async def refuse(self, status: int, message: str | None = None) -> None:
        """Answer an error in the API's form if nothing was answered yet; this ends the connection either way."""
        self._connection.over = True
        if not self.begun:
            await self.send_whole(status, *error_answer(status, message))
