"""What waits for all sockets together is bounded: the one for which most waits goes (design 8)."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.gateway.outbox import Outbox, OutboxSum
from chat.registries.close_codes import OUTBOX_FULL
from chat.testing import ChatServer, World
from chat.testing.network import MemoryStream, Pipe
from tests.gateway.conversations import LONG, post, resumed
from tests.gateway.sockets import outboxes_of, sockets_of

LIMIT = 1_000

steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["push", "push", "push", "flush", "read", "write", "hold", "release", "abort", "seal", "latest"]
        ),
        st.integers(0, 2),
        st.integers(1, 600),
    ),
    max_size=40,
)


@given(steps)
def test_the_sum_is_that_of_what_waits_and_never_beyond_the_limit(history: list[tuple[str, int, int]]) -> None:
    together = OutboxSum(LIMIT)
    pipes = [Pipe(64) for _ in range(3)]
    outboxes = [Outbox(MemoryStream(Pipe(64), pipe, "10.0.0.7"), 10 * LIMIT, lambda: None, together) for pipe in pipes]
    for what, number, size in history:
        outbox: Any = outboxes[number]
        match what:
            case "push":
                outbox.push(b"x" * size)
            case "read":
                pipes[number].take(size)
            case "write" if outbox._blocked and not outbox._held:
                outbox._write()
            case "seal":
                outbox.seal(b"x" * size)
            case "latest":
                outbox.send_latest(b"pong")
            case "flush" | "hold" | "release" | "abort":
                getattr(outbox, what)()
        assert together.bytes == sum(each.pending_bytes for each in outboxes if each._blocked)
        # The very last frame of a socket, and one that is under way, are not held back.
        assert sum(each.pending_bytes for each in outboxes if each._blocked and each.is_open) <= LIMIT
    for outbox in outboxes:
        outbox.abort()
    assert together.bytes == 0
    assert not together._waiting


@pytest.mark.own_parts
async def test_the_socket_for_which_most_waits_closes_and_its_session_stays(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    together = outboxes_of(chat_server)
    together.limit = 500_000
    bob, carol = await chat_world.bob.connect(heartbeats=False), await chat_world.carol.connect(heartbeats=False)
    alice = await chat_world.alice.connect()
    bob.stop_reading()
    sent = await post(chat_world, LONG, times=60)
    carol.stop_reading()
    while bob.is_open and len(sent) < 400:
        sent += await post(chat_world, LONG)
        await trio.testing.wait_all_tasks_blocked()
        assert together.bytes <= together.limit
        if not any(each.session and each.session.user_id == int(chat_world.bob.id) for each in sockets_of(chat_server)):
            break
    bob.go_on_reading()
    assert await bob.closed() == OUTBOX_FULL
    carol.go_on_reading()
    for client in (alice, carol):
        assert [(await client.expect("MESSAGE_CREATE")).data["id"] for _ in sent] == sent
    again = await chat_world.bob.resume(bob)
    received = [payload.data["id"] for payload in bob.dispatches if payload.name == "MESSAGE_CREATE"]
    await resumed(again)
    received += [payload.data["id"] for payload in again.dispatches if payload.name == "MESSAGE_CREATE"]
    assert received == sent
    await trio.testing.wait_all_tasks_blocked()
    assert together.bytes == 0
