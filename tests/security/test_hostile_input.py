"""Hostile input against the whole server: whatever is sent gets a documented answer, nothing is a 5xx or a traceback,
and other sessions do not notice."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
import structlog
import trio
import trio.testing

from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.registries.close_codes import CLOSES
from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.gateway.raw_websocket import client_frame

CORPUS: Final = Path(__file__).parents[1] / "fuzz" / "corpus"
BINARY: Final = 2
REGISTERED: Final = {(int(close.code), close.reason) for close in CLOSES}
OPERATIONS: Final = [operation for routes in ROUTES for operation in routes.operations]
OF_OAUTH2: Final = {"error", "error_description"}
"""What failures of the OAuth2 protocol itself hold (wire facts 3.1)."""

SESSION_OPCODES: Final = (3, 4, 8, 13, 14, 15, 16, 28)


def corpus(target: str) -> list[bytes]:
    """The kept inputs of a fuzz target."""
    inputs = [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]
    assert inputs
    return inputs


@asynccontextmanager
async def unnoticed(world: World, server: ChatServer) -> AsyncIterator[None]:
    """Whatever happens in the block, a bystander stays connected and served, and nothing is logged as a failure."""
    bystander = await world.carol.connect()
    with structlog.testing.capture_logs() as entries:
        yield
    assert [entry for entry in entries if entry["log_level"] in {"error", "critical"}] == []
    assert bystander.is_open
    (await world.alice.rest.send_message(world.channel_id, "afterwards")).expect(200)
    await bystander.expect("MESSAGE_CREATE", where=lambda data: data["content"] == "afterwards")
    await trio.sleep(61)  # what was retained is over, and with it every trace
    assert {session["user_id"] for session in await world.anyone.gateway_sessions()} == {world.carol.id}
    assert len(server.server.gateway.connections) == 1


async def judged(client: GatewayClient, message: bytes) -> None:
    """The message is answered or not; if it closes the socket, then with a registered reason."""
    await client.send_bytes(client_frame(BINARY, client.compress(message) if client.is_compressed else message))
    await client.send_bytes(client_frame(9, b"are you there?"))
    with trio.move_on_after(0.01):
        await client.closed()
    if client.close_frame is not None:
        assert (client.close_frame.code, client.close_frame.reason) in REGISTERED, message
    client.drop()


def gateway_messages() -> Iterator[bytes]:
    """The corpora as messages: whole ones, and as the `d` of each command."""
    yield from corpus("payload_decoder")
    for data in corpus("identify_parser"):
        for op in (Opcode.IDENTIFY, Opcode.RESUME):
            yield b'{"op":%d,"d":%b}' % (op, data)
    for data in (*corpus("session_commands"), *corpus("identify_parser")):
        for op in SESSION_OPCODES:
            yield b'{"op":%d,"d":%b}' % (op, data)


@pytest.mark.long
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize("attached", [False, True], ids=["unauthenticated", "attached"])
async def test_no_message_of_the_corpora_disturbs_the_gateway(
    chat_world: World,
    chat_server: ChatServer,
    autojump_clock: trio.testing.MockClock,
    compressed: bool,
    attached: bool,
) -> None:
    async with unnoticed(chat_world, chat_server):
        for message in gateway_messages():
            if attached:
                # A bot has no limit of sessions, so that the dropped ones do not count.
                client = await chat_world.bot.connect(compressed=compressed, heartbeats=False)
            else:
                client = await chat_world.bot.open(compressed=compressed, heartbeats=False)
            await judged(client, message)


async def test_no_stream_of_the_corpus_disturbs_the_gateway(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    async with unnoticed(chat_world, chat_server):
        for data in (*corpus("zstd_stream"), *corpus("payload_decoder")):
            client = await chat_world.bob.open(compressed=True, heartbeats=False)
            await client.send_bytes(client_frame(BINARY, data))
            with trio.move_on_after(0.01):
                await client.closed()
            if client.close_frame is not None:
                assert (client.close_frame.code, client.close_frame.reason) in REGISTERED
            client.drop()


async def test_no_query_and_no_header_of_the_corpora_disturbs_the_gateway(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    key = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    async with unnoticed(chat_world, chat_server):
        for data in (*corpus("query_parser"), *corpus("authorization_parser"), b"\x00", b"\r\n", b" HTTP/1.1\r\n"):
            for head in (
                b"GET /gateway?%b HTTP/1.1\r\nHost: x\r\n",
                b"GET /gateway?v=1 HTTP/1.1\r\nHost: x\r\nX: %b\r\n",
            ):
                stream = await chat_world.route.connect()
                await stream.send_all(head % data + key + b"Sec-WebSocket-Version: 13\r\n\r\n")
                with trio.fail_after(30):
                    answer = await stream.receive_some()
                assert answer.startswith((b"HTTP/1.1 101 ", b"HTTP/1.1 400 ", b"HTTP/1.1 426 "))
                await trio.aclose_forcefully(stream)


BODIES: Final = [
    b"", b"{", b"null", b"[]", b'"text"', b"7", b"NaN", b"\xff\xfe", b"\xed\xa0\x80", b"[" * 20_000,
    b'{"a":' * 5_000, b"9" * 5_000, b'{"content":"\\ud800"}', b'{"content":"\\u0000"}', b'{"name":1e999}',
    b'{"name":-0.0,"content":[],"status":{},"email":7,"password":null}',
    b'{"name":"' + b"x" * 200_000 + b'"}',
    b'{"token":"\\u202e","username":"\\u0000","email":"@","password":"x","content":"\\n","max_age":-1,"max_uses":1e3}',
    b'{"id":"99999999999999999999","nonce":99999999999999999999999,"message_reference":{"message_id":"x"}}',
    b'{"a":1,"a":2}', b'{"global_name":{"toString":"x"},"avatar":"data:image/png;base64,####","bio":[1]}',
]  # fmt: skip

MEMBERS: Final = [
    "0",
    "-1",
    "1",
    "99999999999999999999",
    "9223372036854775808",
    "9223372036854775808.png",
    "x",
    "%00",
    "%ff",
    "%2f",
    "@me",
    "1.0",
]
QUERIES: Final = ["limit=x", "limit=-1&before=%ff", "after=99999999999999999999", "around=&limit=", "%00=%00", "&&=&="]


def paths(operation: Operation) -> Iterator[str]:
    """The operation's path with hostile members and queries."""
    for member in MEMBERS if operation.path_members else ["1"]:
        path = operation.path
        for name in operation.path_members:
            path = path.replace(f"{{{name}}}", member)
        yield path
    for query in QUERIES:
        yield f"{path}?{query}"


