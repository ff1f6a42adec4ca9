"""Messages that an account keeps for itself (messages.md, Kept messages; conventions of the field)."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.domain.core import Core
from chat.domain.messages.message_events import message_saved
from chat.domain.messages.message_parts import viewer_of
from chat.domain.messages.message_reading import StoredMessages, one_message
from chat.domain.messages.readable_messages import Readable, readable_messages
from chat.domain.policy.limits import limits_of
from chat.errors import ApiError
from chat.registries.channel_types import CHANNEL_THREADS_TYPES
from chat.registries.events import EventName
from chat.snowflake import MAXIMUM
from chat.store.guilds import channels
from chat.store.messages import saved_messages
from chat.store.messages.saved_messages import SavedMessage

AVAILABLE: Final = "available"
MISSING_PERMISSIONS: Final = "missing_permissions"
"""`status` of a kept message that the account may read, and of one that it may not read now."""


@attrs.define(kw_only=True, eq=False)
class SavedMessages:
    """The operations on saved messages."""

    _core: Core

    async def list(self, principal: Principal, limit: int, before: int | None) -> list[dict[str, Any]]:
        """What the caller keeps, the last one saved first: at most `limit`, saved before the message `before`.

        A message that the caller may not read at present is named without being shown.
        """
        user_id, bound = principal.user_id, MAXIMUM if before is None else before
        kept = await self._core.database.read(lambda connection: saved_messages.page(connection, user_id, limit, bound))
        readable = Readable(self._core.access, principal)
        message_ids = [saved.message_id for saved in kept if readable(saved.channel_id, saved.message_id)]
        found = await readable_messages(
            self._core.database, principal, readable, message_ids, self._core.media_addresses
        )
        return [_entry(saved, found.get(saved.message_id)) for saved in kept]

    async def save(self, principal: Principal, channel_id: int, message_id: int) -> None:
        """Keep a message. SAVED_MESSAGE_CREATE tells the caller's sessions of one that was not kept yet.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, also for one that the caller may not read;
            MAX_BOOKMARKS.
        """
        access = self._core.access.channel(principal, channel_id)
        floor = access.history_floor()
        if floor is None or message_id < floor:
            raise ApiError("UNKNOWN_MESSAGE")
        user_id, limits = (
            principal.user_id,
            limits_of(self._core.settings, principal.account, self._core.clock.now_ms()),
        )
        saved = SavedMessage(user_id, message_id, self._core.snowflakes(), channel_id)
        viewer = viewer_of(principal)

        def unit(connection: sqlite3.Connection) -> StoredMessages | None:
            stored = one_message(channel_id, message_id, connection, viewer=viewer)
            if stored is None:
                raise ApiError("UNKNOWN_MESSAGE")
            if access.guild_id is not None and channels.guild_of(connection, channel_id) is None:
                raise ApiError("UNKNOWN_CHANNEL")  # it is on its way out, with its messages
            if saved_messages.exists(connection, user_id, message_id):
                return None
            if saved_messages.count(connection, user_id) >= limits.max_bookmarks:
                raise ApiError("MAX_BOOKMARKS")
            saved_messages.insert(connection, saved)
            return stored

        def then(stored: StoredMessages | None) -> None:
            if stored is not None:
                message = stored.messages[0]
                audience = ToAccounts((user_id,), threads=access.channel.type in CHANNEL_THREADS_TYPES)
                self._core.bus.publish(
                    message_saved(message, stored.wire(message, self._core.media_addresses, floor), audience)
                )

        await self._core.database.write(unit, then)

    async def forget(self, principal: Principal, message_id: int) -> None:
        """Keep a message no longer, wherever it stands; one that is not kept stays so."""
        user_id = principal.user_id

        def then(was_kept: bool) -> None:
            if was_kept:
                data = {"message_id": str(message_id)}
                self._core.bus.publish(Event(EventName.SAVED_MESSAGE_DELETE, data, ToAccounts((user_id,))))

        await self._core.database.write(lambda connection: saved_messages.delete(connection, user_id, message_id), then)


def _entry(saved: SavedMessage, message: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "id": str(saved.message_id),
        "channel_id": str(saved.channel_id),
        "message_id": str(saved.message_id),
        "status": MISSING_PERMISSIONS if message is None else AVAILABLE,
        "message": message,
    }
