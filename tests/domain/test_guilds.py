"""Create guild, List current user guilds, Get guild."""

from __future__ import annotations

import pytest

from chat.bus.audience import ToAccounts
from chat.bus.bus import GuildJoined
from chat.registries.events import EventName


async def test_a_new_guild_has_its_default_channels_and_belongs_to_its_maker(world) -> None:
    alice = await world.person("alice")
    created = await world.guilds.create(alice, "  Harbour  ")
    assert created["name"] == "Harbour"
    assert created["owner_id"] == str(alice.user_id)
    guild = await world.guilds.get(alice, int(created["id"]))
    shape = [(channel["type"], channel["name"]) for channel in guild["channels"]]
    assert sorted(shape) == [(0, "general"), (2, "General"), (4, "Text Channels"), (4, "Voice Channels")]
