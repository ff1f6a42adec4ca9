"""What dialogues with a whole server say over and over again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio

from chat.registries.close_codes import Close
from chat.registries.opcodes import Opcode
from chat.testing import ChatServer, GatewayClient, World
from tests.patience import PATIENCE_SECONDS

LONG = "x" * 1_900


async def post(world: World, content: str = "hello", times: int = 1) -> list[str]:
    """Alice posts in the world's channel; the ids of the messages."""
    send = world.alice.rest.send_message
    return [(await send(world.channel_id, content)).expect(200)["id"] for _ in range(times)]


async def closes(client: GatewayClient, close: Close, *, seconds: float = 10) -> None:
    """The server closes with this code and reason."""
    assert await client.closed(seconds=seconds) == close


async def acknowledged(client: GatewayClient, data: object) -> None:
    """A Heartbeat with this `d` is acknowledged, and the socket stays. For clients that heartbeat by hand."""
    await client.heartbeat(data)
    payload = await client.expect_opcode(Opcode.HEARTBEAT_ACK)
    assert dict(payload.members) == {"op": 11}


async def is_unauthenticated(client: GatewayClient) -> None:
    """The socket is open and holds no session: an absurd Heartbeat is acknowledged."""
    before = client.acknowledgements
    await client.heartbeat({"absurd": True})
    with trio.fail_after(PATIENCE_SECONDS):
        while client.acknowledgements == before:  # noqa: ASYNC110 - the client counts; it does not tell
            await trio.sleep(0.01)
    assert client.is_open


async def invalidated(client: GatewayClient) -> None:
    """Invalid Session false arrives; the socket stays open and unauthenticated."""
    payload = await client.expect_opcode(Opcode.INVALID_SESSION)
    assert dict(payload.members) == {"op": 9, "d": False}
    await is_unauthenticated(client)


async def resumed(client: GatewayClient) -> list[int]:
    """Everything up to Resumed arrives; the sequences of what was replayed."""
    replayed = []
    while True:
        payload = await client.next_payload()
        assert payload.op == Opcode.DISPATCH, payload
        assert payload.sequence is not None
        if payload.name == "RESUMED":
            return replayed
        replayed.append(payload.sequence)


async def session_of(world: World, client: GatewayClient) -> dict[str, Any]:
    """The client's session as the server has it."""
    session = await world.session_of(client)
    assert session is not None, "the session is over"
    return session


@asynccontextmanager
async def no_turns(server: ChatServer) -> AsyncIterator[None]:
    """While the block lasts no session start gets its turn."""
    turns = server.server.gateway.starts.turns
    holders = [object() for _ in range(int(turns.total_tokens))]
    for holder in holders:
        await turns.acquire_on_behalf_of(holder)
    try:
        yield
    finally:
        for holder in holders:
            turns.release_on_behalf_of(holder)


async def long_replay(world: World, client: GatewayClient) -> GatewayClient:
    """Drop `client` and resume its session on a socket that reads nothing yet: the server is kept in the replay."""
    client.drop()
    await post(world, LONG, times=200)
    successor = await world.bob.open(heartbeats=False)
    successor.stop_reading()
    await successor.resume(world.bob.token, client.session_id, client.sequence)
    await trio.testing.wait_all_tasks_blocked()
    return successor
