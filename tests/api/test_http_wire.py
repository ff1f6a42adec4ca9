"""An operation's answer in bytes: those that h11 would send."""

from __future__ import annotations

import h11
import pytest

from chat.api.http_wire import Headers, head_bytes

DATE = (b"date", b"Tue, 14 Nov 2023 22:13:20 GMT")
JSON: Headers = [(b"content-type", b"application/json"), (b"content-length", b"2"), (b"cache-control", b"no-cache")]
CLOSE = (b"connection", b"close")


def by_h11(method: str, status: int, headers: Headers, *, closing: bool) -> bytes:
    """The head that h11 sends in answer to a request."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(
        f"{method} / HTTP/1.1\r\nHost: a\r\n{'Connection: close' if closing else 'A: b'}\r\n\r\n".encode()
    )
    connection.next_event()
    return connection.send(h11.Response(status_code=status, headers=headers)) or b""


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("closing", [False, True])
@pytest.mark.parametrize(
    ("status", "headers", "chunked"),
    [
        (200, [*JSON, DATE], False),
        (200, [*JSON, DATE, CLOSE], False),
        (413, [*JSON, CLOSE, DATE], False),
        (413, [*JSON, CLOSE, DATE, CLOSE], False),
        (204, [(b"cache-control", b"no-cache"), DATE], False),
        (304, [(b"etag", b'"a"'), DATE], False),
        (200, [(b"content-type", b"text/plain"), DATE], True),
        (200, [(b"content-type", b"text/plain"), DATE, CLOSE], True),
        (599, [DATE], True),
    ],
)
def test_a_head_is_the_one_that_h11_sends(
    method: str, closing: bool, status: int, headers: Headers, chunked: bool
) -> None:
    assert head_bytes(status, headers, chunked=chunked, keep_alive=not closing) == by_h11(
        method, status, headers, closing=closing
    )
