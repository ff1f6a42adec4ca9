"""Clients for the tests of the API: over a network in memory, on real bytes.

Tests speak through `RestClient`; where bytes matter, `exchange` sends them as they are. To run the same tests over
loopback sockets, let `chat_server_options` say `sockets=True`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio

from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.patience import PATIENCE_SECONDS

Exchange = Callable[[bytes], Awaitable[bytes]]


@pytest.fixture
async def anyone(chat_server: ChatServer) -> RestClient:
    """A client without a credential."""
    return RestClient(chat_server.route())


@pytest.fixture
async def alice(chat_world: World) -> RestClient:
    """The owner of the seeded guild."""
    return chat_world.alice.rest


@pytest.fixture
async def bob(chat_world: World) -> RestClient:
    """A member of the seeded guild."""
    return chat_world.bob.rest


@pytest.fixture
async def robot(chat_world: World) -> RestClient:
    """Alice's bot."""
    return chat_world.bot.rest


@pytest.fixture
async def exchange(chat_server: ChatServer) -> Exchange:
    """Sends bytes on a connection of their own and returns all that comes back until the server closes it, or falls
    silent for a second after it began to answer."""

    async def send(data: bytes) -> bytes:
        stream = await chat_server.route().connect()
        received = bytearray()
        async with stream:
            await stream.send_all(data)
            with trio.move_on_after(PATIENCE_SECONDS) as silence:
                while chunk := await stream.receive_some(65_536):
                    received += chunk
                    silence.deadline = trio.current_time() + 1
        return bytes(received)

    return send
