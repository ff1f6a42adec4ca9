"""An instance that is not self-hosted, with a store service of the tests' own."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.billing.store_service import TOKEN, StoreService


@pytest.fixture
async def service() -> AsyncIterator[StoreService]:
    """A service that behaves until told otherwise."""
    async with StoreService().running() as running:
        yield running


@pytest.fixture
async def chat_server_options(request: pytest.FixtureRequest, tmp_path: Path, service: StoreService) -> dict[str, Any]:
    """As the plugin's, with that service; the marker's settings count above that."""
    settings: dict[str, object] = {
        "self_hosted": False,
        "billing.store_url": f"{service.origin}/billing/",
        "billing.store_token": TOKEN,
        "premium_mode": "none",
    }
    for marker in reversed(list(request.node.iter_markers("chat_settings"))):
        settings.update(marker.kwargs)
    return {"folder": tmp_path, "seed": zlib.crc32(request.node.nodeid.encode()), "settings": settings}


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World) -> Asking:
    return Asking(chat_server, chat_world)
