"""What a lean client makes of the bytes that it reads."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator

import pytest

from chat.bench.load_sessions import MARKER, TIME_DIGITS, CompressedSession, Session, Watch, client_frame
from chat.protocol.frames import binary_frame, text_frame
from chat.protocol.zstd_stream import Compressor

UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
HELLO = b'{"op":10,"d":{"heartbeat_interval":41250}}'
READY = b'{"op":0,"t":"READY","s":1,"d":{}}'


def message(sequence: int) -> bytes:
    sent = b"%0*d" % (TIME_DIGITS, time.monotonic_ns())
    return b'{"op":0,"t":"MESSAGE_CREATE","s":%d,"d":{"content":"%b%b words"}}' % (sequence, MARKER, sent)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    client, server = socket.socketpair()
    with client, server:
        yield client, server


def said(server: socket.socket) -> list[dict[str, object]]:
    """What a client said, taken out of its small frames with a mask of zero."""
    server.setblocking(False)
    payloads = []
    received = server.recv(65_536)
    while received:
        length, start = received[1] & 127, 6
        if length == 126:
            length, start = int.from_bytes(received[2:4], "big"), 8
        payloads.append(json.loads(received[start : start + length]))
        received = received[start + length :]
    return payloads


@pytest.mark.parametrize("sampled", [True, False])
def test_it_identifies_counts_messages_and_sends_heartbeats(
    ends: tuple[socket.socket, socket.socket], sampled: bool
) -> None:
    client, server = ends
    watch = Watch()
    session = Session(client, "cht_token", watch, sampled=sampled)
    assert session.take(UPGRADED + text_frame(HELLO)) == 0
    [identify] = said(server)
    assert identify["op"] == 2
    assert identify["d"]["token"] == "cht_token"  # type: ignore[index]
    assert session.take(text_frame(READY)) == 0
    assert watch.ready == 1
    delivered = text_frame(message(2)) + text_frame(message(3))
    assert session.take(delivered) == 2
    session.heartbeat()
    assert said(server) == [{"op": 1, "d": 3}]
    assert session.take(text_frame(b'{"op":1,"d":null}')) == 0
    assert [payload["op"] for payload in said(server)] == [1]
    assert watch.sequence_gaps == 0
    assert len(watch.latencies) == (2 if sampled else 0)


@pytest.mark.parametrize("sampled", [True, False])
def test_frames_may_be_cut_anywhere(ends: tuple[socket.socket, socket.socket], sampled: bool) -> None:
    client, _ = ends
    session = Session(client, "cht_token", Watch(), sampled=sampled)
    session.take(UPGRADED + text_frame(HELLO) + text_frame(READY))
    stream = b"".join(text_frame(message(sequence)) for sequence in range(2, 12))
    assert sum(session.take(stream[place : place + 7]) for place in range(0, len(stream), 7)) == 10


def test_a_sampled_session_notices_a_gap(ends: tuple[socket.socket, socket.socket]) -> None:
    client, _ = ends
    watch = Watch()
    session = Session(client, "cht_token", watch, sampled=True)
    session.take(UPGRADED + text_frame(HELLO) + text_frame(READY) + text_frame(message(2)) + text_frame(message(4)))
    assert watch.sequence_gaps == 1


def test_the_end_of_a_connection_is_counted(ends: tuple[socket.socket, socket.socket]) -> None:
    client, _ = ends
    watch = Watch()
    session = Session(client, "cht_token", watch, sampled=False)
    session.take(UPGRADED + text_frame(HELLO) + text_frame(READY))
    session.take(b"")
    assert watch.closed == 1
    assert not session.is_ready


@pytest.mark.parametrize("sampled", [True, False])
@pytest.mark.parametrize("piece", [5, 64, 100_000])
def test_a_compressed_session_counts_frames_but_not_acknowledgements(
    ends: tuple[socket.socket, socket.socket], sampled: bool, piece: int
) -> None:
    client, _ = ends
    watch = Watch()
    session = CompressedSession(client, "cht_token", watch, sampled=sampled)
    compressor = Compressor()
    session.take(UPGRADED + b"".join(binary_frame(compressor.compress(payload)) for payload in (HELLO, READY)))
    assert watch.ready == 1
    session.heartbeat()
    payloads = [message(2), b'{"op":11}', *(message(sequence) for sequence in range(3, 8))]
    stream = b"".join(binary_frame(compressor.compress(payload)) for payload in payloads)
    assert sum(session.take(stream[place : place + piece]) for place in range(0, len(stream), piece)) == 6
    assert watch.sequence_gaps == 0


def test_client_frames_are_masked_with_zero() -> None:
    assert client_frame(b"hi") == b"\x81\x82\0\0\0\0hi"
    assert client_frame(bytes(300))[:8] == b"\x81\xfe\x01\x2c\0\0\0\0"
