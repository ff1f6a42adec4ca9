"""Whatever bytes arrive, the HTTP engine answers in HTTP or closes; nothing fails and nothing lingers."""

from __future__ import annotations

import logging
import random

import h11
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from tests.api.raw_http import Receive, Scope, Send, answer_with, open_stage, request, whole_body
from tests.gateway.raw_websocket import upgrade

HEADERS = [
    b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Content-Length: " + b"9" * 5_000 + b"\r\n",
    b"Content-Length: -1\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Expect: 100-continue\r\n",
    b"Connection: close\r\n",
    b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
    b"Host: \xff\r\n",
    b": \r\n",
    b"A\r\n",
    b" \r\n",
]

_requests = st.builds(
    lambda method, target, headers, body, version: (
        request(target, method=method, headers=b"".join(headers), version=version) + body
    ),
    st.sampled_from(["GET", "POST", "HEAD", "CONNECT", "get", "PRI", "M-SEARCH"]),
    st.sampled_from(
        ["/", "/a?b", "*", "http://example.test/", "//", "/%zz", "/\x7f", "/gateway", "example.test:80", "?"]
    ),
    st.lists(st.sampled_from(HEADERS), max_size=3),
    st.sampled_from(
        [b"", b"hello", b"5\r\nhello\r\n0\r\n\r\n", b"fffffffffffffffff\r\n", b"5\r\nhelloX", b"0\r\nA: b\r\n\r\n"]
    ),
    st.sampled_from(["1.1", "1.0", "2.0", "0.9", "1.11"]),
)
_conversations = st.lists(st.one_of(_requests, st.just(upgrade()), st.binary(max_size=50)), min_size=1, max_size=4)


def _mutated(data: bytes, seed: int, count: int) -> bytes:
    chance = random.Random(seed)
    mutable = bytearray(data)
    for _ in range(count):
        place = chance.randrange(len(mutable) + 1)
        match chance.randrange(3):
            case 0:
                mutable[place:place] = bytes((chance.randrange(256),))
            case 1:
                del mutable[place : place + 1]
            case _:
                mutable[place : place + 1] = chance.choice([b"\r", b"\n", b"\r\n", b" ", b":", b"\x00", b"\xff"])
    return bytes(mutable)


def _statuses(received: bytes) -> list[int]:
    """The statuses of the answers; fails when the bytes are anything else than whole answers."""
    statuses = []
    while received:
        head = received.partition(b"\r\n")[0].split(b" ")
        assert head[0] == b"HTTP/1.1"
        client = h11.Connection(h11.CLIENT)
        # Which method it was cannot be told from here; a HEAD's answer is one without the body that it announces.
        for method in ("GET", "HEAD"):
            client = h11.Connection(h11.CLIENT)
            client.send(h11.Request(method=method, target="/", headers=[("Host", "example.test")]))
            client.send(h11.EndOfMessage())
            client.receive_data(received)
            client.receive_data(b"")
            try:
                status = _whole_answer(client)
                break
            except h11.RemoteProtocolError:
                continue
        else:
            pytest.fail(f"not an answer: {received!r}")
        statuses.append(status)
        received = client.trailing_data[0]
    return statuses


def _whole_answer(client: h11.Connection) -> int:
    status = 0
    while not isinstance(event := client.next_event(), h11.EndOfMessage):
        if isinstance(event, h11.Response):
            status = event.status_code
    return status


@given(_conversations, st.integers(0, 2**32), st.integers(0, 5), st.integers(1, 200))
def test_every_byte_string_is_answered_in_http_or_closed(
    conversation: list[bytes], seed: int, mutations: int, step: int
) -> None:
    data = _mutated(b"".join(conversation), seed, mutations)
    bodies: list[bytes] = []

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        try:
            bodies.append(await whole_body(receive))
        except EOFError:
            return
        await answer_with(send, b"{}")

    async def main() -> bytes:
        async with open_stage(app) as stage:
            client = stage.connect()
            received = b""
            try:
                for start in range(0, len(data), step):
                    await client.says(data[start : start + step])
                client.stream.half_close()
            except trio.BrokenResourceError:
                pass  # it was refused before it had said everything
            with trio.move_on_after(200) as waiting:
                while more := await client.stream.receive_some():
                    received += more
            assert stage.open == 0
            assert waiting.cancelled_caught == bool(stage.given_back)  # then it would be the gateway's turn
            return received

    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    logger = logging.getLogger("chat.http")
    logger.addHandler(handler)
    try:
        received = trio.run(main, clock=MockClock(autojump_threshold=0))
    finally:
        logger.removeHandler(handler)
    assert records == []
    assert all(status in {200, 400, 408, 501} for status in _statuses(received))
