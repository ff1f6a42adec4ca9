"""The oracle of people: whatever they do about each other, a session that applies its Dispatches knows what a fresh
Ready tells; and what the server tells is what it tells after a restart."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.simulation.guild_history import Step
from tests.simulation.oracle import carry_out, seeds
from tests.simulation.people_history import KINDS, PeopleHistory, steps_of


@pytest.mark.parametrize("seed", seeds(4, quick=2))
def test_long_histories(seed: int) -> None:
    history = carry_out(PeopleHistory, steps_of(random.Random(seed).randrange, 100), seed=seed)
    statuses = Counter(answer.status for answer in history.answers)
    assert statuses[200] + statuses[204] > 40, "most steps were refused"


numbers = st.integers(0, 59)
step_of_chance = st.builds(
    Step, st.sampled_from([kind for kind, _ in KINDS]), st.integers(0, 3), numbers, numbers, numbers
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(step_of_chance, max_size=30))
def test_any_history(steps: list[Step]) -> None:
    carry_out(PeopleHistory, steps, compared_every=4)
