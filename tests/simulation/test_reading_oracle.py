"""The oracle of reading: whatever people write, react with and read, a session that applies its Dispatches counts what
a fresh Ready counts and shows what is read; and the server tells the same after a restart."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.simulation.guild_history import Step
from tests.simulation.oracle import carry_out, seeds
from tests.simulation.reading_history import KINDS, ReadingHistory, steps_of


@pytest.mark.parametrize("seed", seeds(4, quick=2))
def test_long_histories(seed: int) -> None:
    history = carry_out(ReadingHistory, steps_of(random.Random(seed).randrange, 150), seed=seed)
    statuses = Counter(answer.status for answer in history.answers)
    assert statuses[200] + statuses[204] > 75, f"most steps were refused: {statuses}"


numbers = st.integers(0, 59)
step_of_chance = st.builds(
    Step, st.sampled_from([kind for kind, _ in KINDS]), st.integers(0, 2), numbers, numbers, numbers
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(step_of_chance, max_size=40))
def test_any_history(steps: list[Step]) -> None:
    carry_out(ReadingHistory, steps, compared_every=4)
