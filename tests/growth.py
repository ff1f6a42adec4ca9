"""How the work for an input grows with its length: two times compared with one another, in one run."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Final, TypeVar

Input = TypeVar("Input")

TIMES: Final = 8
"""How many times as long the longer input is."""

MOST: Final = 3 * TIMES
"""Growth below this is called linear; work that grows with the square takes 64 times as long."""

ROUNDS: Final = 6


def is_linear(work: Callable[[Input], object], make: Callable[[int], Input], length: int) -> bool:
    """Whether `work(make(8 * length))` takes no more than 24 times the processor's time of `work(make(length))`.

    `make` gives an input of about that length, in characters or bytes. Each time is the least of up to six rounds: a
    busy machine and the collector only ever add to it.
    """
    short, long = make(length), make(TIMES * length)
    work(short)
    least_short = least_long = float("inf")
    for _ in range(ROUNDS):
        least_long = min(least_long, _seconds(work, long))
        for _ in range(TIMES):
            least_short = min(least_short, _seconds(work, short))
        # Work of some ten microseconds is mostly the call itself.
        if least_long <= MOST * max(least_short, 1e-5):
            return True
    return False


def _seconds(work: Callable[[Input], object], given: Input) -> float:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        before = time.process_time()
        work(given)
        return time.process_time() - before
    finally:
        if was_enabled:
            gc.enable()
