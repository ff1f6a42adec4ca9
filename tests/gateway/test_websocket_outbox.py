"""Frames on their way to a peer that reads at once, slowly, or not at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.gateway.outbox import LARGE_BYTES, STALL_SECONDS, Outbox
from chat.gateway.websocket import Closed, WebSocket
from chat.port.transport import MUCH_UNSENT_BYTES, UNSENT_BYTES
from chat.testing.network import MemoryStream, Pipe
from tests.gateway.raw_websocket import open_pair
from tests.port.loopback import sockets


def _open_outbox(capacity: int, limit: int = 4 * 1_048_576) -> tuple[Outbox, MemoryStream, list[str]]:
    to_server, to_client = Pipe(capacity), Pipe(capacity)
    overflows: list[str] = []
    outbox = Outbox(MemoryStream(to_server, to_client, "10.0.0.7"), limit, lambda: overflows.append("full"))
    return outbox, MemoryStream(to_client, to_server, "127.0.0.1"), overflows


async def _everything(client: MemoryStream) -> bytes:
    received = b""
    while data := await client.receive_some():
        received += data
    return received


# Sending


async def test_a_frame_is_at_the_peer_before_send_returns() -> None:
    server, client = open_pair()
    server.outbox.send(b"frame")
    assert server.outbox.pending_bytes == 0
    assert await client.stream.receive_some() == b"frame"


async def test_pushed_frames_leave_together_when_flushed() -> None:
    server, client = open_pair()
    for frame in (b"one", b"two", b"three"):
        server.outbox.push(frame)
    assert server.outbox.pending_bytes == 11
    server.outbox.flush()
    assert await client.stream.receive_some() == b"onetwothree"


async def test_what_does_not_fit_waits_and_follows_in_order(nursery: trio.Nursery) -> None:
    outbox, client, _ = _open_outbox(capacity=10)
    nursery.start_soon(outbox.run_writer)
    outbox.send(b"0123456789ab")
    outbox.send(b"cdef")
    assert outbox.pending_bytes == 6
    assert await client.receive_some() == b"0123456789"
    assert await client.receive_some() == b"abcdef"
    assert outbox.pending_bytes == 0
    outbox.send(b"at once again")
    nursery.cancel_scope.cancel()


async def test_a_writer_is_begun_when_something_waits_first_and_never_twice(nursery: trio.Nursery) -> None:
    outbox, client, _ = _open_outbox(capacity=10)
    begun: list[str] = []

    def begin() -> None:
        begun.append("writer")
        nursery.start_soon(outbox.run_writer)

    outbox.begin_writer = begin
    outbox.send(b"all of it")
    outbox.release()
    assert not begun
    assert await client.receive_some() == b"all of it"
    for _ in range(2):
        outbox.send(b"0123456789ab")
        assert await client.receive_some() == b"0123456789"
        assert await client.receive_some() == b"ab"
    assert begun == ["writer"]
    outbox.abort()
    assert outbox.begin_writer is None


async def test_a_held_outbox_has_a_writer_once_it_is_released(nursery: trio.Nursery) -> None:
    outbox, client, _ = _open_outbox(capacity=10)
    outbox.begin_writer = lambda: nursery.start_soon(outbox.run_writer)
    outbox.hold()
    outbox.send(b"held")
    assert outbox.pending_bytes == 4
    outbox.release()
    assert await client.receive_some() == b"held"
    outbox.abort()


@given(
    st.lists(st.binary(min_size=1, max_size=400), max_size=30),
    st.integers(1, 500),
    st.lists(st.sampled_from([Outbox.push, Outbox.send, Outbox.flush]), min_size=30, max_size=30),
)
def test_whatever_the_peer_takes_at_a_time_it_gets_every_byte_in_order(
    frames: list[bytes], capacity: int, ways: list[Callable[..., None]]
) -> None:
    async def main() -> bytes:
        outbox, client, _ = _open_outbox(capacity)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outbox.run_writer)
            for frame, way in zip(frames, ways, strict=False):
                if way is Outbox.flush:
                    outbox.push(frame)
                    outbox.flush()
                else:
                    way(outbox, frame)
            outbox.seal(b"last")
            outbox.push(b"ignored")
            nursery.start_soon(outbox.delivered)
            received = b""
            while not received.endswith(b"last"):
                received += await client.receive_some()
            assert outbox.pending_bytes == 0
            nursery.cancel_scope.cancel()
        return received

    assert trio.run(main) == b"".join(frames) + b"last"


async def test_large_frames_pass_whole(nursery: trio.Nursery) -> None:
    outbox, client, _ = _open_outbox(capacity=65_536)
    nursery.start_soon(outbox.run_writer)
    frames = [bytes((number,)) * 1_000_000 for number in range(6)]
    for frame in frames:
        outbox.push(frame)
    outbox.seal(b"last")
    received = b""
    while not received.endswith(b"last"):
        received += await client.receive_some()
    assert received == b"".join(frames) + b"last"
    nursery.cancel_scope.cancel()


async def test_a_large_frame_leaves_at_once_and_many_small_ones_wait_to_be_counted() -> None:
    """A Ready does not wait for a slow peer piece by piece; events that one does not read stay in its outbox."""
    waiting = []
    for frames in ([bytes(MUCH_UNSENT_BYTES)], [bytes(LARGE_BYTES)] * (MUCH_UNSENT_BYTES // LARGE_BYTES)):
        server, client = await sockets()
        outbox = Outbox(server, 4 * MUCH_UNSENT_BYTES)
        for frame in frames:
            outbox.push(frame)
        outbox.flush()
        waiting.append(outbox.pending_bytes)
        outbox.abort()
        client.close()
    assert waiting[0] <= UNSENT_BYTES < MUCH_UNSENT_BYTES // 2 < waiting[1]


async def test_drained_waits_until_little_enough_is_pending(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    outbox, client, _ = _open_outbox(capacity=100)
    nursery.start_soon(outbox.run_writer)
    outbox.push(bytes(1_000))
    with trio.move_on_after(5) as waiting:
        await outbox.drained(500)
    assert waiting.cancelled_caught

    async def read_slowly() -> None:
        for _ in range(6):
            await trio.sleep(1)
            await client.receive_some()

    nursery.start_soon(read_slowly)
    await outbox.drained(500)
    assert 300 < outbox.pending_bytes < 500
    nursery.cancel_scope.cancel()


async def test_drained_does_not_wait_for_a_peer_that_is_gone(nursery: trio.Nursery) -> None:
    outbox, client, _ = _open_outbox(capacity=100)
    nursery.start_soon(outbox.run_writer)
    outbox.push(bytes(1_000))
    nursery.start_soon(outbox.drained, 1)
    await trio.testing.wait_all_tasks_blocked()
    client.cut()
    await outbox.drained(1)
    assert outbox.gone


async def test_held_frames_leave_when_released(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    server, client = open_pair()
    nursery.start_soon(server.outbox.run_writer)
    server.outbox.hold()
    server.outbox.send(b"one")
    server.outbox.send(b"two")
    with trio.move_on_after(10 * STALL_SECONDS) as waiting:
        await client.stream.receive_some()
    assert waiting.cancelled_caught
    assert server.outbox.is_open  # a hold is no fault of the peer
    server.outbox.release()
    assert await client.stream.receive_some() == b"onetwo"
    server.outbox.hold()
    server.outbox.release()
    await trio.testing.wait_all_tasks_blocked()
    server.outbox.send(b"three")
    assert await client.stream.receive_some() == b"three"
    nursery.cancel_scope.cancel()


# A peer that does not read


async def test_a_peer_that_takes_nothing_for_long_is_dropped(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    server, _client = open_pair(capacity=100)
    nursery.start_soon(server.outbox.run_writer)
    started = trio.current_time()
    server.outbox.send(bytes(1_000))
    assert await server.receive() == Closed(1006, "")
    assert trio.current_time() - started == pytest.approx(STALL_SECONDS)
    assert server.outbox.pending_bytes == 0


async def test_a_peer_that_reads_slowly_is_not_dropped(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    server, client = open_pair(capacity=100)
    nursery.start_soon(server.outbox.run_writer)
    server.outbox.send(bytes(1_000))
    for _ in range(10):
        await trio.sleep(STALL_SECONDS - 1)
        await client.stream.receive_some()
    assert server.outbox.is_open
    assert server.outbox.pending_bytes == 0
    nursery.cancel_scope.cancel()


async def test_a_full_outbox_is_told_once_and_the_peer_still_gets_a_close_behind_a_whole_frame(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    overflows: list[WebSocket] = []
    server, client = open_pair(capacity=10, outbox_limit=100, on_outbox_full=lambda: overflows.append(server))
    nursery.start_soon(server.outbox.run_writer)
    under_way = b"\x82\x1e" + bytes(30)
    server.outbox.send(under_way)
    for _ in range(50):
        server.outbox.push(bytes(30))
    assert overflows == [server]
    assert server.outbox.full
    assert not server.outbox.is_open
    assert server.outbox.pending_bytes == 22
    nursery.start_soon(server.close, 4008, "Outbox full")
    assert await client.frame() == (2, bytes(30))
    assert await client.closed() == (4008, "Outbox full")
    nursery.cancel_scope.cancel()


async def test_a_full_outbox_without_anyone_to_tell_closes_the_transport() -> None:
    server, client = open_pair(capacity=10, outbox_limit=100)
    server.outbox.send(bytes(30))
    while server.outbox.is_open:
        server.outbox.push(bytes(30))
    assert await server.receive() == Closed(1006, "")
    assert len(await _everything(client.stream)) == 10  # type: ignore[arg-type]


async def test_one_frame_larger_than_the_limit_is_no_overflow(nursery: trio.Nursery) -> None:
    outbox, client, overflows = _open_outbox(capacity=10, limit=100)
    nursery.start_soon(outbox.run_writer)
    outbox.send(bytes(1_000))
    outbox.seal(b"last")
    assert overflows == []
    received = b""
    while not received.endswith(b"last"):
        received += await client.receive_some()
    assert len(received) == 1_004
    nursery.cancel_scope.cancel()


async def test_a_peer_that_leaves_ends_the_writer_and_the_reader() -> None:
    server, client = open_pair(capacity=10)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.outbox.run_writer)
        nursery.start_soon(server.receive)
        server.outbox.send(bytes(30))
        await trio.testing.wait_all_tasks_blocked()
        client.stream.cut()  # type: ignore[attr-defined]
    assert not server.outbox.is_open


async def test_sending_to_a_peer_that_left_closes_the_transport() -> None:
    server, client = open_pair()
    client.stream.cut()  # type: ignore[attr-defined]
    server.outbox.send(b"frame")
    assert not server.outbox.is_open
    server.outbox.send(b"frame")
    assert server.outbox.pending_bytes == 0
