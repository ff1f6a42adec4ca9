"""What a server's WebSocket receives and how it ends, told in frames.

Area: gateway. Rules: 000.framing, 000.limits.
"""

from __future__ import annotations

import itertools

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.gateway.websocket import (
    CLOSE_SECONDS,
    Breach,
    Closed,
    FrameReader,
    Incoming,
    Message,
    MessageTooLarge,
    PeerClose,
    Ping,
    Pong,
)
from chat.protocol.frames import close_frame
from tests.gateway.raw_websocket import client_frame, close_payload, open_pair

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


# Messages


async def test_messages_arrive_whole_with_the_type_of_their_frames() -> None:
    server, client = open_pair()
    await client.send(TEXT, b'{"op":1}')
    await client.send(BINARY, b"\x28\xb5")
    assert await server.receive() == Message(b'{"op":1}', text=True)
    assert await server.receive() == Message(b"\x28\xb5", text=False)


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
async def test_an_empty_message_is_a_message_of_no_bytes(opcode: int) -> None:
    server, client = open_pair()
    await client.send(opcode)
    assert await server.receive() == Message(b"", text=opcode == TEXT)


async def test_fragments_are_put_together_and_control_frames_may_come_between_them() -> None:
    server, client = open_pair()
    await client.send(TEXT, b"one, ", fin=False)
    await client.send(PING, b"?")
    await client.send(CONTINUATION, b"", fin=False)
    await client.send(CONTINUATION, b"two")
    assert await server.receive() == Message(b"one, two", text=True)
    assert await client.frame() == (PONG, b"?")


async def test_text_need_not_be_utf8_unless_that_is_asked_for() -> None:
    lenient, its_client = open_pair()
    await its_client.send(TEXT, b"\xff")
    assert await lenient.receive() == Message(b"\xff", text=True)

    strict, its_client = open_pair(validate_text=True)
    await its_client.send(TEXT, "½".encode())
    await its_client.send(BINARY, b"\xff")
    await its_client.send(TEXT, b"\xff")
    assert await strict.receive() == Message("½".encode(), text=True)
    assert await strict.receive() == Message(b"\xff", text=False)
    assert await strict.receive() == Closed(1007, "")
    assert await its_client.closed() == (1007, "")


# Sizes


@pytest.mark.rule("000.limits.1")
@pytest.mark.parametrize("opcode", [TEXT, BINARY])
async def test_a_message_of_exactly_the_limit_is_received(opcode: int) -> None:
    server, client = open_pair()
    await client.send(opcode, bytes(16_384))
    assert await server.receive() == Message(bytes(16_384), text=opcode == TEXT)


