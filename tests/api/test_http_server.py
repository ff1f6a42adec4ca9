"""The HTTP engine: requests, answers and the end; its deadlines are in `test_http_deadlines`."""

from __future__ import annotations

import contextlib
import inspect
import logging
from typing import Any

import httpx
import pytest
import trio
import trio.testing
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.trio.lifespan import Lifespan
from hypercorn.trio.task_group import TaskGroup, _handle
from hypercorn.trio.worker_context import WorkerContext
from quart import Quart
from quart import request as quart_request
from quart_trio import QuartTrio
from trio.testing import MockClock

from chat.api.asgi_host import ServerConfig
from chat.api.http_connection import (
    DISCARDED_BYTES,
    UNREAD_BYTES,
)
from chat.api.http_server import HttpServer
from chat.auth.client_address import ClientAddresses
from chat.clock import TrioClock
from chat.port.listener import Port, open_listeners
from chat.testing.network import MemoryStream, Pipe
from tests.api.raw_http import (
    RawHttp,
    Receive,
    Scope,
    Send,
    answer_with,
    echo,
    open_stage,
    piece,
    request,
    start,
    way,
    whole_body,
)
from tests.gateway.raw_websocket import upgrade

__all__ = ["way"]
pytestmark = pytest.mark.usefixtures("way")


# Answers


async def test_a_connection_answers_request_after_request() -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        for number in range(1_500):
            answer = await client.asks(request(f"/{number}", method="POST", body=b"x" * (number % 7)))
            assert answer.body == b"POST /%d " % number + b"x" * (number % 7)
            assert not answer.closes


async def test_an_answer_says_when_but_not_who() -> None:
    async with open_stage(echo) as stage:
        answer = await stage.connect().asks(request())
        assert answer.headers.keys() == {b"content-type", b"content-length", b"date"}
        assert answer.headers[b"date"] == b"Tue, 14 Nov 2023 22:13:20 GMT"


async def test_requests_that_come_together_are_answered_in_order() -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        await client.says(b"".join(request(f"/{number}", method="POST", body=b"x") for number in range(50)))
        for number in range(50):
            assert (await client.answer()).body == b"POST /%d x" % number


async def test_a_request_in_single_bytes_is_a_request() -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        for byte in request("/slowly", method="POST", body=b"hello"):
            await client.says(bytes((byte,)))
        assert (await client.answer()).body == b"POST /slowly hello"


class Writes(MemoryStream):
    """Counts what is sent at a time."""

    def __init__(self, incoming: Pipe, outgoing: Pipe) -> None:
        super().__init__(incoming, outgoing, "10.0.0.7")
        self.sizes: list[int] = []

    def try_send(self, data: bytes | memoryview, /) -> int:
        self.sizes.append(len(data))
        return super().try_send(data)


async def test_an_answer_of_known_length_is_one_write() -> None:
    async with open_stage(echo) as stage:
        incoming, outgoing = Pipe(65_536), Pipe(65_536)
        transport = Writes(incoming, outgoing)
        stage.nursery.start_soon(stage.server.serve, transport)
        client = RawHttp(MemoryStream(outgoing, incoming, "127.0.0.1"))
        for number in range(1, 4):
            await client.asks(request(method="POST", body=b"hello"))
            assert len(transport.sizes) == number


async def test_pieces_of_a_long_answer_leave_as_they_are_made(autojump_clock: MockClock) -> None:
    async def slowly(_scope: Scope, _receive: Receive, send: Send) -> None:
        await start(send)
        for number in range(3):
            await piece(send, b"%d" % number)
            await trio.sleep(10)
        await piece(send, b"", more=False)

    async with open_stage(slowly) as stage:
        client = stage.connect()
        await client.says(request())
        started = trio.current_time()
        for number in range(3):
            assert b"1\r\n%d\r\n" % number in await client.stream.receive_some()
            assert trio.current_time() - started == pytest.approx(10 * number)
        assert await client.stream.receive_some() == b"0\r\n\r\n"


