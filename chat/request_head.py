"""The head of an HTTP/1.1 request as raw bytes: where it ends, what is refused before anything interprets it, and the
answer to what is refused.

Everything here is stricter than HTTP parsers are, because leniency is where two readers of the same bytes come to
disagree: bare line feeds, folded lines, heads and header counts beyond all need (http.md, Framing).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from chat.registries.limits import REQUEST_HEADER_BYTES

GATEWAY_PATHS: Final = frozenset({b"/gateway", b"/gateway/"})
"""Where the gateway lives. Client libraries append `/?v=1` as readily as `?v=1`."""

HEADERS_MAXIMUM: Final = 100
"""A request with more header lines is refused; browsers send about twenty."""

_FOLDED: Final = re.compile(rb"\n[ \t]")
_METHOD: Final = re.compile(rb"[A-Za-z]+")
_AUTHORITY: Final = re.compile(rb"[A-Za-z]+://[^/?]*")

_STATUS_TEXTS: Final[Mapping[int, str]] = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    408: "Request Timeout",
    426: "Upgrade Required",
    429: "Too Many Requests",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}


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
        f"HTTP/1.1 {status} {_STATUS_TEXTS[status]}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        "Referrer-Policy: no-referrer",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body
