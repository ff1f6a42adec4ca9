"""One limit bounds the HTTP connections of an address, an equal one its gateway connections (design 8)."""

from __future__ import annotations

import json

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from chat.registries.close_codes import TOO_MANY_CONNECTIONS
from chat.testing import ChatServer, RestClient, World
from chat.testing.network import MemoryStream
from tests.gateway.conversations import closes

HALF = b"GET /v1/users/@me HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HALF + b"\r\n"
LIMIT = 5

pytestmark = pytest.mark.chat_settings(**{"gateway.connections_per_address": LIMIT})


async def opened(server: ChatServer, address: str, data: bytes = HALF) -> MemoryStream:
    stream = await server.network.connect(address)
    await stream.send_all(data)
    await trio.testing.wait_all_tasks_blocked()
    return stream


async def everything(stream: MemoryStream) -> bytes:
    received = b""
    with trio.fail_after(5):
        while data := await stream.receive_some():
            received += data
    return received


async def is_refused(stream: MemoryStream) -> None:
    head, _, body = (await everything(stream)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 429 ")
    assert b"Retry-After: 1" in head
    assert b"Connection: close" in head
    answer = json.loads(body)
    assert (answer["code"], answer["retry_after"], answer["global"]) == ("RATE_LIMITED", 1.0, False)


async def test_half_sent_requests_take_an_addresss_places_and_nobody_elses(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    held = [await opened(chat_server, "10.0.0.7") for _ in range(LIMIT)]
    await is_refused(await opened(chat_server, "10.0.0.7", b""))
    await is_refused(await opened(chat_server, "10.0.0.7", WHOLE))
    elsewhere = RestClient(chat_server.route("10.0.0.8"))
    assert (await elsewhere.get("/v1/users/@me")).status == 401
    await elsewhere.aclose()
    held.pop().cut()
    await trio.testing.wait_all_tasks_blocked()
    again = await opened(chat_server, "10.0.0.7", WHOLE)
    assert (await again.receive_some()).startswith(b"HTTP/1.1 401 ")


async def test_a_flood_of_half_sent_requests_is_closed_at_once(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    streams = [await chat_server.network.connect("10.0.0.7") for _ in range(1_000)]
    await trio.sleep(1.1)
    assert chat_server.server.port.connections <= LIMIT + 1  # and that of the world's own client
    ended = 0
    for stream in streams:
        with trio.move_on_after(0.001):
            await everything(stream)
            ended += 1
    assert ended == len(streams) - LIMIT
    await trio.sleep(10)
    assert chat_server.server.port.connections <= 1


async def test_an_ipv6_network_counts_as_one(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    for number in range(LIMIT):
        await opened(chat_server, f"2001:db8::{number:x}")
    await is_refused(await opened(chat_server, "2001:db8::ffff", b""))
    assert await (await opened(chat_server, "2001:db8:0:1::1", WHOLE)).receive_some()


async def test_sockets_of_the_gateway_are_counted_by_themselves(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    route = chat_server.route("10.0.0.7")
    sockets = [await chat_world.bob.open(route=route) for _ in range(LIMIT)]
    client = RestClient(route)
    assert (await client.get("/v1/users/@me")).status == 401
    await closes(await chat_world.bob.open(route=route, hello=False), TOO_MANY_CONNECTIONS)
    assert all(socket.is_open for socket in sockets)
    await client.aclose()


@pytest.mark.chat_settings(trusted_proxies=["10.0.0.1/32"])
async def test_behind_a_trusted_proxy_requests_count_for_the_address_that_it_names(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    def half_sent(address: str) -> bytes:
        return (
            b"POST /v1/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 10\r\nX-Forwarded-For: %b\r\n\r\n{" % address.encode()
        )

    held = [await opened(chat_server, "10.0.0.1", half_sent("192.0.2.7")) for _ in range(LIMIT)]
    for _ in range(3 * LIMIT):
        await opened(chat_server, "10.0.0.1")  # whose these are is not known yet
    refused = await opened(chat_server, "10.0.0.1", half_sent("192.0.2.7"))
    assert (await refused.receive_some()).startswith(b"HTTP/1.1 429 ")
    other = await opened(chat_server, "10.0.0.1", WHOLE.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: 192.0.2.8\r\n\r\n"))
    assert (await other.receive_some()).startswith(b"HTTP/1.1 401 ")
    await held[0].send_all(b" " * 8 + b"}")
    assert (await held[0].receive_some()).startswith(b"HTTP/1.1 400 ")
    again = await opened(chat_server, "10.0.0.1", WHOLE.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n"))
    assert (await again.receive_some()).startswith(b"HTTP/1.1 401 ")
