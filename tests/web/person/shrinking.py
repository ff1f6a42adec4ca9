"""Fewer acts with the same fault: delta debugging on what is done anew each time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from tests.web.person.acts import Act


def kind_of(fault: str) -> str:
    """What makes two faults the same, whatever names and numbers are in them."""
    return re.sub(r"\d+|\"[^\"]*\"|'[^']*'", "_", fault)[:120]


def shrunk(acts: Sequence[Act], fails: Callable[[Sequence[Act]], bool], seconds: float) -> list[Act]:
    """The shortest row that was found within the time and still fails."""
    end = time.monotonic() + seconds
    best, parts = list(acts), 2
    while len(best) > 1 and time.monotonic() < end:
        size = max(1, len(best) // parts)
        for start in range(0, len(best), size):
            fewer = best[:start] + best[start + size :]
            if fewer and time.monotonic() < end and fails(fewer):
                best, parts = fewer, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(best), parts * 2)
    return best