async def test_head_requests_get_the_head_alone() -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        answer = await client.asks(request("/a", method="HEAD"), "HEAD")
        assert (answer.headers[b"content-length"], answer.body) == (b"8", b"")
        assert (await client.asks(request("/b"))).body == b"GET /b "


@pytest.mark.parametrize("head", [b"Authorization : secret\r\n", b"Authorization: secret\x00\r\n", b"secret\r\n"])
async def test_a_malformed_header_line_is_refused_without_being_repeated(head: bytes) -> None:
    async with open_stage(echo) as stage:
        answer = await stage.connect().asks(request(headers=head))
        assert (answer.status, answer.code, answer.closes) == (400, "BAD_REQUEST", True)
        assert answer.json["message"] == "This is not HTTP: illegal header line."


async def test_an_answer_without_a_body_is_complete() -> None:
    async def nothing(_scope: Scope, _receive: Receive, send: Send) -> None:
        await start(send, status=204)
        await piece(send, b"", more=False)

    async with open_stage(nothing) as stage:
        client = stage.connect()
        for _ in range(3):
            assert (await client.asks(request())).status == 204


async def test_a_client_that_waits_for_permission_to_send_gets_it() -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        await client.says(request(method="POST", headers=b"Expect: 100-continue\r\nContent-Length: 5\r\n"))
        assert await client.stream.receive_some() == b"HTTP/1.1 100 \r\n\r\n"
        await client.says(b"hello")
        assert (await client.answer()).body == b"POST / hello"


