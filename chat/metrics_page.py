"""Where metrics are read: `/metrics` on the open port, for loopback alone, or on an address of its own.

On the open port the page is hidden from everybody else, and from whoever comes by way of a proxy: with the metrics a
stranger would learn how many people are here and what they do.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import trio

from chat.api.answers import Answer, Send, Streamed, encode, refusal
from chat.api.bodies import Receive
from chat.api.http_server import HttpServer
from chat.api.operation import Policy, Request, Routes
from chat.auth.client_address import ClientAddresses, is_forwarded, parse_address
from chat.clock import Clock
from chat.errors import ApiError
from chat.metrics import Metrics
from chat.port.listener import Listener, Port
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest

PATH: Final = "/metrics"

REQUEST_ID: Final = "metrics"

CONNECTIONS_MAXIMUM: Final = 16
"""Scrapers that an address of its own serves at a time."""


def routes_of(metrics: Metrics) -> Routes:
    """The page on the open port."""
    routes = Routes()

    @routes.operation("GET", PATH, policy=Policy.NONE)
    async def read_metrics(request: Request) -> Answer:
        """Metrics for Prometheus, for loopback alone."""
        address = parse_address(request.address)
        if address is None or not address.is_loopback or is_forwarded(request.headers):
            raise ApiError("NOT_FOUND")
        return await _answer(metrics, request.headers.get("accept", ""))

    return routes


async def _answer(metrics: Metrics, accept: str) -> Streamed:
    text, media_type = await metrics.exposition(accept)

    async def pieces() -> AsyncGenerator[bytes, None]:
        yield text

    return Streamed(200, headers={"Content-Type": media_type}, pieces=pieces, length=len(text))


class MetricsApp:
    """The page as an ASGI application of its own."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve one request, or the application's life."""
        if scope["type"] == "lifespan":
            for event in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{event}.complete"})
            return
        if scope["type"] != "http":
            return
        if scope["path"] != PATH or scope["method"] not in {"GET", "HEAD"}:
            status, headers, body = encode(refusal(ApiError("NOT_FOUND")), REQUEST_ID)
        else:
            accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
            answer = await _answer(self._metrics, accept.decode("latin-1"))
            status, headers, _ = encode(answer, REQUEST_ID)
            body = b"".join([piece async for piece in answer.pieces()])
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


@asynccontextmanager
async def page_of_its_own(metrics: Metrics, listeners: Sequence[Listener], clock: Clock) -> AsyncIterator[None]:
    """Serve the page on these listeners while the block lasts."""
    http = HttpServer(MetricsApp(metrics), clock)
    port = Port(
        listeners,
        gateway=_no_gateway,
        http=http,
        addresses=ClientAddresses(),
        maximum_connections=CONNECTIONS_MAXIMUM,
        refuse=_refuse_socket,
    )
    async with http.running(), trio.open_nursery() as nursery:
        nursery.start_soon(port.serve)
        yield
        nursery.cancel_scope.cancel()


def _refuse_socket(_address: str, _by_unnamed_proxy: bool) -> None:
    raise ApiError("NOT_FOUND")


async def _no_gateway(_: UpgradeRequest, transport: Transport) -> None:
    transport.close()
