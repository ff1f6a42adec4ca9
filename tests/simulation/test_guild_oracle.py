"""The oracle of visibility: whatever happens in guilds, a session that applies its Dispatches knows what a fresh Ready
and Guild Create tell; and what the server tells from memory is what it tells after a restart."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.simulation.guild_history import AROUND_THREADS, KINDS, GuildHistory, Step, steps_of
from tests.simulation.oracle import carry_out, seeds


@pytest.mark.parametrize("seed", seeds(6, quick=3))
def test_long_histories(seed: int) -> None:
    history = carry_out(GuildHistory, steps_of(random.Random(seed).randrange, 120), seed=seed)
    done = sum(answer.status < 300 for answer in history.answers)
    assert done > 12, "nearly all steps were refused"


@pytest.mark.parametrize("seed", seeds(4, quick=2))
def test_histories_around_threads(seed: int) -> None:
    chance = random.Random(seed)
    carry_out(GuildHistory, steps_of(chance.randrange, 100, AROUND_THREADS), seed=seed)


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
    carry_out(GuildHistory, steps, compared_every=4)


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
    carry_out(GuildHistory, steps, compared_every=5)
