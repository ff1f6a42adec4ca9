"""Messages of many channels, as far as an account may read them now: for lists that an account keeps of messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from chat.auth.principal import Principal
from chat.domain.messages.message_parts import viewer_of
from chat.domain.messages.message_reading import StoredMessages, with_context
from chat.domain.policy.public_addresses import Addresses
from chat.domain.standing.access import Access, sees_threads
from chat.errors import ApiError
from chat.registries.channel_types import CHANNEL_THREADS_TYPES
from chat.store.database import Database
from chat.store.messages import messages


class Readable:
    """Judges for one account, each channel once, what it may read. For the length of one request."""

    def __init__(self, access: Access, principal: Principal) -> None:
        self._access = access
        self._principal = principal
        self._floors: dict[int, int | None] = {}

    def floor(self, channel_id: int) -> int | None:
        """The least id of a message that the account may read in the channel; None when it may read none."""
        if channel_id not in self._floors:
            self._floors[channel_id] = self._judged(channel_id)
        return self._floors[channel_id]

    def __call__(self, channel_id: int, message_id: int) -> bool:
        """Whether the account may read the message."""
        floor = self.floor(channel_id)
        return floor is not None and message_id >= floor

    def _judged(self, channel_id: int) -> int | None:
        try:
            access = self._access.channel(self._principal, channel_id)
        except ApiError:
            return None  # whatever the refusal
        if access.channel.type in CHANNEL_THREADS_TYPES and not sees_threads(self._principal):
            return None
        return access.history_floor()


async def readable_messages(
    database: Database, principal: Principal, readable: Readable, message_ids: Sequence[int], addresses: Addresses
) -> dict[int, dict[str, Any]]:
    """The message objects of those that there are, by id. The account may read them, as `readable` said."""
    viewer = viewer_of(principal)

    def query(connection: sqlite3.Connection) -> StoredMessages:
        return with_context(connection, messages.by_ids(connection, message_ids), viewer=viewer)

    if not message_ids:
        return {}
    stored = await database.read(query)
    return {
        message.id: stored.wire(message, addresses, readable.floor(message.channel_id) or 0)
        for message in stored.messages
    }
