"""The head of an HTTP/1.1 request: where it ends, what of it is refused, and the answer to what is refused.

All of this is stricter than HTTP parsers are, because leniency is where two readers of the same bytes come to disagree,
and behind a proxy one client's bytes become another client's request (http.md, Framing). Most is judged on the raw
bytes, before anything interprets them, and the rest (`check_framing`) on the parsed request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

import h11
import orjson

from chat.registries.limits import REQUEST_HEADER_BYTES

GATEWAY_PATHS: Final = frozenset({b"/gateway", b"/gateway/"})
"""Where the gateway lives. Client libraries append `/?v=1` as readily as `?v=1`."""

SIGNALLING_PATHS: Final = frozenset({b"/rtc", b"/rtc/", b"/rtc/v1", b"/rtc/validate", b"/rtc/v1/validate"})
"""Where clients of voice open their WebSockets, and ask what is wrong when they cannot."""

SOCKET_PATHS: Final = GATEWAY_PATHS | SIGNALLING_PATHS
"""What the HTTP engine does not answer."""

HEADERS_MAXIMUM: Final = 100
"""A request with more header lines is refused; browsers send about twenty."""

_LENGTH: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_FOLDED: Final = re.compile(rb"\n[ \t]")
_METHOD: Final = re.compile(rb"[A-Za-z]+")
_AUTHORITY: Final = re.compile(rb"[A-Za-z]+://[^/?]*")


_PLAIN: Final = re.compile(
    rb"([A-Za-z]++) (/[\x21-\x3e\x40-\x7e]*+)(?:\?([\x21-\x7e]*+))? HTTP/1\.1\r\n"
    rb"((?:[-!#$%&'*+.^_`|~0-9a-zA-Z]++:[^\x00\n\r\f\v]*+\r\n)*+)\r\n"
)
"""A whole head in the grammar of h11 (RFC 9112), narrowed to what programs send: a method of letters, a path, 1.1."""

_LONG: Final = frozenset({"transfer-encoding", "expect"})
"""Headers that make a request not plain."""


class HeadRefused(Exception):
    """The head cannot be accepted; the text says why, for the peer."""


def head_length(data: bytes) -> int:
    """How many of the bytes are the head of a request, its empty line included; 0 when more are needed.

    Raises HeadRefused as soon as no continuation could make an acceptable head of them.
    """
    end = data.find(b"\r\n\r\n", 0, REQUEST_HEADER_BYTES) + 4
    head = data[:end] if end > 3 else data.removesuffix(b"\r")
    _check(head)
    if end > 3:
        return end
    if len(data) >= REQUEST_HEADER_BYTES:
        raise HeadRefused(f"The request's headers exceed {REQUEST_HEADER_BYTES} bytes.")
    return 0


def _check(head: bytes) -> None:
    if head and not _METHOD.match(head):
        raise HeadRefused("This is not an HTTP request.")
    lines = head.count(b"\r\n")
    if head.count(b"\n") != lines or head.count(b"\r") != lines:
        raise HeadRefused("Lines of the request must end with CR LF.")
    if lines > HEADERS_MAXIMUM + 2:  # the request line and the empty one
        raise HeadRefused(f"The request has more than {HEADERS_MAXIMUM} headers.")
    if _FOLDED.search(head):
        raise HeadRefused("Folded header lines are not accepted.")


class HeaderBlock:
    """The header lines of a plain request, taken apart; those of a client's requests are mostly the same.

    `pairs` are text in the order of arrival, names in lower case. `read` is what the API has read off them, for
    the next request.
    """

    __slots__ = ("body_length", "keep_alive", "lines", "pairs", "read")

    def __init__(self, lines: bytes) -> None:
        self.lines: Final = lines
        self.pairs: Final[list[tuple[str, str]]] = []
        self.body_length = 0
        self.keep_alive = True
        self.read: Any = None


class PlainRequest:
    """A request with nothing unusual about it: `length` is the bytes of its head.

    `method` is in capitals, also where a program sent it otherwise (`curl -X post`): no two differ in case alone.
    `path` and `query` are as sent, in ASCII and as bytes.
    """

    __slots__ = ("block", "length", "method", "path", "query")

    def __init__(self, method: str, path: str, query: bytes, length: int, block: HeaderBlock) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.length = length
        self.block = block


def plain_request(data: bytes, before: HeaderBlock | None = None) -> PlainRequest | None:
    """The request that `data` begins with, where its head is whole and plain; None leaves the judgement to others.

    Every such head passes `head_length` and h11, and both understand the same by it
    (`tests/port/test_plain_requests.py`). What is not plain: another protocol version than 1.1, an absolute target,
    chunks, `Expect`, and everything that is to be refused. `before` are the header lines of the request before on the
    connection, which are not taken apart again where they are the same.
    """
    match = _PLAIN.match(data, 0, REQUEST_HEADER_BYTES)
    if match is None:
        return None
    method, path, query, lines = match.groups()
    block = before if before is not None and before.lines == lines else _block(lines)
    if block is None:
        return None
    return PlainRequest(method.decode("ascii").upper(), path.decode("ascii"), query or b"", match.end(), block)


def _block(lines: bytes) -> HeaderBlock | None:
    block = HeaderBlock(lines)
    hosts = lengths = 0
    for line in lines.decode("latin-1").split("\r\n"):
        name, colon, value = line.partition(":")
        if not colon:
            break  # behind the last line
        name, value = name.lower(), value.strip(" \t")
        block.pairs.append((name, value))
        if name == "host":
            hosts += 1
        elif name == "content-length":
            lengths += 1
            if not _LENGTH.fullmatch(value):
                return None
            block.body_length = int(value)
        elif name == "connection":
            block.keep_alive = block.keep_alive and not _closes(value)
        elif name in _LONG:
            return None
    return block if hosts == 1 and lengths <= 1 and len(block.pairs) <= HEADERS_MAXIMUM else None


def _closes(connection: str) -> bool:
    return connection != "keep-alive" and "close" in {option.strip() for option in connection.lower().split(",")}


def path_of_whole(data: bytes) -> bytes | None:
    """As `path`, once all of the head is there; None before. Raises HeadRefused as `head_length`."""
    return path(data) if head_length(data) else None


def path(head: bytes) -> bytes:
    """The path of a head's request line as sent, without query; empty when there is none."""
    parts = head[: head.find(b"\r\n")].split(b" ")
    return target_path(parts[1]) if len(parts) == 3 else b""


