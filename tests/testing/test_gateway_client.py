"""The kit's clients against peers that do not behave: nothing waits for ever (reliability F10, F11)."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from chat.testing import GatewayClient, MemoryNetwork, RestClient, World
from chat.testing.gateway_client import CLOSE_SECONDS, CONNECT_SECONDS, HandshakeRefused
from chat.testing.network import MemoryRoute
from chat.testing.rest_client import NoAnswer


async def test_a_server_that_says_nothing_ends_the_handshake(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    network.listen()
    async with trio.open_nursery() as nursery:
        began = trio.current_time()
        with pytest.raises(HandshakeRefused) as refused:
            await GatewayClient.connect(nursery, MemoryRoute(network))
        assert refused.value.status == 0
        assert trio.current_time() - began == pytest.approx(CONNECT_SECONDS)


async def test_nobody_listening_is_an_os_error(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        with pytest.raises(OSError, match="refused"):
            await GatewayClient.connect(nursery, MemoryRoute(MemoryNetwork()))


async def test_closing_to_a_stalled_peer_ends(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    bob.stall()
    began = trio.current_time()
    await bob.aclose()
    assert trio.current_time() - began <= CLOSE_SECONDS
    assert not bob.is_open


async def test_a_server_that_hangs_up_is_no_answer(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    listener = network.listen()

    async def hang_up() -> None:
        stream = await listener.accept()
        await stream.receive_some()
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hang_up)
        with pytest.raises(NoAnswer):
            await RestClient(MemoryRoute(network)).post("/v1/guilds", {})


async def test_a_server_that_dawdles_is_too_slow(autojump_clock: MockClock) -> None:
    network = MemoryNetwork()
    network.listen()
    with pytest.raises(trio.TooSlowError):
        await RestClient(MemoryRoute(network)).get("/v1/users/@me")


async def test_virtual_time_stands_still_while_the_server_works(chat_world: World, autojump_clock: MockClock) -> None:
    """F11: were there a thread in it, the clock would jump ahead meanwhile, and every deadline would fall due."""
    bob = await chat_world.bob.connect()
    began = trio.current_time()
    await chat_world.anyone.login(email=chat_world.bob.email, password=chat_world.bob.password)
    for _ in range(20):
        (await chat_world.alice.rest.send_message(chat_world.channel_id, "work")).expect(200)
    await chat_world.alice.rest.messages(chat_world.channel_id, limit=50)
    for _ in range(20):
        await bob.expect("MESSAGE_CREATE")
    assert trio.current_time() == began
