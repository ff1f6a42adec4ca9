"""Messages as administrators look them up and delete them, in whatever channel (administration.md, Messages and
shreds)."""

from __future__ import annotations

import re
import sqlite3
from typing import Any, Final

import attrs

from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.core import Core
from chat.domain.messages.message_deletion import Removed, announce_lost_pins, remove_messages
from chat.domain.messages.message_events import message_deleted
from chat.domain.messages.message_reading import (
    Page,
    StoredMessages,
    Viewer,
    one_message,
    page_of_messages,
    with_context,
)
from chat.domain.standing.channel_witness import ChannelWitness
from chat.errors import ApiError
from chat.registries.admin_actions import AdminAction
from chat.snowflake import MAXIMUM
from chat.store.guilds import channels
from chat.store.guilds.channels import Channel
from chat.store.messages import attachments, messages
from chat.store.messages.messages import Message

_TO_MESSAGE: Final = re.compile(r"/channels/(?:@me|[0-9]{1,19})/([0-9]{1,19})/([0-9]{1,19})(?:[/?#]|$)")
_TO_ATTACHMENT: Final = re.compile(r"/attachments/[0-9]{1,19}/([0-9]{1,19})/")
"""Addresses that people copy: of a message in a client, of a file in the media of the instance."""


@attrs.frozen
class MessageSelector:
    """How one message is named; the first that is there counts."""

    message_id: int | None = None
    attachment_id: int | None = None
    link: str | None = None

    @property
    def word(self) -> str:
        """What the audit log calls it."""
        if self.message_id is not None:
            return "message_id"
        return "link" if self.attachment_id is None else "attachment_id"


@attrs.define(kw_only=True, eq=False)
class AdministeredMessages:
    """Reads messages and deletes single ones for administrators, who need not see the channel."""

    _core: Core
    _witness: ChannelWitness
    _log: AdminAuditLog

    async def page(self, acting: Acting, channel_id: int, page: Page) -> dict[str, Any]:
        """A page of a channel's messages, the newest first, and which channel that is.

        :raises ApiError: UNKNOWN_CHANNEL.
        """

        def query(connection: sqlite3.Connection) -> tuple[Channel, StoredMessages]:
            channel = _channel(connection, channel_id)
            return channel, page_of_messages(channel_id, page, 0, connection, viewer=Viewer(acting.user_id))

        channel, found = await self._core.database.read(query)
        cursors = {
            "around_message_id": page.around,
            "before_message_id": page.before,
            "after_message_id": page.after,
        }
        metadata = {"channel_id": channel_id, "limit": page.limit, "message_count": len(found.messages)}
        metadata |= {name: cursor for name, cursor in cursors.items() if cursor is not None}
        await self._log.note(acting, AdminAction.LIST_CHANNEL_MESSAGES, NO_TARGET, metadata)
        shown = [found.wire(message, self._core.media_addresses) for message in found.messages]
        return {"channel": _outline(channel), "messages": shown}

    async def get(self, acting: Acting, channel_id: int, message_id: int) -> dict[str, Any]:
        """One message, and in which channel it stands.

        :raises ApiError: UNKNOWN_CHANNEL, UNKNOWN_MESSAGE.
        """

        def query(connection: sqlite3.Connection) -> tuple[Channel, StoredMessages]:
            channel = _channel(connection, channel_id)
            found = one_message(channel_id, message_id, connection, viewer=Viewer(acting.user_id))
            if found is None:
                raise ApiError("UNKNOWN_MESSAGE")
            return channel, found

        channel, found = await self._core.database.read(query)
        await self._log.note(acting, AdminAction.GET_MESSAGE, message_id, {"channel_id": channel_id})
        return {"channel": _outline(channel), "message": found.wire(found.messages[0], self._core.media_addresses)}

    async def find(self, acting: Acting, selector: MessageSelector) -> list[dict[str, Any]]:
        """The message with this id or this file, or behind this address, as `get` shows it; none for what is gone, and
        for an address that leads to no message."""

        def query(connection: sqlite3.Connection) -> tuple[Channel, StoredMessages] | None:
            message_id = _named(connection, selector)
            found = [] if message_id is None else messages.by_ids(connection, [message_id])
            channel = channels.by_id(connection, found[0].channel_id) if found else None
            if channel is None:
                return None
            return channel, with_context(connection, found, viewer=Viewer(acting.user_id))

        answer = await self._core.database.read(query)
        metadata: dict[str, Any] = {"selector": selector.word, "found": answer is not None}
        if answer is None:
            await self._log.note(acting, AdminAction.LOOKUP_MESSAGE, NO_TARGET, metadata)
            return []
        channel, found = answer
        [message] = found.messages
        await self._log.note(acting, AdminAction.LOOKUP_MESSAGE, message.id, {**metadata, "channel_id": channel.id})
        return [{"channel": _outline(channel), "message": found.wire(message, self._core.media_addresses)}]

    async def delete(self, acting: Acting, channel_id: int, message_id: int) -> None:
        """Delete a message. As with a shred, the guild's own audit log does not know of it.

        :raises ApiError: UNKNOWN_CHANNEL, UNKNOWN_MESSAGE.
        """

        def unit(connection: sqlite3.Connection) -> tuple[Message, Removed]:
            _channel(connection, channel_id)
            message = messages.by_id(connection, channel_id, message_id)
            if message is None:
                raise ApiError("UNKNOWN_MESSAGE")
            metadata = {"channel_id": channel_id, "author_id": message.author_id}
            self._log.record(connection, acting, AdminAction.DELETE_MESSAGE, message_id, metadata)
            return message, remove_messages(connection, channel_id, [message_id])

        def then(result: tuple[Message, Removed]) -> None:
            message, removed = result
            access = self._witness.of(channel_id)
            if access is not None:
                self._core.bus.publish(message_deleted(access, message))
                announce_lost_pins(self._core.bus, access, removed)

        await self._core.database.write(unit, then)


def _named(connection: sqlite3.Connection, selector: MessageSelector) -> int | None:
    """The id of the message that is meant; None where none is."""
    if selector.message_id is not None:
        return selector.message_id
    attachment_id = selector.attachment_id
    if attachment_id is None:
        link = selector.link or ""
        if (to_message := _TO_MESSAGE.search(link)) is not None:
            channel_id, message_id = int(to_message[1]), int(to_message[2])
            if max(channel_id, message_id) > MAXIMUM or not messages.exists(connection, channel_id, message_id):
                return None
            return message_id
        to_attachment = _TO_ATTACHMENT.search(link)
        attachment_id = None if to_attachment is None else int(to_attachment[1])
    if attachment_id is None or attachment_id > MAXIMUM:
        return None
    attachment = attachments.by_id(connection, attachment_id)
    return None if attachment is None else attachment.message_id


def _channel(connection: sqlite3.Connection, channel_id: int) -> Channel:
    channel = channels.by_id(connection, channel_id)
    if channel is None:
        raise ApiError("UNKNOWN_CHANNEL")
    return channel


def _outline(channel: Channel) -> dict[str, Any]:
    return {
        "id": str(channel.id),
        "name": channel.name,
        "type": channel.type,
        "guild_id": None if channel.guild_id is None else str(channel.guild_id),
    }
