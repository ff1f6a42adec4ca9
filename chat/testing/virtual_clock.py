"""The clock of a server under test: it follows Trio's clock, whatever that is.

On a virtual clock (pytest-trio's `autojump_clock`, Trio's MockClock) time jumps as soon as everybody waits, so a minute
takes no time, and the development route can move the clock besides. On the machine's own clock nothing can move time;
`skip` says so. The clock of `chat dev` (SkippingClock) is taken as it is.
"""

from __future__ import annotations

import time
from typing import Final

import trio
import trio.testing

from chat.clock import JumpingClock, MovableClock, SkippingClock

STARTED_MS: Final = 1_767_225_600_000
"""2026-01-01T00:00:00Z: when virtual time begins, so that a test's time stamps are the same each time."""


class RealTimeError(RuntimeError):
    """A test on the machine's own clock tried to move time."""


def _refuse(_seconds: float) -> None:
    raise RealTimeError("time can be moved only on a virtual clock: let the test ask for `autojump_clock`")


def clock_of_this_run() -> MovableClock:
    """The clock for a server that runs inside the present `trio.run`."""
    clock = trio.lowlevel.current_clock()
    if isinstance(clock, SkippingClock):
        return clock
    if isinstance(clock, trio.testing.MockClock):
        return JumpingClock(STARTED_MS, clock.jump)
    return JumpingClock(time.time_ns() // 1_000_000, _refuse)
