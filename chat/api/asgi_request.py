"""A request that is answered by the ASGI application, on Hypercorn's protocol classes, with differences.

These are the requests for pages, and those that the direct way leaves alone (`chat.api.http_connection`): chunked
bodies, HTTP/1.0, and whatever is to be refused.

- The head is judged as raw bytes before h11 sees it, and its framing after that. No way leads from here to HTTP/2 or to
  a WebSocket: an `Upgrade` header is left alone (RFC 9110, section 7.8).
- An answer is one write: its head waits for the first piece of the body, which is all of it when the length is
  announced.
- What goes wrong below the API is answered with the API's error body.
- Nothing is shielded, and each wait for the client has a limit. Hypercorn's own Trio connection shields its sends, so
  that a client which stops reading keeps a task, and after SIGTERM the process (architecture.md, Deadlines of HTTP
  connections); it has no deadline for a body.

`tests/api/test_http_server.py` pins what is used of Hypercorn.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

import attrs
import h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData
from hypercorn.protocol.events import Body, EndBody, Request, Response, StreamClosed
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import ASGIHTTPState, HTTPStream
from hypercorn.trio.task_group import TaskGroup, _handle
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ASGIReceiveEvent, ASGISendEvent, ConnectionState, Scope
from hypercorn.utils import suppress_body

from chat.api.http_wire import (
    BODY_TOO_SLOW,
    DISCARDED_BYTES,
    READ_BYTES,
    UNREAD_BYTES,
    Write,
    body_patience,
    error_answer,
)
from chat.classes import define
from chat.port import request_head
from chat.port.transport import Transport

EVENTS_PER_TURN: Final = 128
"""Pieces of a body that are parsed before others get a turn: it may come in chunks of one byte."""


class Stream(HTTPStream):
    """One request and its answer. If the application ends without an answer, the answer is 500."""

    async def _send_error_response(self, status_code: int) -> None:
        headers, body = error_answer(status_code)
        await self.send(Response(stream_id=self.stream_id, headers=headers, status_code=status_code))
        if not suppress_body(self.scope["method"], status_code):
            await self.send(Body(stream_id=self.stream_id, data=body))
        await self.send(EndBody(stream_id=self.stream_id))
        self.state = ASGIHTTPState.CLOSED


class HttpProtocol(H11Protocol):
    """One request of a connection. Once `over` is true it reads no more bytes for the request."""

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        tasks: TaskGroup,
        address: str,
        send: Callable[[Event], Awaitable[None]],
        write: Write,
    ) -> None:
        super().__init__(app, config, context, tasks, ConnectionState({}), False, (address, 0), None, send)
        assert isinstance(self.connection, h11.Connection)  # noqa: S101 -- else only after a switch to WebSocket
        self._http = self.connection
        self._write = write
        self._unsent_head = b""
        self._announced = 0
        self._is_head = False
        self._can_go_on = False
        self.over = False
        self.body_patience = body_patience()

    @property
    def awaits_body(self) -> bool:
        """Whether the rest of the request's body is still to come."""
        return self._http.their_state is h11.SEND_BODY

    @property
    def left(self) -> bytes | None:
        """The bytes that came behind the request; None if the connection ends with its answer."""
        return bytes(self._http.trailing_data[0]) if self._can_go_on else None

    async def refuse(self, status: int, message: str | None = None) -> None:
        """Answer an error in the API's form if nothing was answered yet; this ends the connection either way."""
        if self.over:
            return
        self.over = True
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers, body = error_answer(status, message)
            answer = self._http.send(h11.Response(status_code=status, headers=headers)) or b""
            if not self._is_head:
                answer += self._http.send(h11.Data(data=body)) or b""
            await self._write(answer)
        await self.send(Closed())

    async def stream_send(self, event: StreamEvent) -> None:
        """Turn the application's events into bytes; the first of an answer stay back until more of it is there."""
        if isinstance(event, StreamClosed):
            await self._maybe_recycle()
        elif self.over:
            return  # it was refused in the meantime
        elif isinstance(event, Response):
            self._unsent_head = self._http.send(self._response(event)) or b""
        elif isinstance(event, Body):
            await self._write_answer(self._http.send(h11.Data(data=event.data)) or b"")
        elif isinstance(event, EndBody):
            await self._write_answer(self._http.send(h11.EndOfMessage()) or b"")

    def _response(self, event: Response) -> h11.Response:
        headers = [*event.headers, *self.config.response_headers("h11")]
        if self.context.terminated.is_set() or not self._body_can_be_discarded:
            headers.append((b"connection", b"close"))
        return h11.Response(headers=headers, status_code=event.status_code)

    async def _write_answer(self, data: bytes) -> None:
        head, self._unsent_head = self._unsent_head, b""
        if head or data:
            await self._write(head + data)
        if not head and data:
            await trio.lowlevel.checkpoint()  # a long answer lets others have their turn between its pieces

    async def _handle_events(self) -> None:
        body = bytearray()
        pieces = 0
        while not self.over and await self._ready_to_parse():
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                await self.refuse(error.error_status_hint, f"This is not HTTP: {_fault(error)}.")
                return
            if isinstance(event, h11.Data):
                body += event.data
                pieces += 1
                if pieces % EVENTS_PER_TURN == 0:
                    await trio.lowlevel.checkpoint()
                continue
            if body and self.stream is not None:
                await self.stream.handle(Body(stream_id=STREAM_ID, data=bytes(body)))
            body.clear()
            if event is h11.NEED_DATA or isinstance(event, h11.ConnectionClosed):
                return
            if event is h11.PAUSED:
                await self.can_read.clear()
                await self.can_read.wait()
            elif isinstance(event, h11.Request):
                await self._begin(event)
            elif self.stream is not None:
                await self.stream.handle(EndBody(stream_id=STREAM_ID))
            else:
                await self._next_cycle()

    async def _ready_to_parse(self) -> bool:
        """Whether h11 has something to do; not before a request's head is complete and found good."""
        state = self._http.their_state
        if state is h11.SEND_BODY:
            if self._http.they_are_waiting_for_100_continue:
                await self._write(self._http.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
            return True
        received = self._http.trailing_data[0]
        if state is not h11.IDLE or not received:
            return bool(received)
        try:
            return request_head.head_length(received) > 0
        except request_head.HeadRefused as refused:
            await self.refuse(400, str(refused))
            return False

    async def _begin(self, request: h11.Request) -> None:
        self._is_head = request.method.upper() == b"HEAD"
        try:
            request_head.check_framing(request)
        except request_head.HeadRefused as refused:
            await self.refuse(400, str(refused))
            return
        headers = list(request.headers)
        self._announced = request_head.announced_bytes(headers)
        self.stream = Stream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            False,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        await self.stream.handle(
            Request(
                stream_id=STREAM_ID,
                headers=headers,
                http_version=request.http_version.decode(),
                method=request.method.decode().upper(),
                raw_path=request.target,
                state=self.connection_state,
            )
        )

    async def _maybe_recycle(self) -> None:
        """The answer is complete, or will never be: go on with the next request where that is possible."""
        await self._close_stream()
        if self._http.our_state is h11.DONE and self._body_can_be_discarded:
            if self._http.their_state is h11.DONE:
                await self._next_cycle()
        else:
            await self._end()

    @property
    def _body_can_be_discarded(self) -> bool:
        return self._http.their_state is not h11.SEND_BODY or 0 < self._announced <= DISCARDED_BYTES

    async def _next_cycle(self) -> None:
        self._can_go_on = not self.context.terminated.is_set()
        await self._end()

    async def _end(self) -> None:
        self.over = True
        await self.can_read.set()
        await self.send(Closed())


@define(eq=False)
class AsgiRequest:
    """One request, answered by the ASGI application."""

    _app: AppWrapper
    _config: Config
    _context: WorkerContext
    _transport: Transport
    _write: Write
    _patience: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)

    async def run(self, received: bytes) -> bytes | None:
        """Answer the request whose head `received` begins with.

        What was received of the next request, or None when the connection is to end.
        """
        async with RequestTasks() as tasks:
            protocol = HttpProtocol(
                self._app, self._config, self._context, tasks, self._transport.address, self._take, self._write
            )
            with self._patience:
                await self._read(protocol, received)
            if self._patience.cancelled_caught and protocol.awaits_body:
                await protocol.refuse(408, BODY_TOO_SLOW)
            await protocol.handle(Closed())
        return protocol.left

    async def _take(self, event: Event) -> None:
        """Carry out what Hypercorn's protocol asks of the connection; its bytes come through `_write`."""
        if isinstance(event, Closed):
            self._patience.cancel()

    async def _read(self, protocol: HttpProtocol, received: bytes) -> None:
        """Give the protocol what the client sends, until that ends or nothing more is wanted."""
        await protocol.handle(RawData(received))
        while not protocol.over:
            started = trio.current_time()
            self._patience.deadline = started + protocol.body_patience.seconds if protocol.awaits_body else math.inf
            try:
                data = await self._transport.receive_some(READ_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return
            self._patience.deadline = math.inf
            if not data:
                return
            if protocol.awaits_body:
                # Only waiting for the client counts, not what the application does with what has come.
                protocol.body_patience.waited(trio.current_time() - started, len(data))
            await protocol.handle(RawData(data))


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
    async def spawn_app(
        self, app: AppWrapper, config: Config, scope: Scope, send: Callable[[ASGISendEvent | None], Awaitable[None]]
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Run the application for a request; what is returned hands it the request's events."""
        events = RequestEvents()
        self.spawn(_handle, app, config, scope, events.receive, send, trio.to_thread.run_sync, trio.from_thread.run)
        return events.put


def _fault(error: h11.RemoteProtocolError) -> str:
    """h11's complaint without the bytes that it quotes: the line in question may hold a credential."""
    return str(error).partition(": bytearray(")[0]
