"""Small HTTP services on loopback for tests: what the server asks of others, it asks of these."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

import attrs
import h11
import trio

HOST: Final = "127.0.0.1"


@attrs.frozen
class Answer:
    """What a service says: a body of bytes, or an object as JSON."""

    status: int
    body: Any
    headers: tuple[tuple[str, str], ...] = ()


@attrs.frozen
class Asked:
    """A request that came."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    form: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, which is JSON."""
        return json.loads(self.body)


class LoopbackHttp:
    """A service; what it says is up to `answer`. `requests` are those that came."""

    def __init__(self) -> None:
        self.origin = ""
        self.requests: list[Asked] = []

    async def answer(self, asked: Asked) -> Answer:
        raise NotImplementedError

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [asked.path for asked in self.requests]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Serve on a free port while the block lasts."""
        listeners = await trio.open_tcp_listeners(0, host=HOST)
        self.origin = f"http://{HOST}:{listeners[0].socket.getsockname()[1]}"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, self._serve, listeners)
            yield self
            nursery.cancel_scope.cancel()

    async def _serve(self, stream: trio.SocketStream) -> None:
        connection = h11.Connection(h11.SERVER)
        request: h11.Request | None = None
        body = b""
        try:
            while not isinstance(event := connection.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    connection.receive_data(await stream.receive_some(65_536))
                elif isinstance(event, h11.Request):
                    request = event
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                else:
                    return
            assert request is not None
            asked = _asked(request, body)
            self.requests.append(asked)
            answer = await self.answer(asked)
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            headers = [("Content-Type", "application/json"), ("Connection", "close"), *answer.headers]
            if not any(name == "Content-Length" for name, _ in headers):
                headers.append(("Content-Length", str(len(content))))
            head = connection.send(h11.Response(status_code=answer.status, headers=headers))
            await stream.send_all((head or b"") + content)
        except (trio.BrokenResourceError, h11.RemoteProtocolError):
            pass  # whoever asked has gone
        finally:
            await stream.aclose()


def _asked(request: h11.Request, body: bytes) -> Asked:
    parts = urlsplit(request.target.decode())
    form = {name: values[0] for name, values in parse_qs(body.decode("latin-1"), keep_blank_values=True).items()}
    headers = {name.decode(): value.decode() for name, value in request.headers}
    return Asked(request.method.decode(), parts.path, parts.query, headers, form, body)
