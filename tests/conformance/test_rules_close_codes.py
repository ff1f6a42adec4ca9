"""Each registered way of closing, provoked on a whole server: the code and the reason stand in the close frame.

Area: conformance. Rules: 000.close-codes.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Final

import pytest
import trio
import trio.testing

from chat.registries.close_codes import CloseCode
from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient
from chat.testing.network import MemoryRoute
from chat.testing.world import World
from tests.conformance.outcomes import end, table

CLOSES: Final = [(row["code"], row["reason"]) for row in table("close_codes")]

UNPROVOKED: Final = {(4002, "Encode failed")}
"""Every payload of the server's own is made of what it could encode when it was stored; no client brings this about."""

Provoke = Callable[[World], Awaitable[GatewayClient]]


async def fresh(world: World) -> GatewayClient:
    return await world.bob.open(heartbeats=False)


def identified(**members: object) -> Provoke:
    async def provoke(world: World) -> GatewayClient:
        client = await fresh(world)
        await client.identify(world.bob.token, **members)
        return client

    return provoke


def said(op: object, data: object, *, attached: bool = False) -> Provoke:
    async def provoke(world: World) -> GatewayClient:
        client = await (world.bob.connect(heartbeats=False) if attached else fresh(world))
        await client.send(int(str(op)), data)
        return client

    return provoke


def sent(message: str | bytes, *, compressed: bool = False) -> Provoke:
    async def provoke(world: World) -> GatewayClient:
        client = await world.bob.open(compressed=compressed, heartbeats=False)
        await client.send_message(message)
        return client

    return provoke


async def storage_fails(world: World) -> GatewayClient:
    await world.anyone.node(storage_failing=True)
    return await identified()(world)


async def drained(world: World) -> GatewayClient:
    client = await world.bob.connect()
    await world.anyone.node(draining=True)
    return client


async def unreachable(world: World) -> GatewayClient:
    client = await world.bob.connect()
    client.drop()
    await world.anyone.node(rpc_failing=True)
    return await world.bob.resume(client)


async def without_zstd(world: World) -> GatewayClient:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "zstandard", None)  # how Python marks a module that cannot be imported
        client = await world.bob.open(query="v=1&compress=zstd-stream&stream=1", hello=False)
        await client.closed()
    return client


async def too_many_connections(world: World) -> GatewayClient:
    assert isinstance(world.route, MemoryRoute)
    elsewhere = world.route.from_address("10.0.0.7")
    for _ in range(256):
        await GatewayClient.connect(world.nursery, elsewhere)
    return await GatewayClient.connect(world.nursery, elsewhere, hello=False)


async def too_many_sessions(world: World) -> GatewayClient:
    for _ in range(100):
        await world.bob.connect(ignored_events=["SESSIONS_REPLACE"])
    return await identified()(world)


async def too_many_payloads(world: World) -> GatewayClient:
    client = await fresh(world)
    for _ in range(601):
        await client.heartbeat(None)
    return client


async def unread(world: World) -> GatewayClient:
    client = await world.bob.connect()
    client.stop_reading()
    session = await world.session_of(client)
    for number in range(3_000):
        if session is None or not session["attached"]:
            break
        (await world.alice.rest.send_message(world.channel_id, "x" * 2_000)).expect(200)
        if number % 100 == 0:
            session = await world.session_of(client)
    client.go_on_reading()
    return client


async def silent(world: World) -> GatewayClient:
    client = await fresh(world)
    await client.closed(seconds=46)
    return client


async def crowded(world: World) -> GatewayClient:
    await world.anyone.make_guilds(world.bot.id, 2_500)
    client = await world.bot.open()
    await client.identify(world.bot.token)
    return client


async def another_version(world: World) -> GatewayClient:
    return await world.bob.open(query="v=2", hello=False)


PROVOCATIONS: Final[dict[tuple[int, str], Provoke]] = {
    (4000, "Failed to start session"): storage_fails,
    (4000, "Session drain requested; reconnect to continue"): drained,
    (4000, "Session unavailable"): unreachable,
    (4001, "Unknown opcode"): said(99, {}, attached=True),
    (4002, "Decode failed"): sent("hello"),
    (4002, "Invalid payload"): sent('{"d":null}'),
    (4002, "Payload too large"): sent("x" * 16_385),
    (4002, "Decompression failed"): sent(b"hello", compressed=True),
    (4002, "Invalid identify payload"): said(Opcode.IDENTIFY, {}),
    (4002, "Invalid resume payload"): said(Opcode.RESUME, {}),
    (4002, "Compression failed: zstd-stream"): without_zstd,
    (4002, "Invalid presence payload"): said(Opcode.PRESENCE_UPDATE, {"status": "asleep"}, attached=True),
    (4003, "Not authenticated"): said(Opcode.PRESENCE_UPDATE, {"status": "idle"}),
    (4004, "Invalid token"): said(
        Opcode.RESUME, {"token": "x", "session_id": "0" * 32, "seq": 0}
    ),
    (4005, "Already authenticated"): said(Opcode.IDENTIFY, {}, attached=True),
    (4007, "Invalid sequence"): said(Opcode.HEARTBEAT, 1_000_000, attached=True),
    (4008, "Too many connections"): too_many_connections,
    (4008, "Too many sessions"): too_many_sessions,
    (4008, "Rate limited"): too_many_payloads,
    (4008, "Outbox full"): unread,
    (4009, "Heartbeat timeout"): silent,
    (4010, "Invalid shard"): identified(shard=[1, 1]),
    (4011, "Sharding required"): crowded,
    (4012, "Invalid API version"): another_version,
}  # fmt: skip


@pytest.mark.rule("000.close-codes.1")
def test_every_registered_close_is_provoked() -> None:
    assert PROVOCATIONS.keys() | UNPROVOKED == set(CLOSES)
    assert {code for code, _ in CLOSES} == set(CloseCode)


BUDGETED: Final = (4008, "Rate limited")


@pytest.mark.rule("000.close-codes.1")
@pytest.mark.parametrize(
    "close",
    [
        pytest.param(
            close,
            id=f"{close[0]} {close[1]}",
            marks=pytest.mark.chat_settings(rate_limits=close == BUDGETED),
        )
        for close in PROVOCATIONS
    ],
)
async def test_the_close_frame_says_code_and_reason_letter_by_letter(
    chat_world: World, autojump_clock: trio.testing.MockClock, close: tuple[int, str]
) -> None:
    client = await PROVOCATIONS[close](chat_world)
    assert await end(client) == close
