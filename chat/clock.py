"""Wall time, in one place, so that a whole server can run on a clock that a test moves.

Monotonic waiting goes through Trio (`trio.current_time()`, `trio.sleep_until`); what is written into records and shown
to people goes through a `Clock` from here. In a test that runs on Trio's virtual clock both follow the same hands.
"""

from __future__ import annotations

import functools
import math
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import structlog
import trio

JUMP_MS: Final = 60_000
"""A step of the time of day by more than this is told to the operator."""

DOUBTED_MS: Final = 600_000
"""A step forward by more than this is not believed at once."""

DOUBT_MS: Final = 3_600_000
"""How long the time of day must go on from such a step until it is believed: longer than programs that set the clock by
the network wait between two looks."""

BOOTED_MS: Final = 900_000
"""A machine that has not been up for this long may hear the time only now: every step is believed."""

LOOK_MS: Final = 1_000
"""How far the time of day goes on until it is held against the time that passed."""

WATCH_SECONDS: Final = 10.0
"""How often the time of day is held against the time that passed."""

MINUTES_KEPT: Final = 4_096
"""Minutes whose text is remembered: to make it takes several times as long as the rest of a timestamp."""

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


def _passed_ms() -> int:
    """Milliseconds since the machine started, those included in which the machine slept: Linux leaves them out of its
    CLOCK_MONOTONIC."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1_000_000


class DoubtingClock:
    """A time of day that does not follow another one far ahead at once: what is stamped with a wrong moment stays so,
    and ids never go back.

    It follows every step back, and forward up to DOUBTED_MS beyond what it has shown before. After a longer step it
    goes on with the time that passed, says so once in the log, and follows when `shown` has gone on from there for
    DOUBT_MS. The time at the start is believed, and so is every step until the machine has been up for BOOTED_MS. May
    be asked by several threads.

    `shown` is the time of day that is judged, `passed_ms` tells the time that passed since the machine started.
    """

    def __init__(self, shown: Clock | None = None, passed_ms: Callable[[], int] = _passed_ms) -> None:
        self._shown = SystemClock() if shown is None else shown
        self._passed_ms = passed_ms
        self._offset = self._highest = self._shown.now_ms() - passed_ms()
        self._doubted: tuple[int, int] | None = None
        self._looked_ms = 0
        self._turn = threading.Lock()

    def now_ms(self) -> int:
        shown = self._shown.now_ms()
        # Every request asks several times. What has gone on by less than this made no step that matters.
        return shown if 0 <= shown - self._looked_ms < LOOK_MS else self._look(shown)

    def _look(self, shown: int) -> int:
        passed = self._passed_ms()
        offset = shown - passed
        if passed > BOOTED_MS and offset > self._highest + DOUBTED_MS:
            return self._judge(offset, passed)
        self._offset, self._highest, self._doubted, self._looked_ms = offset, max(offset, self._highest), None, shown
        return shown

    def _judge(self, offset: int, passed: int) -> int:
        """What the time is believed to be, `offset` being what is shown less what passed."""
        with self._turn:
            self._looked_ms = 0
            is_new = self._doubted is None or abs(offset - self._doubted[0]) > JUMP_MS
            if self._doubted is None or is_new:
                self._doubted = offset, passed
            elif passed - self._doubted[1] >= DOUBT_MS:
                self._offset, self._highest, self._doubted = offset, offset, None
            believed = passed + self._offset
        if is_new:
            logger.warning(
                "the clock jumped far ahead and is not believed yet",
                shown=iso_timestamp(offset + passed),
                now=iso_timestamp(believed),
                believed_in_seconds=DOUBT_MS // 1_000,
                remedy="set it right; if it is right, wait, or restart the server, which believes it at once",
            )
        return believed


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
    """A time of day that can be moved forward and stopped, and Trio's timers with it."""

    @property
    def skipped_ms(self) -> int:
        """How far the time of day has been moved since the start, or since it was set back."""
        ...

    @property
    def is_stopped(self) -> bool:
        """Whether time stands still until it is moved."""
        ...

    def skip(self, milliseconds: int) -> None:
        """Move forward; deadlines that lie on the way are due from the next turn of Trio's loop on."""
        ...

    def stop(self) -> None:
        """Let time stand still: no deadline comes nearer but by `skip`."""
        ...

    def go_on(self) -> None:
        """Let time go on from where it stands."""
        ...

    def set_back(self, skipped_ms: int = 0) -> None:
        """Set the time of day back to the machine's plus `skipped_ms`, and let it run. Trio's timers stay where they
        are."""
        ...

    def seconds_to_next_deadline(self) -> float:
        """How far ahead the next of Trio's deadlines lies that `skip` brings nearer; infinity when there is none."""
        ...

    def in_machine_time(self, seconds: float) -> AbstractContextManager[trio.CancelScope]:
        """A scope that is cancelled after `seconds` of the machine's own time, for waits on things outside this
        process. On a virtual clock these are seconds of virtual time, because nothing there waits for the machine."""
        ...

    def machine_seconds(self) -> float:
        """The time in which `in_machine_time` counts."""
        ...


