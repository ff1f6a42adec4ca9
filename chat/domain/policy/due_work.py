"""Work that falls due at moments which stand in the store, so that a restart forgets none of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Final

import structlog
import trio

from chat.clock import Clock
from chat.errors import StorageUnavailable

RETRY_SECONDS: Final = 10.0
"""How long a store that fails is left alone."""

SHORTEST_SECONDS: Final = 0.001
"""Clocks count milliseconds: within the present one nothing new falls due."""

MILLISECONDS: Final = 1_000

log: Final = structlog.get_logger("chat.due_work")


class DueWork(ABC):
    """Does what is due, sleeps until something is, and looks again when told that this may be sooner."""

    NAME: ClassVar[str]
    """What waits when the store does, for the log."""

    LOOK_SECONDS: ClassVar[float]
    """How long it sleeps at most: the time of day may be set anew, and nobody tells of everything."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wake = trio.Event()

    @abstractmethod
    async def _work(self) -> None:
        """Do all that is due now."""

    @abstractmethod
    def _next_due(self) -> int | None:
        """When something falls due next (Unix ms); None where nothing is known to."""

    def look_again(self) -> None:
        """After a commit: something may be due sooner than it was."""
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            self._wake = trio.Event()
            try:
                await self._work()
                pause = self._seconds_to_next()
            except StorageUnavailable:
                log.warning("work waits for the store", work=self.NAME)
                pause = RETRY_SECONDS
            with trio.move_on_after(pause):
                await self._wake.wait()

    def _seconds_to_next(self) -> float:
        due = self._next_due()
        if due is None:
            return self.LOOK_SECONDS
        return min(self.LOOK_SECONDS, max(SHORTEST_SECONDS, (due - self._clock.now_ms()) / MILLISECONDS))
