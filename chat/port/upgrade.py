"""The WebSocket opening handshake, server side (RFC 6455, section 4.2).

Any Origin is welcome (gateway.md, Connecting), no extension and no subprotocol is ever agreed to. What the handshake
needs is parsed from a bounded request head and forgotten afterwards.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import attrs
import h11
from wsproto.utilities import generate_accept_token

from chat.auth.client_address import FORWARDED_HEADER, TEST_HEADER, ClientAddresses, is_forwarded
from chat.port.request_head import refusal
from chat.registries.error_codes import ErrorCode

WEBSOCKET_VERSION: Final = b"13"
KEY_BYTES: Final = 16

SWITCHING: Final = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %b\r\n\r\n"
)


@attrs.frozen
class UpgradeRequest:
    """A request for a gateway connection.

    `path` and `query_string` are as sent (not percent-decoded), header names are in lower case, `address` is the
    client's address as text: the peer's, or what a trusted proxy says. `by_unnamed_proxy` is whether a proxy that is
    not trusted stands between.
    """

    path: str
    query_string: str
    headers: tuple[tuple[bytes, bytes], ...]
    address: str
    by_unnamed_proxy: bool = False

    def header(self, name: bytes) -> bytes | None:
        """The value of a header that must occur once; None when it is absent or repeated with another value."""
        values = {value for present, value in self.headers if present == name}
        return values.pop() if len(values) == 1 else None

    @property
    def has_body(self) -> bool:
        """Whether the headers announce a body."""
        return any(
            name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
            for name, value in self.headers
        )

    def tokens(self, name: bytes) -> frozenset[bytes]:
        """The members of a comma-separated header, in lower case."""
        values = [value for present, value in self.headers if present == name]
        return frozenset(token.strip().lower() for value in values for token in value.split(b","))


class UpgradeRefused(Exception):
    """The request cannot become a WebSocket; `answer` is the whole HTTP response."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.answer = refusal(status, ErrorCode.BAD_REQUEST, message, headers)


def open_websocket(
    head: bytes, peer: str, addresses: ClientAddresses, refuse: Callable[[str, bool], None] = lambda *_: None
) -> tuple[UpgradeRequest, bytes]:
    """What a complete request head asks for, and the 101 response to it.

    `refuse` raises an ApiError for a client's address that is turned away, before anything else is looked at.

    Raises UpgradeRefused when the head is no proper opening handshake: 426 when it does not ask for a WebSocket of
    version 13, 400 otherwise.
    """
    parsed = _parse(head)
    path, _, query_string = parsed.target.decode("latin-1").partition("?")
    headers = tuple(parsed.headers)
    by_unnamed_proxy = is_forwarded(name.decode("latin-1") for name, _ in headers) and addresses.is_unnamed_proxy(peer)
    request = UpgradeRequest(path, query_string, headers, _client_address(headers, peer, addresses), by_unnamed_proxy)
    refuse(request.address, request.by_unnamed_proxy)
    if b"upgrade" not in request.tokens(b"connection") or b"websocket" not in request.tokens(b"upgrade"):
        raise UpgradeRefused(426, "The gateway speaks WebSocket only.", {"Upgrade": "websocket"})
    if parsed.method != b"GET" or parsed.http_version != b"1.1" or request.has_body:
        raise UpgradeRefused(400, "A WebSocket opens with GET over HTTP/1.1, without a body.")
    if request.header(b"sec-websocket-version") != WEBSOCKET_VERSION:
        raise UpgradeRefused(
            426, "The gateway speaks WebSocket version 13.", {"Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        )
    key = request.header(b"sec-websocket-key")
    if key is None or not _is_key(key):
        raise UpgradeRefused(400, "Sec-WebSocket-Key must be 16 bytes in base64.")
    return request, SWITCHING % generate_accept_token(key)


def _client_address(headers: Iterable[tuple[bytes, bytes]], peer: str, addresses: ClientAddresses) -> str:
    forwarded = [value.decode("latin-1") for name, value in headers if name == FORWARDED_HEADER.encode()]
    test_addresses = [value.decode("latin-1") for name, value in headers if name == TEST_HEADER.encode()]
    return addresses.of(peer, forwarded, test_addresses[0] if test_addresses else None)


def _parse(head: bytes) -> h11.Request:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=len(head))
    try:
        connection.receive_data(head)
        event = connection.next_event()
    except h11.RemoteProtocolError as error:
        raise UpgradeRefused(400, f"This is not an HTTP request: {error}.") from error
    if not isinstance(event, h11.Request):
        raise UpgradeRefused(400, "This is not an HTTP request.")
    return event


def _is_key(key: bytes) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == KEY_BYTES
    except binascii.Error:
        return False
