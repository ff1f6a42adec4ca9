"""Messages: reading, deleting, acknowledging; sending and editing by modules of their own."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from chat.auth.principal import Principal
from chat.domain.core import Core
from chat.domain.messages.mention_counting import MentionCounting
from chat.domain.messages.message_deletion import MessageDeletion, Purge
from chat.domain.messages.message_drafts import MessageDraft, MessageEdit
from chat.domain.messages.message_editing import MessageEditing
from chat.domain.messages.message_parts import Viewer, viewer_of
from chat.domain.messages.message_reading import Page, one_message, page_of_messages
from chat.domain.messages.message_senders import Sender
from chat.domain.messages.message_sending import MessageSending
from chat.domain.messages.thread_writing import Opening
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.channel_witness import ChannelWitness
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.thread_access import ThreadAccess
from chat.errors import ApiError
from chat.store.messages import messages
from chat.store.messages.messages import Message


class Messages:
    """The operations on messages."""

    def __init__(
        self, core: Core, private_channels: PrivateChannels, mentions: MentionCounting, witness: ChannelWitness
    ) -> None:
        self._core = core
        self._sending = MessageSending(core, private_channels=private_channels, mentions=mentions)
        self._deletion = MessageDeletion(core, witness=witness)
        self._editing = MessageEditing(core=core, deletion=self._deletion)

    async def create(self, principal: Principal, channel_id: int, draft: MessageDraft) -> dict[str, Any]:
        """Send a message: `MessageSending.create`."""
        return await self._sending.create(principal, channel_id, draft)

    async def edit(self, principal: Principal, channel_id: int, message_id: int, edit: MessageEdit) -> dict[str, Any]:
        """Change one's own message: `MessageEditing.edit`."""
        return await self._editing.edit(principal, channel_id, message_id, edit)

    async def remove_attachment(
        self, principal: Principal, channel_id: int, message_id: int, attachment_id: int, reason: str | None = None
    ) -> None:
        """Take one file off a message: `MessageEditing.remove_attachment`."""
        await self._editing.remove_attachment(principal, channel_id, message_id, attachment_id, reason)

    async def post(
        self, principal: Principal, access: ThreadAccess, draft: MessageDraft, opening: Opening
    ) -> dict[str, Any]:
        """Send the first message of a thread: `MessageSending.post`."""
        return await self._sending.post(principal, access, draft, opening)

    async def post_of_webhook(
        self, sender: Sender, access: ThreadAccess, draft: MessageDraft, opening: Opening
    ) -> dict[str, Any]:
        """Send the first message of a thread as a webhook: `MessageSending.post_of_webhook`."""
        return await self._sending.post_of_webhook(sender, access, draft, opening)

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
        viewer = Viewer(webhook_id)
        stored = await self._core.database.read(
            functools.partial(one_message, access.channel.id, message_id, viewer=viewer)
        )
        if stored is None:
            raise ApiError("UNKNOWN_MESSAGE")
        return stored.wire(stored.messages[0], self._core.media_addresses)

    async def delete_of_webhook(self, webhook_id: int, access: GuildChannelAccess, message_id: int) -> None:
        """Delete a message that the webhook wrote.

        :raises ApiError: UNKNOWN_MESSAGE.
        """
        await self._deletion.delete_stored(access, self._of_webhook(webhook_id, access, message_id))

    def _of_webhook(self, webhook_id: int, access: GuildChannelAccess, message_id: int) -> Message:
        message = messages.by_id(self._core.database.reader, access.channel.id, message_id)
        if message is None or message.webhook_id != webhook_id:
            raise ApiError("UNKNOWN_MESSAGE")
        return message

    async def of_channel(self, principal: Principal, channel_id: int, page: Page) -> list[dict[str, Any]]:
        """Messages of a channel, newest first; none of those that the caller may not read.

        :raises ApiError: as `Access.channel`.
        """
        access = self._core.access.channel(principal, channel_id)
        floor = access.history_floor()
        if floor is None:
            return []
        viewer = viewer_of(principal)
        stored = await self._core.database.read(
            functools.partial(page_of_messages, channel_id, page, floor, viewer=viewer)
        )
        return [stored.wire(message, self._core.media_addresses, floor) for message in stored.messages]

    async def get(self, principal: Principal, channel_id: int, message_id: int) -> dict[str, Any]:
        """One message.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, also for one that the caller may not read.
        """
        access = self._core.access.channel(principal, channel_id)
        floor = access.history_floor()
        if floor is None or message_id < floor:
            raise ApiError("UNKNOWN_MESSAGE")
        viewer = viewer_of(principal)
        stored = await self._core.database.read(functools.partial(one_message, channel_id, message_id, viewer=viewer))
        if stored is None:
            raise ApiError("UNKNOWN_MESSAGE")
        return stored.wire(stored.messages[0], self._core.media_addresses, floor)

    async def as_anybody(self, channel_id: int, message_id: int) -> dict[str, Any]:
        """One message as nobody in particular would see it, whoever may.

        :raises ApiError: UNKNOWN_MESSAGE.
        """
        stored = await self._core.database.read(functools.partial(one_message, channel_id, message_id))
        if stored is None:
            raise ApiError("UNKNOWN_MESSAGE")
        return stored.wire(stored.messages[0], self._core.media_addresses)

    async def delete(self, principal: Principal, channel_id: int, message_id: int, reason: str | None = None) -> None:
        """Delete a message: `MessageDeletion.delete`."""
        await self._deletion.delete(principal, channel_id, message_id, reason)

    async def delete_many(
        self, principal: Principal, channel_id: int, message_ids: Sequence[int], reason: str | None = None
    ) -> None:
        """Delete messages by id: `MessageDeletion.delete_many`."""
        await self._deletion.delete_many(principal, channel_id, message_ids, reason)

    async def purge(self, principal: Principal, channel_id: int, purge: Purge, reason: str | None = None) -> int:
        """Delete messages that fit: `MessageDeletion.purge`."""
        return await self._deletion.purge(principal, channel_id, purge, reason)

    def slowmode(self, principal: Principal, channel_id: int) -> dict[str, Any]:
        """How long the caller waits before the next message: `MessageSending.slowmode`."""
        return self._sending.slowmode(principal, channel_id)

    def forget_recent(self) -> None:
        """The store was emptied: nothing is remembered of messages sent before."""
        self._sending.forget_recent()
