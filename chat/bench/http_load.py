"""Makes HTTP load: `python -m chat.bench.http_load`, one thread, one epoll loop.

Each line that it reads (`Order` as JSON) is one measurement: so many connections, each with one request under way at
any time, of those that are asked one after the other. Each measurement is answered by one line.
"""

from __future__ import annotations

import itertools
import json
import select
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import attrs

from chat.bench.load_sessions import read
from chat.bench.measuring import cpu_seconds

# Clients that cost next to nothing: one request under way each, its bytes made beforehand

HEAD_END: Final = b"\r\n\r\n"
LENGTH: Final = b"content-length:"


def request_bytes(method: str, path: str, *, authorization: str | None = None, body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if authorization is not None:
        lines.append(f"Authorization: {authorization}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + HEAD_END + body


class HttpClient:
    """A kept connection."""

    __slots__ = ("_received", "answered", "is_busy", "socket")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_busy = False
        self.answered = 0
        self._received = b""

    def send(self, request: bytes) -> None:
        """Send the next request; the last has been answered."""
        self.is_busy = True
        self.socket.send(request)

    def take(self, data: bytes) -> int:
        """Work off what was read. Returns 0: an answer is no delivery. Raises ConnectionError unless it is a 2xx."""
        if not data:
            raise ConnectionError("the server closed an HTTP connection")
        received = self._received = self._received + data if self._received else data
        end = received.find(HEAD_END)
        if end < 0:
            return 0
        if not received.startswith(b"HTTP/1.1 2"):
            raise ConnectionError(received[:500].decode("latin-1"))
        at = received.lower().find(LENGTH, 0, end)
        length = int(received[at + len(LENGTH) : received.index(b"\r", at)]) if at >= 0 else 0
        if len(received) >= end + len(HEAD_END) + length:
            self._received = b""
            self.is_busy = False
            self.answered += 1
        return 0


# Measuring

WARM_UP_SECONDS: Final = 0.3
"""Before each measurement; no longer than the measurement itself."""

PATIENCE_SECONDS: Final = 20.0
"""How long a measurement may take in which nothing is answered."""


@attrs.frozen
class Order:
    """What to ask of whom. `pid` is the process whose CPU time counts; the tokens are used in turn.

    `asked` are requests: `method`, `path`, and `body` where there is one.
    """

    port: int
    pid: int
    seconds: float
    connections: int
    tokens: list[str]
    asked: list[dict[str, str]]

    def requests(self, token: str) -> Iterator[bytes]:
        """The requests of one connection, again and again."""
        return itertools.cycle(
            [
                request_bytes(each["method"], each["path"], authorization=token, body=each.get("body", "").encode())
                for each in self.asked
            ]
        )


def measure(order: Order) -> dict[str, Any]:
    """Ask for a while and count the answers. Raises ConnectionError for an answer that is not a 2xx."""
    poll = select.epoll()
    clients = [HttpClient(order.port) for _ in range(order.connections)]
    request_of: dict[int, tuple[HttpClient, Iterator[bytes]]] = {}
    for number, client in enumerate(clients):
        requests = order.requests(order.tokens[number % len(order.tokens)])
        request_of[client.socket.fileno()] = client, requests
        poll.register(client.socket.fileno(), select.EPOLLIN)
        client.send(next(requests))
    try:
        _ask_until(time.monotonic() + min(WARM_UP_SECONDS, order.seconds), poll, request_of)
        answered, began = _answered(clients), time.monotonic()
        own, servers = time.process_time(), cpu_seconds(order.pid)
        _ask_until(began + order.seconds, poll, request_of)
        while _answered(clients) == answered and time.monotonic() - began < PATIENCE_SECONDS:
            _ask_until(time.monotonic() + order.seconds, poll, request_of)
        seconds, own = time.monotonic() - began, time.process_time() - own
        servers, answered = cpu_seconds(order.pid) - servers, _answered(clients) - answered
    finally:
        for client in clients:
            client.socket.close()
    return {
        "per_second": answered / seconds,
        "per_cpu_second": answered / servers if servers else 0.0,
        "server_cpu": servers / seconds,
        "generator_cpu": own / seconds,
    }


def _ask_until(end: float, poll: select.epoll, request_of: dict[int, tuple[HttpClient, Iterator[bytes]]]) -> None:
    while (now := time.monotonic()) < end:
        for descriptor, _ in poll.poll(min(0.1, end - now)):
            client, requests = request_of[descriptor]
            try:
                client.take(read(descriptor))
            except BlockingIOError:
                continue
            if not client.is_busy:
                client.send(next(requests))


def _answered(clients: list[HttpClient]) -> int:
    return sum(client.answered for client in clients)


def main() -> None:
    """Serve measurements until standard input ends."""
    for line in sys.stdin:
        answer = measure(Order(**json.loads(line)))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
