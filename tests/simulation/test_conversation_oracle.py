"""The oracle of conversations: whatever people write and do, a session that applies its Dispatches knows the messages
as they are listed, with reactions and threads, and of relationships, conversations and read states what Ready tells."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.simulation.conversation_history import MESSAGE_KINDS, PEOPLE_KINDS, SIGHT_KINDS, ConversationHistory
from tests.simulation.guild_history import Step, steps_of
from tests.simulation.oracle import carry_out, seeds

EVERY_KIND: Final = (*MESSAGE_KINDS, *PEOPLE_KINDS, *SIGHT_KINDS)


def long_history(kinds: Sequence[tuple[str, int]], seed: int) -> ConversationHistory:
    steps = steps_of(random.Random(seed).randrange, 120, kinds)
    return carry_out(ConversationHistory, steps, seed=seed, compared_every=10, restarted=False)


def _done(history: ConversationHistory) -> int:
    return sum(answer.status < 300 for answer in history.answers)


@pytest.mark.parametrize("seed", seeds(3, quick=2))
def test_histories_of_messages(seed: int) -> None:
    assert _done(long_history(MESSAGE_KINDS, seed)) > 40


@pytest.mark.parametrize("seed", seeds(3, quick=2))
def test_histories_among_people(seed: int) -> None:
    assert _done(long_history(PEOPLE_KINDS, seed)) > 30


@pytest.mark.parametrize("seed", seeds(3, quick=2))
def test_histories_in_which_sight_changes(seed: int) -> None:
    assert _done(long_history(EVERY_KIND, seed)) > 30


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
    carry_out(ConversationHistory, steps, compared_every=5, restarted=False)
