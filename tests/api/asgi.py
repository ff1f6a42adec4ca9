"""Speaks ASGI to an application, event by event: for what cannot be said over HTTP or needs operations of its own."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import attrs
import trio

from chat.api.app import ChatApp
from chat.api.kernel import Kernel
from chat.api.operation import Routes
from chat.auth.client_address import ClientAddresses
from chat.testing.server import ChatServer

App = Callable[[Any, Any, Any], Awaitable[None]]


@attrs.frozen
class Reply:
    """What the application sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def app_of(server: ChatServer, routes: Routes) -> ChatApp:
    """The application of a running server, with other operations."""
    kernel = Kernel(
        server.server.backend(),
        [routes],
        addresses=ClientAddresses(),
        chance=server.chance,
        per_address=server.server.http_connections,
    )
    return ChatApp(kernel)


async def ask(
    app: App,
    method: str,
    path: str,
    *,
    headers: Iterable[tuple[str, str]] = (),
    body: Iterable[bytes] = (),
    gone: bool = False,
    query: bytes = b"",
) -> Reply | None:
    """Send one request; `gone` ends the connection after the chunks of the body. None when nothing was answered."""
    chunks = list(body)
    events: list[dict[str, Any]] = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    events.append({"type": "http.disconnect"} if gone else {"type": "http.request", "body": b"", "more_body": False})
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        if events:
            return events.pop(0)
        await trio.sleep_forever()
        raise AssertionError

    async def send(event: dict[str, Any]) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(event)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.1"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode("latin-1"),
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "client": ("192.0.2.1", 50_000),
        "server": ("127.0.0.1", 8_080),
        "state": {},
        "extensions": {},
    }
    await app(scope, receive, send)
    if not sent:
        return None
    start, *parts = sent
    raw = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Reply(start["status"], raw, b"".join(part.get("body", b"") for part in parts))
