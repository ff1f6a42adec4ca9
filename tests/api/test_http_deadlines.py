"""How long an HTTP connection waits for its client, and what is then (architecture.md, Deadlines of HTTP connections):
in memory, on a virtual clock, each way in."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.api.http_connection import (
    KEEP_ALIVE_SECONDS,
    LINGER_SECONDS,
    UNREAD_BYTES,
    WRITE_SECONDS,
    WRITE_STEP_BYTES,
)
from chat.api.http_wire import body_patience
from chat.testing.network import MemoryStream
from tests.api.raw_http import (
    RawHttp,
    Receive,
    Scope,
    Send,
    answer_with,
    echo,
    open_stage,
    request,
    way,
    whole_body,
)

__all__ = ["way"]
pytestmark = pytest.mark.usefixtures("way")


async def test_a_connection_waits_so_long_for_another_request(autojump_clock: MockClock) -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        for _ in range(3):
            await client.asks(request())
            await trio.sleep(KEEP_ALIVE_SECONDS - 1)
        idle_since = trio.current_time() - KEEP_ALIVE_SECONDS + 1
        assert await client.ended()
        assert trio.current_time() - idle_since == pytest.approx(KEEP_ALIVE_SECONDS)


async def test_a_server_without_idle_connections_sleeps(autojump_clock: MockClock) -> None:
    async with open_stage(echo) as stage:
        for _ in range(2):
            await trio.sleep(2.5 * KEEP_ALIVE_SECONDS)  # it looks once more after the last has ended
            assert trio.lowlevel.current_statistics().seconds_to_next_deadline > 2 * KEEP_ALIVE_SECONDS
            client, came = stage.connect(), trio.current_time()
            await client.asks(request())
            assert await client.ended()
            assert trio.current_time() - came == pytest.approx(KEEP_ALIVE_SECONDS)


async def test_a_slow_answer_is_not_idleness(autojump_clock: MockClock) -> None:
    async def slow(_scope: Scope, _receive: Receive, send: Send) -> None:
        await trio.sleep(10 * KEEP_ALIVE_SECONDS)
        await answer_with(send, b"at last")

    async with open_stage(slow) as stage:
        client = stage.connect()
        assert (await client.asks(request())).body == b"at last"
        assert (await client.asks(request())).body == b"at last"


@pytest.mark.parametrize("kept", [False, True])
async def test_a_head_must_be_complete_ten_seconds_after_its_first_byte(kept: bool, autojump_clock: MockClock) -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        if kept:
            await client.asks(request())
            await trio.sleep(50)
        started = trio.current_time()
        with pytest.raises(trio.BrokenResourceError):  # noqa: PT012 -- at some byte the other end is gone
            for byte in request(headers=b"A: b\r\n" * 10):
                await client.says(bytes((byte,)))
                await trio.sleep(0.9)
        assert trio.current_time() - started == pytest.approx(10 + LINGER_SECONDS, abs=1)


@pytest.mark.parametrize("pause", [1, 30])
@pytest.mark.parametrize("announced", [1_000, 262_144, 10 * 1_048_576])
async def test_a_body_that_drips_is_over_after_a_minute_however_long_it_is(
    announced: int, pause: int, autojump_clock: MockClock
) -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        started = trio.current_time()
        await client.says(request(method="POST", headers=b"Content-Length: %d\r\n" % announced))
        stage.nursery.start_soon(_drip, client, b"x", pause)
        answer = await client.answer()
        assert (answer.status, answer.closes) == (408, True)
        assert answer.json.keys() == {"code", "message"}
        assert trio.current_time() - started == pytest.approx(60, abs=0.1)


async def test_a_body_that_drips_in_chunks_is_over_after_a_minute(autojump_clock: MockClock) -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        started = trio.current_time()
        await client.says(request(method="POST", headers=b"Transfer-Encoding: chunked\r\n"))
        stage.nursery.start_soon(_drip, client, b"1\r\nx\r\n")
        assert (await client.answer()).status == 408
        assert trio.current_time() - started == pytest.approx(60, abs=0.1)


async def test_a_body_that_stops_on_its_way_is_over_a_minute_after_its_last_step(autojump_clock: MockClock) -> None:
    async with open_stage(count) as stage:
        client = stage.connect()
        await client.says(request(method="POST", headers=b"Content-Length: 10000000\r\n"))
        for _ in range(10):
            await trio.sleep(59)
            await client.says(bytes(65_536))
        stopped = trio.current_time()
        stage.nursery.start_soon(_drip, client)
        assert (await client.answer()).status == 408
        assert trio.current_time() - stopped == pytest.approx(60, abs=0.1)


@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize(("size", "rate"), [(8 * 1_048_576, 80 * 1_024), (1_048_576, 1_200), (50, 1.1)])
async def test_a_body_that_comes_slowly_and_steadily_is_read_to_its_end(
    size: int, rate: float, is_chunked: bool, autojump_clock: MockClock
) -> None:
    async with open_stage(count) as stage:
        client = stage.connect()
        announced = b"Transfer-Encoding: chunked\r\n" if is_chunked else b"Content-Length: %d\r\n" % size
        await client.says(request(method="POST", headers=announced))
        sent, seconds = 0, 4
        while sent < size:
            await trio.sleep(seconds)
            piece = bytes(min(round(rate * seconds), size - sent))
            await client.says(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
            sent += len(piece)
        if is_chunked:
            await client.says(b"0\r\n\r\n")
        answer = await client.answer()
        assert (answer.status, int(answer.body)) == (200, size)


@given(st.lists(st.tuples(st.floats(0, 20), st.integers(0, 70_000)), max_size=80))
def test_only_a_minute_in_which_little_came_exhausts_the_patience(pieces: list[tuple[float, int]]) -> None:
    patience, since, came = body_patience(), 0.0, 0
    for seconds, moved in pieces:
        since, came = since + seconds, came + moved
        patience.waited(seconds, moved)
        if came >= 65_536:
            since, came = 0.0, 0
        assert patience.seconds == pytest.approx(60 - since)


async def count(_scope: Scope, receive: Receive, send: Send) -> None:
    """Answers how long the body was."""
    await answer_with(send, b"%d" % len(await whole_body(receive)))


async def _drip(client: RawHttp, data: bytes = b"x", pause: float = 1) -> None:
    with contextlib.suppress(trio.BrokenResourceError):  # when the server loses its patience
        while True:
            await trio.sleep(pause)
            await client.says(data)


async def test_a_body_that_the_application_takes_its_time_to_read_is_not_late(autojump_clock: MockClock) -> None:
    async def slow(_scope: Scope, receive: Receive, send: Send) -> None:
        await trio.sleep(1_000)
        await answer_with(send, b"%d" % len(await whole_body(receive)))

    async with open_stage(slow) as stage:
        client = stage.connect()
        body = bytes(2 * UNREAD_BYTES)
        stage.nursery.start_soon(client.says, request(method="POST", body=body))
        assert int((await client.answer()).body) == len(body)


async def test_a_client_that_does_not_read_its_answer_is_dropped(autojump_clock: MockClock) -> None:
    size = 1_000_000
    events: list[tuple[float, str]] = []

    async def generous(_scope: Scope, receive: Receive, send: Send) -> None:
        await whole_body(receive)
        await answer_with(send, bytes(size))
        events.append((trio.current_time(), (await receive())["type"]))

    async with open_stage(generous) as stage:
        client = stage.connect()
        started = trio.current_time()
        await client.says(request())
        await trio.sleep(1_000)
        assert stage.open == 0
    ((ended, kind),) = events
    assert kind == "http.disconnect"
    assert ended - started == pytest.approx(WRITE_SECONDS, abs=1)


async def test_a_client_that_reads_slowly_is_not(autojump_clock: MockClock) -> None:
    async def generous(_scope: Scope, _receive: Receive, send: Send) -> None:
        await answer_with(send, bytes(500_000))

    async with open_stage(generous) as stage:
        client = stage.connect(capacity=10_000)
        await client.says(request())
        received = 0
        while received < 500_000:
            await trio.sleep(1)
            received += len(await client.stream.receive_some())
        assert stage.open == 1


async def test_a_client_that_reads_as_slowly_as_it_may_gets_all_of_a_long_answer(autojump_clock: MockClock) -> None:
    size = 300_000

    async def generous(_scope: Scope, _receive: Receive, send: Send) -> None:
        await answer_with(send, bytes(size))

    async with open_stage(generous) as stage:
        client = stage.connect(capacity=10_000)
        await client.says(request())
        received = 0
        while received < size:
            await trio.sleep(WRITE_SECONDS / 8)
            received += len(await client.stream.receive_some(WRITE_STEP_BYTES // 6))
        assert stage.open == 1


async def test_a_client_that_takes_a_byte_now_and_then_is_dropped(autojump_clock: MockClock) -> None:
    async def generous(_scope: Scope, _receive: Receive, send: Send) -> None:
        await answer_with(send, bytes(1_000_000))

    async with open_stage(generous) as stage:
        client = stage.connect(capacity=10_000)
        await client.says(request())
        for _ in range(round(WRITE_SECONDS) + 2):
            await trio.sleep(1)
            with contextlib.suppress(trio.BrokenResourceError):
                await client.stream.receive_some(1)
        assert stage.open == 0


async def test_an_application_can_give_up_on_a_client_that_does_not_read(autojump_clock: MockClock) -> None:
    waited: list[float] = []

    async def impatient(_scope: Scope, _receive: Receive, send: Send) -> None:
        started = trio.current_time()
        with trio.move_on_after(3):
            await answer_with(send, bytes(1_000_000))
        waited.append(trio.current_time() - started)

    async with open_stage(impatient) as stage:
        client = stage.connect()
        await client.says(request())
        await trio.sleep(3 + LINGER_SECONDS + 1)
        assert stage.open == 0
    assert waited == [pytest.approx(3)]


@pytest.mark.parametrize("leave", [MemoryStream.close, MemoryStream.cut, MemoryStream.half_close])
async def test_the_application_hears_of_a_client_that_leaves(leave: Any, autojump_clock: MockClock) -> None:
    heard: list[str] = []

    async def wait(_scope: Scope, receive: Receive, _send: Send) -> None:
        while (event := await receive())["type"] == "http.request":
            pass
        heard.append(event["type"])

    async with open_stage(wait) as stage:
        client = stage.connect()
        await client.says(request())
        await trio.testing.wait_all_tasks_blocked()
        leave(client.stream)
        await trio.sleep(LINGER_SECONDS + 1)
        assert stage.open == 0
    assert heard == ["http.disconnect"]
