"""HTTP/1.1 over any Trio stream, with kept connections, as `chat.testing.RestClient` speaks it."""

from __future__ import annotations

import json as json_text
import select
from collections.abc import Mapping
from typing import Any, Final, Self
from urllib.parse import urlencode

import attrs
import h11
import trio

from chat.classes import define, frozen
from chat.testing.conversation import FROM_SERVER, TO_SERVER
from chat.testing.network import Route

REQUEST_SECONDS: Final = 30.0
"""How long a whole exchange may take."""

IDLE_SECONDS: Final = 1.0
"""How long an unused connection is worth keeping: servers close theirs after a few seconds, and a request that
crosses with the close is lost."""

BODY_BYTES: Final = 67_108_864
"""The longest answer that is read."""

READ_BYTES: Final = 65_536

Parameters = Mapping[str, str | int | bool | None]
"""Query parameters; those that are None are left out."""


class NoAnswer(Exception):
    """The connection ended before the answer did."""


@frozen
class Response:
    """What the server answered; header names are in lower case."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        return next((value for present, value in self.headers if present == name.lower()), None)

    def json(self) -> Any:
        """The decoded body; raises ValueError when it is not JSON."""
        return json_text.loads(self.body)

    @property
    def code(self) -> str | None:
        """The `code` of an error body, None where there is none."""
        try:
            value = self.json()
        except ValueError:
            return None
        return value.get("code") if isinstance(value, dict) and self.status >= 400 else None

    def expect(self, *statuses: int) -> Any:
        """The decoded body (None when it is empty) of an answer with one of these statuses, or an AssertionError that
        shows what came instead."""
        if self.status not in statuses:
            expected = " or ".join(map(str, statuses))
            raise AssertionError(f"expected {expected}, got {self.status}: {self.body[:2_000]!r}")
        return self.json() if self.body else None


@define(eq=False)
class _Exchange:
    """One connection, used by one request at a time. `since` is when it became idle."""

    stream: trio.abc.Stream
    parser: h11.Connection = attrs.field(factory=lambda: h11.Connection(h11.CLIENT))
    since: float | None = None
    answered: bool = False

    async def perform(self, request: h11.Request, body: bytes) -> Response:
        self.answered = False
        await self._send(request, body)
        head: h11.Response | None = None
        content = bytearray()
        while True:
            event = await self._next_event()
            match event:
                case h11.Response():
                    head = event
                case h11.Data():
                    content += event.data
                    if len(content) > BODY_BYTES:
                        raise NoAnswer("the answer is too long")
                case h11.EndOfMessage():
                    break
                case h11.ConnectionClosed():
                    raise NoAnswer("the connection ended before the answer")
                case _:
                    pass
        if head is None:
            raise NoAnswer("the answer has no head")
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers)
        return Response(head.status_code, headers, bytes(content))

    async def _send(self, request: h11.Request, body: bytes) -> None:
        parts: list[h11.Event] = [request, h11.Data(data=body), h11.EndOfMessage()]
        data = b"".join(sent for part in parts if (sent := self.parser.send(part)))
        try:
            await self.stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            # A server that refuses a request without reading it all has answered before it closed.
            if body == b"":
                raise NoAnswer("the connection broke") from error

    async def _next_event(self) -> h11.Event:
        while (event := self.parser.next_event()) is h11.NEED_DATA:
            try:
                data = await self.stream.receive_some(READ_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise NoAnswer("the connection broke") from error
            self.answered = self.answered or data != b""
            self.parser.receive_data(bytes(data))
        if event is h11.PAUSED:
            raise NoAnswer("the server changed the protocol")
        assert not isinstance(event, type)
        return event

    def can_continue(self) -> bool:
        """Get ready for another request, if both sides keep the connection."""
        if self.parser.our_state is not h11.DONE or self.parser.their_state is not h11.DONE:
            return False
        self.parser.start_next_cycle()
        self.since = trio.current_time()
        return True


class HttpClient:
    """One client. `token` goes into every request's Authorization header, with its scheme; `name` says in the report
    of a failure who asked."""

    def __init__(
        self, route: Route, token: str | None = None, *, headers: Mapping[str, str] | None = None, name: str = "client"
    ) -> None:
        self.name = name
        self.route = route
        self.token = token
        self.headers = dict(headers or {})
        self._idle: list[_Exchange] = []

    def signed_in(self, token: str | None) -> Self:
        """A client that goes the same way, on the same connections, with another credential."""
        return self._beside(token, self.headers)

    def declaring(self, *capabilities: str) -> Self:
        """The same client with these client capabilities, such as `channel_threads` (access.md, Client
        capabilities)."""
        return self._beside(self.token, {**self.headers, "X-Service-Features": ", ".join(capabilities)})

    def _beside(self, token: str | None, headers: Mapping[str, str]) -> Self:
        other = type(self)(self.route, token, headers=headers, name=self.name)
        other._idle = self._idle  # the server limits the connections of an address
        return other

    async def aclose(self) -> None:
        """Close the connections that wait for another request."""
        while self._idle:
            await trio.aclose_forcefully(self._idle.pop().stream)

    # Requests

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: object = ...,
        body: bytes | None = None,
        query: Parameters | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = REQUEST_SECONDS,
    ) -> Response:
        """Send a request and read the answer.

        `path` is the whole path from the root, as in `/v1/users/@me`; `json` is encoded, `body` goes as it is.

        Raises NoAnswer when the connection ends too early, trio.TooSlowError after `seconds`.
        """
        content = b"" if body is None else body
        named = {"Host": self.route.host, **self.headers}
        if self.token is not None:
            named["Authorization"] = self.token
        if json is not ...:
            content = json_text.dumps(json).encode()
            named["Content-Type"] = "application/json"
        if content or method in {"POST", "PUT", "PATCH"}:
            named["Content-Length"] = str(len(content))
        named.update(headers or {})
        request = h11.Request(method=method, target=_target(path, query), headers=list(named.items()))
        self._note(TO_SERVER, method, _target(path, query), ... if json is ... else json)
        with trio.fail_after(seconds):
            response = await self._perform(request, content)
        self._note(FROM_SERVER, str(response.status), f"{method} {path}", response.body)
        return response

    def _note(self, direction: str, *what: object) -> None:
        if self.route.conversation is not None:
            self.route.conversation.note(self.name, direction, *(part for part in what if part is not ...))

    async def _perform(self, request: h11.Request, body: bytes) -> Response:
        exchange = await self._take_idle()
        if exchange is not None:
            try:
                return await self._perform_on(exchange, request, body)
            except NoAnswer:
                # The server may close a kept connection at any time; only what is safe to repeat is repeated.
                if exchange.answered or request.method not in {b"GET", b"HEAD", b"PUT", b"DELETE"}:
                    raise
        return await self._perform_on(_Exchange(await self.route.connect()), request, body)

    async def _perform_on(self, exchange: _Exchange, request: h11.Request, body: bytes) -> Response:
        reusable = False
        try:
            response = await exchange.perform(request, body)
            reusable = exchange.can_continue()
        except h11.RemoteProtocolError as error:
            raise NoAnswer(f"the answer is not HTTP: {error}") from error
        finally:
            if not reusable:
                await trio.aclose_forcefully(exchange.stream)
        if reusable:
            self._idle.append(exchange)
        return response

    async def _take_idle(self) -> _Exchange | None:
        while self._idle:
            exchange = self._idle.pop()
            is_young = exchange.since is not None and trio.current_time() - exchange.since < IDLE_SECONDS
            if is_young and not _has_ended(exchange.stream):
                return exchange
            await trio.aclose_forcefully(exchange.stream)
        return None

    async def get(self, path: str, query: Parameters | None = None) -> Response:
        return await self.request("GET", path, query=query)

    async def post(self, path: str, json: object = ...) -> Response:
        return await self.request("POST", path, json=json)

    async def put(self, path: str, json: object = ...) -> Response:
        return await self.request("PUT", path, json=json)

    async def patch(self, path: str, json: object) -> Response:
        return await self.request("PATCH", path, json=json)

    async def delete(self, path: str, json: object = ...) -> Response:
        return await self.request("DELETE", path, json=json)


def _has_ended(stream: trio.abc.Stream) -> bool:
    """Whether something has come on an idle connection: its end, what else (a server's clock may have been moved)."""
    if not isinstance(stream, trio.SocketStream):
        return False
    poller = select.poll()
    poller.register(stream.socket, select.POLLIN)
    return bool(poller.poll(0))


def _target(path: str, query: Parameters | None) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
