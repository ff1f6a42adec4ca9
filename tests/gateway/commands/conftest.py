"""The stage that the tests of client commands play on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from chat.config import Settings
from chat.store.database import open_database
from chat.testing.server import fresh_database
from tests.gateway.commands.stage import Stage
from tests.guilds.guild_world import GuildWorld


@pytest.fixture
def rate_limited() -> bool:
    """Whether the budget of presences holds; a test may say otherwise."""
    return True


@pytest.fixture
async def stage(tmp_path: Path, rate_limited: bool, nursery: trio.Nursery) -> AsyncIterator[Stage]:
    """A stage with an empty world. A test that lets time pass asks for `autojump_clock` itself."""
    async with open_database(fresh_database(tmp_path / "chat.db"), inline=True, durable=False) as database:
        stage = Stage(GuildWorld(database, Settings()), rate_limited=rate_limited)
        nursery.start_soon(stage.run)
        await stage.settled()
        yield stage
        nursery.cancel_scope.cancel()
