"""Work that falls due at moments which stand in the store, so that a restart forgets none of it; and uses that are
collected in memory and written in one go once in a while."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from typing import ClassVar, Final, Generic, TypeVar

import attrs
import structlog
import trio

from chat.classes import define
from chat.clock import Clock
from chat.errors import StorageUnavailable
from chat.store.database import Database
from chat.store.guard import UNGUARDED

K = TypeVar("K")
U = TypeVar("U")

RETRY_SECONDS: Final = 10.0
"""How long a store that fails is left alone."""

SHORTEST_SECONDS: Final = 0.001
"""Clocks count milliseconds: within the present one nothing new falls due."""

MILLISECONDS: Final = 1_000

USE_NOTED_EVERY_SECONDS: Final = 60
"""How long uses are collected before they are written."""

log: Final = structlog.get_logger("chat.due_work")


class DueWork(ABC):
    """Does what is due, sleeps until something is, and looks again when told that this may be sooner."""

    NAME: ClassVar[str]
    """What waits when the store does, for the log."""

    LOOK_SECONDS: ClassVar[float]
    """How long it sleeps at most: the time of day may be set anew, and not every cause tells."""

    EMPTY_SECONDS: ClassVar[float | None] = None
    """How long it sleeps where nothing is known to fall due, if every cause tells; None for LOOK_SECONDS."""

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
        """Wake `run` to ask `_next_due` again. Call it after a commit that may have made something due sooner."""
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
            return self.LOOK_SECONDS if self.EMPTY_SECONDS is None else self.EMPTY_SECONDS
        return min(self.LOOK_SECONDS, max(SHORTEST_SECONDS, (due - self._clock.now_ms()) / MILLISECONDS))


@define(eq=False)
class NotedUses(ABC, Generic[K, U]):
    """Notes the uses of things, of which the last one counts."""

    _uses: dict[K, U] = attrs.field(factory=dict, init=False)
    _noted: trio.Event = attrs.field(factory=trio.Event, init=False)
    """Set with each use, so that `run` writes it before long."""

    @abstractmethod
    def _write_use(self, connection: sqlite3.Connection, thing: K, use: U) -> None:
        """In a unit of writing: the last use of one thing."""

    @abstractmethod
    def _database_of_uses(self) -> Database:
        """Where they are written."""

    async def write_uses(self) -> None:
        """Write what was noted since the last time; kept for the next time where the store cannot be written."""
        if not self._uses:
            return
        noted, self._uses = self._uses, {}

        def unit(connection: sqlite3.Connection) -> None:
            for thing, use in noted.items():
                self._write_use(connection, thing, use)

        try:
            await self._database_of_uses().write(unit, guard=UNGUARDED)  # what was used earlier was used
        except StorageUnavailable:
            self._uses = {**noted, **self._uses}
            self._noted.set()

    def forget_uses(self) -> None:
        """Forget what was noted and is not written yet (`/v1/_dev/reset`)."""
        self._uses = {}

    async def run(self) -> None:
        """Write uses once in a while, for ever."""
        while True:
            await self._noted.wait()
            await trio.sleep(USE_NOTED_EVERY_SECONDS)
            self._noted = trio.Event()
            await self.write_uses()
