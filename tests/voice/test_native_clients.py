"""PyPI `livekit`, unmodified, through op 4, the token and the media server: tones are found by FFT at the other one,
and not where a moderator took the voice or the hearing. On real sockets in real time."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from chat.testing.dev_server import DevServer
from chat.testing.network import TcpRoute
from chat.testing.world import World
from tests.patience import PATIENCE_SECONDS
from tests.voice.signal_client import enter_voice

pytestmark = [pytest.mark.long, pytest.mark.trio]

CLIENT = Path(__file__).with_name("native_client.py")
NEARLY = 5
"""Hertz by which the strongest frequency may be off."""

SILENT = 50
"""A loudness below it is silence; the tones have some 8,000."""


class Native:
    """One client in a process of its own. `heard` is the last half second of each identity that it hears."""

    def __init__(self, process: trio.Process, identity: str, hertz: int) -> None:
        self.process = process
        self.identity = identity
        self.hertz = hertz
        self.heard: dict[str, tuple[int, int]] = {}
        self.half_seconds = 0
        self.events: list[str] = []
        self._news = trio.Event()

    async def follow(self) -> None:
        rest = b""
        assert self.process.stdout is not None
        async for data in self.process.stdout:
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(json.loads(line))
        self._tell("ended")

    def _take(self, line: dict[str, Any]) -> None:
        if line["event"] == "heard":
            self.heard[line["identity"]] = line["hertz"], line["loudness"]
            self.half_seconds += 1
        self._tell(line["event"])

    def _tell(self, event: str) -> None:
        self.events.append(event)
        news, self._news = self._news, trio.Event()
        news.set()

    def hears(self, other: Native) -> bool:
        """Whether the last half second of the other was its tone."""
        hertz, loudness = self.heard.get(other.identity, (0, 0))
        return loudness > SILENT and abs(hertz - other.hertz) <= NEARLY

    async def until(self, *, hears: Native | None = None, silent: Native | None = None, event: str = "") -> None:
        """Wait until it hears somebody, hears somebody no more (or only silence), or something happened."""
        with trio.fail_after(PATIENCE_SECONDS):
            while True:
                if hears is not None and self.hears(hears):
                    return
                if silent is not None and self.heard.get(silent.identity, (0, 0))[1] < SILENT:
                    return
                if event in self.events:
                    return
                if silent is not None:
                    # Where no packet comes there is no half second to tell of.
                    self.heard.pop(silent.identity, None)
                    await trio.sleep(2)
                else:
                    await self._news.wait()


@pytest.fixture
def voice_server() -> Iterator[DevServer]:
    with DevServer(settings={"voice.engine": "embedded", "voice.udp_port": 0}) as server:
        yield server


@contextlib.asynccontextmanager
async def native(told: dict[str, Any], user_id: str, hertz: int) -> AsyncIterator[Native]:
    """A client that has connected, and publishes its tone; 0 Hz publishes nothing."""
    command = [sys.executable, str(CLIENT), told["endpoint"], told["token"], str(hertz)]
    environment = {**os.environ, "RUST_LOG": "error"}
    async with trio.open_nursery() as nursery:
        process = await trio.lowlevel.open_process(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        try:
            client = Native(process, f"user_{user_id}_{told['connection_id']}", hertz)
            nursery.start_soon(client.follow)
            await client.until(event="connected")
            yield client
        finally:
            with trio.CancelScope(shield=True):
                process.kill()
                await process.wait()
            nursery.cancel_scope.cancel()


async def test_two_talk_and_moderators_are_obeyed(voice_server: DevServer) -> None:
    async with trio.open_nursery() as nursery:
        world = World(voice_server.world, TcpRoute.of(voice_server.world["base_url"]), nursery)
        _, of_alice = await enter_voice(world, world.alice)
        _, of_bob = await enter_voice(world, world.bob)
        async with native(of_alice, world.alice.id, 440) as alice, native(of_bob, world.bob.id, 660) as bob:
            await alice.until(hears=bob)
            await bob.until(hears=alice)
            member = f"/v1/guilds/{world.guild_id}/members/{world.bob.id}"

            assert (await world.alice.rest.patch(member, {"mute": True})).status == 200
            await alice.until(silent=bob)
            await bob.until(hears=alice)
            assert (await world.alice.rest.patch(member, {"mute": False})).status == 200
            await alice.until(hears=bob)

            assert (await world.alice.rest.patch(member, {"deaf": True})).status == 200
            await bob.until(silent=alice)
            assert (await world.alice.rest.patch(member, {"deaf": False})).status == 200
            await bob.until(hears=alice)

            assert (await world.alice.rest.patch(member, {"channel_id": None})).status == 200
            await bob.until(event="disconnected")
            await alice.until(silent=bob)
        await world.aclose()
        nursery.cancel_scope.cancel()
