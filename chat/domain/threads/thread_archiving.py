"""Threads archive themselves when nothing has been written in them for as long as they say (threads.md, Archiving).

When, stands with each thread and is indexed, so that a restart forgets nothing and nobody looks through all threads. A
pinned post stays.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import trio

from chat.domain.core import Core
from chat.domain.messages.thread_writing import archived
from chat.domain.policy.due_work import DueWork
from chat.domain.standing.thread_events import KnownThread, known_thread, thread_updated
from chat.registries.channel_types import ChannelFlag
from chat.store.threads import threads
from chat.store.threads.threads import MINUTE_MS

PINNED: Final = ChannelFlag.PINNED.value

THREADS_AT_ONCE: Final = 100
"""Threads that one transaction archives at most."""


class ThreadArchiving(DueWork):
    """Archives threads in the background."""

    NAME = "threads to be archived"
    LOOK_SECONDS = 1_800.0
    """Less than the shortest time after which a thread archives itself, so that nobody has to tell of new ones."""

    def __init__(self, core: Core) -> None:
        self._core = core
        super().__init__(core.clock)

    async def _work(self) -> None:
        while len(await self._archive_some()) == THREADS_AT_ONCE:
            await trio.lowlevel.checkpoint()

    def _next_due(self) -> int | None:
        return threads.next_due(self._core.database.reader)

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
            self._core.bus.publish(*(thread_updated(known) for known in done if known is not None))

        return await self._core.database.write(unit, then)
