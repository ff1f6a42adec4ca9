"""What both ways of answering an HTTP request share: deadlines, bounds, and the bytes of an answer's head.

The bytes are those that h11 would write; `tests/api/test_http_wire.py` compares them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import orjson

from chat.registries.error_codes import STATUS_FALLBACKS, ErrorCode
from chat.registries.limits import BODY_STEP_BYTES, BODY_STEP_MS

READ_BYTES: Final = 65_536
KEEP_ALIVE_SECONDS: Final = 75.0
"""How long a connection may wait for its next request: longer than the pools of common clients and proxies keep
theirs, so that it is they who close."""

WRITE_SECONDS: Final = 30.0
WRITE_STEP_BYTES: Final = 32_768
"""A client that has not taken this many bytes of an answer, or the rest of it, after WRITE_SECONDS is disconnected."""

LINGER_SECONDS: Final = 1.0
"""How long a client gets to read the last answer before the connection is closed under what it still sends."""

DISCARDED_BYTES: Final = 1_048_576
"""If a request is answered before its body was read, a body up to this size is read and thrown away to keep the
connection. For a larger one the connection closes."""

UNREAD_BYTES: Final = 262_144
"""Bytes of a body that may wait for the application; until it reads some, no more is read from the client."""

BODY_TOO_SLOW: Final = "The request's body comes too slowly."

Headers = list[tuple[bytes, bytes]]

Write = Callable[[bytes], Awaitable[None]]


class Patience:
    """How long to wait for the other side: a number of seconds for each step of a number of bytes, for any number of
    steps. Only time spent waiting counts; `seconds` are left for the present step."""

    __slots__ = ("_bytes", "_step_bytes", "_step_seconds", "seconds")

    def __init__(self, step_seconds: float, step_bytes: int) -> None:
        self._step_seconds: Final = step_seconds
        self._step_bytes: Final = step_bytes
        self._bytes = 0
        self.seconds = step_seconds

    def waited(self, seconds: float, moved: int) -> None:
        """Count `seconds` of waiting, in which `moved` bytes were moved."""
        self.seconds -= seconds
        self._bytes += moved
        if self._bytes >= self._step_bytes:
            self._bytes, self.seconds = 0, self._step_seconds


def body_patience() -> Patience:
    """The patience with the body of one request: a slow line or a long body is fine as long as bytes keep coming."""
    return Patience(BODY_STEP_MS / 1000, BODY_STEP_BYTES)


def head_bytes(
    status: int, headers: Headers | bytes, *, date: bytes = b"", chunked: bool = False, closes: bool, keep_alive: bool
) -> bytes:
    """The head of an answer to a request in HTTP/1.1.

    `headers` are pairs, or lines that say nothing of the connection; `date` is a line. `closes` says that the server
    ends the connection, `keep_alive` False that the client does.
    """
    if isinstance(headers, bytes):
        lines = headers
    elif keep_alive:
        lines = b"".join([b"%b: %b\r\n" % header for header in headers])
    else:
        lines = b"".join([b"%b: %b\r\n" % header for header in headers if header[0] != b"connection"])
    return b"HTTP/1.1 %d \r\n%b%b%b%b%b\r\n" % (
        status,
        lines,
        date,
        b"connection: close\r\n" if closes and keep_alive else b"",
        b"Transfer-Encoding: chunked\r\n" if chunked else b"",
        b"" if keep_alive else b"Connection: close\r\n",
    )


def error_answer(status: int, message: str | None = None) -> tuple[Headers, bytes]:
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
