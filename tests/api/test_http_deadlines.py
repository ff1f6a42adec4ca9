"""How long an HTTP connection waits for its client, and what is then (architecture.md, Deadlines of HTTP connections):
in memory, on a virtual clock, each way in."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from chat.api.http_connection import (
    KEEP_ALIVE_SECONDS,
    LINGER_SECONDS,
    UNREAD_BYTES,
    WRITE_BYTES_PER_SECOND,
    WRITE_SECONDS,
)
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


@pytest.mark.parametrize(("announced", "seconds"), [(1_000, 60), (262_144, 61), (10 * 1_048_576, 100)])
async def test_a_body_must_arrive_in_a_time_that_depends_on_its_length(
    announced: int, seconds: int, autojump_clock: MockClock
) -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        started = trio.current_time()
        await client.says(request(method="POST", headers=b"Content-Length: %d\r\n" % announced))
        stage.nursery.start_soon(_drip, client)
        answer = await client.answer()
        assert (answer.status, answer.closes) == (408, True)
        assert answer.json.keys() == {"code", "message"}
        assert trio.current_time() - started == pytest.approx(seconds, abs=0.1)


async def test_a_body_in_chunks_must_arrive_within_the_minute(autojump_clock: MockClock) -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        started = trio.current_time()
        await client.says(request(method="POST", headers=b"Transfer-Encoding: chunked\r\n"))
        stage.nursery.start_soon(_drip, client, b"1\r\nx\r\n")
        assert (await client.answer()).status == 408
        assert trio.current_time() - started == pytest.approx(60, abs=0.1)


async def _drip(client: RawHttp, data: bytes = b"x") -> None:
    with contextlib.suppress(trio.BrokenResourceError):  # when the server loses its patience
        while True:
            await trio.sleep(1)
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
    assert ended - started == pytest.approx(WRITE_SECONDS + size / WRITE_BYTES_PER_SECOND, abs=1)


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
