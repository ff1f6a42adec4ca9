"""Moving the clock: timers run in their order, however far it goes, and what they write is on the disk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from chat.clock import JumpingClock, SkippingClock
from chat.development import node
from chat.development.node import COARSE_STEPS, EXACT_STEPS, OFFSET_MAXIMUM_MS, ClockMover
from chat.store.administration import instance
from chat.store.database import Database, open_database
from chat.testing.server import fresh_database
from tests.patience import PATIENCE_SECONDS

Scene = Callable[[ClockMover, trio.Nursery, Database], Awaitable[None]]


@pytest.fixture
def on_a_skipping_clock(tmp_path: Path) -> Callable[[Scene], None]:
    """Plays a scene on a clock of real speed, with threads behind the database."""

    def play(scene: Scene) -> None:
        clock = SkippingClock()

        async def main() -> None:
            async with (
                open_database(fresh_database(tmp_path / "chat.db"), durable=False) as database,
                trio.open_nursery() as nursery,
            ):
                await scene(ClockMover(clock, database, lambda: ()), nursery, database)
                nursery.cancel_scope.cancel()

        trio.run(main, clock=clock)

    return play


def test_timers_run_in_their_order_and_each_at_its_time(on_a_skipping_clock: Callable[[Scene], None]) -> None:
    heard: list[tuple[str, int]] = []

    async def scene(mover: ClockMover, nursery: trio.Nursery, _: Database) -> None:
        began = trio.current_time()

        async def say(word: str, after: float, then: tuple[str, float] | None = None) -> None:
            await trio.sleep(after)
            heard.append((word, round(trio.current_time() - began)))
            if then is not None:
                nursery.start_soon(say, *then)

        nursery.start_soon(say, "third", 300)
        nursery.start_soon(say, "first", 100, ("second", 150))
        nursery.start_soon(say, "never", 100_000)
        await trio.testing.wait_all_tasks_blocked()
        await mover.advance(600_000)

    on_a_skipping_clock(scene)
    assert heard == [("first", 100), ("second", 250), ("third", 300)]


def test_the_reading_shows_how_far_it_went(on_a_skipping_clock: Callable[[Scene], None]) -> None:
    async def scene(mover: ClockMover, _: trio.Nursery, __: Database) -> None:
        before = mover.clock.now_ms()
        await mover.advance(1_500)
        await mover.advance(0)
        assert mover.reading()["offset_ms"] == 1_500
        assert 1_500 <= mover.clock.now_ms() - before < 11_500
        assert mover.reading()["now"].endswith("Z")

    on_a_skipping_clock(scene)


def test_what_a_timer_writes_is_written_before_the_answer(on_a_skipping_clock: Callable[[Scene], None]) -> None:
    async def scene(mover: ClockMover, nursery: trio.Nursery, database: Database) -> None:
        async def note() -> None:
            for text in ("first", "second", "third"):
                await trio.sleep(10)
                await database.write(partial(instance.set_value, key="note", value=text))

        nursery.start_soon(note)
        await trio.testing.wait_all_tasks_blocked()
        await mover.advance(30_500)
        assert instance.value_of(database.reader, "note") == "third"

    on_a_skipping_clock(scene)


def test_a_hundred_years_of_a_busy_timer_take_bounded_steps(
    on_a_skipping_clock: Callable[[Scene], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "SETTLING_SECONDS_IN_ALL", float("inf"))  # on a busy machine as on a quiet one
    ticks = 0

    async def scene(mover: ClockMover, nursery: trio.Nursery, _: Database) -> None:
        async def tick() -> None:
            nonlocal ticks
            while True:
                await trio.sleep(0.5)
                ticks += 1

        nursery.start_soon(tick)
        await mover.advance(OFFSET_MAXIMUM_MS)
        assert mover.clock.skipped_ms == OFFSET_MAXIMUM_MS

    on_a_skipping_clock(scene)
    assert EXACT_STEPS / 2 <= ticks <= EXACT_STEPS + COARSE_STEPS


def test_who_waits_for_the_world_outside_does_not_notice(on_a_skipping_clock: Callable[[Scene], None]) -> None:
    async def scene(mover: ClockMover, nursery: trio.Nursery, _: Database) -> None:
        clock = mover.clock
        assert isinstance(clock, SkippingClock)
        woken = trio.Event()

        async def wait() -> None:
            await clock.sleep_unmoved(0.05)
            woken.set()

        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        await mover.advance(3_600_000)
        assert not woken.is_set()
        with trio.fail_after(PATIENCE_SECONDS):
            await woken.wait()

    on_a_skipping_clock(scene)


def test_setting_the_time_of_day_back_leaves_timers_alone(on_a_skipping_clock: Callable[[Scene], None]) -> None:
    async def scene(mover: ClockMover, nursery: trio.Nursery, _: Database) -> None:
        await mover.advance(3_600_000)
        trio_time = trio.current_time()
        mover.clock.set_back()
        assert mover.reading()["offset_ms"] == 0
        assert trio.current_time() >= trio_time

    on_a_skipping_clock(scene)


async def test_a_virtual_clock_is_moved_in_the_same_way(mock_clock: MockClock, tmp_path: Path) -> None:
    clock = JumpingClock(1_800_000_000_000, mock_clock.jump)
    heard: list[float] = []

    async def tick() -> None:
        while True:
            await trio.sleep(40)
            heard.append(trio.current_time())

    async with (
        open_database(fresh_database(tmp_path / "chat.db"), inline=True, durable=False) as database,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(tick)
        await ClockMover(clock, database, lambda: ()).advance(100_000)
        nursery.cancel_scope.cancel()
    assert heard == [40, 80]
    assert (clock.now_ms(), clock.skipped_ms) == (1_800_000_100_000, 100_000)
    clock.set_back()
    assert (clock.now_ms(), clock.skipped_ms) == (1_800_000_000_000, 0)
