"""Heads that are read without h11: it would read them in the same way, and what is to be refused is never among them.

http.md, Framing. `spec_fixtures/http/request_heads.json` has the verdicts of three readers on every head: this server
(and the way that the request takes in it), h11, and httptools, which many servers use and which is laxer in a dozen
cases.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, Final

import h11
import httptools
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.port import request_head
from chat.port.request_head import HeadRefused, plain_request

CASES: Final[list[dict[str, Any]]] = json.loads(Path("spec_fixtures/http/request_heads.json").read_text())

every_case: Final = pytest.mark.parametrize("case", [pytest.param(case, id=case["case"]) for case in CASES])


def bytes_of(case: dict[str, Any]) -> bytes:
    """The request of a case: pieces of Latin-1 text, some of them many times."""
    pieces = (piece if isinstance(piece, str) else piece[0] * piece[1] for piece in case["request"])
    return "".join(pieces).encode("latin-1")


def read_by_h11(data: bytes) -> h11.Request | None:
    """The request as h11 reads it; None where it refuses."""
    connection = h11.Connection(h11.SERVER)
    try:
        connection.receive_data(data)
        event = connection.next_event()
    except h11.RemoteProtocolError:
        return None
    return event if isinstance(event, h11.Request) else None


def served_here(data: bytes) -> bool:
    """Whether the guard and h11 together let the request through, as they do on the longer way."""
    try:
        length = request_head.head_length(data)
        parsed = read_by_h11(data[:length]) if length else None
        if parsed is not None:
            request_head.check_framing(parsed)
    except HeadRefused:
        return False
    return parsed is not None


class Seen:
    """Hears from httptools that a head is whole."""

    def __init__(self) -> None:
        self.head = False

    def on_headers_complete(self) -> None:
        self.head = True


def served_by_httptools(data: bytes) -> bool:
    """Whether httptools takes the head."""
    seen = Seen()
    # What lies behind a head that was taken does not matter here.
    with contextlib.suppress(httptools.HttpParserError, httptools.HttpParserUpgrade):
        httptools.HttpRequestParser(seen).feed_data(data)
    return seen.head


@every_case
def test_the_verdicts_on_a_head_are_those_of_the_table(case: dict[str, Any]) -> None:
    data = bytes_of(case)
    words = {True: "served", False: "refused"}
    assert words[served_here(data)] == case["ours"]
    assert words[read_by_h11(data) is not None] == case["h11"]
    assert words[served_by_httptools(data)] == case["httptools"]
    assert ("application" if plain_request(data) is None else "operation") == case["way"]


def test_the_table_holds_cases_of_every_kind() -> None:
    kinds = {(case["ours"], case["way"], case["h11"], case["httptools"]) for case in CASES}
    assert {("refused", "application", "refused", "served"), ("refused", "application", "served", "served")} <= kinds
    assert ("served", "operation", "served", "served") in kinds
    assert not any(ours == "refused" and way == "operation" for ours, way, _, _ in kinds)


heads = st.builds(
    lambda lines, behind: b"\r\n".join(lines) + b"\r\n\r\n" + behind,
    st.tuples(
        st.builds(
            lambda method, target, version: b" ".join((method, target, version)),
            st.sampled_from([b"GET", b"POST", b"get", b"M-SEARCH", b"", b"GET "]) | st.binary(max_size=3),
            st.sampled_from([b"/", b"/a?b=c?d", b"//x", b"http://a/", b"*", b"/a b"]) | st.binary(max_size=4),
            st.sampled_from([b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.11", b"http/1.1"]),
        ),
        st.sampled_from([b"Host: a", b"HOST:a", b"Host: a\r\nHost: b", b"X: y"]),
    ).flatmap(
        lambda first: st.lists(
            st.sampled_from(
                [
                    *(b"Content-Length: 5", b"content-length:05", b"Content-Length: +5", b"Content-Length: 5,5"),
                    *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: x", b"Connection: close", b"Expect: x"),
                    *(b"Connection: Keep-Alive, cLose", b"Connection: closed", b" folded", b"\tfolded", b"A:\t b \t"),
                    *(b"A:\xa0b\x85", b"A : b", b"A", b":", b"A:b\rc", b"A:b\nc", b"A:b\x00", b"A:b\x0b", b"A:b\x1f"),
                ]
            )
            | st.binary(max_size=6),
            max_size=5,
        ).map(lambda rest: [*first, *rest])
    ),
    st.binary(max_size=8),
)


@given(heads)
@example(b"GET / HTTP/1.1\r\nHost: a\r\nA: b\xa0\r\n\r\n")
@example(b"get / HTTP/1.1\r\nHost: a\r\n\r\n")
def test_whatever_is_plain_h11_reads_in_the_same_way(data: bytes) -> None:
    plain = plain_request(data)
    if plain is None:
        return
    assert served_here(data)
    assert plain.length == request_head.head_length(data)
    parsed = read_by_h11(data[: plain.length])
    assert parsed is not None
    target = plain.path.encode() + (b"?" + plain.query if plain.query else b"")
    assert parsed.target.rstrip(b"?") == target.rstrip(b"?")
    assert (parsed.method.upper(), parsed.http_version) == (plain.method.encode(), b"1.1")  # in any case
    assert list(parsed.headers) == [(name.encode(), value.encode("latin-1")) for name, value in plain.block.pairs]
    assert request_head.announced_bytes(parsed.headers) == plain.block.body_length
    closes = any(b"close" in _options(value) for name, value in parsed.headers if name == b"connection")
    assert plain.block.keep_alive is not closes


def _options(value: bytes) -> set[bytes]:
    return {option.strip() for option in value.lower().split(b",")}


@given(heads, st.integers(min_value=0, max_value=60))
def test_what_has_not_come_whole_is_not_plain(data: bytes, missing: int) -> None:
    cut = data[: max(0, len(data) - missing)]
    if b"\r\n\r\n" not in cut:
        assert plain_request(cut) is None
