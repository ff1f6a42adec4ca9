"""Deletes messages that are older than they are kept (retention.md, Messages).

The choice of the channel counts (a thread has that of its channel), then that of the guild, then that of the instance,
whose bounds hold for both. All messages of that age go, of whatever kind: pinned ones and those from which a thread
grew too, as with Mattermost and Slack, since nobody could rely on an age with exceptions. A thread itself stays, as it
does when its messages are deleted by hand.

Nothing is written down about how far it has come: what is to be done are the messages that are still there. So a
server that ends at any moment has deleted each portion once or not at all.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Final

import structlog
import trio

from chat.domain.core import Core
from chat.domain.messages.message_deletion import RemovedMessages, announce_removed, remove_messages
from chat.domain.policy.due_work import DueWork
from chat.domain.policy.message_ages import days_kept
from chat.domain.standing.thread_access import ChannelWitness
from chat.snowflake import snowflake_at
from chat.store.guard import UNGUARDED
from chat.store.messages import message_retention, messages
from chat.store.messages.message_retention import KeptChannel

MESSAGES_AT_ONCE: Final = 50
"""Messages that one unit deletes and one event names: a post waits for the unit that is under way, not for more."""

CHANNELS_AT_ONCE: Final = 500
"""Channels that one query looks at."""

REST_SECONDS: Final = 1.0
"""After each portion the work rests for as long as the portion took, up to so long: the writer is left to others."""

DAY_MS: Final = 24 * 3_600_000

log: Final = structlog.get_logger("chat.messages")


class MessageRetention(DueWork):
    """Looks once an hour for messages that have reached their age."""

    NAME = "messages that have reached their age"
    LOOK_SECONDS = 3_600.0

    def __init__(self, core: Core, witness: ChannelWitness) -> None:
        super().__init__(core.clock)
        self._core = core
        self._witness = witness

    def _next_due(self) -> int | None:
        return None

    async def _work(self) -> None:
        database = self._core.database
        if self._core.settings.retention.messages_days is None and not await database.read(
            message_retention.any_chosen
        ):
            return
        last_id = 0
        while page := await database.read(partial(message_retention.after, channel_id=last_id, limit=CHANNELS_AT_ONCE)):
            for kept in page:
                if self._is_due(kept):
                    await self._clear(kept.channel_id)
            last_id = page[-1].channel_id

    def _bound(self, kept: KeptChannel) -> int:
        """The first id that stays."""
        days = days_kept(self._core.settings.retention, kept.chosen_days)
        return 0 if days is None else snowflake_at(self._clock.now_ms() - days * DAY_MS)

    def _is_due(self, kept: KeptChannel) -> bool:
        return kept.oldest_id is not None and kept.oldest_id < self._bound(kept)

    async def _clear(self, channel_id: int) -> None:
        """Delete what is too old in a channel, in portions."""

        def portion(connection: sqlite3.Connection) -> RemovedMessages | None:
            kept = message_retention.by_id(connection, channel_id)
            if kept is None or not self._is_due(kept):
                return None
            last_id = self._bound(kept) - 1
            batch = messages.ids_up_to(connection, channel_id, last_id, MESSAGES_AT_ONCE)
            return remove_messages(connection, channel_id, batch)

        number, began = 0, trio.current_time()
        while (removed := await self._core.database.write(portion, self._announce, guard=UNGUARDED)) is not None:
            number += len(removed.message_ids)
            await trio.sleep(min(REST_SECONDS, trio.current_time() - began))
            began = trio.current_time()
        if number:
            log.info("messages deleted that had reached their age", channel_id=channel_id, messages=number)

    def _announce(self, removed: RemovedMessages | None) -> None:
        access = None if removed is None else self._witness.of(removed.channel_id)
        if removed is not None and access is not None:
            announce_removed(self._core.bus, access, removed)
