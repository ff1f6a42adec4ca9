"""The hands that everything follows: the machine's, Trio's, and those that a test moves."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
import structlog
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.clock import (
    BOOTED_MS,
    DOUBT_MS,
    DOUBTED_MS,
    Clock,
    DoubtingClock,
    SkippingClock,
    SystemClock,
    TrioClock,
    iso_timestamp,
    report_jumps,
)
from chat.snowflake import SnowflakeGenerator, snowflake_time_ms

START_MS = 1_700_000_000_123
YEAR_MS = 31_536_000_000


def test_the_system_clock_shows_the_time_of_day() -> None:
    assert abs(SystemClock().now_ms() - time.time() * 1000) < 5_000


async def test_trios_clock_moves_the_time_of_day(autojump_clock: MockClock) -> None:
    clock: Clock = TrioClock(START_MS)
    assert clock.now_ms() == START_MS
    await trio.sleep(86_400)
    assert clock.now_ms() == START_MS + 86_400_000


async def test_trios_clock_does_not_lose_milliseconds(autojump_clock: MockClock) -> None:
    clock = TrioClock(START_MS)
    for passed in range(1, 2_000):
        await trio.sleep(0.001)
        assert clock.now_ms() == START_MS + passed


def test_a_skip_moves_timers_and_the_time_of_day() -> None:
    clock = SkippingClock()
    woken: list[str] = []

    async def sleep_an_hour(nursery: trio.Nursery) -> None:
        await trio.sleep(3_600)
        woken.append("an hour later")
        nursery.cancel_scope.cancel()

    async def main() -> None:
        began = clock.now_ms()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sleep_an_hour, nursery)
            nursery.start_soon(trio.sleep, 7_200)
            await trio.testing.wait_all_tasks_blocked()
            assert woken == []
            clock.skip(3_600_000)
        assert 3_600_000 <= clock.now_ms() - began < 3_660_000

    trio.run(main, clock=clock)
    assert woken == ["an hour later"]
    assert clock.skipped_ms == 3_600_000


def test_skips_add_up_until_the_clock_is_set_back() -> None:
    clock = SkippingClock()
    clock.skip(1_000)
    clock.skip(0)
    clock.skip(500)
    assert clock.skipped_ms == 1_500
    clock.set_back()
    assert clock.skipped_ms == 0
    assert abs(clock.now_ms() - SystemClock().now_ms()) < 1_000


def test_a_clock_moves_forward_only() -> None:
    with pytest.raises(ValueError, match="forward only"):
        SkippingClock().skip(-1)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_420_070_400_000, "2015-01-01T00:00:00.000Z"),
        (START_MS, "2023-11-14T22:13:20.123Z"),
        (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
    ],
)
def test_times_on_the_wire_are_utc_with_milliseconds(milliseconds: int, text: str) -> None:
    assert iso_timestamp(milliseconds) == text


@given(st.integers(0, 253_402_300_799_999))
def test_times_on_the_wire_lose_nothing(milliseconds: int) -> None:
    moment = datetime.fromisoformat(iso_timestamp(milliseconds))
    assert (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1) == milliseconds


@given(st.integers(1, 253_402_300_799_999))
def test_times_on_the_wire_sort_like_the_moments(milliseconds: int) -> None:
    assert iso_timestamp(milliseconds - 1) < iso_timestamp(milliseconds)


async def test_a_jump_of_the_time_of_day_is_logged(autojump_clock: MockClock) -> None:
    clock = TrioClock(START_MS)
    shown = JumpedClock(clock)
    with structlog.testing.capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(report_jumps, shown)
            for shown.jumped_ms in (0, 59_000, -3_600_000, -3_600_000, 7_200_000):
                await trio.sleep(60)
            nursery.cancel_scope.cancel()
    assert [(line["log_level"], line["event"], line["seconds"]) for line in lines] == [
        ("warning", "the clock jumped", -3_659),
        ("warning", "the clock jumped", 10_800),
    ]


class JumpedClock:
    """Another clock, and by how much it was set wrong since."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.jumped_ms = 0

    def now_ms(self) -> int:
        return self._clock.now_ms() + self.jumped_ms