def target_path(target: bytes) -> bytes:
    """The path of a request target, which may be in absolute form (RFC 9112, section 3.2.2)."""
    if not target.startswith(b"/"):
        target = _AUTHORITY.sub(b"", target, count=1)
    return target.partition(b"?")[0]


def refusal(
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    members: Mapping[str, Any] | None = None,
) -> bytes:
    """A whole response with the API's error body, after which the connection closes."""
    return answer(status, {"code": code, "message": message, **(members or {})}, headers)


def answer(status: int, members: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> bytes:
    """A whole response with a JSON object, after which the connection closes."""
    body = orjson.dumps(members)
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        "Referrer-Policy: no-referrer",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body


def check_framing(request: h11.Request) -> None:
    """Raise HeadRefused unless the request is HTTP/1.x for a path, with one way to tell where its body ends."""
    if request.http_version not in (b"1.1", b"1.0"):
        raise HeadRefused("Only HTTP/1.1 is spoken here.")
    if request.method.upper() == b"CONNECT" or not (request.target.startswith(b"/") or b"://" in request.target):
        raise HeadRefused("The request must name a path.")
    names = [name for name, _ in request.headers]
    if b"transfer-encoding" in names and (b"content-length" in names or request.http_version == b"1.0"):
        raise HeadRefused("Content-Length and Transfer-Encoding contradict each other.")


def announced_bytes(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """The Content-Length, which h11 has checked; 0 without one."""
    return next((int(value) for name, value in headers if name == b"content-length"), 0)
