"""Messages of several channels at once, for clients that open (messages.md, Message object)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import attrs

from chat.auth.principal import Principal
from chat.domain.core import Core
from chat.domain.messages.message_parts import viewer_of
from chat.domain.messages.message_reading import Page, StoredMessages, page_of_messages, with_context
from chat.errors import ApiError
from chat.store.messages import messages


@attrs.define(kw_only=True, eq=False)
class MessageLists:
    """Reads from several channels. A channel that the caller does not see, or may not read, is left out."""

    _core: Core

    async def newest(self, principal: Principal, channel_ids: Sequence[int]) -> dict[str, dict[str, Any] | None]:
        """The newest message of each of these channels, by the channel's id; None where there is none to read."""
        floors = self._floors(principal, channel_ids)
        viewer = viewer_of(principal)

        def query(connection: sqlite3.Connection) -> StoredMessages:
            newest = messages.newest_of_channels(connection, floors, threads=viewer.sees_threads)
            return with_context(connection, newest, viewer=viewer)

        found = await self._core.database.read(query)
        by_channel: dict[str, dict[str, Any] | None] = {str(channel_id): None for channel_id in floors}
        for message in found.messages:
            floor = floors[message.channel_id]
            by_channel[str(message.channel_id)] = found.wire(message, self._core.media_addresses, floor)
        return by_channel

    async def pages(
        self, principal: Principal, windows: Sequence[tuple[int, Page]]
    ) -> list[tuple[int, list[dict[str, Any]]]]:
        """A page of each of these channels with the channel's id, in this order."""
        floors = self._floors(principal, [channel_id for channel_id, _ in windows])
        viewer = viewer_of(principal)
        readable = [(channel_id, page) for channel_id, page in windows if channel_id in floors]

        def query(connection: sqlite3.Connection) -> list[tuple[int, StoredMessages]]:
            return [
                (channel_id, page_of_messages(channel_id, page, floors[channel_id], connection, viewer=viewer))
                for channel_id, page in readable
            ]

        found = await self._core.database.read(query)
        return [
            (
                channel_id,
                [stored.wire(message, self._core.media_addresses, floors[channel_id]) for message in stored.messages],
            )
            for channel_id, stored in found
        ]

    def _floors(self, principal: Principal, channel_ids: Sequence[int]) -> dict[int, int]:
        """The least id that the caller may read, by channel."""
        floors = {}
        for channel_id in channel_ids:
            try:
                floor = self._core.access.channel(principal, channel_id).history_floor()
            except ApiError:
                continue  # whatever the refusal: of this channel there is nothing to read
            if floor is not None:
                floors[channel_id] = floor
        return floors