class SkippingClock(trio.abc.Clock):
    """A MovableClock of real speed that is Trio's clock as well, so that its timers see it (`chat dev`).

    Trio's time is the machine's plus `_ahead` seconds, or stands at `_stopped_at`. Scopes in machine time are kept with
    the moment of the machine at which they end: Trio's deadline of each follows, and while time stands still they are
    ended here, since Trio asks for the time before it looks for deadlines.
    """

    def __init__(self) -> None:
        self._ahead = 0.0
        self._stopped_at: float | None = None
        self._stopped_at_ms = 0
        self._stood_ms = 0
        self._skipped_ms = 0
        self._in_machine_time: dict[trio.CancelScope, float] = {}

    @property
    def skipped_ms(self) -> int:
        return self._skipped_ms

    @property
    def is_stopped(self) -> bool:
        return self._stopped_at is not None

    def skip(self, milliseconds: int) -> None:
        if milliseconds < 0:
            raise ValueError("a clock moves forward only")
        self._skipped_ms += milliseconds
        if self._stopped_at is None:
            self._ahead += milliseconds / 1000
        else:
            self._stopped_at += milliseconds / 1000
        self._place_scopes()

    def stop(self) -> None:
        if self._stopped_at is None:
            self._stopped_at_ms = time.time_ns() // 1_000_000
            self._stopped_at = self.current_time()
            self._place_scopes()

    def go_on(self) -> None:
        if self._stopped_at is not None:
            self._stood_ms += time.time_ns() // 1_000_000 - self._stopped_at_ms
            self._ahead = self._stopped_at - time.monotonic()
            self._stopped_at = None
            self._place_scopes()

    @contextmanager
    def in_machine_time(self, seconds: float) -> Iterator[trio.CancelScope]:
        with trio.CancelScope() as scope:
            self._in_machine_time[scope] = time.monotonic() + seconds
            self._place_scopes()
            try:
                yield scope
            finally:
                del self._in_machine_time[scope]

    def machine_seconds(self) -> float:
        return time.monotonic()

    async def sleep_unmoved(self, seconds: float) -> None:
        """Sleep in the machine's own time, unmoved by `skip` and `stop`: for waiting on what is outside of this
        process."""
        with self.in_machine_time(seconds):
            await trio.sleep_forever()

    def seconds_to_next_deadline(self) -> float:
        for scope in self._in_machine_time:
            scope.deadline = math.inf
        seconds = trio.lowlevel.current_statistics().seconds_to_next_deadline
        self._place_scopes()
        return seconds

    def set_back(self, skipped_ms: int = 0) -> None:
        self.go_on()
        self._skipped_ms = skipped_ms
        self._stood_ms = 0

    def start_clock(self) -> None:
        """Trio's hook; nothing to prepare."""

    def current_time(self) -> float:
        if self._stopped_at is None:
            return time.monotonic() + self._ahead
        self._end_scopes()
        return self._stopped_at

    def deadline_to_sleep_time(self, deadline: float) -> float:
        if self._stopped_at is None:
            return deadline - self.current_time()
        if deadline <= self._stopped_at:
            return 0.0
        return min(self._in_machine_time.values(), default=math.inf) - time.monotonic()

    def now_ms(self) -> int:
        now_ms = time.time_ns() // 1_000_000 if self._stopped_at is None else self._stopped_at_ms
        return now_ms + self._skipped_ms - self._stood_ms

    def _place_scopes(self) -> None:
        for scope, end in self._in_machine_time.items():
            scope.deadline = math.inf if self.is_stopped else end + self._ahead

    def _end_scopes(self) -> None:
        """While time stands still: have Trio find due what has ended in machine time."""
        now = time.monotonic()
        for scope, end in self._in_machine_time.items():
            if end <= now:
                scope.deadline = -math.inf


