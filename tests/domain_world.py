"""Fixtures of the domain's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chat.config import Settings
from chat.store.database import open_database
from chat.testing.server import fresh_database
from tests.guilds.guild_world import GuildWorld


@pytest.fixture
def settings() -> Settings:
    """The stock settings; a module may have others."""
    return Settings()


@pytest.fixture
async def world(tmp_path: Path, settings: Settings) -> AsyncIterator[GuildWorld]:
    """A world with nobody in it."""
    async with open_database(fresh_database(tmp_path / "chat.db"), inline=True, durable=False) as database:
        yield GuildWorld(database, settings, tmp_path)
