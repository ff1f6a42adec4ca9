"""An HTTP client that writes its requests by hand, and an HTTP server in memory to send them to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import attrs
import h11
import pytest
import trio

from chat.api.http_connection import Call
from chat.api.http_server import HttpServer
from chat.clock import TrioClock
from chat.port.request_head import PlainRequest
from chat.testing.network import MemoryStream, Pipe

PATIENCE_SECONDS = 3_600
"""What takes longer in virtual time hangs."""

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Handler = Callable[[Scope, Receive, Send], Awaitable[None]]


@attrs.frozen
class Answer:
    """A response as it came."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, which must say that it is JSON."""
        assert self.headers[b"content-type"] == b"application/json"
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The error code in the body."""
        assert self.json.keys() == {"code", "message"}
        return str(self.json["code"])

    @property
    def closes(self) -> bool:
        """Whether it says that the connection ends with it."""
        return self.headers.get(b"connection") == b"close"


class RawHttp:
    """One connection, the client's end."""

    def __init__(self, stream: MemoryStream) -> None:
        self.stream = stream
        self.received = b""

    async def says(self, data: bytes) -> None:
        """Send bytes."""
        await self.stream.send_all(data)

    async def answer(self, method: str = "GET") -> Answer:
        """The next response but for those in between (100 Continue). Raises EOFError when the connection ends first."""
        connection = h11.Connection(h11.CLIENT)
        connection.send(h11.Request(method=method, target="/", headers=[("Host", "example.test")]))
        connection.send(h11.EndOfMessage())
        if self.received:
            connection.receive_data(self.received)
        head: h11.Response | None = None
        body = b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                data = await self.stream.receive_some()
                if not data:
                    raise EOFError
                connection.receive_data(data)
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                self.received = connection.trailing_data[0]
                return Answer(head.status_code, dict(head.headers), body)

    async def asks(self, request: bytes, method: str = "GET") -> Answer:
        """Send a request and read its response."""
        await self.says(request)
        return await self.answer(method)

    async def ended(self) -> bool:
        """Whether the connection ends without another byte."""
        return not self.received and await self.stream.receive_some() == b""


class Stage:
    """A server, connections to it, and what became of each."""

    def __init__(self, server: HttpServer, nursery: trio.Nursery) -> None:
        self.server = server
        self.nursery = nursery
        self.given_back: list[MemoryStream] = []
        self.open = 0

    def connect(self, capacity: int = 65_536) -> RawHttp:
        """A new connection from 10.0.0.7."""
        to_server, to_client = Pipe(capacity), Pipe(capacity)
        self.open += 1
        self.nursery.start_soon(self._serve, MemoryStream(to_server, to_client, "10.0.0.7"))
        return RawHttp(MemoryStream(to_client, to_server, "127.0.0.1"))

    async def _serve(self, transport: MemoryStream) -> None:
        if await self.server.serve(transport):
            self.given_back.append(transport)
        self.open -= 1


WAYS: list[str] = ["application"]
"""How a stage has requests answered: by its `app` as an ASGI application, or as an operation wherever that is
possible."""


@pytest.fixture(scope="module", params=["application", "operation"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs the tests of a module twice, with stages of both ways."""
    [usual] = WAYS
    WAYS[:] = [request.param]
    yield request.param
    WAYS[:] = [usual]


class EveryPath:
    """An ASGI application as an operation that has every path but the gateway's."""

    def __init__(self, app: Handler) -> None:
        self._app = app
        self.answered: list[PlainRequest] = []

    def find(self, method: str, path: str) -> Handler | None:
        return None if path == "/gateway" else self._app

    async def completed(self, path: str) -> bool:
        return False

    async def serve(self, found: Any, call: Call) -> None:
        request = call.request
        self.answered.append(request)
        scope = {
            "type": "http",
            "method": request.method,
            "path": request.path,
            "query_string": request.query,
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in request.block.pairs],
            "client": (call.peer, 0),
        }
        await found(scope, call.receive, call.send)


@asynccontextmanager
async def open_stage(app: Handler) -> AsyncIterator[Stage]:
    """Serve `app`, an ASGI application that may leave out the lifespan, in memory, in the way that WAYS names."""
    operations = EveryPath(app) if WAYS == ["operation"] else None
    server = HttpServer(_with_lifespan(app), TrioClock(1_700_000_000_000), operations)
    with trio.fail_after(PATIENCE_SECONDS):
        async with server.running(), trio.open_nursery() as nursery:
            stage = Stage(server, nursery)
            yield stage
            nursery.cancel_scope.cancel()


def _with_lifespan(app: Handler) -> Any:
    async def whole(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for phase in ("startup", "shutdown"):
                assert (await receive())["type"] == f"lifespan.{phase}"
                await send({"type": f"lifespan.{phase}.complete"})
        else:
            await app(scope, receive, send)

    return whole


def request(
    target: str = "/", *, method: str = "GET", headers: bytes = b"", body: bytes | None = None, version: str = "1.1"
) -> bytes:
    """A request with a Host, a Content-Length when there is a body, and more header lines."""
    length = b"" if body is None else b"Content-Length: %d\r\n" % len(body)
    head = f"{method} {target} HTTP/{version}\r\nHost: example.test\r\n".encode()
    return head + length + headers + b"\r\n" + (body or b"")


async def answer_with(send: Send, body: bytes, status: int = 200) -> None:
    """The whole of a plain response."""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def whole_body(receive: Receive) -> bytes:
    """All of a request's body."""
    body = b""
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise EOFError
        body += event["body"]
        if not event["more_body"]:
            return body


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the method, the path and the body."""
    body = await whole_body(receive)
    await answer_with(send, f"{scope['method']} {scope['path']} ".encode() + body)


async def start(send: Send, *headers: tuple[bytes, bytes], status: int = 200) -> None:
    """Begin an answer."""
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})


async def piece(send: Send, body: bytes, *, more: bool = True) -> None:
    """A piece of an answer."""
    await send({"type": "http.response.body", "body": body, "more_body": more})
