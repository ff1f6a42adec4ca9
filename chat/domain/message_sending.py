"""Sending a message (wire facts 5.3).

This is what a server does most. It asks the store for nothing but what the text or a reply names, writes once, and
builds the wire object once, for the answer and for the event.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Sequence
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
from chat.domain.message_drafts import AttachmentDraft, MessageDraft, ReplyTo, require_content, require_message_channel
from chat.domain.message_events import message_created
from chat.domain.message_mentions import NOTHING_COUNTED, CountedMentions, count_mentions
from chat.domain.message_reading import StoredMessages, accounts_by_id, one_message, with_context
from chat.domain.message_senders import Sender, account_sender
from chat.domain.nonces import NonceKey, Nonces
from chat.domain.objects.addresses import Addresses
from chat.domain.objects.messages import message_object, stored_message_object, whole_message_object
from chat.domain.objects.users import partial_user
from chat.domain.private_channels import PrivateChannelAccess, PrivateChannels
from chat.domain.slowmode import Slowmode
from chat.domain.storage_room import require_room
from chat.domain.thread_access import ThreadAccess
from chat.domain.verification import require_verification
from chat.errors import ApiError, InvalidFormBody
from chat.registries.guild_values import DisabledOperation
from chat.registries.message_types import SENDABLE_MESSAGE_FLAGS, MessageReferenceType, MessageType
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator
from chat.store import attachments, channels, messages, read_states, threads
from chat.store.accounts import Account
from chat.store.database import Database
from chat.store.messages import Message, MessageExtra, MessageReference

SEND_MESSAGES: Final = Permission.SEND_MESSAGES.value
SEND_TTS_MESSAGES: Final = Permission.SEND_TTS_MESSAGES.value
ATTACH_FILES: Final = Permission.ATTACH_FILES.value
BYPASS_SLOWMODE: Final = Permission.BYPASS_SLOWMODE.value
SEND_MESSAGE_DISABLED: Final = DisabledOperation.SEND_MESSAGE.value
SENDABLE_FLAGS: Final = SENDABLE_MESSAGE_FLAGS.value


@attrs.frozen
class _Context:
    """What a draft refers to, as it is stored."""

    counted: CountedMentions = NOTHING_COUNTED
    stored: StoredMessages | None = None
    answered: Message | None = None


class MessageSending:
    """The operation that sends a message, with what it remembers of those sent before."""

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
        self._private_channels = private_channels
        self._bus = bus
        self._clock = clock
        self._snowflakes = snowflakes
        self._settings = settings
        self._policy = policy
        self._addresses = addresses
        self._slowmode = Slowmode()
        self._nonces = Nonces(clock)

    async def create(self, principal: Principal, channel_id: int, draft: MessageDraft) -> dict[str, Any]:
        """Send a message; the same author's nonce in the same channel within five minutes gives the same message.

        :raises ApiError: as `Access.channel`; CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL, FEATURE_TEMPORARILY_DISABLED,
            COMMUNICATION_DISABLED, GUILD_VERIFICATION_REQUIRED, CANNOT_SEND_EMPTY_MESSAGE, CONTENT_BLOCKED,
            UNKNOWN_MESSAGE (answered), SLOWMODE_RATE_LIMITED.
        :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`.
        """
        access = self._access.channel(principal, channel_id)
        self._require_may_send(principal, access, draft)
        sender = account_sender(principal)
        if draft.nonce is None:
            return await self._send(sender, access, draft, None)
        return await self._send_once(sender, access, draft, draft.nonce)

    async def create_of_webhook(
        self, sender: Sender, access: GuildChannelAccess, draft: MessageDraft
    ) -> dict[str, Any]:
        """Send a webhook's message. Slow mode and the rules for members do not concern it.

        :raises ApiError: CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL, FEATURE_TEMPORARILY_DISABLED,
            CANNOT_SEND_EMPTY_MESSAGE, CONTENT_BLOCKED.
        :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`.
        """
        require_message_channel(access.channel)
        if access.disables(SEND_MESSAGE_DISABLED):
            raise ApiError("FEATURE_TEMPORARILY_DISABLED")
        limits = self._settings.limits_for(premium=False)
        require_content(draft.content, limits.max_message_length, needed=not draft.attachments)
        self._policy.require_unblocked(draft.content)
        if draft.nonce is None:
            return await self._send(sender, access, draft, None)
        return await self._send_once(sender, access, draft, draft.nonce)

    def require_may_attach(self, principal: Principal, channel_id: int) -> ChannelAccess:
        """The channel, if the caller may send files to it.

        :raises ApiError: as `create`, as far as the content has no part in it.
        """
        access = self._access.channel(principal, channel_id)
        self._require_may_write(principal, access, SEND_MESSAGES | ATTACH_FILES)
        return access

    async def _send_once(
        self, sender: Sender, access: ChannelAccess, draft: MessageDraft, nonce: str
    ) -> dict[str, Any]:
        channel_id = access.channel.id
        key = (sender.id, channel_id, nonce)
        while True:
            async with self._nonces.sending(key) as sending:
                if sending.message_id is None:
                    return await self._send(sender, access, draft, key)
                stored = await self._database.read(functools.partial(one_message, channel_id, sending.message_id))
            if stored is not None:
                return stored.wire(stored.messages[0], self._addresses)
            self._nonces.forget(key)

    def forget_recent(self) -> None:
        """The store was emptied: no nonce stands for a message, nobody waits for slowmode."""
        self._nonces.forget_all()
        self._slowmode.forget()

    def _require_may_send(self, principal: Principal, access: ChannelAccess, draft: MessageDraft) -> None:
        needed = SEND_MESSAGES | SEND_TTS_MESSAGES if draft.tts else SEND_MESSAGES
        self._require_may_write(principal, access, needed | ATTACH_FILES if draft.attachments else needed)
        limits = limits_of(self._settings, principal.account, self._clock.now_ms())
        require_content(draft.content, limits.max_message_length, needed=not draft.attachments)
        self._policy.require_unblocked(draft.content)

    def _require_may_write(self, principal: Principal, access: ChannelAccess, permissions: int) -> None:
        require_message_channel(access.channel)
        access.require(permissions)
        if access.disables(SEND_MESSAGE_DISABLED):
            raise ApiError("FEATURE_TEMPORARILY_DISABLED")
        now_ms = self._clock.now_ms()
        access.require_voice(now_ms)
        if isinstance(access, ThreadAccess) and access.thread.locked:
            raise ApiError("THREAD_LOCKED")
        if isinstance(access, GuildChannelAccess):
            require_verification(access.state, access.member, principal.account, now_ms)
        elif isinstance(access, PrivateChannelAccess):
            self._private_channels.require_may_write(access, principal.account)

    async def _send(
        self, sender: Sender, access: ChannelAccess, draft: MessageDraft, nonce: NonceKey | None
    ) -> dict[str, Any]:
        context = await self._context(access, draft)
        user_id, channel = sender.id, access.channel
        slow = channel.rate_limit_per_user > 0 and not access.may(BYPASS_SLOWMODE)
        if slow:
            self._slowmode.take_turn(user_id, channel.id, channel.rate_limit_per_user, self._clock.now_ms())
        message = self._message(sender, access, draft, context)
        wire = self._wire(sender, message, context)
        committed = False

        def then(shown: list[int]) -> None:
            nonlocal committed
            committed = True
            if nonce is not None:
                self._nonces.sent(nonce, message.id)
            renewed = self._access.renewed(access)
            if renewed is not None:
                renewed.note_message(message.id)
                if isinstance(renewed, PrivateChannelAccess):
                    self._private_channels.shown(renewed, shown)
                self._bus.publish(message_created(renewed, message, wire, here=context.counted.here))

        insertion = self._insertion(access, message, sender, draft.attachments, _notified(access, context.counted))
        try:
            await self._database.write(insertion, then)
        finally:
            if slow and not committed:
                self._slowmode.give_back(user_id, channel.id)
        return wire

    def _insertion(
        self,
        access: ChannelAccess,
        message: Message,
        sender: Sender,
        files: Sequence[AttachmentDraft],
        notified: Sequence[int],
    ) -> Callable[[sqlite3.Connection], list[int]]:
        """The unit that writes a message, with what it means for the channel and for read states.

        It gives the accounts that the message shows a conversation to which was not in their lists.
        """

        def unit(connection: sqlite3.Connection) -> list[int]:
            # A channel that is gone may still be stored, in no guild, until its messages are.
            is_private = isinstance(access, PrivateChannelAccess)
            if not is_private and channels.guild_of(connection, message.channel_id) is None:
                raise ApiError("UNKNOWN_CHANNEL")
            if not messages.insert(connection, message):
                raise ApiError("UNKNOWN_CHANNEL")
            channels.set_last_message(connection, message.channel_id, message.id)
            if files:
                put_into_message(connection, message, files, self._settings, self._clock.now_ms())
            if sender.keeps_read_state:
                read_states.acknowledge(connection, sender.id, message.channel_id, message.id, 0)
            if notified:
                read_states.add_mention(connection, message.channel_id, notified)
            if isinstance(access, PrivateChannelAccess):
                return self._private_channels.show_in(connection, access)
            if isinstance(access, ThreadAccess):
                threads.count_message(connection, access.thread.id)
            return []

        return unit

    async def _context(self, access: ChannelAccess, draft: MessageDraft) -> _Context:
        """Read what the draft answers and whom it names, if anything."""
        parsed = parse_mentions(draft.content)
        if draft.reply_to is None and not parsed.user_ids:
            return _Context(count_mentions(access, parsed, draft.allowed_mentions, {}))
        answered_id = None if draft.reply_to is None else _answered_id(access, draft.reply_to)

        def query(connection: sqlite3.Connection) -> tuple[StoredMessages, dict[int, Account]]:
            answered = None if answered_id is None else messages.by_id(connection, access.channel.id, answered_id)
            stored = with_context(connection, [] if answered is None else [answered], referenced=False)
            return stored, accounts_by_id(connection, parsed.user_ids)

        stored, named = await self._database.read(query)
        answered = stored.messages[0] if stored.messages else None
        if answered is None and draft.reply_to is not None and draft.reply_to.required:
            raise ApiError("UNKNOWN_MESSAGE")
        replied_to = None if answered is None else stored.accounts.get(answered.author_id)
        return _Context(count_mentions(access, parsed, draft.allowed_mentions, named, replied_to), stored, answered)

    def _message(self, sender: Sender, access: ChannelAccess, draft: MessageDraft, context: _Context) -> Message:
        answered, counted, extra = context.answered, context.counted, sender.extra
        if draft.attachments:
            extra = attrs.evolve(extra or MessageExtra(), attachments=len(draft.attachments))
        return Message(
            id=self._snowflakes(),
            channel_id=access.channel.id,
            author_id=sender.id,
            webhook_id=sender.webhook_id,
            type=MessageType.DEFAULT.value if answered is None else MessageType.REPLY.value,
            content=draft.content,
            flags=draft.flags & SENDABLE_FLAGS,
            mention_everyone=counted.everyone or counted.here,
            tts=draft.tts,
            nonce=draft.nonce,
            reference=None if answered is None else _reference(access, answered),
            extra=extra,
            mentioned_user_ids=counted.user_ids,
            mentioned_role_ids=counted.role_ids,
            attachments=tuple(file.attachment for file in draft.attachments) if draft.attachments else (),
        )

    def _wire(self, sender: Sender, message: Message, context: _Context) -> dict[str, Any]:
        mentions = [partial_user(account) for account in context.counted.users]
        if message.extra is None:
            wire = message_object(message, author=sender.wire, mentions=mentions)
        else:
            wire = whole_message_object(
                message, author=sender.wire, mentions=mentions, accounts={}, addresses=self._addresses
            )
        if context.stored is not None and context.answered is not None:
            # An answered message is shown without the one that it answered itself.
            alone = attrs.evolve(context.answered, reference=None)
            accounts = context.stored.accounts
            wire["referenced_message"] = stored_message_object(alone, None, accounts, self._addresses)
        return wire


def put_into_message(
    connection: sqlite3.Connection, message: Message, files: Sequence[AttachmentDraft], settings: Settings, now_ms: int
) -> None:
    """Make files part of a message; part of the unit that writes it.

    :raises ApiError: as `require_room`.
    :raises InvalidFormBody: for an upload that is gone, or part of another message.
    """
    for index, file in enumerate(files):
        attachment = attrs.evolve(file.attachment, message_id=message.id)
        put = attachments.put_into_message(connection, attachment, now_ms) if file.is_promised else None
        if put is None:
            put = attachments.insert(connection, attachment)
        if not put:
            raise InvalidFormBody.at(f"attachments.{index}", "INVALID_FORMAT")
    require_room(attachments.usage(connection, files[0].attachment.user_id), settings)


def _answered_id(access: ChannelAccess, reply_to: ReplyTo) -> int | None:
    """The id of the answered message, if it can be one that the caller may read. It must be in the same channel."""
    if reply_to.channel_id is not None and reply_to.channel_id != access.channel.id:
        raise InvalidFormBody.at("message_reference.channel_id", "INVALID_FORMAT")
    floor = access.history_floor()
    return None if floor is None or reply_to.message_id < floor else reply_to.message_id


def _notified(access: ChannelAccess, counted: CountedMentions) -> list[int]:
    """Accounts whose count of mentions goes up: those named, and in a conversation everybody else in it."""
    if isinstance(access, PrivateChannelAccess):
        return [user_id for user_id in access.recipients if user_id != access.user_id]
    return counted.notified_user_ids(access)


def _reference(access: ChannelAccess, answered: Message) -> MessageReference:
    return MessageReference(
        channel_id=answered.channel_id,
        message_id=answered.id,
        guild_id=access.guild_id,
        type=MessageReferenceType.REPLY.value,
    )