@pytest.mark.parametrize("size", [16_385, 20_000, 1_048_576, 8 * 1_048_576])
async def test_one_byte_more_is_too_large_and_the_close_arrives_whatever_the_size(
    size: int, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    server, client = open_pair()
    nursery.start_soon(client.send, BINARY, bytes(size))
    assert await server.receive() == MessageTooLarge()
    assert await server.receive() == MessageTooLarge()
    nursery.start_soon(server.close, 4002, "Payload too large")
    assert await client.closed() == (4002, "Payload too large")


async def test_fragments_count_together_and_the_limit_is_seen_before_the_message_ends(
    autojump_clock: MockClock,
) -> None:
    server, client = open_pair()
    await client.send(TEXT, bytes(16_384), fin=False)
    with trio.move_on_after(60) as waiting:
        await server.receive()
    assert waiting.cancelled_caught
    await client.send(CONTINUATION, b"x", length=1_000, fin=False)
    assert await server.receive() == MessageTooLarge()


async def test_a_message_of_endless_empty_fragments_is_too_large() -> None:
    server, client = open_pair(maximum_fragments=100)
    await client.send(TEXT, fin=False)
    for _ in range(100):
        await client.send(CONTINUATION, fin=False)
    assert await server.receive() == MessageTooLarge()


async def test_nothing_of_a_message_that_is_too_large_is_kept() -> None:
    reader = FrameReader(16_384, 100, validate_text=False)
    reader.feed(client_frame(BINARY, bytes(16_385), length=8 * 1_048_576))
    assert reader.next_event() == MessageTooLarge()
    for _ in range(100):
        reader.feed(bytes(65_536))
        assert reader.next_event() is None
    assert len(reader._decoder.buffer) == 0


# Breaches of RFC 6455


@pytest.mark.rule("000.framing.29")
@pytest.mark.parametrize(
    "frames",
    [
        pytest.param(client_frame(TEXT, b"{}", reserved=0b100), id="first reserved bit"),
        pytest.param(client_frame(TEXT, b"{}", reserved=0b010), id="second reserved bit"),
        pytest.param(client_frame(TEXT, b"{}", reserved=0b001), id="third reserved bit"),
        pytest.param(client_frame(PING, reserved=0b100), id="reserved bit on a control frame"),
        pytest.param(client_frame(TEXT, b"{}", masked=False), id="unmasked"),
        pytest.param(client_frame(3, b"{}"), id="unknown data opcode"),
        pytest.param(client_frame(11), id="unknown control opcode"),
        pytest.param(client_frame(CONTINUATION, b"{}"), id="continuation of nothing"),
        pytest.param(client_frame(TEXT, b"{", fin=False) + client_frame(TEXT, b"}"), id="text within a message"),
        pytest.param(client_frame(TEXT, b"{", fin=False) + client_frame(BINARY, b"}"), id="binary within a message"),
        pytest.param(client_frame(PING, b"?", fin=False), id="fragmented ping"),
        pytest.param(client_frame(PING, bytes(126)), id="long ping"),
        pytest.param(client_frame(CLOSE, bytes(126)), id="long close"),
        pytest.param(client_frame(CLOSE, b"\x03"), id="close with half a code"),
        pytest.param(client_frame(CLOSE, close_payload(1000, b"\xff")), id="close reason not UTF-8"),
        pytest.param(bytes((0x82, 0xFE, 0, 5)) + bytes(9), id="length in too many bytes"),
        pytest.param(bytes((0x82, 0xFF, 0x80)) + bytes(15), id="length above 2^63"),
    ],
)
async def test_a_breach_of_the_protocol_closes_1002_without_a_reason(
    frames: bytes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    server, client = open_pair()
    await client.stream.send_all(frames)
    assert await server.receive() == Closed(1002, "")
    nursery.start_soon(server.close)
    assert await client.frame() == (CLOSE, close_payload(1002))
    assert await client.ended()


@pytest.mark.rule("000.framing.29")
@pytest.mark.parametrize("code", [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
async def test_a_close_code_that_nobody_may_send_is_a_breach(code: int) -> None:
    server, client = open_pair()
    await client.send(CLOSE, close_payload(code))
    assert await server.receive() == Closed(1002, "")
    assert await client.closed() == (1002, "")


async def test_a_peer_in_breach_gets_to_read_the_close_before_the_transport_goes(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    server, client = open_pair()
    await client.send(3)
    await server.receive()
    started = trio.current_time()
    await server.close()
    assert trio.current_time() - started == pytest.approx(CLOSE_SECONDS)  # it stayed silent all that time
    assert await client.closed() == (1002, "")


# Pings


async def test_every_ping_is_answered_with_its_payload() -> None:
    server, client = open_pair()
    for number in range(10):
        await client.send(PING, b"%d" % number)
    await client.send(PONG, b"unasked for")
    await client.text("{}")
    assert await server.receive() == Message(b"{}", text=True)
    assert [await client.frame() for _ in range(10)] == [(PONG, b"%d" % number) for number in range(10)]


async def test_pings_of_a_peer_that_does_not_read_cannot_pile_up(nursery: trio.Nursery) -> None:
    server, client = open_pair(capacity=1_000)
    nursery.start_soon(server.outbox.run_writer)
    nursery.start_soon(server.receive)
    for number in range(1_000):
        await client.send(PING, b"%0125d" % number)
    await trio.testing.wait_all_tasks_blocked()
    assert server.outbox.pending_bytes < 300
    answered = []
    while not answered or answered[-1] != b"%0125d" % 999:
        answered.append((await client.frame())[1])
    assert len(answered) < 20
    nursery.cancel_scope.cancel()


# Closing


@pytest.mark.parametrize("code", [1000, 1001, 1003, 1011, 1014, 3000, 4000, 4999])
async def test_the_close_of_a_peer_is_received_and_acknowledged_with_its_code(
    code: int, autojump_clock: MockClock
) -> None:
    server, client = open_pair()
    await client.send(CLOSE, close_payload(code, "Auf Wiedersehen ☺".encode()))
    assert await server.receive() == Closed(code, "Auf Wiedersehen ☺")
    await server.close(4000, "not sent")
    assert await client.frame() == (CLOSE, close_payload(code))
    assert await client.ended()


async def test_a_close_without_a_code_is_acknowledged_without_a_code() -> None:
    server, client = open_pair()
    await client.send(CLOSE)
    assert await server.receive() == Closed(1005, "")
    assert await client.frame() == (CLOSE, b"")


async def test_the_end_of_the_transport_is_1006(autojump_clock: MockClock) -> None:
    server, client = open_pair()
    client.stream.close()
    assert await server.receive() == Closed(1006, "")

    server, client = open_pair()
    client.stream.cut()
    assert await server.receive() == Closed(1006, "")


async def test_closing_waits_for_the_answer_of_the_peer(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    server, client = open_pair()
    nursery.start_soon(server.close, 4009, "Heartbeat timeout")
    assert await client.closed() == (4009, "Heartbeat timeout")
    await client.text("still on its way")
    await client.send(PING)
    await client.send(CLOSE, close_payload(4009))
    assert await client.ended()


async def test_a_peer_that_never_answers_a_close_is_not_waited_for_for_long(autojump_clock: MockClock) -> None:
    server, client = open_pair()
    started = trio.current_time()
    await server.close(4000)
    assert trio.current_time() - started == pytest.approx(CLOSE_SECONDS)
    assert await client.closed() == (4000, "")
    assert await client.ended()


async def test_a_close_gets_through_when_the_peer_sends_without_reading(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    server, client = open_pair(capacity=1_000)
    nursery.start_soon(server.outbox.run_writer)
    server.outbox.send(bytes(5_000))  # more than the pipe takes: the client has to read it before it sees the close
    nursery.start_soon(client.send, BINARY, bytes(100_000))
    assert await server.receive() == MessageTooLarge()
    nursery.start_soon(server.close, 4002, "Payload too large")
    received = b""
    while data := await client.stream.receive_some():
        received += data
    assert received == bytes(5_000) + b"\x88\x13" + close_payload(4002, b"Payload too large")
    nursery.cancel_scope.cancel()


async def test_a_cancelled_close_leaves_nothing_open(autojump_clock: MockClock) -> None:
    server, client = open_pair()
    with trio.move_on_after(0.5) as impatient:
        await server.close(4000)
    assert impatient.cancelled_caught
    assert await client.closed() == (4000, "")
    assert await client.ended()


async def test_abort_ends_a_waiting_receive(nursery: trio.Nursery) -> None:
    server, client = open_pair()
    ends = []

    async def receive() -> None:
        ends.append(await server.receive())

    nursery.start_soon(receive)
    await trio.testing.wait_all_tasks_blocked()
    server.abort()
    await trio.testing.wait_all_tasks_blocked()
    assert ends == [Closed(1006, "")]
    assert not server.outbox.is_open
    assert await client.ended()


async def test_receive_can_be_cancelled_anywhere_and_goes_on_where_it_was(autojump_clock: MockClock) -> None:
    server, client = open_pair()
    frame = client_frame(TEXT, b"0123456789")
    for byte in frame[:-1]:
        await client.stream.send_all(bytes((byte,)))
        with trio.move_on_after(1):
            await server.receive()
    await client.stream.send_all(frame[-1:])
    assert await server.receive() == Message(b"0123456789", text=True)


# Whatever the network does to the bytes


def _events(reader: FrameReader) -> list[Incoming]:
    events = []
    while (event := reader.next_event()) is not None:
        events.append(event)
    return events


_frames = st.one_of(
    st.builds(client_frame, st.sampled_from([TEXT, BINARY]), st.binary(max_size=300)),
    st.builds(
        lambda parts: (
            client_frame(TEXT, parts[0], fin=False)
            + b"".join(client_frame(CONTINUATION, part, fin=False) for part in parts[1:])
            + client_frame(CONTINUATION)
        ),
        st.lists(st.binary(max_size=80), min_size=1, max_size=5),
    ),
    st.builds(client_frame, st.sampled_from([PING, PONG]), st.binary(max_size=125)),
    st.binary(min_size=1, max_size=20),
)


@given(st.lists(_frames, max_size=8).map(b"".join), st.lists(st.integers(0, 2_000), max_size=20))
def test_what_is_read_does_not_depend_on_how_the_bytes_are_cut(data: bytes, cuts: list[int]) -> None:
    whole = FrameReader(500, 10, validate_text=False)
    whole.feed(data)
    expected = _events(whole)
    pieces = FrameReader(500, 10, validate_text=False)
    events = []
    edges = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    for start, end in itertools.pairwise(edges):
        pieces.feed(data[start:end])
        events += _events(pieces)
    assert events == expected
    assert all(isinstance(event, Message | MessageTooLarge | Ping | Pong | PeerClose | Breach) for event in events)


def test_a_reason_must_fit_its_frame() -> None:
    assert close_frame(4000, "x" * 123) == b"\x88\x7d\x0f\xa0" + b"x" * 123
    with pytest.raises(ValueError, match="123 bytes"):
        close_frame(4000, "x" * 124)
