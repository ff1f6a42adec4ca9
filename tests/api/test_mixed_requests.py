"""Operations, pages and the gateway on one connection, in any mixture; and both ways of a request have one answer
(architecture.md, One port, two engines)."""

from __future__ import annotations

import random

import pytest
import trio

from chat.admin.routes import ADMIN_ROUTES
from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.testing.network import MemoryStream
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.api.raw_http import RawHttp, request
from tests.gateway.raw_websocket import upgrade

EVERY_OPERATION = [operation for module in (*ROUTES, *ADMIN_ROUTES) for operation in module.operations]


async def connected(server: ChatServer) -> RawHttp:
    """A connection to the server as bytes."""
    stream = await server.network.connect()
    assert isinstance(stream, MemoryStream)
    return RawHttp(stream)


def as_user(world: World, more: bytes = b"") -> bytes:
    """Header lines of a user's request."""
    return f"Authorization: {world.alice.token}\r\nX-Request-ID: same\r\n".encode() + more


MEMBERS = {
    "health": (request("/_health"), "GET", 200),
    "own user": (request("/v1/users/@me"), "GET", 401),
    "only the head": (request("/_health", method="HEAD"), "HEAD", 200),
    "a body that is not read": (request("/v1/users/@me", method="PATCH", body=b"x" * 70_000), "PATCH", 401),
    "chunks": (
        request("/v1/auth/login", method="POST", headers=b"Transfer-Encoding: chunked\r\n") + b"2\r\n{}\r\n0\r\n\r\n",
        "POST",
        400,
    ),
    "a page": (request("/login"), "GET", 200),
    "an unknown path": (request("/v1/nothing"), "GET", 404),
    "a file": (request("/static/nothing.css"), "GET", 404),
    "an absolute target": (request("http://example.test/_health"), "GET", 200),
    "preflight": (
        request("/v1/users/@me", method="OPTIONS", headers=b"Access-Control-Request-Method: GET\r\n"),
        "OPTIONS",
        204,
    ),
}


@pytest.mark.parametrize("seed", range(20))
async def test_requests_of_every_kind_are_answered_in_order(seed: int, chat_server: ChatServer) -> None:
    chance = random.Random(seed)
    names, together = chance.choices(sorted(MEMBERS), k=chance.randrange(1, 9)), chance.random() < 0.5
    client = await connected(chat_server)
    asked = [MEMBERS[name] for name in names]
    async with trio.open_nursery() as nursery:
        if together:
            nursery.start_soon(client.says, b"".join(data for data, _, _ in asked) + upgrade())
        for data, method, status in asked:
            if not together:
                nursery.start_soon(client.says, data)
            answer = await client.answer(method)
            assert (answer.status, answer.closes) == (status, False)
        if not together:
            nursery.start_soon(client.says, upgrade())
    received = client.received
    while b"\r\n\r\n" not in received:
        received += await client.stream.receive_some()
    assert received.startswith(b"HTTP/1.1 101 ")
    await client.stream.aclose()


OF_THE_MOMENT = {"/v1/auth/sessions"}
"""Paths whose answer tells of the moment when it is made."""


def path_of(operation: Operation, world: World) -> str:
    """A path of the operation, with members that lead nowhere where they are ids."""
    known = {"guild_id": world.guild_id, "channel_id": world.channel_id, "user_id": world.bob.id}
    segments = operation.path.split("/")
    return "/".join(known.get(segment[1:-1], "1") if segment.startswith("{") else segment for segment in segments)


async def test_both_ways_have_the_same_answer(chat_server: ChatServer, chat_world: World) -> None:
    """An absolute target makes a request that is not plain, and changes nothing else about it."""
    compared = 0
    for operation in EVERY_OPERATION:
        if operation.method != "GET" or operation.path in OF_THE_MOMENT:
            continue
        path = path_of(operation, chat_world)
        answers = []
        for target in (path, f"http://example.test{path}"):
            client = await connected(chat_server)
            answers.append(await client.asks(request(target, headers=as_user(chat_world))))
            await client.stream.aclose()
        plain, other = answers
        for answer in answers:
            assert answer.headers.pop(b"date")  # a second may begin between the two
        assert (plain.status, list(plain.headers.items())) == (other.status, list(other.headers.items())), path
        assert plain.body == other.body, path
        compared += plain.status == 200
    assert compared > 40


@pytest.mark.parametrize("closing", [b"", b"Connection: close\r\n"])
async def test_a_refusal_has_the_same_bytes_on_both_ways(
    closing: bytes, chat_server: ChatServer, chat_world: World
) -> None:
    answers = []
    for target in ("/v1/users/@me", "http://example.test/v1/users/@me"):
        client = await connected(chat_server)
        await client.says(request(target, method="PATCH", body=b"[", headers=as_user(chat_world, closing)))
        answers.append(await client.stream.receive_some())
        await client.stream.aclose()
    assert answers[0] == answers[1]
    assert answers[0].startswith(b"HTTP/1.1 400 \r\n")
