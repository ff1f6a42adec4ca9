"""Keeps the full-text index of messages up to date, a moment after they change.

What changed is written down with the change itself (`020_message_search.sql`), so nothing is lost whenever the
process ends, and a database from before there was an index gets one the same way, bit by bit. Many changes cost little
more than one, so the index follows a second behind; whoever searches has it follow at once.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog
import trio

from chat.bus.bus import Event
from chat.domain.core import Core
from chat.errors import StorageUnavailable
from chat.registries.events import EventName
from chat.store.messages import message_search_entries

log: Final = structlog.get_logger("chat.search")

BEHIND_SECONDS: Final = 1.0
"""How far the index may be behind."""

SLICE_MESSAGES: Final = 200
"""Messages of one transaction: some milliseconds, for which others wait to write."""

PENDING_MAXIMUM: Final = 2_000
"""So many are seen to at once when somebody searches; with more, the index is not ready."""

LOOK_SECONDS: Final = 600.0
"""How often it looks by itself, for changes that nobody is told of."""

CHANGES: Final = frozenset(
    {
        EventName.MESSAGE_CREATE,
        EventName.MESSAGE_UPDATE,
        EventName.MESSAGE_DELETE,
        EventName.MESSAGE_DELETE_BULK,
        EventName.CHANNEL_PINS_UPDATE,
    }
)


class MessageSearchIndex:
    """The index as something that follows. Hears the bus; without `enabled` it stays as it is."""

    def __init__(self, core: Core, *, enabled: bool) -> None:
        self._core = core
        self._changed = trio.Event()
        self._turn = trio.Lock()
        self.enabled: Final = enabled
        if enabled:
            core.bus.subscribe_events(CHANGES, self._message_changed)

    def _message_changed(self, event: Event) -> None:
        """Note that messages changed; `run` does the rest."""
        self._changed.set()

    async def is_ready(self) -> bool:
        """Bring the index up to date; False, and nothing done, when there is too much to do for that."""
        pending = await self._core.database.read(
            lambda connection: message_search_entries.pending(connection, PENDING_MAXIMUM + 1)
        )
        if pending > PENDING_MAXIMUM:
            self._changed.set()
            return False
        # What comes meanwhile is newer than the search; so this ends, however much is written.
        async with self._turn:
            while pending > 0:
                pending -= SLICE_MESSAGES
                if await self._follow() < SLICE_MESSAGES:
                    break
        return True

    async def run(self) -> None:
        """Follow until cancelled."""
        if not self.enabled:
            return
        while True:
            self._changed = trio.Event()
            try:
                while await self._follow() == SLICE_MESSAGES:
                    await trio.lowlevel.checkpoint()
            except (StorageUnavailable, sqlite3.Error):
                log.warning("the index of messages waits for the store")
            with trio.move_on_after(LOOK_SECONDS):
                await self._changed.wait()
                await trio.sleep(BEHIND_SECONDS)

    async def _follow(self) -> int:
        # Looks first, because a write costs a commit even where it changes nothing.
        if not await self._core.database.read(lambda connection: message_search_entries.pending(connection, 1)):
            return 0
        return await self._core.database.write(
            lambda connection: message_search_entries.bring_up_to_date(connection, SLICE_MESSAGES)
        )
