"""A bot on a client library, unmodified but for the address, asks people by a poll (compat.md, Second mount)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

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
async def asking(server: ServerProcess, name: str) -> AsyncIterator[tuple[BotProcess, Mapping[str, Any], str]]:
    """The script of a library once it has asked, its world, and the address of the poll."""
    command, environment = commands_in_python([name], HERE)[name]
    world = await own_world(server.alice, server.world)
    with trio.fail_after(SCRIPT_SECONDS):
        async with bot_process([*command, json.dumps(world)], environment) as bot:
            ready = await bot.said("ready")
            assert ready["answers"] == ["red", "blue"]
            yield bot, world, f"/v1/channels/{world['channel_id']}/polls/{ready['id']}"


async def test_discord_py_asks(server: ServerProcess) -> None:
    async with asking(server, "polls_discord_py") as (bot, world, poll):
        bob_id = world["users"][1]["id"]
        (await server.bob.put(f"{poll}/answers/@me", {"answer_ids": ["1"]})).expect(204)
        voted = await bot.said("voted")
        assert voted | {"heard": 1} == voted
        assert (voted["by"], voted["text"], voted["counts"], voted["voters"]) == (bob_id, "red", [1, 0], [bob_id])
        (await server.alice.put(f"{poll}/answers/@me", {"answer_ids": ["1"]})).expect(204)
        assert (await bot.said("voted"))["counts"] == [2, 0]
        (await server.bob.put(f"{poll}/answers/@me", {"answer_ids": []})).expect(204)
        assert await bot.ended() == 0, bot.reports
        told = {report["step"]: report for report in bot.reports}  # the result may come before the answer to the end
        ended, result = told["ended"], told["result"]
        assert (ended["by"], ended["final"], ended["total"], ended["code"]) == (bob_id, True, 1, 520001)
        assert (result["question"], result["total"], result["victor"]) == ("Which?", 1, "red")


async def test_hikari_asks(server: ServerProcess) -> None:
    async with asking(server, "polls_hikari") as (bot, world, poll):
        bob_id = world["users"][1]["id"]
        (await server.bob.put(f"{poll}/answers/@me", {"answer_ids": ["1", "2"]})).expect(204)
        assert (await bot.said("voted"))["counts"] == [1, 1]
        voted = await bot.said("voted")
        assert (voted["by"], voted["voters"]) == (bob_id, [bob_id])
        (await server.bob.put(f"{poll}/answers/@me", {"answer_ids": ["2"]})).expect(204)
        assert await bot.ended() == 0, bot.reports
        told = {report["step"]: report for report in bot.reports}  # the result may come before the answer to the end
        assert (told["ended"]["by"], told["ended"]["final"]) == (bob_id, True)
        fields = told["result"]["fields"]
        assert (fields["total_votes"], fields["victor_answer_text"]) == ("1", "blue")
