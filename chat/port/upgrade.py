"""The WebSocket opening handshake, server side (RFC 6455, section 4.2).

Any Origin is welcome (gateway.md, Connecting), no extension and no subprotocol is ever agreed to. What the handshake
needs is parsed from a bounded request head and forgotten afterwards.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import h11
from wsproto.utilities import generate_accept_token

from chat.auth.client_address import FORWARDED, FORWARDED_FOR, TEST_HEADER, ClientAddresses, is_forwarded
from chat.classes import frozen
from chat.port.request_head import plain_request, refusal
from chat.registries.error_codes import ErrorCode

WEBSOCKET_VERSION: Final = "13"
KEY_BYTES: Final = 16

SWITCHING: Final = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %b\r\n\r\n"
)


@frozen
class UpgradeRequest:
    """A request for a gateway connection.

    `path` and `query_string` are as sent (not percent-decoded), `address` is the client's address as text: the peer's,
    or what a trusted proxy says. `by_unnamed_proxy` is whether a proxy that is not trusted stands between. `headers`
    are the values that came by each name (in lower case), in the order of arrival.
    """

    path: str
    query_string: str
    headers: Mapping[str, Sequence[str]]
    address: str
    by_unnamed_proxy: bool = False

    def header(self, name: str) -> str | None:
        """The value of a header that must occur once; None when it is absent or repeated with another value."""
        values = self.headers.get(name, ())
        return values[0] if values and all(value == values[0] for value in values) else None

    @property
    def has_body(self) -> bool:
        """Whether the headers announce a body."""
        return "transfer-encoding" in self.headers or any(
            value != "0" for value in self.headers.get("content-length", ())
        )

    def has_token(self, name: str, wanted: str) -> bool:
        """Whether a comma-separated header has this member, in any letter case."""
        values = self.headers.get(name, ())
        return any(wanted in [member.strip(" \t") for member in value.lower().split(",")] for value in values)


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
    method, target, version, pairs = _parse(head)
    path, _, query_string = target.partition("?")
    headers: dict[str, list[str]] = {}
    for name, value in pairs:
        headers.setdefault(name, []).append(value)
    by_unnamed_proxy = is_forwarded(headers) and addresses.is_unnamed_proxy(peer)
    request = UpgradeRequest(path, query_string, headers, _client_address(headers, peer, addresses), by_unnamed_proxy)
    refuse(request.address, request.by_unnamed_proxy)
    if not (request.has_token("connection", "upgrade") and request.has_token("upgrade", "websocket")):
        raise UpgradeRefused(426, "The gateway speaks WebSocket only.", {"Upgrade": "websocket"})
    if method != "GET" or version != "1.1" or request.has_body:
        raise UpgradeRefused(400, "A WebSocket opens with GET over HTTP/1.1, without a body.")
    if request.header("sec-websocket-version") != WEBSOCKET_VERSION:
        raise UpgradeRefused(
            426, "The gateway speaks WebSocket version 13.", {"Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        )
    key = (request.header("sec-websocket-key") or "").encode("latin-1")
    if not _is_key(key):
        raise UpgradeRefused(400, "Sec-WebSocket-Key must be 16 bytes in base64.")
    return request, SWITCHING % generate_accept_token(key)


def _client_address(headers: Mapping[str, Sequence[str]], peer: str, addresses: ClientAddresses) -> str:
    forwarded_for, forwarded = headers.get(FORWARDED_FOR, ()), headers.get(FORWARDED, ())
    test_addresses = headers.get(TEST_HEADER)
    return addresses.of(peer, forwarded_for, test_addresses[0] if test_addresses else None, forwarded)


def _parse(head: bytes) -> tuple[str, str, str, Iterable[tuple[str, str]]]:
    """Method, target, version and headers, in Latin-1."""
    plain = plain_request(head)
    if plain is not None:
        target = f"{plain.path}?{plain.query.decode('ascii')}" if plain.query else plain.path
        return plain.method, target, "1.1", plain.block.pairs
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=len(head))
    try:
        connection.receive_data(head)
        event = connection.next_event()
    except h11.RemoteProtocolError as error:
        raise UpgradeRefused(400, f"This is not an HTTP request: {error}.") from error
    if not isinstance(event, h11.Request):
        raise UpgradeRefused(400, "This is not an HTTP request.")
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers]
    return (
        event.method.decode("latin-1").upper(),
        event.target.decode("latin-1"),
        event.http_version.decode("latin-1"),
        pairs,
    )


def _is_key(key: bytes) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == KEY_BYTES
    except binascii.Error:
        return False
