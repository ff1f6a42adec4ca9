"""Sixty rounds of `kill -9` in the middle of requests that take more than one unit of writing: the next process
finishes what was begun, and `chat check` finds nothing wrong.

What every single unit leaves is looked at in `test_every_errand_kill`; here a process is really killed, whenever.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.testing.world import World
from tests.durability.ended_servers import numbers, picture_of
from tests.durability.portions import REQUESTS, everybody_is_there, make_bot_travel
from tests.durability.prepared import started
from tests.durability.server_process import ServerProcess, running

ROUNDS: Final = 60
LONGEST_SECONDS: Final = 0.12
"""How long after its start a process is killed at the latest."""

SETTLED_SECONDS: Final = 60

Picture = dict[str, list[tuple[Any, ...]]]


def look(data: Path, known: set[int]) -> Picture:
    with contextlib.closing(sqlite3.connect(DataDirectory(data).database)) as connection:
        return picture_of(connection, known, uses_count=False)


async def ask(server: ServerProcess, name: str) -> bool:
    """Send the request; whether it was answered."""
    try:
        async with trio.open_nursery() as nursery:
            world = World(server.world, server.route, nursery)
            answer = await REQUESTS[name](world)
            await world.aclose()
            assert answer.status < 300, answer.body
            return True
    except* Exception:  # whatever comes of a server that is killed
        if server.process.returncode is None and not server.is_being_killed:
            raise
    return False


async def prepared(data: Path) -> set[int]:
    """A data directory in which there is much to do; the numbers in its store."""
    async with running(data) as server, trio.open_nursery() as nursery:
        world = World(server.world, server.route, nursery)
        await make_bot_travel(world)
        await world.aclose()
        await server.end(signal.SIGTERM)
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        connection.execute("BEGIN")
        everybody_is_there(connection, messages=350, members=900)
        connection.execute("COMMIT")
        return numbers(connection)


async def settled(data: Path, known: set[int], *wanted: Picture) -> Picture:
    """What the store holds once that is one of these, or after SETTLED_SECONDS."""
    with trio.move_on_after(SETTLED_SECONDS):
        while (found := look(data, known)) not in wanted:  # noqa: ASYNC110 - another process works on it
            await trio.sleep(0.1)
    return found


async def is_in_order(data: Path) -> bool:
    check = await started(["check", "--data", str(data)], os.environ, log=subprocess.DEVNULL)
    return await check.wait() == 0


@pytest.mark.long(minutes=1)
async def test_sixty_kills_leave_what_no_kill_leaves(tmp_path: Path) -> None:
    chance, base = random.Random(60), tmp_path / "base"
    known = await prepared(base)
    untouched = look(base, known)
    done: dict[str, Picture] = {}
    for number, name in enumerate(REQUESTS):
        data = shutil.copytree(base, tmp_path / f"whole-{number}")
        async with running(data) as server:
            assert await ask(server, name)
            last: Picture = {}
            while (now := look(data, known)) != last:
                last = now
                await trio.sleep(1)
            done[name] = last
            await server.end(signal.SIGTERM)
        assert last != untouched, name
    finished = 0
    for number in range(ROUNDS):
        name = list(REQUESTS)[number % len(REQUESTS)]
        data = shutil.copytree(base, tmp_path / "round")
        async with running(data) as server, trio.open_nursery() as nursery:
            server.is_being_killed = True
            nursery.start_soon(ask, server, name)
            await trio.sleep(chance.random() * LONGEST_SECONDS)
            await server.end(signal.SIGKILL)
        async with running(data) as server:
            found = await settled(data, known, untouched, done[name])
            await server.end(signal.SIGTERM)
        for table, rows in found.items():
            assert rows in (untouched[table], done[name][table]), (name, table)
        assert found in (untouched, done[name]), name
        assert await is_in_order(data), name
        finished += found != untouched
        shutil.rmtree(data)
    assert finished >= ROUNDS // 6, finished
