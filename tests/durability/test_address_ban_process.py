"""Bans of a real process: they survive `kill -9`, and the operator lifts them while the server runs."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio

from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.signing_in import address_bans
from chat.testing.rest_client import RestClient
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long

HOSTILE = "203.0.113.9"
SECONDS = 10.0


def ban(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chat", "ban", *arguments, "--data", str(data)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


async def stored(data: Path) -> bool:
    """Whether the ban is in the store, of a server that writes it when it comes to it."""
    with contextlib.closing(connect(DataDirectory(data).database, read_only=True)) as connection:
        return address_bans.every(connection, 0) != []


async def is_served(server: ServerProcess) -> bool:
    return await status(server) == 200


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Another process brings it about."""
    with trio.fail_after(SECONDS):
        while not await condition():  # noqa: ASYNC110 - no event of this process tells
            await trio.sleep(0.05)


async def status(server: ServerProcess) -> int:
    client = RestClient(server.route, headers={"X-Test-Address": HOSTILE})
    answer = await client.get("/.well-known/chat")
    await client.aclose()
    return answer.status


async def test_a_ban_outlives_its_process_until_the_operator_lifts_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with running(data) as server:
        client = RestClient(server.route, headers={"X-Test-Address": HOSTILE})
        for _ in range(20):
            assert (await client.get("/v1/users/@me")).status == 401
        await client.aclose()
        assert await status(server) == 403
        await until(lambda: stored(data))
        await server.end(signal.SIGKILL)
    async with running(data) as server:
        assert await status(server) == 403
        [row] = json.loads((await trio.to_thread.run_sync(ban, data, "list", "--json")).stdout)
        assert (row["network"], row["reason"]) == (HOSTILE, "authentication failures")
        lifted = await trio.to_thread.run_sync(ban, data, "remove", HOSTILE)
        assert (lifted.returncode, lifted.stderr) == (0, "")
        await until(lambda: is_served(server))
        again = await trio.to_thread.run_sync(ban, data, "remove", HOSTILE)
        assert again.returncode == 1
        assert again.stderr == f"chat: {HOSTILE} is not banned\n"
