"""Carrying out a history on a server of its own, for the oracles."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import pytest
import trio
from _pytest.mark import ParameterSet

from chat.testing.deterministic import run_deterministically
from chat.testing.server import open_chat_server
from chat.testing.world import World
from tests.simulation.guild_history import Step

OPTIONS: Final = {"rate_limits": False}

VIRTUAL_SECONDS: Final = 10_000_000.0
"""A run that takes longer has gone astray; time costs nothing."""


class History(Protocol):
    """What people do, step by step; it raises what is wrong. Each that watches has a `client`."""

    watching: list[Any]

    async def begin(self) -> None: ...

    async def run(self, steps: Sequence[Step], *, compared_every: int = 8) -> None: ...

    async def pictures(self) -> object: ...


def seeds(number: int, *, quick: int) -> list[ParameterSet]:
    """`number` seeds for a test; those behind the `quick` first run with the long tests."""
    return [pytest.param(seed, marks=[] if seed < quick else [pytest.mark.long]) for seed in range(number)]


H = TypeVar("H", bound=History)


def carry_out(
    make: Callable[[World], H], steps: Sequence[Step], *, seed: int = 0, compared_every: int = 8, restarted: bool = True
) -> H:
    """The whole history; `restarted`: in the end a new server tells everybody what the old one told."""
    histories: list[H] = []

    async def run(folder: Path) -> None:
        async with open_chat_server(folder, seed=seed, settings=OPTIONS) as server, trio.open_nursery() as nursery:
            async with World(server.description(), server.route(), nursery) as world:
                history = make(world)
                histories.append(history)
                await history.begin()
                await history.run(steps, compared_every=compared_every)
                if restarted:
                    before = await history.pictures()
                    for watching in history.watching:
                        watching.client.drop()
                    await server.restart()
                    assert await history.pictures() == before
            nursery.cancel_scope.cancel()

    with tempfile.TemporaryDirectory(prefix="chat-oracle-") as folder:
        run_deterministically(seed, lambda: run(Path(folder)), virtual_seconds=VIRTUAL_SECONDS)
    return histories[0]
