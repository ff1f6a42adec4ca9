"""Client libraries register their commands, unmodified but for the address (compat.md, Second mount)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from chat.testing.rest_client import RestClient
from tests.conformance.clients.installed import HERE
from tests.conformance.clients.talk import SCRIPT_SECONDS, BotProcess, bot_process, own_world
from tests.conformance.test_client_libraries import commands_in_python
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with running(tmp_path) as process:
        yield process


@asynccontextmanager
async def script(server: ServerProcess, name: str) -> AsyncIterator[tuple[BotProcess, RestClient, dict[str, Any]]]:
    """The script of a library, with alice and the world that it has to itself."""
    command, environment = commands_in_python([name], HERE)[name]
    rest = RestClient(server.route, server.token_of("alice"))
    try:
        world = await own_world(rest, server.world)
        with trio.fail_after(SCRIPT_SECONDS):
            async with bot_process([*command, json.dumps(world)], environment) as bot:
                yield bot, rest, world
    finally:
        await rest.aclose()


async def test_discord_py_syncs_its_tree(server: ServerProcess) -> None:
    async with script(server, "commands_discord_py") as (bot, rest, world):
        synced = await bot.said("synced")
        assert synced["everywhere"] == ["1 everything", "1 settings", "2 Look at", "3 Keep it"]
        assert synced["here"] == ["here"]
        assert synced["options"] == {
            "text": 3,
            "number": 4,
            "part": 10,
            "yes": 5,
            "who": 6,
            "where": 7,
            "role": 8,
            "whom": 9,
            "file": 11,
            "choice": 3,
        }
        assert (await bot.said("gone"))["code"] == 10066
        assert await bot.ended() == 0
        listed = (await rest.get(f"/v1/channels/{world['channel_id']}/application-commands")).expect(200)
        shown = {command["name"]: command for command in listed["application_commands"]}
        assert shown.keys() == {"everything", "settings", "Look at", "Keep it"}
        assert shown["settings"]["options"][0]["options"][0]["autocomplete"] is True
        assert shown["settings"]["contexts"] == [0]
        assert shown["Keep it"]["default_member_permissions"] == "8192"
        assert shown["everything"]["options"][1]["min_value"] == -5


async def test_hikari_registers_its_commands(server: ServerProcess) -> None:
    async with script(server, "commands_hikari") as (bot, _, _):
        registered = await bot.said("registered")
        assert registered["everywhere"] == registered["listed"] == ["everything", "Look at"]
        assert (registered["options"], registered["permissions"]) == (9, 0)
        assert registered["description"] == ["Here.", "Other."]
        assert await bot.ended() == 0
