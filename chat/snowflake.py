"""Snowflakes: identities that sort by the moment of their making.

Bits 62 to 22 hold milliseconds since 2015-01-01T00:00:00Z, bits 21 to 12 the worker, bits 11 to 0 a counter within the
millisecond; bit 63 is zero (http.md, Snowflakes).
"""

from __future__ import annotations

import threading
from typing import Final

import structlog

from chat.clock import JUMP_MS, Clock, iso_timestamp

logger = structlog.get_logger(__name__)

EPOCH_MS: Final = 1_420_070_400_000
MAXIMUM: Final = 9_223_372_036_854_775_807
LAST_MS: Final = 2**41 - 1
"""The last millisecond that the format can tell."""

SERVER_WORKER: Final = 1

FAR_AHEAD_MS: Final = 31_536_000_000
"""A year: nobody writes anything for as long in few instances, and a clock that far ahead is more often wrong."""


def snowflake_time_ms(snowflake: int) -> int:
    """The Unix milliseconds at which a snowflake was made."""
    return (snowflake >> 22) + EPOCH_MS


def snowflake_at(milliseconds: int) -> int:
    """The least snowflake of a moment given in Unix milliseconds: a bound for range queries."""
    return max(0, milliseconds - EPOCH_MS) << 22


class SnowflakeGenerator:
    """Makes ascending snowflakes for one worker.

    A clock that steps back does not lead to repeats: the highest millisecond seen stays in use. More than 4,096 in one
    millisecond borrow from the next one, so the order holds without waiting. The loop and the writer's thread may ask
    at the same time.
    """

    def __init__(self, clock: Clock, worker: int = SERVER_WORKER) -> None:
        if not 0 <= worker < 1024:
            raise ValueError("a worker number has 10 bits")
        self._clock = clock
        self._worker_bits = worker << 12
        self._last_ms = 0
        self._counter = 0
        self._turn = threading.Lock()

    def set_back(self) -> None:
        """Make ids from the clock's present time again. `/v1/_dev/reset` calls it: the clock was set back, and
        everything that was made since is deleted."""
        self._last_ms = 0
        self._counter = 0

    def stay_above(self, snowflake: int) -> int:
        """Make none below this one, whichever worker made it.

        Returns by how many milliseconds the clock is behind it.
        """
        moment, worker_bits = min(snowflake >> 22, LAST_MS - 1), snowflake & 0x3F_F000
        if worker_bits == self._worker_bits:
            counter = snowflake & 0xFFF
        else:  # another worker's millisecond is shared only by those that sort behind it
            counter = -1 if worker_bits < self._worker_bits else 0xFFF
        with self._turn:
            if (moment, counter) > (self._last_ms, self._counter):
                self._last_ms, self._counter = moment, counter
        return max(0, moment + EPOCH_MS - self._clock.now_ms())

    def __call__(self) -> int:
        now = self._clock.now_ms() - EPOCH_MS
        with self._turn:
            if now > self._last_ms:
                self._last_ms = now
                self._counter = 0
            else:
                self._counter += 1
                if self._counter > 4095:
                    self._last_ms += 1
                    self._counter = 0
            return (self._last_ms << 22) | self._worker_bits | self._counter


def go_on_above(snowflakes: SnowflakeGenerator, last: int, clock: Clock) -> None:
    """At a start: make no id below the highest in the store, 0 for none; say so where the clock is far from it."""
    behind_ms = snowflakes.stay_above(last)
    if behind_ms > JUMP_MS:
        logger.warning("the clock is behind the last id: ids go on above it", seconds=behind_ms // 1_000)
    now_ms = clock.now_ms()
    if last and now_ms - snowflake_time_ms(last) > FAR_AHEAD_MS:
        logger.warning(
            "the clock is far ahead of the last id",
            now=iso_timestamp(now_ms),
            last=iso_timestamp(snowflake_time_ms(last)),
            remedy="if the clock is wrong, stop the server before anybody writes, and set the clock right",
        )
