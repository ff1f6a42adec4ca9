"""The server's own figures: counted as things happen, written as a small row each minute (administration.md, Figures).

The console and `chat status` draw them. For more than a week, and for alerts, there is `chat.metrics`.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import attrs

from chat.bus.bus import Bus, Event
from chat.classes import frozen
from chat.clock import Clock
from chat.errors import StorageUnavailable
from chat.observation import Observation
from chat.process_memory import resident_bytes
from chat.registries.events import EventName
from chat.store.administration import figures, instance
from chat.store.administration.figures import Figures, bucket_of
from chat.store.database import Database
from chat.store.guard import UNGUARDED

LOOK_SECONDS: Final = 1.0
"""How often the loop's lag is measured, and what is at hand is looked at."""

SWITCHED: Final = 101
"""The status that opens a WebSocket: such a request has no end to measure."""

FAILURES: Final = 500
"""The least status that says that the server is at fault."""


@frozen
class AtHand:
    """What can only be asked for at the moment."""

    sessions: Callable[[], int]
    online: Callable[[], int]


class FigureKeeper:
    """Counts what passes by. `observe` is an observer of requests; `run` writes; `finish` writes what is left."""

    def __init__(self, database: Database, database_file: Path, clock: Clock, bus: Bus, at_hand: AtHand) -> None:
        self._database = database
        self._file = database_file
        self._clock = clock
        self._at_hand = at_hand
        self._begin(clock.now_ms())
        bus.subscribe_events([EventName.MESSAGE_CREATE], self._message_created)

    def _begin(self, now: int) -> None:
        self._at = now
        self._messages = self._requests = self._failures = 0
        self._latencies: Counter[int] = Counter()
        self._online = self._sessions = self._memory = 0
        self._lag_us = 0

    # As it happens

    def observe(self, seen: Observation) -> None:
        """A request is over."""
        if seen.status == SWITCHED:
            return
        self._requests += 1
        self._failures += seen.status >= FAILURES
        self._latencies[bucket_of(seen.seconds * 1_000)] += 1

    def _message_created(self, _: Event) -> None:
        self._messages += 1

    # As time goes by

    async def run(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        """Look each second, write each minute, for ever. `sleep` waits in the machine's own time."""
        while True:
            due = time.monotonic() + LOOK_SECONDS
            await sleep(LOOK_SECONDS)
            self._look(max(0.0, time.monotonic() - due))
            now = self._clock.now_ms()
            if now // 60_000 != self._at // 60_000:
                await self._write(now)

    def _look(self, lag: float) -> None:
        self._lag_us = max(self._lag_us, int(lag * 1_000_000))
        self._sessions = max(self._sessions, self._at_hand.sessions())
        self._online = max(self._online, self._at_hand.online())
        self._memory = max(self._memory, resident_bytes() or 0)

    async def finish(self) -> None:
        """Write the minute that has begun: the server goes away."""
        self._look(0.0)
        await self._write(self._clock.now_ms())

    async def _write(self, now: int) -> None:
        """Write what was counted since the last time; it is dropped where the store does not take it."""
        counted = Figures(
            at=self._at,
            messages=self._messages,
            requests=self._requests,
            failures=self._failures,
            latencies=dict(self._latencies),
            online=self._online,
            sessions=self._sessions,
            lag_us=self._lag_us,
            memory_bytes=self._memory,
        )
        self._begin(now)  # before anything waits: what happens meanwhile belongs to the next minute
        try:
            waiting = await self._database.read(instance.waiting_figures)
            size = _size(self._file) + _size(self._file.with_name(f"{self._file.name}-wal"))
            row = attrs.evolve(counted, database_bytes=size, upload_bytes=waiting.upload_bytes)
            await self._database.write(lambda connection: figures.take_in(connection, row, now), guard=UNGUARDED)
        except StorageUnavailable:
            return  # /_ready and the log tell of it


def _size(file: Path) -> int:
    try:
        return os.stat(file).st_size
    except FileNotFoundError:
        return 0