@pytest.mark.long
async def test_no_body_path_or_query_makes_an_operation_fail(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    asked = 0
    async with unnoticed(chat_world, chat_server):
        for operation in OPERATIONS:
            if operation.path == "/v1/auth/logout":
                continue  # which needs nothing, and would be the end of bob's requests
            hostile = [(path, b"{}") for path in paths(operation)]
            if operation.method != "GET":
                existing = operation.path.replace("{guild_id}", chat_world.guild_id)
                existing = existing.replace("{channel_id}", chat_world.channel_id)
                hostile += [(existing, body) for body in BODIES]
            for path, body in hostile:
                answer = await chat_world.bob.rest.request(
                    operation.method, path, body=body, headers={"Content-Type": "application/json"}
                )
                assert answer.status < 500, (operation.method, path, body[:80], answer)
                if answer.status >= 400:
                    names = json.loads(answer.body).keys()
                    assert names >= {"code", "message"} or names == OF_OAUTH2
                asked += 1
    assert asked > 700


async def test_no_header_makes_a_request_fail(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    names = ("Authorization", "X-Audit-Log-Reason", "X-Service-Features", "X-Forwarded-For", "X-Test-Address", "Cookie",
             "Content-Type", "Accept-Encoding", "Expect", "User-Agent", "Range", "If-None-Match")  # fmt: skip
    values = [value.replace(b"\r", b"").replace(b"\n", b"") for value in corpus("authorization_parser")]
    values += [
        b"\xff\xfe",
        b"%00",
        b"a" * 8_000,
        b",,,;;;",
        b"999.999.999.999",
        b"::1%eth0",
        b'"' * 50,
        b"100-continue",
    ]
    async with unnoticed(chat_world, chat_server):
        for name in names:
            for value in values:
                stream = await chat_world.route.connect()
                await stream.send_all(
                    b"POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n"
                    + name.encode() + b": " + value.strip() + b"\r\n\r\n{}"
                )  # fmt: skip
                answer = b""
                with trio.fail_after(30):
                    while data := await stream.receive_some():
                        answer += data
                status = int(answer.partition(b"\r\n\r\n")[0].split()[1]) if answer else 0
                assert 400 <= status < 500 or status == 100, (name, value, answer[:200])
                await trio.aclose_forcefully(stream)
