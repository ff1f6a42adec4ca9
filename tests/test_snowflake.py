"""Snowflakes: layout, order, and a clock that goes backwards."""

from __future__ import annotations

import itertools
import sys
import threading

import attrs
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from chat.clock import JUMP_MS
from chat.snowflake import (
    EPOCH_MS,
    FAR_AHEAD_MS,
    MAXIMUM,
    SERVER_WORKER,
    SnowflakeGenerator,
    go_on_above,
    snowflake_at,
    snowflake_time_ms,
)

MOMENTS = st.integers(EPOCH_MS + 1, EPOCH_MS + 2**41 - 1_000)


@attrs.define
class SetClock:
    """A clock that shows what a test sets."""

    now: int

    def now_ms(self) -> int:
        return self.now


def test_the_layout_is_milliseconds_worker_and_counter() -> None:
    make = SnowflakeGenerator(SetClock(EPOCH_MS + 0x123), worker=0x2A5)
    assert make() == (0x123 << 22) | (0x2A5 << 12) | 0
    assert make() == (0x123 << 22) | (0x2A5 << 12) | 1


def test_the_epoch_is_the_first_moment_of_2015() -> None:
    assert snowflake_time_ms(0) == 1_420_070_400_000
    assert snowflake_at(1_420_070_400_001) == 1 << 22
    assert snowflake_at(0) == 0


def test_a_snowflake_fits_a_signed_64_bit_integer_in_the_last_year_of_the_format() -> None:
    assert SnowflakeGenerator(SetClock(EPOCH_MS + 2**41 - 1), worker=1023)() < MAXIMUM == 2**63 - 1


def test_the_servers_own_worker_is_the_default() -> None:
    assert SnowflakeGenerator(SetClock(EPOCH_MS + 1))() >> 12 & 0x3FF == SERVER_WORKER


@pytest.mark.parametrize("worker", [-1, 1024])
def test_a_worker_has_10_bits(worker: int) -> None:
    with pytest.raises(ValueError, match="10 bits"):
        SnowflakeGenerator(SetClock(EPOCH_MS), worker)


def test_more_than_a_millisecond_holds_borrow_from_the_next() -> None:
    make = SnowflakeGenerator(SetClock(EPOCH_MS + 7))
    made = [make() for _ in range(10_000)]
    assert made == sorted(set(made))
    assert snowflake_time_ms(made[4095]) == EPOCH_MS + 7
    assert snowflake_time_ms(made[4096]) == EPOCH_MS + 8
    assert snowflake_time_ms(made[-1]) == EPOCH_MS + 9


@given(MOMENTS, st.integers(0, 1023))
def test_a_snowflake_tells_its_moment(moment: int, worker: int) -> None:
    snowflake = SnowflakeGenerator(SetClock(moment), worker)()
    assert snowflake_time_ms(snowflake) == moment
    assert snowflake_at(moment) <= snowflake < snowflake_at(moment + 1)


@given(st.lists(st.tuples(MOMENTS, st.integers(1, 5_000)), min_size=1, max_size=6))
def test_whatever_the_clock_does_snowflakes_ascend(moments: list[tuple[int, int]]) -> None:
    clock = SetClock(0)
    make = SnowflakeGenerator(clock)
    made = []
    for clock.now, count in moments:
        made += [make() for _ in range(count)]
        assert snowflake_time_ms(made[-1]) >= clock.now
    assert all(earlier < later for earlier, later in itertools.pairwise(made))
    assert all(0 < snowflake < MAXIMUM for snowflake in made)


def test_threads_that_ask_at_the_same_time_get_different_ones() -> None:
    make, made = SnowflakeGenerator(SetClock(EPOCH_MS + 1)), []
    switching = sys.getswitchinterval()

    def take() -> None:
        made.append([make() for _ in range(20_000)])

    sys.setswitchinterval(1e-6)
    try:
        takers = [threading.Thread(target=take) for _ in range(3)]
        for taker in takers:
            taker.start()
        for taker in takers:
            taker.join()
    finally:
        sys.setswitchinterval(switching)
    assert len({each for own in made for each in own}) == 60_000


@given(st.integers(0, MAXIMUM - (1 << 30)), st.integers(0, 1023), st.integers(0, 2**41))
def test_none_is_made_below_one_that_is_there(there: int, worker: int, moment: int) -> None:
    clock = SetClock(moment + EPOCH_MS)
    make = SnowflakeGenerator(clock, worker)
    behind = make.stay_above(there)
    assert behind == max(0, snowflake_time_ms(there) - clock.now)
    first = make()
    assert first > there
    assert first >> 12 & 0x3FF == worker
    # Only as far above as it must be.
    assert snowflake_time_ms(first) <= max(clock.now, snowflake_time_ms(there) + 1)
    make.stay_above(there)
    assert make() == first + 1


def test_a_clock_before_the_epoch_goes_on_above_what_is_there() -> None:
    before = SnowflakeGenerator(SetClock(0))()
    again = SnowflakeGenerator(SetClock(0))
    again.stay_above(before)
    assert again() > before


def test_a_stored_number_at_the_end_of_the_format_leaves_room() -> None:
    make = SnowflakeGenerator(SetClock(EPOCH_MS))
    make.stay_above(MAXIMUM)
    assert all(make() <= MAXIMUM for _ in range(4096))


@pytest.mark.parametrize(
    ("ahead_ms", "told"),
    [
        (-JUMP_MS - 1, "the clock is behind the last id: ids go on above it"),
        (-JUMP_MS, None),
        (0, None),
        (FAR_AHEAD_MS, None),
        (FAR_AHEAD_MS + 1, "the clock is far ahead of the last id"),
    ],
)
def test_a_start_far_from_the_last_id_is_told(ahead_ms: int, told: str | None) -> None:
    clock = SetClock(EPOCH_MS + 10 * FAR_AHEAD_MS)
    last, make = snowflake_at(clock.now - ahead_ms), SnowflakeGenerator(clock)
    with structlog.testing.capture_logs() as lines:
        go_on_above(make, last, clock)
    assert [line["event"] for line in lines] == ([] if told is None else [told])
    assert make() > last


def test_a_start_without_any_id_is_at_no_distance() -> None:
    clock = SetClock(EPOCH_MS + 10 * FAR_AHEAD_MS)
    with structlog.testing.capture_logs() as lines:
        go_on_above(SnowflakeGenerator(clock), 0, clock)
    assert lines == []
