"""Control frames count into the budget of payloads: 600 in any 60 s, then 4008 (design 8)."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from trio.testing import MockClock
from wsproto.frame_protocol import FrameProtocol

from chat.registries.close_codes import RATE_LIMITED
from chat.registries.limits import COMMAND_BUDGET
from chat.testing import GatewayClient, World
from tests.gateway.conversations import acknowledged, closes, resumed

FRAMES = FrameProtocol(client=True, extensions=[])
PING, PONG = FRAMES.ping(b"!"), FRAMES.pong(b"!")


async def sent(client: GatewayClient, frames: bytes) -> None:
    """The frames are at the server, and it has done what it does about them."""
    await client.send_bytes(frames)
    await trio.testing.wait_all_tasks_blocked()


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.parametrize("frame", [PING, PONG], ids=["ping", "pong"])
@pytest.mark.parametrize("at_once", [True, False])
async def test_one_control_frame_more_than_600_closes_a_socket_without_a_session(
    chat_world: World, autojump_clock: MockClock, frame: bytes, at_once: bool
) -> None:
    client = await chat_world.open(heartbeats=False)
    if at_once:
        await sent(client, frame * COMMAND_BUDGET)
    else:
        for _ in range(COMMAND_BUDGET // 30):
            await sent(client, frame * 30)
            await trio.sleep(1)
    assert client.is_open
    await sent(client, frame * 5)
    await closes(client, RATE_LIMITED)


@pytest.mark.chat_settings(rate_limits=True)
async def test_payloads_and_control_frames_share_the_budget_and_the_session_stays(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)  # one payload: Identify
    await sent(bob, PING * (COMMAND_BUDGET - 3))
    await acknowledged(bob, None)
    await sent(bob, PONG)
    assert bob.is_open
    await bob.heartbeat(None)
    await closes(bob, RATE_LIMITED)
    await resumed(await chat_world.bob.resume(bob))


@pytest.mark.chat_settings(rate_limits=True)
async def test_after_60_seconds_there_is_a_budget_again(chat_world: World, autojump_clock: MockClock) -> None:
    client = await chat_world.open()
    for _ in range(3):
        await sent(client, PING * (COMMAND_BUDGET - 20))  # and Heartbeats
        await trio.sleep(60.1)
    assert client.is_open


async def test_without_rate_limits_there_is_no_budget(chat_world: World, autojump_clock: MockClock) -> None:
    client = await chat_world.open(heartbeats=False)
    await sent(client, PING * (2 * COMMAND_BUDGET))
    assert client.is_open
    await acknowledged(client, None)
