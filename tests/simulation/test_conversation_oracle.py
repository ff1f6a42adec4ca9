"""The oracle of conversations: whatever people write and do, a session that applies its Dispatches knows the messages
as they are listed, with reactions and threads, and of relationships, conversations and read states what Ready tells."""

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
from tests.simulation.conversation_history import MESSAGE_KINDS, PEOPLE_KINDS, SIGHT_KINDS, ConversationHistory
from tests.simulation.deterministic import run_deterministically
from tests.simulation.guild_history import Step, steps_of

OPTIONS: Final = {"rate_limits": False}
VIRTUAL_SECONDS: Final = 100_000.0
EVERY_KIND: Final = (*MESSAGE_KINDS, *PEOPLE_KINDS, *SIGHT_KINDS)


def carry_out(steps: Sequence[Step], *, seed: int = 0, compared_every: int = 10) -> ConversationHistory:
    """The whole history on a server of its own; raises what goes wrong."""
    histories: list[ConversationHistory] = []

    async def run(folder: Path) -> None:
        async with open_chat_server(folder, seed=seed, settings=OPTIONS) as server, trio.open_nursery() as nursery:
            async with World(server.description(), server.route(), nursery) as world:
                history = ConversationHistory(world)
                histories.append(history)
                await history.begin()
                await history.run(steps, compared_every=compared_every)
            nursery.cancel_scope.cancel()

    with tempfile.TemporaryDirectory(prefix="chat-oracle-") as folder:
        run_deterministically(seed, lambda: run(Path(folder)), virtual_seconds=VIRTUAL_SECONDS)
    return histories[0]


def _done(history: ConversationHistory) -> int:
    return sum(answer.status < 300 for answer in history.answers)


@pytest.mark.parametrize("seed", range(3))
def test_histories_of_messages(seed: int) -> None:
    assert _done(carry_out(steps_of(random.Random(seed).randrange, 120, MESSAGE_KINDS), seed=seed)) > 40


@pytest.mark.parametrize("seed", range(3))
def test_histories_among_people(seed: int) -> None:
    assert _done(carry_out(steps_of(random.Random(seed).randrange, 120, PEOPLE_KINDS), seed=seed)) > 30


@pytest.mark.parametrize("seed", range(3))
def test_histories_in_which_sight_changes(seed: int) -> None:
    assert _done(carry_out(steps_of(random.Random(seed).randrange, 120, EVERY_KIND), seed=seed)) > 30


numbers = st.integers(0, 59)
step_of_chance = st.builds(
    Step,
    st.sampled_from([kind for kind, _ in EVERY_KIND]),
    st.sampled_from((0, 0, 0, 1, 2, 3, 4)),
    numbers,
    numbers,
    numbers,
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(step_of_chance, max_size=30))
def test_any_history(steps: list[Step]) -> None:
    carry_out(steps, compared_every=5)
