"""Reading messages: one, those of a channel, those of several channels (messages.md, Message object)."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Sequence
from typing import Any

import attrs

from chat.auth.principal import Principal
from chat.domain.core import Core
from chat.domain.messages.message_deletion import require_of_webhook
from chat.domain.messages.message_reading import (
    Page,
    StoredMessages,
    Viewer,
    one_message,
    page_of_messages,
    viewer_of,
    with_context,
)
from chat.domain.standing.access import GuildChannelAccess
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.store.messages import messages


@attrs.define(kw_only=True, eq=False)
class Messages:
    """The operations that read messages. Of several channels those are left out that the caller may not read."""

    _core: Core

    async def get(self, principal: Principal, channel_id: int, message_id: int) -> dict[str, Any]:
        """One message.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, also for one that the caller may not read.
        """
        floor = self._core.access.channel(principal, channel_id).history_floor()
        if floor is None or message_id < floor:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return await self._one(channel_id, message_id, viewer_of(principal), floor)

    async def get_of_webhook(self, webhook_id: int, access: GuildChannelAccess, message_id: int) -> dict[str, Any]:
        """One message that the webhook wrote.

        :raises ApiError: UNKNOWN_MESSAGE.
        """
        require_of_webhook(self._core.database.reader, webhook_id, access, message_id)
        return await self._one(access.channel.id, message_id, Viewer(webhook_id))

    async def without_viewer(self, channel_id: int, message_id: int) -> dict[str, Any]:
        """One message, without what differs from viewer to viewer, and without any check of who may read it.

        :raises ApiError: UNKNOWN_MESSAGE.
        """
        return await self._one(channel_id, message_id, None)

    async def _one(self, channel_id: int, message_id: int, viewer: Viewer | None, floor: int = 0) -> dict[str, Any]:
        stored = await self._core.database.read(functools.partial(one_message, channel_id, message_id, viewer=viewer))
        if stored is None:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return stored.wire(stored.messages[0], self._core.media_addresses, floor)

    async def of_channel(self, principal: Principal, channel_id: int, page: Page) -> list[dict[str, Any]]:
        """Messages of a channel, newest first; none of those that the caller may not read.

        :raises ApiError: as `Access.channel`.
        """
        floor = self._core.access.channel(principal, channel_id).history_floor()
        if floor is None:
            return []
        viewer = viewer_of(principal)
        stored = await self._core.database.read(
            functools.partial(page_of_messages, channel_id, page, floor, viewer=viewer)
        )
        return stored.wires(self._core.media_addresses, floor)

    async def newest(self, principal: Principal, channel_ids: Sequence[int]) -> dict[str, dict[str, Any] | None]:
        """The newest message of each of these channels, by the channel's id; None where the caller may read none."""
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

        def query(connection: sqlite3.Connection) -> list[tuple[int, StoredMessages]]:
            return [
                (channel_id, page_of_messages(channel_id, page, floors[channel_id], connection, viewer=viewer))
                for channel_id, page in windows
                if channel_id in floors
            ]

        return [
            (channel_id, stored.wires(self._core.media_addresses, floors[channel_id]))
            for channel_id, stored in await self._core.database.read(query)
        ]

    def _floors(self, principal: Principal, channel_ids: Sequence[int]) -> dict[int, int]:
        """The least id that the caller may read, by channel."""
        floors = {}
        for channel_id in channel_ids:
            try:
                floor = self._core.access.channel(principal, channel_id).history_floor()
            except ApiError:
                continue  # each refusal means that there is nothing to read
            if floor is not None:
                floors[channel_id] = floor
        return floors
