"""Which servers have the development routes, and what `chat dev --data` keeps."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from chat.api.operation import Operation
from chat.assembly import Surroundings
from chat.auth.passwords import CHEAP
from chat.clock import SystemClock
from chat.config import load_settings
from chat.development.routes import ROUTES
from chat.server import Server
from chat.store.database import open_database
from chat.testing.network import MemoryNetwork, MemoryRoute, TcpRoute
from chat.testing.rest_client import RestClient
from chat.testing.server import fresh_database
from chat.testing.world import World
from tests.development.conftest import STOP_SECONDS, first_line


def addresses() -> list[tuple[str, str]]:
    """One of each development route, and the workbench."""
    operations: list[Operation] = [operation for module in ROUTES for operation in module.operations]
    return [*((each.method, each.path.replace("{user_id}", "1")) for each in operations), ("GET", "/dev")]


async def test_elsewhere_they_are_not_found(tmp_path: Path) -> None:
    network = MemoryNetwork()
    async with open_database(fresh_database(tmp_path / "chat.db"), inline=True, durable=False) as database:
        server = Server(
            Surroundings(
                settings=load_settings(tmp_path).settings,
                database=database,
                clock=SystemClock(),
                chance=random.Random(1),
                directory=tmp_path,
                secret=bytes(32),
                hash_cost=CHEAP,
                work_in_threads=False,
            )
        )
        async with server.running([network.listen()], maximum_connections=10):
            client = RestClient(MemoryRoute(network))
            for method, path in addresses():
                answer = await client.request(method, path)
                assert (answer.status, answer.code) == (404, "NOT_FOUND"), path
            await client.aclose()


@contextmanager
def chat_dev(folder: Path, *, stop_with: signal.Signals) -> Iterator[dict[str, Any]]:
    """`chat dev` on this directory for as long as the block lasts: what its first line says."""
    process = subprocess.Popen(
        [sys.executable, "-m", "chat", "dev", "--port", "0", "--json", "--data", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout as output:
        try:
            yield json.loads(first_line(output))
        finally:
            process.send_signal(stop_with)
            process.wait(STOP_SECONDS)
            assert output.read() == "", "the first line is the only one"


@pytest.mark.long
async def test_the_world_of_a_directory_is_made_once_and_kept(tmp_path: Path) -> None:
    with chat_dev(tmp_path, stop_with=signal.SIGKILL) as first:
        async with trio.open_nursery() as nursery:
            world = World(first, TcpRoute.of(first["base_url"]), nursery)
            sent = (await world.alice.rest.send_message(world.channel_id, "kept")).expect(200)
            await world.aclose()
    with chat_dev(tmp_path, stop_with=signal.SIGTERM) as second:
        assert {**second, **dict.fromkeys(("pid", "base_url", "gateway_url"))} == {
            **first,
            **dict.fromkeys(("pid", "base_url", "gateway_url")),
        }
        async with trio.open_nursery() as nursery:
            world = World(second, TcpRoute.of(second["base_url"]), nursery)
            messages = (await world.bob.rest.messages(world.channel_id)).expect(200)
            assert [message["id"] for message in messages] == [sent["id"]]
            (await world.anyone.post("/v1/_dev/reset")).expect(204)
            assert (await world.bob.rest.messages(world.channel_id)).expect(200) == []
            await world.aclose()
