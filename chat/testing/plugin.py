"""The pytest plugin of the test kit: loads by itself where `chat` is installed.

    async def test_greeting(chat_world, autojump_clock):
        bob = await chat_world.bob.connect()
        await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")
        await bob.expect("MESSAGE_CREATE", where=lambda d: d["content"] == "hello")

It costs other test suites one small import: everything else is imported when a fixture is used. The fixtures are for
Trio tests (pytest-trio).
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from chat.testing.server import ChatServer
    from chat.testing.world import World


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "chat_settings(**settings): settings of this test's chat_server, by their dotted names"
    )


@pytest.fixture
def chat_server_options(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """What `chat_server` is opened with; override it to change that.

    The seed follows from the test's name, so a test does the same each time.
    """
    settings: dict[str, object] = {}
    for marker in reversed(list(request.node.iter_markers("chat_settings"))):
        settings.update(marker.kwargs)
    return {"folder": tmp_path, "seed": zlib.crc32(request.node.nodeid.encode()), "settings": settings}


@pytest.fixture
async def chat_server(chat_server_options: dict[str, Any]) -> AsyncIterator[ChatServer]:
    """A whole server inside the test's own Trio run; on virtual time when the test uses `autojump_clock`."""
    from chat.testing.server import open_chat_server

    async with open_chat_server(**chat_server_options) as server:
        yield server


@pytest.fixture
async def chat_world(chat_server: ChatServer) -> AsyncIterator[World]:
    """The seeded world of `chat_server` with ready clients."""
    import trio

    from chat.testing.world import World

    async with trio.open_nursery() as nursery:
        world = World(chat_server.description(), chat_server.route(), nursery)
        yield world
        await world.aclose()
        nursery.cancel_scope.cancel()
