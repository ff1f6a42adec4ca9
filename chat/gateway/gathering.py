"""How many events are worth waiting for before a costly delivery.

Under load events come in answer to each other: about as many will be there soon as were just delivered and have
arrived in the meantime. How far that can be relied on is learned from how waiting went: `Expectation` keeps how many
came together, now and then tries one more, and does so ever more rarely while that fails.
"""

from __future__ import annotations

from typing import Final

PROBE_INTERVAL_MAXIMUM: Final = 64
"""Batches between two attempts at one more event, at most."""


class Expectation:
    """What recent batches say about the next one. At most `maximum` events are ever expected."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._together = 1
        self._probe_interval = 1
        self._batches_to_probe = 0
        self.events = 0
        """How many are expected to be there soon."""

    def delivered(self, count: int, queued: int) -> None:
        """A batch of `count` is delivered, and meanwhile `queued` events arrived: expect the next."""
        likely = min(count + queued, self._maximum)
        if likely <= self._together:
            self.events = likely
            return
        self._batches_to_probe -= 1
        self.events = self._together + (self._batches_to_probe <= 0)

    def came(self, count: int, *, in_time: bool) -> None:
        """What was expected is there, or the wait was in vain; either way so many are."""
        if count > self._together:
            self._together = min(count, self._maximum)
            self._probe_interval = 1
        elif not in_time and self.events > self._together:
            self._probe_interval = min(2 * self._probe_interval, PROBE_INTERVAL_MAXIMUM)
            self._batches_to_probe = self._probe_interval
        elif not in_time:
            # Half of the way down: one late event says little.
            self._together -= (self._together - count + 1) // 2
