"""An operation's answer in bytes: those that h11 would send."""

from __future__ import annotations

import h11
import pytest

from chat.api.answers import Answer, encode, encode_brief, refusal, with_pairs
from chat.api.http_wire import Headers, head_bytes
from chat.errors import ApiError, RateLimited
from chat.registries.error_codes import ErrorCode

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
@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize(
    ("status", "headers", "chunked"),
    [
        (200, JSON, False),
        (413, [*JSON, CLOSE], False),
        (204, [(b"cache-control", b"no-cache")], False),
        (304, [(b"etag", b'"a"')], False),
        (200, [(b"content-type", b"text/plain")], True),
        (599, [], True),
    ],
)
def test_a_head_is_the_one_that_h11_sends(
    method: str, closing: bool, closes: bool, status: int, headers: Headers, chunked: bool
) -> None:
    date = b"%b: %b\r\n" % DATE
    head = head_bytes(status, headers, date=date, chunked=chunked, closes=closes, keep_alive=not closing)
    assert head == by_h11(method, status, [*headers, DATE, *([CLOSE] if closes else [])], closing=closing)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, {"a": [1, None, "\u00e9"]}),
        Answer(200, []),
        Answer(200, {}, {"Cache-Control": "no-store", "X-A": " b "}),
        Answer(200, {"a": 1}, {"ETag": '"a"'}),
        Answer(200, {"a": 1}, {"ETag": '"a"', "X-A": "b"}),
        Answer(204),
        Answer(204, headers={"A": "b"}),
        Answer(304, headers={"ETag": '"a"'}),
        Answer(200),
        refusal(ApiError(ErrorCode.NOT_FOUND)),
        refusal(RateLimited(1.5)),
    ],
)
def test_the_quick_way_of_encoding_has_the_same_lines(answer: Answer, shared: bool) -> None:
    status, pairs, body = encode(answer, "some-id", shared=shared)
    lines = b"".join(b"%b: %b\r\n" % pair for pair in pairs)
    brief = encode_brief(answer, "some-id", shared=shared)
    assert brief == (status, lines, body)
    assert with_pairs(brief) == with_pairs((status, pairs, body)) == (status, pairs, body)


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\nb", "a\x00"])
def test_no_header_ends_its_line_early(value: str) -> None:
    for encoding in (encode, encode_brief):
        with pytest.raises(ValueError, match="cannot be written"):
            encoding(Answer(200, {}, {"Location": value}), "some-id")
