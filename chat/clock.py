"""Wall time, in one place, so that a whole server can run on a clock that a test moves.

Monotonic waiting goes through Trio (`trio.current_time()`, `trio.sleep_until`); what is written into records and shown
to people goes through a `Clock` from here. In a test that runs on Trio's virtual clock both follow the same hands.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Protocol

import structlog
import trio

JUMP_MS: Final = 60_000
"""A step of the time of day by more than this is told to the operator."""

WATCH_SECONDS: Final = 10.0
"""How often the time of day is held against the time that passed."""

logger = structlog.get_logger(__name__)


class Clock(Protocol):
    """Tells the time of day."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        ...


class SystemClock:
    """The machine's own time of day."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class TrioClock:
    """A time of day that follows Trio's clock: under a virtual clock, days pass in no time.

    `started_ms` is the time of day (Unix milliseconds) at the moment of construction, which must happen inside
    `trio.run`.
    """

    def __init__(self, started_ms: int) -> None:
        self._base = started_ms / 1000 - trio.current_time()

    def now_ms(self) -> int:
        return round((self._base + trio.current_time()) * 1000)


class MovableClock(Clock, Protocol):
    """A time of day that can be moved forward, and Trio's timers with it."""

    @property
    def skipped_ms(self) -> int:
        """How far the time of day has been moved since the start, or since it was set back."""
        ...

    def skip(self, milliseconds: int) -> None:
        """Move forward; deadlines that lie on the way are due from the next turn of Trio's loop on."""
        ...

    def set_back(self) -> None:
        """Return to the time of day that it would be without any `skip`. Trio's timers stay where they are."""
        ...

    def seconds_to_next_deadline(self) -> float:
        """How far ahead the next of Trio's deadlines lies that `skip` brings nearer; infinity when there is none."""
        ...


class SkippingClock(trio.abc.Clock):
    """A MovableClock of real speed that is Trio's clock as well, so that its timers see it (`chat dev`)."""

    def __init__(self) -> None:
        self._trio_skipped_ms = 0
        self._skipped_ms = 0
        self._unmoved: set[trio.CancelScope] = set()

    @property
    def skipped_ms(self) -> int:
        return self._skipped_ms

    def skip(self, milliseconds: int) -> None:
        if milliseconds < 0:
            raise ValueError("a clock moves forward only")
        self._skipped_ms += milliseconds
        self._trio_skipped_ms += milliseconds
        for scope in self._unmoved:
            scope.deadline += milliseconds / 1000

    async def sleep_unmoved(self, seconds: float) -> None:
        """Sleep in the machine's own time, unmoved by `skip`: for waiting on what is outside of this process."""
        with trio.CancelScope(deadline=trio.current_time() + seconds) as scope:
            self._unmoved.add(scope)
            try:
                await trio.sleep_forever()
            finally:
                self._unmoved.discard(scope)

    def seconds_to_next_deadline(self) -> float:
        unmoved = {scope: scope.deadline for scope in self._unmoved}
        for scope in unmoved:
            scope.deadline = math.inf
        seconds = trio.lowlevel.current_statistics().seconds_to_next_deadline
        for scope, deadline in unmoved.items():
            scope.deadline = deadline
        return seconds

    def set_back(self) -> None:
        self._skipped_ms = 0

    def start_clock(self) -> None:
        """Trio's hook; nothing to prepare."""

    def current_time(self) -> float:
        return time.monotonic() + self._trio_skipped_ms / 1000

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return deadline - self.current_time()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 + self._skipped_ms


class JumpingClock(TrioClock):
    """A MovableClock on Trio's virtual clock, whose `jump` (seconds) it calls."""

    def __init__(self, started_ms: int, jump: Callable[[float], None]) -> None:
        super().__init__(started_ms)
        self._jump = jump
        self._skipped_ms = 0

    @property
    def skipped_ms(self) -> int:
        return self._skipped_ms

    def skip(self, milliseconds: int) -> None:
        self._jump(milliseconds / 1000)
        self._skipped_ms += milliseconds

    def set_back(self) -> None:
        self._base -= self._skipped_ms / 1000
        self._skipped_ms = 0

    def seconds_to_next_deadline(self) -> float:
        return trio.lowlevel.current_statistics().seconds_to_next_deadline


async def report_jumps(clock: Clock) -> None:
    """Log every jump of the time of day, for ever. Ids and deadlines do without it; what people read does not."""
    shown_ms, passed = clock.now_ms(), trio.current_time()
    while True:
        await trio.sleep(WATCH_SECONDS)
        shown_before_ms, passed_before = shown_ms, passed
        shown_ms, passed = clock.now_ms(), trio.current_time()
        jump_ms = shown_ms - shown_before_ms - (passed - passed_before) * 1000
        if abs(jump_ms) > JUMP_MS:
            logger.warning("the clock jumped", seconds=round(jump_ms / 1000), now=iso_timestamp(shown_ms))


def iso_timestamp(milliseconds: int) -> str:
    """Unix milliseconds as the wire's ISO 8601 text, UTC, with milliseconds and `Z`."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


def optional_timestamp(milliseconds: int | None) -> str | None:
    """As `iso_timestamp`; None for no moment."""
    return None if milliseconds is None else iso_timestamp(milliseconds)
