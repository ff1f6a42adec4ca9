"""Whatever bytes arrive, the HTTP engine answers in HTTP or closes; nothing fails and nothing lingers."""

from __future__ import annotations

import logging
import random
import re

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from tests.api.raw_http import Receive, Scope, Send, open_stage, request, way, whole_body
from tests.gateway.raw_websocket import upgrade

__all__ = ["way"]
pytestmark = pytest.mark.usefixtures("way")

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


ANSWER = re.compile(rb"HTTP/1\.1 ([0-9]{3}) [^\r\n]*\r\n((?:[!-9;-~]+: [^\r\n]*\r\n)*)\r\n")


def _statuses(received: bytes) -> list[int]:
    """The statuses of the answers; fails when the bytes are anything else than whole answers."""
    statuses = []
    while received:
        answer = ANSWER.match(received)
        assert answer is not None, received
        status, head, received = int(answer[1]), answer[2].lower(), received[answer.end() :]
        statuses.append(status)
        if status == 100 or b"x-method: head\r\n" in head:
            continue
        announced = re.search(rb"content-length: ([0-9]+)\r\n", head)
        assert announced is not None
        length = int(announced[1])
        refused_head = not received and b"connection: close\r\n" in head
        assert len(received) >= length or refused_head
        received = received[length:]
    return statuses


@given(_conversations, st.integers(0, 2**32), st.integers(0, 5), st.integers(1, 200))
def test_every_byte_string_is_answered_in_http_or_closed(
    conversation: list[bytes], seed: int, mutations: int, step: int
) -> None:
    data = _mutated(b"".join(conversation), seed, mutations)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await whole_body(receive)
        except EOFError:
            return
        headers = [(b"x-method", scope["method"].encode()), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})

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
            await trio.sleep(2)  # in which it may linger
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
    assert all(status in {100, 200, 400, 408, 501} for status in _statuses(received))
