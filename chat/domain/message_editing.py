"""Editing one's own message (wire facts 5.3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.bus.bus import Bus
from chat.clock import Clock
from chat.config import Settings
from chat.domain.access import Access, ChannelAccess, GuildChannelAccess
from chat.domain.instance_policy import InstancePolicy
from chat.domain.limits import limits_of
from chat.domain.mention_parsing import parse_mentions
from chat.domain.message_drafts import MessageEdit, require_content
from chat.domain.message_events import message_updated
from chat.domain.message_mentions import CountedMentions, count_mentions
from chat.domain.message_reading import StoredMessages, accounts_by_id, with_context
from chat.domain.objects.addresses import Addresses
from chat.errors import ApiError, InvalidFormBody
from chat.registries.message_types import SENDABLE_MESSAGE_FLAGS, MessageType
from chat.store import accounts, attachments, messages
from chat.store.accounts import Account
from chat.store.database import Database
from chat.store.messages import Message

EDITABLE_MESSAGE_TYPES: Final = frozenset({MessageType.DEFAULT, MessageType.REPLY})
"""Messages that somebody wrote; the others are the server's."""

SENDABLE_FLAGS: Final = SENDABLE_MESSAGE_FLAGS.value


class MessageEditing:
    """The operation that edits a message."""

    def __init__(
        self,
        database: Database,
        access: Access,
        bus: Bus,
        clock: Clock,
        settings: Settings,
        policy: InstancePolicy,
        addresses: Addresses,
    ) -> None:
        self._database = database
        self._access = access
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._policy = policy
        self._addresses = addresses

    async def edit(self, principal: Principal, channel_id: int, message_id: int, edit: MessageEdit) -> dict[str, Any]:
        """Change one's own message; mentions are judged afresh, and nobody is notified again.

        A change of flags alone does not mark the message as edited.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, CANNOT_EDIT_OTHER_USER_MESSAGE, COMMUNICATION_DISABLED,
            CANNOT_SEND_EMPTY_MESSAGE, CONTENT_BLOCKED.
        :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`.
        """
        access = self._access.channel(principal, channel_id)
        message = messages.by_id(self._database.reader, channel_id, message_id)
        if message is None:
            raise ApiError("UNKNOWN_MESSAGE")
        if message.author_id != principal.user_id or message.type not in EDITABLE_MESSAGE_TYPES:
            raise ApiError("CANNOT_EDIT_OTHER_USER_MESSAGE")
        now_ms = self._clock.now_ms()
        access.require_voice(now_ms)
        limits = limits_of(self._settings, principal.account, now_ms)
        return await self._edited(access, message, edit, limits.max_message_length)

    async def edit_of_webhook(self, access: GuildChannelAccess, message: Message, edit: MessageEdit) -> dict[str, Any]:
        """Change a message that the webhook wrote.

        :raises ApiError: UNKNOWN_MESSAGE, CANNOT_SEND_EMPTY_MESSAGE, CONTENT_BLOCKED.
        :raises InvalidFormBody: as `edit`.
        """
        return await self._edited(access, message, edit, self._settings.limits_for(premium=False).max_message_length)

    async def _edited(self, access: ChannelAccess, message: Message, edit: MessageEdit, longest: int) -> dict[str, Any]:
        edited = _with_kept_attachments(message, edit.kept_attachment_ids)
        if edit.content is not None:
            edited = await self._with_content(access, edited, edit.content, edit, longest)
        elif not edited.attachments and not edited.content:
            raise ApiError("CANNOT_SEND_EMPTY_MESSAGE")
        if edit.flags is not None:
            flags = message.flags & ~SENDABLE_FLAGS | edit.flags & SENDABLE_FLAGS
            edited = attrs.evolve(edited, flags=flags)
        dropped = [attachment.id for attachment in message.attachments if attachment not in edited.attachments]
        return await self._store(access, edited, dropped)

    async def _with_content(
        self, access: ChannelAccess, message: Message, content: str, edit: MessageEdit, longest: int
    ) -> Message:
        require_content(content, longest, needed=not message.attachments)
        self._policy.require_unblocked(content)
        counted = await self._mentions(access, message, content, edit)
        return attrs.evolve(
            message,
            content=content,
            edited_at=self._clock.now_ms(),
            mention_everyone=counted.everyone or counted.here,
            mentioned_user_ids=counted.user_ids,
            mentioned_role_ids=counted.role_ids,
        )

    async def _mentions(
        self, access: ChannelAccess, message: Message, content: str, edit: MessageEdit
    ) -> CountedMentions:
        """The mentions of the new text; whoever is mentioned by being answered stays so."""
        parsed = parse_mentions(content)
        reference = message.reference
        if reference is None and not parsed.user_ids:
            return count_mentions(access, parsed, edit.allowed_mentions, {})

        def query(connection: sqlite3.Connection) -> tuple[dict[int, Account], Account | None]:
            named = accounts_by_id(connection, parsed.user_ids)
            answered = None
            if reference is not None:
                answered = messages.by_id(connection, reference.channel_id, reference.message_id)
            if answered is None or answered.author_id not in message.mentioned_user_ids:
                return named, None
            return named, accounts.by_id(connection, answered.author_id)

        named, replied_to = await self._database.read(query)
        return count_mentions(access, parsed, edit.allowed_mentions, named, replied_to)

    async def _store(self, access: ChannelAccess, edited: Message, dropped: Sequence[int]) -> dict[str, Any]:
        def unit(connection: sqlite3.Connection) -> StoredMessages:
            if not messages.update(connection, edited):
                raise ApiError("UNKNOWN_MESSAGE")
            if dropped:
                attachments.delete(connection, dropped)
            return with_context(connection, [edited])

        def then(stored: StoredMessages) -> None:
            renewed = self._access.renewed(access)
            if renewed is not None:
                self._bus.publish(message_updated(renewed, edited, stored.wire(edited, self._addresses)))

        stored = await self._database.write(unit, then)
        return stored.wire(edited, self._addresses)


def _with_kept_attachments(message: Message, kept: frozenset[int] | None) -> Message:
    """The message with those of its attachments that stay; None keeps all.

    :raises InvalidFormBody: for one that the message does not have.
    """
    if kept is None:
        return message
    if not kept <= {attachment.id for attachment in message.attachments}:
        raise InvalidFormBody.at("attachments", "INVALID_FORMAT")
    left = tuple(attachment for attachment in message.attachments if attachment.id in kept)
    if len(left) == len(message.attachments):
        return message
    extra = None if message.extra is None else attrs.evolve(message.extra, attachments=len(left))
    return attrs.evolve(message, attachments=left, extra=extra)
