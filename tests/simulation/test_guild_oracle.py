"""The oracle of visibility: whatever happens in guilds, a session that applies its Dispatches knows what a fresh Ready
and Guild Create tell; and what the server tells from memory is what it tells after a restart."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.testing.server import open_chat_server
from chat.testing.world import World
from tests.simulation.deterministic import run_deterministically
from tests.simulation.guild_history import AROUND_THREADS, KINDS, GuildHistory, Step, steps_of

OPTIONS: Final = {"rate_limits": False}
VIRTUAL_SECONDS: Final = 100_000.0


def carry_out(steps: Sequence[Step], *, seed: int = 0, compared_every: int = 8) -> GuildHistory:
    """The whole history on a server of its own; raises what goes wrong."""
    histories: list[GuildHistory] = []

    async def run(folder: Path) -> None:
        async with open_chat_server(folder, seed=seed, settings=OPTIONS) as server, trio.open_nursery() as nursery:
            async with World(server.description(), server.route(), nursery) as world:
                history = GuildHistory(world)
                histories.append(history)
                await history.begin()
                await history.run(steps, compared_every=compared_every)
                before = await history.pictures()
                for watching in history.watching:
                    watching.client.drop()
                await server.restart()
                assert await history.pictures() == before
            nursery.cancel_scope.cancel()

    with tempfile.TemporaryDirectory(prefix="chat-oracle-") as folder:
        run_deterministically(seed, lambda: run(Path(folder)), virtual_seconds=VIRTUAL_SECONDS)
    return histories[0]


@pytest.mark.parametrize("seed", range(6))
def test_long_histories(seed: int) -> None:
    history = carry_out(steps_of(random.Random(seed).randrange, 120), seed=seed)
    done = sum(answer.status < 300 for answer in history.answers)
    assert done > 12, "nearly all steps were refused"


@pytest.mark.parametrize("seed", range(4))
def test_histories_around_threads(seed: int) -> None:
    chance = random.Random(seed)
    carry_out(steps_of(chance.randrange, 100, AROUND_THREADS), seed=seed)


numbers = st.integers(0, 59)
step_of_chance = st.builds(
    Step,
    st.sampled_from([kind for kind, _ in KINDS]),
    st.sampled_from((0, 0, 0, 1, 2, 3, 4)),
    numbers,
    numbers,
    numbers,
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(step_of_chance, max_size=30))
def test_any_history(steps: list[Step]) -> None:
    carry_out(steps, compared_every=4)


step_around_threads = st.builds(
    Step,
    st.sampled_from([kind for kind, times in AROUND_THREADS for _ in range(times)]),
    st.sampled_from((0, 0, 1, 2, 4)),
    numbers,
    numbers,
    numbers,
)


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(step_around_threads, min_size=5, max_size=30))
def test_any_history_around_threads(steps: list[Step]) -> None:
    carry_out(steps, compared_every=5)
