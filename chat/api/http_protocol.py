"""HTTP/1.1 on Hypercorn's protocol classes, with three differences.

- Every request's head is judged as raw bytes before h11 sees it, and its framing after that, on kept connections as on
  new ones. No way leads from here to HTTP/2 or to a WebSocket: an `Upgrade` header is left alone (RFC 9110, section
  7.8).
- An answer is one write: its head waits for the first piece of the body, which is all of it when the length is
  announced.
- What goes wrong below the API is answered with the API's error body.

`tests/api/test_http_server.py` pins what is used of Hypercorn.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable
from typing import Final

import h11
import orjson
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, Updated
from hypercorn.protocol.events import Body, EndBody, Request, Response, StreamClosed
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import ASGIHTTPState, HTTPStream
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState
from hypercorn.utils import suppress_body

from chat.port import request_head
from chat.registries.error_codes import STATUS_FALLBACKS, ErrorCode
from chat.registries.limits import BODY_BASE_MS, BODY_BYTES_PER_EXTRA_SECOND

EVENTS_PER_TURN: Final = 128
"""Pieces of a body that are parsed before others get a turn: it may come in chunks of one byte."""

DISCARDED_BYTES: Final = 1_048_576
"""A body that was answered before it was read is read and forgotten up to this size, so that the connection can be
kept; with a larger one the connection closes."""

Write = Callable[[bytes], Awaitable[None]]


class Phase(enum.Enum):
    """What a connection is waiting for."""

    IDLE = enum.auto()
    """Another request, if there is one."""

    HEAD = enum.auto()
    """The rest of a request's head."""

    BODY = enum.auto()
    """The rest of a request's body."""

    ANSWER = enum.auto()
    """The application."""


class Stream(HTTPStream):
    """One request and its answer. An application that ends without answering has answered 500."""

    async def _send_error_response(self, status_code: int) -> None:
        headers, body = error_answer(status_code)
        await self.send(Response(stream_id=self.stream_id, headers=headers, status_code=status_code))
        if not suppress_body(self.scope["method"], status_code):
            await self.send(Body(stream_id=self.stream_id, data=body))
        await self.send(EndBody(stream_id=self.stream_id))
        self.state = ASGIHTTPState.CLOSED


class HttpProtocol(H11Protocol):
    """The requests of one connection, one after the other.

    Once `over` is true no further request is read. `handed_back` then holds what was received of a request that is
    for the gateway, if that is why.
    """

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
        self.over = False
        self.handed_back: bytes | None = None
        self.head_began: float | None = None
        self.body_seconds = 0.0

    @property
    def phase(self) -> Phase:
        """What the connection waits for, as far as its requests go."""
        state = self._http.their_state
        if state is h11.IDLE:
            return Phase.IDLE if self.head_began is None else Phase.HEAD
        return Phase.BODY if state is h11.SEND_BODY else Phase.ANSWER

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
        """Whether h11 has something to do; not before a request's head is complete, found good, and not the
        gateway's."""
        state = self._http.their_state
        if state is h11.SEND_BODY:
            if self._http.they_are_waiting_for_100_continue:
                await self._write(self._http.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
            return True
        received = self._http.trailing_data[0]
        if state is not h11.IDLE or not received:
            return bool(received)
        try:
            complete = request_head.head_length(received) > 0
        except request_head.HeadRefused as refused:
            await self.refuse(400, str(refused))
            return False
        if not complete:
            self.head_began = trio.current_time() if self.head_began is None else self.head_began
            return False
        if request_head.path(received) in request_head.GATEWAY_PATHS:
            self.handed_back = received
            self.over = True
            return False
        return True

    async def _begin(self, request: h11.Request) -> None:
        self.head_began = None
        self._is_head = request.method.upper() == b"HEAD"
        try:
            request_head.check_framing(request)
        except request_head.HeadRefused as refused:
            await self.refuse(400, str(refused))
            return
        headers = list(request.headers)
        self._announced = request_head.announced_bytes(headers)
        self.body_seconds = BODY_BASE_MS / 1000 + self._announced / BODY_BYTES_PER_EXTRA_SECOND
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
        if self.context.terminated.is_set():
            await self._end()
            return
        self._http.start_next_cycle()
        self._is_head = False
        await self.can_read.set()
        await self.send(Updated(idle=True))

    async def _end(self) -> None:
        self.over = True
        await self.can_read.set()
        await self.send(Closed())


def _fault(error: h11.RemoteProtocolError) -> str:
    """What h11 says is wrong, without the bytes it quotes: the line at fault may hold a credential."""
    return str(error).partition(": bytearray(")[0]


def error_answer(status: int, message: str | None = None) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Headers and body of a refusal of which the status alone is known; the connection closes after it."""
    code = STATUS_FALLBACKS.get(status, ErrorCode.GENERAL_ERROR)
    body = orjson.dumps({"code": code, "message": message or code.message})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
        (b"referrer-policy", b"no-referrer"),
    ]
    return headers, body
