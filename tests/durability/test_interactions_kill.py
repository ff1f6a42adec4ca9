"""What was acknowledged of an interaction outlives a server that is killed: that it was answered and how, the message
that this made, and what the person alone saw. Each is one transaction with what makes it."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from chat.testing.rest_client import RestClient
from chat.testing.world import World
from tests.durability.server_process import ServerProcess, running
from tests.interactions.acting import NAME, PING, answer, invoked, of, register

pytestmark = pytest.mark.long


@asynccontextmanager
async def world_of(server: ServerProcess) -> AsyncIterator[World]:
    """The people of the server; their connections are closed in order."""
    async with trio.open_nursery() as nursery:
        async with World(server.world, server.route, nursery) as world:
            yield world
        nursery.cancel_scope.cancel()


async def told_and_killed(data: Path) -> dict[str, dict[str, Any]]:
    """Interactions by how they were answered, on a server that was killed after that."""
    async with running(data) as server, world_of(server) as world:
        [ping] = await register(world, PING)
        at_bot = await world.bot.connect()
        told = {name: await invoked(world, at_bot, ping, NAME) for name in ("said", "later", "secret")}
        (await answer(world, told["said"], 4, {"content": "said"})).expect(204)
        (await answer(world, told["later"], 5)).expect(204)
        (await answer(world, told["secret"], 4, {"content": "secret", "flags": 64})).expect(204)
        await server.end(signal.SIGKILL)
    return told


async def test_answers_outlive_the_process(tmp_path: Path) -> None:
    told = await told_and_killed(tmp_path)
    async with running(tmp_path) as server, world_of(server) as world:
        rest: RestClient = world.anyone
        for name, content in (("said", "said"), ("later", ""), ("secret", "secret")):
            kept = (await rest.get(of(told[name]))).expect(200)
            assert (kept["content"], kept["interaction_metadata"]["id"]) == (content, told[name]["id"])
            again = await answer(world, told[name], 4, {"content": "again"})
            assert again.code == "INTERACTION_ALREADY_ACKNOWLEDGED"
            (await rest.patch(of(told[name]), {"content": "changed"})).expect(200)
        shown = (await world.bob.rest.get(f"/v1/channels/{world.channel_id}/messages")).expect(200)
        assert [(message["content"], message["flags"]) for message in shown[:2]] == [("changed", 0), ("changed", 0)]