class JumpingClock(TrioClock):
    """A MovableClock on Trio's virtual clock, whose `jump` (seconds) it calls; `hold` keeps that clock from moving by
    itself, or lets it."""

    def __init__(
        self, started_ms: int, jump: Callable[[float], None], hold: Callable[[bool], None] = lambda _: None
    ) -> None:
        super().__init__(started_ms)
        self._jump = jump
        self._hold = hold
        self._skipped_ms = 0
        self._is_stopped = False

    @property
    def skipped_ms(self) -> int:
        return self._skipped_ms

    @property
    def is_stopped(self) -> bool:
        return self._is_stopped

    def skip(self, milliseconds: int) -> None:
        self._jump(milliseconds / 1000)
        self._skipped_ms += milliseconds

    def stop(self) -> None:
        self._hold(True)
        self._is_stopped = True

    def go_on(self) -> None:
        if self._is_stopped:
            self._hold(False)
        self._is_stopped = False

    def set_back(self, skipped_ms: int = 0) -> None:
        self.go_on()
        self._base -= (self._skipped_ms - skipped_ms) / 1000
        self._skipped_ms = skipped_ms

    def in_machine_time(self, seconds: float) -> AbstractContextManager[trio.CancelScope]:
        return trio.move_on_after(seconds)

    def machine_seconds(self) -> float:
        return trio.current_time()

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
    seconds, milliseconds = divmod(milliseconds, 1_000)
    minute, second = divmod(seconds, 60)
    return f"{_minute(minute)}{_SECONDS[second]}{_MILLISECONDS[milliseconds]}"


LEAP_SECOND: Final = re.compile(r"(:[0-9]{2}:)60(?![0-9])", re.ASCII)
ZONE_APART: Final = re.compile(r" (?:UTC|GMT|([+-][0-9:]{2,6}|Z))\Z", re.ASCII)


def read_moment(text: str) -> datetime:
    """The moment that ISO 8601 text names, as programs write it: letters of either case, a leap second (the second
    after it), a space before the zone. It has a zone where the text has one.

    :raises ValueError: for what is no such text, or lies outside the years 1 to 9999.
    """
    upper = ZONE_APART.sub(lambda match: match[1] or "Z", text.upper())
    plain, leaps = LEAP_SECOND.subn(r"\g<1>59", upper)
    try:
        return datetime.fromisoformat(plain) + timedelta(seconds=leaps)
    except OverflowError:
        raise ValueError("beyond the year 9999") from None


_SECONDS: Final = tuple(f"{second:02d}" for second in range(60))
_MILLISECONDS: Final = tuple(f".{milliseconds:03d}Z" for milliseconds in range(1_000))


@functools.lru_cache(maxsize=MINUTES_KEPT)
def _minute(minute: int) -> str:
    """What precedes the seconds of a minute since 1970; messages of one page share few."""
    return datetime.fromtimestamp(minute * 60, UTC).isoformat(timespec="minutes")[:16] + ":"


def optional_timestamps(*moments: int | None) -> list[str | None]:
    """Each moment as `optional_timestamp`."""
    return [optional_timestamp(moment) for moment in moments]


def optional_timestamp(milliseconds: int | None) -> str | None:
    """As `iso_timestamp`; None for no moment."""
    return None if milliseconds is None else iso_timestamp(milliseconds)
