"""A server that trusts a provider of the test's own."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from going import MovingClock
from provider import CLIENT_ID, CLIENT_SECRET, Provider

from chat.testing.server import ChatServer


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    """A provider that behaves until told otherwise."""
    async with Provider().running() as running:
        yield running


@pytest.fixture
async def chat_server_options(request: pytest.FixtureRequest, tmp_path: Path, provider: Provider) -> dict[str, Any]:
    """As the plugin's, with single sign-on through `provider`; the marker's settings count above that."""
    settings: dict[str, object] = {
        "sso.enabled": True,
        "sso.issuer": provider.issuer,
        "sso.client_id": CLIENT_ID,
        "sso.client_secret": CLIENT_SECRET,
        "sso.display_name": "The Office",
        "sso.auto_provision": True,
    }
    for marker in reversed(list(request.node.iter_markers("chat_settings"))):
        settings.update(marker.kwargs)
    return {"folder": tmp_path, "seed": zlib.crc32(request.node.nodeid.encode()), "settings": settings}


@pytest.fixture
async def moved(mock_clock: trio.testing.MockClock, chat_server: ChatServer) -> MovingClock:
    """A clock that a test moves by hand: the provider is on the network, so that time cannot jump by itself.

    The test has to ask for `mock_clock` as well, for pytest-trio to run it on that.
    """
    mock_clock.rate = 1
    return MovingClock(mock_clock, chat_server)