def passed_ms() -> int:
    """Of a machine that has been up for long enough."""
    return BOOTED_MS + 1 + round(trio.current_time() * 1_000)


async def test_a_clock_far_ahead_stamps_nothing_until_it_has_gone_on_for_long(autojump_clock: MockClock) -> None:
    right = TrioClock(START_MS)
    shown = JumpedClock(right)
    clock = DoubtingClock(shown, passed_ms)
    make = SnowflakeGenerator(clock)
    with structlog.testing.capture_logs() as lines:
        shown.jumped_ms = YEAR_MS
        for _ in range(DOUBT_MS // 60_000):
            assert clock.now_ms() == right.now_ms()
            assert snowflake_time_ms(make()) == right.now_ms()
            await trio.sleep(60)
        assert clock.now_ms() == shown.now_ms()
        assert snowflake_time_ms(make()) == shown.now_ms()
    [line] = lines
    assert (line["log_level"], line["event"]) == ("warning", "the clock jumped far ahead and is not believed yet")
    assert line["shown"] == iso_timestamp(START_MS + YEAR_MS)
    assert line["now"] == iso_timestamp(START_MS)


async def test_a_clock_that_is_set_right_in_time_leaves_no_trace(autojump_clock: MockClock) -> None:
    right = TrioClock(START_MS)
    shown = JumpedClock(right)
    clock = DoubtingClock(shown, passed_ms)
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):  # each time is doubted from its own beginning
            shown.jumped_ms = YEAR_MS
            assert clock.now_ms() == right.now_ms()
            await trio.sleep(DOUBT_MS / 1_000 - 1)
            assert clock.now_ms() == right.now_ms()
            shown.jumped_ms = 0
            assert clock.now_ms() == right.now_ms()
            await trio.sleep(60)
    assert len(lines) == 3


async def test_a_clock_that_goes_on_jumping_is_believed_later(autojump_clock: MockClock) -> None:
    right = TrioClock(START_MS)
    shown = JumpedClock(right)
    clock = DoubtingClock(shown, passed_ms)
    for years in (3, 1, 2):
        shown.jumped_ms = years * YEAR_MS
        assert clock.now_ms() == right.now_ms()
        await trio.sleep(DOUBT_MS / 1_000 - 1)
    assert clock.now_ms() == right.now_ms()
    await trio.sleep(1)
    assert clock.now_ms() == shown.now_ms()


async def test_what_clocks_do_in_earnest_is_followed_at_once(autojump_clock: MockClock) -> None:
    shown = JumpedClock(TrioClock(START_MS))
    clock = DoubtingClock(shown, passed_ms)
    with structlog.testing.capture_logs() as lines:
        # Steps forward of a few minutes, one back by days, and from there again to where it has been.
        for shown.jumped_ms in (DOUBTED_MS, 2 * DOUBTED_MS, -5 * 86_400_000, 2 * DOUBTED_MS, 3 * DOUBTED_MS):
            assert clock.now_ms() == shown.now_ms()
            await trio.sleep(86_400)  # a laptop that slept: as much has passed
            assert clock.now_ms() == shown.now_ms()
    assert lines == []


async def test_a_machine_that_has_just_started_may_hear_the_time_only_now(autojump_clock: MockClock) -> None:
    right = TrioClock(START_MS)
    shown = JumpedClock(right)
    clock = DoubtingClock(shown, lambda: round(trio.current_time() * 1_000))
    await trio.sleep(BOOTED_MS / 1_000)
    shown.jumped_ms = YEAR_MS  # what a board without a clock of its own does
    assert clock.now_ms() == shown.now_ms()
    await trio.sleep(2)
    shown.jumped_ms = 2 * YEAR_MS
    assert clock.now_ms() == right.now_ms() + YEAR_MS


def test_the_clock_of_a_server_shows_the_time_of_day() -> None:
    assert abs(DoubtingClock().now_ms() - time.time() * 1000) < 5_000
