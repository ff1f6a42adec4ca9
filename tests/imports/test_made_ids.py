"""Ids that readers make keep the order of moments, whenever those were, and one thing has one id."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from chat.imports.made_ids import made_id, thing_id
from chat.snowflake import EPOCH_MS, MAXIMUM, snowflake_time_ms

DAYS = 4 * 86_400_000
MOMENTS = st.integers(-5, 4_200_000_000_000) | st.integers(EPOCH_MS - 5, EPOCH_MS + 5) | st.integers(0, 5)


@given(st.lists(MOMENTS, min_size=2, max_size=2, unique=True).map(sorted), st.integers(0, 2_000), st.text(max_size=5))
def test_moments_keep_their_order(moments: list[int], order: int, key: str) -> None:
    assume(moments[0] >= EPOCH_MS or not 0 <= moments[1] - EPOCH_MS < DAYS)  # these days hold both
    first, second = (made_id(one, key, order) for one in moments)
    assert 0 < first <= second <= MAXIMUM
    if EPOCH_MS + DAYS < moments[1] < EPOCH_MS + (1 << 41):
        assert snowflake_time_ms(second) == moments[1]
        assert first < second


@given(st.integers(EPOCH_MS, 1_800_000_000_000) | st.integers(1_200_000_000_000, EPOCH_MS - 1), st.integers(0, 30))
def test_what_comes_first_in_a_millisecond_has_the_smaller_id(moment: int, order: int) -> None:
    assert made_id(moment, "b", order) < made_id(moment, "a", order + 1)


def test_ids_hardly_meet() -> None:
    moment = 1_700_000_000_000
    assert len({made_id(moment, f"{one}") for one in range(200)}) >= 199
    assert len({thing_id(f"{one}") for one in range(20_000)}) == 20_000
