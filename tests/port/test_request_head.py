"""Where a request's head ends, and which heads are refused as bytes."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.port.request_head import HEADERS_MAXIMUM, HeadRefused, head_length, path, refusal, target_path
from chat.registries.limits import REQUEST_HEADER_BYTES

PLAIN = b"GET /v1/users/@me HTTP/1.1\r\nHost: example.test\r\n\r\n"


def _head(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\r\n" for line in [b"GET / HTTP/1.1", *lines, b""])


def test_a_head_ends_with_its_empty_line() -> None:
    assert head_length(PLAIN) == len(PLAIN)
    assert head_length(PLAIN + b"a body\n\n") == len(PLAIN)


@given(st.integers(0, len(PLAIN) - 1))
def test_a_head_is_incomplete_until_its_last_byte(received: int) -> None:
    assert head_length(PLAIN[:received]) == 0


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(PLAIN.replace(b"\r\n", b"\n"), id="bare line feeds"),
        pytest.param(_head([b"Host: a", b"A: b\nC: d"]), id="one bare line feed"),
        pytest.param(_head([b"Host: a", b"A: b\rC: d"]), id="a bare carriage return"),
        pytest.param(_head([b"Host: a", b"A: b", b" folded"]), id="a line folded by a space"),
        pytest.param(_head([b"Host: a", b"A: b", b"\tfolded"]), id="a line folded by a tab"),
        pytest.param(_head([b" Host: a"]), id="a space before the first header"),
        pytest.param(_head([b"A: b"] * (HEADERS_MAXIMUM + 1)), id="too many headers"),
        pytest.param(_head([b"A: " + bytes([98]) * REQUEST_HEADER_BYTES]), id="too many bytes"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", id="TLS"),
        pytest.param(b"\r\n" + PLAIN, id="an empty line first"),
        pytest.param(b"GET / HTTP/1.1\n", id="a bare line feed before the end is there"),
        pytest.param(b"GET /" + bytes([97]) * REQUEST_HEADER_BYTES, id="no end in sight"),
    ],
)
def test_heads_that_two_readers_could_understand_differently_are_refused(head: bytes) -> None:
    with pytest.raises(HeadRefused):
        head_length(head)


def test_heads_at_the_limits_are_accepted() -> None:
    headers = _head([b"A: b"] * HEADERS_MAXIMUM)
    assert head_length(headers) == len(headers)
    filled = _head([b"A: " + bytes([98]) * (REQUEST_HEADER_BYTES - len(_head([b"A: "])))])
    assert len(filled) == REQUEST_HEADER_BYTES
    assert head_length(filled) == REQUEST_HEADER_BYTES


@given(
    st.lists(st.sampled_from([b"\r", b"\n", b" ", b"\t", b":", b"GET / HTTP/1.1", b"A", b"b", b"\r\n"]), max_size=30)
)
def test_what_is_accepted_is_a_head_to_h11_too_and_of_the_same_length(parts: list[bytes]) -> None:
    data = b"".join(parts) + b"\r\n\r\n"
    try:
        length = head_length(data)
    except HeadRefused:
        return
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    try:
        event = connection.next_event()
    except h11.RemoteProtocolError:
        return  # stricter still
    assert isinstance(event, h11.Request)
    assert connection.trailing_data[0] == data[length:]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (b"/gateway", b"/gateway"),
        (b"/gateway?v=1", b"/gateway"),
        (b"/gateway/?v=1", b"/gateway/"),
        (b"http://example.test/gateway?v=1", b"/gateway"),
        (b"http://example.test?v=1", b""),
        (b"*", b"*"),
    ],
)
def test_the_path_of_a_target(target: bytes, expected: bytes) -> None:
    assert target_path(target) == expected
    assert path(b"GET " + target + b" HTTP/1.1\r\n\r\n") == expected


def test_a_head_without_a_request_line_has_no_path() -> None:
    assert path(b"GET\r\n\r\n") == b""


def test_a_refusal_is_a_whole_response_with_the_error_body() -> None:
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "example.test")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(refusal(503, "SERVICE_UNAVAILABLE", "Full.", {"Retry-After": "1"}))
    response = connection.next_event()
    assert isinstance(response, h11.Response)
    assert response.status_code == 503
    assert dict(response.headers) == {
        b"content-type": b"application/json",
        b"content-length": b"48",
        b"connection": b"close",
        b"referrer-policy": b"no-referrer",
        b"retry-after": b"1",
    }
    body = connection.next_event()
    assert isinstance(body, h11.Data)
    assert body.data == b'{"code":"SERVICE_UNAVAILABLE","message":"Full."}'
