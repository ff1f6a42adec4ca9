"""Requests that two readers could understand differently are refused on new connections and on kept ones."""

from __future__ import annotations

import json

import h11
import pytest

from chat.port.request_head import HeadRefused, announced_bytes, check_framing
from tests.api.raw_http import Receive, Scope, Send, answer_with, open_stage, request, way, whole_body

__all__ = ["way"]
pytestmark = pytest.mark.usefixtures("way")


async def tell(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer what was understood."""
    body = await whole_body(receive)
    headers = [[name.decode(), value.decode()] for name, value in scope["headers"]]
    understood = {"path": scope["path"], "headers": headers, "body": body.decode()}
    if sum(name == b"authorization" for name, _ in scope["headers"]) > 1:
        await answer_with(send, b'{"code":"UNAUTHORIZED","message":""}', 401)
    else:
        await answer_with(send, json.dumps(understood).encode())


SMUGGLED = b"0\r\n\r\nGET /admin HTTP/1.1\r\nHost: example.test\r\n\r\n"

refused = pytest.mark.parametrize(
    "unclear",
    [
        pytest.param(
            request(method="POST", headers=b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + SMUGGLED,
            id="a length and chunks",
        ),
        pytest.param(
            request(method="POST", headers=b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n") + SMUGGLED,
            id="chunks and a length",
        ),
        pytest.param(request(headers=b"Content-Length: 5\r\nContent-Length: 6\r\n"), id="two lengths"),
        pytest.param(request(headers=b"Content-Length: +5\r\n"), id="a length with a sign"),
        pytest.param(request(headers=b"Content-Length: 5, 5, 6\r\n"), id="a list of lengths"),
        pytest.param(request(headers=b"Transfer-Encoding: chunked\r\n", version="1.0"), id="chunks in HTTP/1.0"),
        pytest.param(request(headers=b"A: b\r\n folded\r\n"), id="a folded line"),
        pytest.param(request(headers=b"A: b\nC: d\r\n"), id="a bare line feed"),
        pytest.param(request(headers=b"A: b\rC: d\r\n"), id="a bare carriage return"),
        pytest.param(request(headers=b"A : b\r\n"), id="a space before the colon"),
        pytest.param(request(headers=b"A: b\x00c\r\n"), id="a null byte"),
        pytest.param(request(headers=b"Host: other.test\r\n"), id="two hosts"),
        pytest.param(request(headers=b"A: " + b"b" * 40_960 + b"\r\n"), id="40 KiB of headers"),
        pytest.param(request(headers=b"A: b\r\n" * 100), id="101 headers"),
        pytest.param(request("example.test:443", method="CONNECT"), id="CONNECT"),
        pytest.param(request("no-slash"), id="no path"),
        pytest.param(request("*", method="OPTIONS"), id="the asterisk"),
        pytest.param(request(version="2.0"), id="HTTP/2 in the clothes of HTTP/1"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2 by prior knowledge"),
        pytest.param(b"GET /\r\n\r\n", id="HTTP/0.9"),
    ],
)


@refused
async def test_an_unclear_request_is_refused_and_the_connection_closes(unclear: bytes) -> None:
    async with open_stage(tell) as stage:
        client = stage.connect()
        answer = await client.asks(unclear)
        assert (answer.status, answer.code, answer.closes) == (400, "BAD_REQUEST", True)
        assert await client.ended()


@refused
async def test_so_it_is_on_a_kept_connection(unclear: bytes) -> None:
    async with open_stage(tell) as stage:
        client = stage.connect()
        for _ in range(2):
            assert (await client.asks(request("/first", method="POST", body=b"x"))).json["path"] == "/first"
        answer = await client.asks(unclear)
        assert (answer.status, answer.code, answer.closes) == (400, "BAD_REQUEST", True)
        assert await client.ended()


@refused
async def test_so_it_is_right_behind_another_request(unclear: bytes) -> None:
    async with open_stage(tell) as stage:
        client = stage.connect()
        await client.says(request("/first", method="POST", body=b"x") + unclear)
        assert (await client.answer()).json["path"] == "/first"
        assert (await client.answer()).status == 400
        assert await client.ended()


@pytest.mark.parametrize(
    ("clear", "body"),
    [
        (request(method="POST", body=b"hello"), "hello"),
        (request(method="POST", headers=b"Content-Length: 5\r\nContent-Length: 5\r\n") + b"hello", "hello"),
        (request(method="POST", headers=b"Transfer-Encoding: chunked\r\n") + b"5\r\nhello\r\n0\r\n\r\n", "hello"),
        (request(method="POST", body=b"hello", version="1.0"), "hello"),
        (request(headers=b"A: " + b"b" * 16_000 + b"\r\n"), ""),
        (request(headers=b"A: b\r\n" * 99), ""),
        (request("http://example.test/path"), ""),
    ],
)
async def test_the_clear_twins_of_refused_requests_are_served(clear: bytes, body: str) -> None:
    async with open_stage(tell) as stage:
        answer = await stage.connect().asks(clear)
        assert answer.status == 200
        assert answer.json["body"] == body


async def test_an_upgrade_to_http2_is_left_alone() -> None:
    async with open_stage(tell) as stage:
        client = stage.connect()
        answer = await client.asks(
            request(
                headers=b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
            )
        )
        assert answer.status == 200
        assert (await client.asks(request("/second"))).json["path"] == "/second"


@pytest.mark.parametrize(
    "headers",
    [
        b"Authorization: cht_one\r\nAuthorization: cht_two\r\n",
        b"Authorization: cht_one\r\nauthorization: cht_one\r\n",
        b"AUTHORIZATION: Bot 1.x\r\nAccept: */*\r\nAuthorization: \r\n",
    ],
)
async def test_a_doubled_credential_is_visible_as_such(headers: bytes) -> None:
    async with open_stage(tell) as stage:
        client = stage.connect()
        assert (await client.asks(request(headers=headers))).status == 401
        answer = await client.asks(request(headers=b"Authorization: cht_one\r\n"))
        assert ["authorization", "cht_one"] in answer.json["headers"]


def test_the_length_is_read_where_there_is_one() -> None:
    assert announced_bytes([(b"host", b"a"), (b"content-length", b"17")]) == 17
    assert announced_bytes([(b"host", b"a")]) == 0


def test_the_guard_stands_alone() -> None:
    headers = [("Host", "a"), ("Content-Length", "1")]
    check_framing(h11.Request(method="POST", target="/", headers=headers))
    with pytest.raises(HeadRefused, match="contradict"):
        check_framing(h11.Request(method="POST", target="/", headers=[*headers, ("Transfer-Encoding", "chunked")]))
