"""A run that goes on only while it is asked."""

from __future__ import annotations

import time

import pytest
import trio

from chat.testing.stepped_run import SteppedRun


def test_answers_and_errors_come_back() -> None:
    async def double(number: int) -> int:
        await trio.sleep(0.001)
        return 2 * number

    async def fail() -> None:
        await trio.lowlevel.checkpoint()
        raise ValueError("no")

    with SteppedRun() as run:
        assert run.call(double, 21) == 42
        with pytest.raises(ValueError, match="no"):
            run.call(fail)
        assert run.call(double, 1) == 2


def test_virtual_time_stands_still_between_calls() -> None:
    async def now() -> float:
        run.nursery.start_soon(trio.sleep, 60)  # a deadline that time could jump to
        await trio.lowlevel.checkpoint()
        return trio.current_time()

    with SteppedRun(virtual=True) as run:
        before = run.call(now)
        time.sleep(0.01)
        for _ in range(3):
            assert run.call(now) == before
        run.call(trio.sleep, 3_600)
        assert run.call(now) == before + 3_600


def test_tasks_live_on_between_calls() -> None:
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            await trio.sleep(1)
            ticks.append(trio.current_time())

    with SteppedRun(virtual=True) as run:

        async def start() -> None:
            await trio.lowlevel.checkpoint()
            run.start_soon(tick)

        run.call(start)
        run.call(trio.sleep, 2.5)
        assert len(ticks) == 2
        run.call(trio.sleep, 2.5)
        assert len(ticks) == 5


def test_a_failing_task_ends_the_run() -> None:
    async def fail() -> None:
        raise ValueError("in the background")

    run = SteppedRun(virtual=True)

    async def start() -> None:
        await trio.lowlevel.checkpoint()
        run.start_soon(fail)
        await trio.sleep(1)

    with pytest.raises(ExceptionGroup) as raised:
        run.call(start)
    assert raised.group_contains(ValueError, match="in the background")