async def test_old_clients_get_a_closing_connection() -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        assert (await client.asks(request(version="1.0"))).closes
        assert await client.ended()


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 200_000, 3_000_000])
async def test_large_bodies_travel_both_ways(size: int) -> None:
    body = bytes(range(256)) * (size // 256 + 1)
    async with open_stage(echo) as stage:
        client = stage.connect()
        stage.nursery.start_soon(client.says, request(method="POST", body=body[:size]))
        assert (await client.answer()).body == b"POST / " + body[:size]
        assert (await client.asks(request("/b"))).body == b"GET /b "


async def test_a_body_in_chunks_of_one_byte_is_put_together() -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        chunks = b"".join(b"1\r\n%c\r\n" % (97 + number % 26) for number in range(5_000)) + b"0\r\n\r\n"
        stage.nursery.start_soon(
            client.says, request(method="POST", headers=b"Transfer-Encoding: chunked\r\n") + chunks
        )
        answer = await client.answer()
        assert answer.body == b"POST / " + bytes(97 + number % 26 for number in range(5_000))


# Applications that misbehave


async def test_an_application_that_fails_has_answered_500(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("a bug")

    async with open_stage(fail) as stage:
        client = stage.connect()
        answer = await client.asks(request())
        assert (answer.status, answer.code, answer.closes) == (500, "INTERNAL_SERVER_ERROR", True)
        assert await client.ended()
    assert [record.name for record in caplog.records] == ["chat.http"]


async def test_an_application_that_does_not_answer_has_answered_500() -> None:
    async def shrug(_scope: Scope, _receive: Receive, _send: Send) -> None:
        pass

    async with open_stage(shrug) as stage:
        answer = await stage.connect().asks(request())
        assert (answer.status, answer.code) == (500, "INTERNAL_SERVER_ERROR")


async def test_an_answer_that_breaks_off_is_recognisable(caplog: pytest.LogCaptureFixture) -> None:
    async def break_off(_scope: Scope, _receive: Receive, send: Send) -> None:
        await start(send)
        await piece(send, b"half")
        raise RuntimeError("a bug")

    async with open_stage(break_off) as stage:
        with pytest.raises(EOFError):
            await stage.connect().asks(request())


# Bodies that nobody reads


async def unwilling(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer without a look at the body."""
    await answer_with(send, b"no", 401)


async def test_a_body_that_comes_after_its_answer_is_forgotten_and_the_connection_kept() -> None:
    async with open_stage(unwilling) as stage:
        client = stage.connect()
        head, _, body = request(method="POST", body=bytes(DISCARDED_BYTES)).partition(b"\r\n\r\n")
        answer = await client.asks(head + b"\r\n\r\n")
        assert (answer.status, answer.closes) == (401, False)
        await client.says(body)
        assert (await client.asks(request())).status == 401


async def test_the_answer_to_a_body_too_large_to_forget_can_be_read() -> None:
    async with open_stage(unwilling) as stage:
        client = stage.connect()
        stage.nursery.start_soon(_says_until_cut, client, request(method="POST", body=bytes(DISCARDED_BYTES + 1)))
        answer = await client.answer()
        assert (answer.status, answer.closes) == (401, True)
        assert await client.ended()


async def test_the_answer_to_a_body_of_unknown_length_closes() -> None:
    async with open_stage(unwilling) as stage:
        client = stage.connect()
        answer = await client.asks(
            request(method="POST", headers=b"Transfer-Encoding: chunked\r\n") + b"5\r\nhello\r\n"
        )
        assert (answer.status, answer.closes) == (401, True)


async def _says_until_cut(client: RawHttp, data: bytes) -> None:
    with contextlib.suppress(trio.BrokenResourceError):  # when the server closes, as is wanted
        await client.says(data)


async def test_no_more_of_a_body_is_taken_than_the_application_reads(autojump_clock: MockClock, way: str) -> None:
    read_on = trio.Event()

    async def hesitant(_scope: Scope, receive: Receive, send: Send) -> None:
        await read_on.wait()
        await answer_with(send, b"%d" % len(await whole_body(receive)))

    async with open_stage(hesitant) as stage:
        client = stage.connect(capacity=1_000)
        head, _, body = request(method="POST", body=bytes(2 * UNREAD_BYTES)).partition(b"\r\n\r\n")
        await client.says(head + b"\r\n\r\n")
        sent = 0
        with trio.move_on_after(10):
            while sent < len(body):
                await client.says(body[sent : sent + 1_000])
                sent += 1_000
        if way == "application":
            assert UNREAD_BYTES < sent < UNREAD_BYTES + 100_000
        else:
            assert sent < 100_000  # an operation reads its body itself
        read_on.set()
        await client.says(body[sent:])
        assert int((await client.answer()).body) == 2 * UNREAD_BYTES


# Upgrades


async def test_no_request_becomes_a_websocket() -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        offering = upgrade(b"/elsewhere", b"Sec-WebSocket-Extensions: permessage-deflate\r\n")
        assert (await client.asks(offering)).body == b"GET /elsewhere "
        assert (await client.asks(request("/next"))).body == b"GET /next "


@pytest.mark.parametrize("behind", [b"", b"\x81\x80\x00\x00\x00\x00"])
async def test_a_request_for_the_gateway_is_given_back_unread(behind: bytes) -> None:
    async with open_stage(echo) as stage:
        client = stage.connect()
        await client.says(request("/first") + upgrade() + behind)
        assert (await client.answer()).body == b"GET /first "
        await trio.testing.wait_all_tasks_blocked()
        assert stage.open == 0
        (transport,) = stage.given_back
        assert await transport.receive_some(65_536) == upgrade() + behind
        await transport.send_all(b"still open")
        assert await client.stream.receive_some() == b"still open"


# The end


async def test_draining_ends_idle_connections_at_once_and_others_with_their_answer(autojump_clock: MockClock) -> None:
    async def slow(_scope: Scope, receive: Receive, send: Send) -> None:
        await whole_body(receive)
        await trio.sleep(20)
        await answer_with(send, b"done")

    async with open_stage(slow) as stage:
        new, idle, asking, waiting = (stage.connect() for _ in range(4))
        await idle.asks(request())
        await asking.says(b"GET / HTTP/1.1\r\n")
        await waiting.says(request() + request("/never begun"))
        await trio.testing.wait_all_tasks_blocked()
        await stage.server.drain()
        started = trio.current_time()
        for client in (new, idle, asking):
            assert await client.ended()
        assert trio.current_time() == started
        answer = await waiting.answer()
        assert (answer.body, answer.closes) == (b"done", True)
        assert await waiting.ended()
        assert trio.current_time() - started == pytest.approx(20)


async def test_a_connection_that_comes_while_draining_gets_one_answer() -> None:
    async with open_stage(echo) as stage:
        await stage.server.drain()
        client = stage.connect()
        assert (await client.asks(request())).closes
        assert await client.ended()


async def test_nothing_in_it_resists_being_cancelled(autojump_clock: MockClock) -> None:
    async def generous(_scope: Scope, _receive: Receive, send: Send) -> None:
        await answer_with(send, bytes(1_000_000))

    before = trio.lowlevel.current_statistics().tasks_living
    async with open_stage(generous) as stage:
        for said in (b"", b"GET /", request(), request(method="POST", headers=b"Content-Length: 5\r\n")):
            await stage.connect().says(said)
        await trio.testing.wait_all_tasks_blocked()
        started = trio.current_time()
    assert trio.current_time() == started
    assert trio.lowlevel.current_statistics().tasks_living == before


# Quart-Trio on it


async def test_a_quart_application_lives_on_it_over_loopback() -> None:
    app = QuartTrio(__name__)
    lived: list[str] = []

    @app.before_serving
    async def begin() -> None:
        lived.append("began")

    @app.after_serving
    async def end() -> None:
        lived.append("ended")

    @app.route("/echo", methods=["POST"])
    async def echo_body() -> Any:
        app.add_background_task(_note, lived)
        return {"body": (await quart_request.get_data()).decode(), "address": quart_request.remote_addr}

    @app.websocket("/socket")
    async def never() -> None:
        lived.append("a WebSocket")

    server = HttpServer(app, TrioClock(1_700_000_000_000))
    listeners = await open_listeners("127.0.0.1", 0)
    port = Port(listeners, gateway=_nobody, http=server, addresses=ClientAddresses(), maximum_connections=10)
    async with server.running(), trio.open_nursery() as nursery:
        nursery.start_soon(port.serve)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{listeners[0].port}") as client:
            for number in range(3):
                answer = await client.post("/echo", content=b"%d" % number)
                assert answer.json() == {"body": str(number), "address": "127.0.0.1"}
            offering = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            assert (await client.get("/socket", headers=offering)).status_code in {400, 404, 405}
            assert "server" not in answer.headers
        await port.drain(10)
    assert lived == ["began", "noted", "noted", "noted", "ended"]


async def _note(lived: list[str]) -> None:
    lived.append("noted")


async def _nobody(*_: object) -> None:
    raise AssertionError("nothing here is for the gateway")


async def test_an_application_that_cannot_start_is_an_error_of_the_server() -> None:
    app = QuartTrio(__name__)

    @app.before_serving
    async def fail() -> None:
        raise RuntimeError("no database")

    with pytest.RaisesGroup(Exception, flatten_subgroups=True):
        async with HttpServer(app, TrioClock(0)).running():
            raise AssertionError("never here")


# What is used of Hypercorn


def test_the_parts_of_hypercorn_are_what_they_were() -> None:
    def parameters(function: Any) -> list[str]:
        return list(inspect.signature(function).parameters)

    assert parameters(H11Protocol) == [
        *("app", "config", "context", "task_group", "connection_state", "ssl", "client", "server", "send")
    ]
    assert parameters(HTTPStream) == [
        *("app", "config", "context", "task_group", "ssl", "client", "server", "send", "stream_id")
    ]
    for name in ("handle", "stream_send", "_handle_events", "_maybe_recycle", "_close_stream"):
        assert inspect.iscoroutinefunction(getattr(H11Protocol, name))
    for name in ("handle", "app_send", "_send_error_response"):
        assert inspect.iscoroutinefunction(getattr(HTTPStream, name))
    assert parameters(TaskGroup.spawn_app) == ["self", "app", "config", "scope", "send"]
    assert parameters(_handle) == ["app", "config", "scope", "receive", "send", "sync_spawn", "call_soon"]
    assert parameters(Lifespan) == ["app", "config", "state"]
    assert parameters(WorkerContext) == ["max_requests"]
    assert issubclass(QuartTrio, Quart)
    assert isinstance(ServerConfig(list).errorlog, logging.Logger)
