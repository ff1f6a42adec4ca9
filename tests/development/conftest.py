"""One `chat dev` process for all modules, and a fresh seeded world for each test."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import IO, Any

import pytest
import trio

from chat.testing.network import TcpRoute
from chat.testing.world import World
from tests.patience import PATIENCE_SECONDS

START_SECONDS = PATIENCE_SECONDS
STOP_SECONDS = PATIENCE_SECONDS


@pytest.fixture(scope="session")
def chat_dev() -> Iterator[dict[str, Any]]:
    """A running `chat dev --json`: what its first line says."""
    process = subprocess.Popen(
        [sys.executable, "-m", "chat", "dev", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "CHAT_GATEWAY__IDENTIFY_BUDGET": "300"},
    )
    assert process.stdout is not None
    with process, process.stdout as output:
        try:
            yield json.loads(first_line(output))
        finally:
            process.terminate()
            assert process.wait(STOP_SECONDS) == 0


def first_line(output: IO[str]) -> str:
    """The first line, or an AssertionError when there is none in time."""
    ready, _, _ = select.select([output], [], [], START_SECONDS)
    assert ready, "the server said nothing"
    line = output.readline()
    assert line, "the server ended before it could serve"
    return line


@pytest.fixture
async def world(chat_dev: dict[str, Any]) -> AsyncIterator[World]:
    """The seeded world of the process, reset, with ready clients on real sockets and in real time."""
    async with trio.open_nursery() as nursery:
        world = World(chat_dev, TcpRoute.of(chat_dev["base_url"]), nursery)
        (await world.anyone.post("/v1/_dev/reset")).expect(204)
        yield world
        await world.aclose()
        nursery.cancel_scope.cancel()
