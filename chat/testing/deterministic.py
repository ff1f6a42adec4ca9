"""Runs that depend on their seed alone: Trio's scheduler in a seeded order, virtual time, a virtual deadline.

Trio shuffles the tasks of each turn. For its own tests, and under Hypothesis, it can do so from a seeded source; the
switch has no public name (trio/_core/_run.py, covered by Trio's test_scheduler_determinism.py), so it is touched here
and nowhere else.

A deadlock under virtual time has no next deadline to jump to and would wait for ever; the deadline around the run is
one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import trio
import trio._core._run as trio_run
import trio.testing

T = TypeVar("T")


@contextmanager
def seeded_scheduling(seed: int) -> Iterator[None]:
    """Runs that begin in this block shuffle their tasks by the seed."""
    before, state = trio_run._ALLOW_DETERMINISTIC_SCHEDULING, trio_run._r.getstate()
    trio_run._ALLOW_DETERMINISTIC_SCHEDULING = True  # type: ignore[misc]
    trio_run._r.seed(seed)
    try:
        yield
    finally:
        trio_run._ALLOW_DETERMINISTIC_SCHEDULING = before  # type: ignore[misc]
        trio_run._r.setstate(state)


def run_deterministically(seed: int, function: Callable[[], Awaitable[T]], *, virtual_seconds: float) -> T:
    """Await `function()` in a run of its own; raises trio.TooSlowError when it takes longer in virtual time."""

    async def main() -> T:
        with trio.fail_after(virtual_seconds):
            return await function()

    with seeded_scheduling(seed):
        return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
