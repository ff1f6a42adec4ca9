"""Requests whose framing or credential two readers could understand differently are refused, not interpreted.

What can be seen in the raw head is judged in `chat.request_head`; this is about the parsed request. Behind a proxy such
requests are how one client's bytes become another client's request (http.md, Framing).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import h11

from chat.request_head import HeadRefused

Headers = Iterable[tuple[bytes, bytes]]


def check_framing(request: h11.Request) -> None:
    """Raise HeadRefused unless the request is HTTP/1.x for a path, with one way to tell where its body ends."""
    if request.http_version not in (b"1.1", b"1.0"):
        raise HeadRefused("Only HTTP/1.1 is spoken here.")
    if request.method == b"CONNECT" or not (request.target.startswith(b"/") or b"://" in request.target):
        raise HeadRefused("The request must name a path.")
    names = [name for name, _ in request.headers]
    if b"transfer-encoding" in names and (b"content-length" in names or request.http_version == b"1.0"):
        raise HeadRefused("Content-Length and Transfer-Encoding contradict each other.")


def announced_bytes(headers: Headers) -> int:
    """The Content-Length, which h11 has checked; 0 without one."""
    return next((int(value) for name, value in headers if name == b"content-length"), 0)


def credential_is_doubled(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether Authorization occurs more than once: no credential at all then, whatever the values (ASGI header
    list)."""
    return sum(name == b"authorization" for name, _ in headers) > 1
