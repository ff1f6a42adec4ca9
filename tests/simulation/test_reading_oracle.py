"""The oracle of reading: whatever people write, react with and read, a session that applies its Dispatches counts what
a fresh Ready counts and shows what is read; and the server tells the same after a restart."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
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
from tests.simulation.guild_history import Step
from tests.simulation.reading_history import KINDS, ReadingHistory, steps_of

OPTIONS: Final = {"rate_limits": False}
VIRTUAL_SECONDS: Final = 1_000_000.0


def carry_out(steps: Sequence[Step], *, seed: int = 0, compared_every: int = 8) -> ReadingHistory:
    """The whole history on a server of its own; raises what goes wrong."""
    histories: list[ReadingHistory] = []

    async def run(folder: Path) -> None:
        async with open_chat_server(folder, seed=seed, settings=OPTIONS) as server, trio.open_nursery() as nursery:
            async with World(server.description(), server.route(), nursery) as world:
                history = ReadingHistory(world)
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


@pytest.mark.parametrize("seed", range(4))
def test_long_histories(seed: int) -> None:
    history = carry_out(steps_of(random.Random(seed).randrange, 150), seed=seed)
    statuses = Counter(answer.status for answer in history.answers)
    assert statuses[200] + statuses[204] > 75, f"most steps were refused: {statuses}"


numbers = st.integers(0, 59)
step_of_chance = st.builds(
    Step, st.sampled_from([kind for kind, _ in KINDS]), st.integers(0, 2), numbers, numbers, numbers
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(step_of_chance, max_size=40))
def test_any_history(steps: list[Step]) -> None:
    carry_out(steps, compared_every=4)
