"""Threads archive themselves when nothing has been written in them for as long as they say (wire facts 5.6).

When, stands with each thread and is indexed, so that a restart forgets nothing and nobody looks through all threads. A
pinned post stays.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog
import trio

from chat.bus.bus import Bus
from chat.clock import Clock
from chat.domain.thread_events import KnownThread, known_thread, thread_updated
from chat.domain.thread_writing import archived
from chat.errors import StorageUnavailable
from chat.registries.channel_types import ChannelFlag
from chat.store import threads
from chat.store.database import Database
from chat.store.threads import MINUTE_MS

PINNED: Final = ChannelFlag.PINNED.value

THREADS_AT_ONCE: Final = 100
"""Threads that one transaction archives at most."""

LOOK_SECONDS: Final = 1_800.0
"""How long it does not look at most: less than the shortest time after which a thread archives itself, so that nobody
has to tell of new ones."""

RETRY_SECONDS: Final = 10.0
"""How long a store that fails is left alone."""

log: Final = structlog.get_logger("chat.threads")


class ThreadArchiving:
    """Archives threads in the background."""

    def __init__(self, database: Database, bus: Bus, clock: Clock) -> None:
        self._database = database
        self._bus = bus
        self._clock = clock
        self._wake = trio.Event()

    def look_again(self) -> None:
        """A thread archives itself sooner than it was going to."""
        self._wake.set()

    async def run(self) -> None:
        """Archive threads when they are due, until cancelled."""
        while True:
            self._wake = trio.Event()
            try:
                while len(await self._archive_some()) == THREADS_AT_ONCE:
                    await trio.lowlevel.checkpoint()
                pause = self._seconds_to_next()
            except StorageUnavailable:
                log.warning("threads wait for the store to be archived")
                pause = RETRY_SECONDS
            with trio.move_on_after(pause):
                await self._wake.wait()

    def _seconds_to_next(self) -> float:
        due = threads.next_due(self._database.reader)
        return LOOK_SECONDS if due is None else min(LOOK_SECONDS, max(0.001, (due - self._clock.now_ms()) / 1000))

    async def _archive_some(self) -> list[KnownThread | None]:
        now = self._clock.now_ms()

        def unit(connection: sqlite3.Connection) -> list[KnownThread | None]:
            done: list[KnownThread | None] = []
            for thread in threads.due(connection, now, THREADS_AT_ONCE):
                if thread.channel.flags & PINNED:
                    threads.postpone(connection, thread.id, now + thread.auto_archive_duration * MINUTE_MS)
                    done.append(None)
                    continue
                after = archived(thread, now)
                threads.change(connection, after)
                done.append(known_thread(connection, after))
            return done

        def then(done: list[KnownThread | None]) -> None:
            self._bus.publish(*(thread_updated(known) for known in done if known is not None))

        return await self._database.write(unit, then)
