"""HTTP clients that cost next to nothing: one request under way each, its bytes made beforehand."""

from __future__ import annotations

import socket
from typing import Final

HEAD_END: Final = b"\r\n\r\n"
LENGTH: Final = b"content-length:"


def request_bytes(method: str, path: str, *, authorization: str | None = None, body: bytes = b"") -> bytes:
    """A whole request."""
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
