"""Messages: reading, deleting, acknowledging; sending and editing by modules of their own."""

from __future__ import annotations

import functools
import sqlite3
from typing import Any, Final

from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Bus, Event
from chat.clock import Clock
from chat.config import Settings
from chat.domain.access import Access, ChannelAccess, GuildChannelAccess
from chat.domain.instance_policy import InstancePolicy
from chat.domain.message_drafts import MessageDraft, MessageEdit
from chat.domain.message_editing import MessageEditing
from chat.domain.message_events import message_deleted
from chat.domain.message_reading import Page, one_message, page_of_messages
from chat.domain.message_senders import Sender
from chat.domain.message_sending import MessageSending
from chat.domain.objects.addresses import Addresses
from chat.domain.private_channels import PrivateChannels
from chat.errors import ApiError
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator
from chat.store import messages, read_states, threads
from chat.store.database import Database
from chat.store.messages import Message

MANAGE_MESSAGES: Final = Permission.MANAGE_MESSAGES.value


class Messages:
    """The operations on messages."""

    def __init__(
        self,
        database: Database,
        access: Access,
        private_channels: PrivateChannels,
        bus: Bus,
        clock: Clock,
        snowflakes: SnowflakeGenerator,
        settings: Settings,
        policy: InstancePolicy,
        addresses: Addresses,
    ) -> None:
        self._database = database
        self._access = access
        self._bus = bus
        self._addresses = addresses
        self._sending = MessageSending(
            database, access, private_channels, bus, clock, snowflakes, settings, policy, addresses
        )
        self._editing = MessageEditing(database, access, bus, clock, settings, policy, addresses)

    async def create(self, principal: Principal, channel_id: int, draft: MessageDraft) -> dict[str, Any]:
        """Send a message: `MessageSending.create`."""
        return await self._sending.create(principal, channel_id, draft)

    async def edit(self, principal: Principal, channel_id: int, message_id: int, edit: MessageEdit) -> dict[str, Any]:
        """Change one's own message: `MessageEditing.edit`."""
        return await self._editing.edit(principal, channel_id, message_id, edit)

    def require_may_attach(self, principal: Principal, channel_id: int) -> ChannelAccess:
        """The channel, if the caller may send files to it: `MessageSending.require_may_attach`."""
        return self._sending.require_may_attach(principal, channel_id)

    async def create_of_webhook(
        self, sender: Sender, access: GuildChannelAccess, draft: MessageDraft
    ) -> dict[str, Any]:
        """Send a webhook's message: `MessageSending.create_of_webhook`."""
        return await self._sending.create_of_webhook(sender, access, draft)

    async def edit_of_webhook(
        self, webhook_id: int, access: GuildChannelAccess, message_id: int, edit: MessageEdit
    ) -> dict[str, Any]:
        """Change a webhook's message: `MessageEditing.edit_of_webhook`."""
        message = self._of_webhook(webhook_id, access, message_id)
        return await self._editing.edit_of_webhook(access, message, edit)

    async def get_of_webhook(self, webhook_id: int, access: GuildChannelAccess, message_id: int) -> dict[str, Any]:
        """One message that the webhook wrote.

        :raises ApiError: UNKNOWN_MESSAGE.
        """
        self._of_webhook(webhook_id, access, message_id)
        stored = await self._database.read(functools.partial(one_message, access.channel.id, message_id))
        if stored is None:
            raise ApiError("UNKNOWN_MESSAGE")
        return stored.wire(stored.messages[0], self._addresses)

    async def delete_of_webhook(self, webhook_id: int, access: GuildChannelAccess, message_id: int) -> None:
        """Delete a message that the webhook wrote.

        :raises ApiError: UNKNOWN_MESSAGE.
        """
        await self._delete(access, self._of_webhook(webhook_id, access, message_id))

    def _of_webhook(self, webhook_id: int, access: GuildChannelAccess, message_id: int) -> Message:
        message = messages.by_id(self._database.reader, access.channel.id, message_id)
        if message is None or message.webhook_id != webhook_id:
            raise ApiError("UNKNOWN_MESSAGE")
        return message

    async def of_channel(self, principal: Principal, channel_id: int, page: Page) -> list[dict[str, Any]]:
        """Messages of a channel, newest first; none of those that the caller may not read.

        :raises ApiError: as `Access.channel`.
        """
        access = self._access.channel(principal, channel_id)
        floor = access.history_floor()
        if floor is None:
            return []
        stored = await self._database.read(functools.partial(page_of_messages, channel_id, page, floor))
        return [stored.wire(message, self._addresses, floor) for message in stored.messages]

    async def get(self, principal: Principal, channel_id: int, message_id: int) -> dict[str, Any]:
        """One message.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, also for one that the caller may not read.
        """
        access = self._access.channel(principal, channel_id)
        floor = access.history_floor()
        if floor is None or message_id < floor:
            raise ApiError("UNKNOWN_MESSAGE")
        stored = await self._database.read(functools.partial(one_message, channel_id, message_id))
        if stored is None:
            raise ApiError("UNKNOWN_MESSAGE")
        return stored.wire(stored.messages[0], self._addresses, floor)

    async def delete(self, principal: Principal, channel_id: int, message_id: int) -> None:
        """Delete one's own message, or with MANAGE_MESSAGES anyone's.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, MISSING_PERMISSIONS.
        """
        access = self._access.channel(principal, channel_id)
        message = messages.by_id(self._database.reader, channel_id, message_id)
        if message is None:
            raise ApiError("UNKNOWN_MESSAGE")
        if message.author_id != principal.user_id:
            access.require(MANAGE_MESSAGES)
        await self._delete(access, message)

    async def _delete(self, access: ChannelAccess, message: Message) -> None:
        def unit(connection: sqlite3.Connection) -> None:
            if not messages.delete(connection, message.channel_id, message.id):
                raise ApiError("UNKNOWN_MESSAGE")
            threads.discount_messages(connection, message.channel_id, 1)

        def then(_: None) -> None:
            self._bus.publish(message_deleted(access, message))

        await self._database.write(unit, then)

    async def acknowledge(
        self, principal: Principal, channel_id: int, message_id: int, *, mention_count: int = 0, manual: bool = False
    ) -> None:
        """The caller has read up to this message; `manual` where that was chosen by hand, backwards perhaps.

        :raises ApiError: as `Access.channel`.
        """
        self._access.channel(principal, channel_id)
        data: dict[str, Any] = {
            "channel_id": str(channel_id),
            "message_id": str(message_id),
            "mention_count": mention_count,
        }
        if manual:
            data["manual"] = True

        def unit(connection: sqlite3.Connection) -> None:
            read_states.acknowledge(connection, principal.user_id, channel_id, message_id, mention_count)

        def then(_: None) -> None:
            self._bus.publish(Event(EventName.MESSAGE_ACK, data, ToAccounts((principal.user_id,))))

        await self._database.write(unit, then)

    async def forget_read_state(self, principal: Principal, channel_id: int) -> None:
        """The caller's read state of the channel is as if it had never opened it.

        :raises ApiError: as `Access.channel`.
        """
        self._access.channel(principal, channel_id)
        await self._database.write(lambda connection: read_states.delete(connection, principal.user_id, channel_id))

    def forget_recent(self) -> None:
        """The store was emptied: nothing is remembered of messages sent before."""
        self._sending.forget_recent()
