"""The WebSocket opening handshake, server side (RFC 6455, section 4.2).

Any Origin is welcome (design 7: the gateway uses no cookies), no extension and no subprotocol is ever agreed to. What
the handshake needs is parsed from a bounded request head and forgotten afterwards.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

import attrs
import h11
import orjson
from wsproto.utilities import generate_accept_token

WEBSOCKET_VERSION: Final = b"13"
KEY_BYTES: Final = 16


@attrs.frozen
class UpgradeRequest:
    """A request for a gateway connection.

    `path` and `query_string` are as sent (not percent-decoded), header names are in lower case, `address` is the
    client's address as text: the peer's, or what a trusted proxy says.
    """

    path: str
    query_string: str
    headers: tuple[tuple[bytes, bytes], ...]
    address: str

    def header(self, name: bytes) -> bytes | None:
        """The value of a header that must occur once; None when it is absent or repeated with another value."""
        values = {value for present, value in self.headers if present == name}
        return values.pop() if len(values) == 1 else None

    def tokens(self, name: bytes) -> frozenset[bytes]:
        """The members of a comma-separated header, in lower case."""
        values = [value for present, value in self.headers if present == name]
        return frozenset(token.strip().lower() for value in values for token in value.split(b","))


class UpgradeRefused(Exception):  # noqa: N818 - an answer to the peer, not an error of ours
    """The request cannot become a WebSocket; `answer` is the whole HTTP response."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.answer = refusal(status, code, message, headers)


REASONS: Final[Mapping[int, str]] = {400: "Bad Request", 426: "Upgrade Required", 503: "Service Unavailable"}


def refusal(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> bytes:
    """A whole HTTP/1.1 response with the API's error body, after which the connection closes."""
    body = orjson.dumps({"code": code, "message": message})
    lines = [
        f"HTTP/1.1 {status} {REASONS[status]}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body


def parse_head(head: bytes) -> h11.Request:
    """The request that a complete head stands for; raises UpgradeRefused (400) when it is not HTTP."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=len(head))
    try:
        connection.receive_data(head)
        event = connection.next_event()
    except h11.RemoteProtocolError as error:
        raise UpgradeRefused(400, "BAD_REQUEST", f"This is not an HTTP request: {error}.") from error
    if not isinstance(event, h11.Request):
        raise UpgradeRefused(400, "BAD_REQUEST", "This is not a whole HTTP request.")
    return event


def accept(method: bytes, http_version: bytes, request: UpgradeRequest) -> bytes:
    """The 101 response; raises UpgradeRefused (400 or 426) when the request is not a proper WebSocket handshake."""
    if b"upgrade" not in request.tokens(b"connection") or b"websocket" not in request.tokens(b"upgrade"):
        raise UpgradeRefused(426, "BAD_REQUEST", "The gateway speaks WebSocket only.", {"Upgrade": "websocket"})
    if method != b"GET" or http_version < b"1.1":
        raise UpgradeRefused(400, "BAD_REQUEST", "A WebSocket opens with GET over HTTP/1.1.")
    if request.header(b"sec-websocket-version") != WEBSOCKET_VERSION:
        raise UpgradeRefused(
            426,
            "BAD_REQUEST",
            "The gateway speaks WebSocket version 13.",
            {"Upgrade": "websocket", "Sec-WebSocket-Version": "13"},
        )
    key = request.header(b"sec-websocket-key")
    if key is None or not _is_key(key):
        raise UpgradeRefused(400, "BAD_REQUEST", "Sec-WebSocket-Key must be 16 bytes in base64.")
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        + generate_accept_token(key)
        + b"\r\n\r\n"
    )


def _is_key(key: bytes) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == KEY_BYTES
    except binascii.Error:
        return False
