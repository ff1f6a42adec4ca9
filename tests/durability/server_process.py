"""A server in a process of its own, for tests that end it in ways nobody asked it about."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import trio

from chat.testing import GatewayClient, RestClient
from chat.testing.network import TcpRoute
from tests.durability.prepared import PreparedProcess, started

START_SECONDS = 60
"""A machine under load takes its time."""


class ServerProcess:
    """A running `chat dev` on a data directory, and the world it announced."""

    def __init__(self, process: PreparedProcess | trio.Process, world: dict[str, Any]) -> None:
        self.process = process
        self.world = world
        self.is_being_killed = False
        self.route = TcpRoute.of(world["base_url"])
        self.alice, self.bob, self.carol = (RestClient(self.route, token=user["token"]) for user in world["users"])

    @property
    def channel_id(self) -> str:
        """The seeded text channel."""
        return str(self.world["channel_id"])

    def token_of(self, name: str) -> str:
        """The session token of a seeded user."""
        return next(str(user["token"]) for user in self.world["users"] if user["username"] == name)

    async def connect(self, nursery: trio.Nursery, **options: Any) -> GatewayClient:
        """A gateway socket."""
        return await GatewayClient.connect(nursery, self.route, **options)

    async def end(self, how: signal.Signals) -> int:
        """Send the signal and wait for the end; the exit status."""
        self.process.send_signal(how)
        with trio.fail_after(START_SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def running(
    data: Path, *, log: int | IO[bytes] = subprocess.DEVNULL, prepared: bool = True, **environment: str
) -> AsyncIterator[ServerProcess]:
    """Start the server, its log going to `log`; whatever is left of it at the end of the block is killed.

    `prepared=False` starts the program from nothing, for tests that look at the process itself.
    """
    process = await started(
        ["dev", "--data", str(data), "--port", "0", "--json"], {**os.environ, **environment}, log=log, prepared=prepared
    )
    try:
        assert process.stdout is not None
        line = b""
        with trio.fail_after(START_SECONDS):
            while not line.endswith(b"\n"):
                piece = await process.stdout.receive_some()
                assert piece, "the server ended before it could serve"
                line += piece
        server = ServerProcess(process, json.loads(line))
        try:
            yield server
        finally:
            for client in (server.alice, server.bob, server.carol):
                await client.aclose()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if process.stdout is not None:
            await process.stdout.aclose()
