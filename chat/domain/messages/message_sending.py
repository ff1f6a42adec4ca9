"""Sending a message (messages.md, Sending messages).

Sending is what a server does most. It asks the store for nothing but what the text or a reply names, writes once, and
builds the wire object once, for the answer and for the event.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterable
from typing import Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.clock import iso_timestamp, read_moment
from chat.config import Limits
from chat.domain.core import Core
from chat.domain.messages.message_context import (
    Carried,
    ForwardSource,
    MessageContext,
    find_context,
    forward_source,
    require_still_there,
)
from chat.domain.messages.message_drafts import (
    SECOND_FORM,
    MessageDraft,
    PollDraft,
    Sender,
    account_sender,
    put_into_message,
    require_content,
    require_whole,
)
from chat.domain.messages.message_events import message_created
from chat.domain.messages.message_objects import referenced_message_object, whole_message_object
from chat.domain.messages.message_reading import one_message
from chat.domain.messages.nonces import NonceKey, Nonces
from chat.domain.messages.read_states import notified_by
from chat.domain.messages.slowmode import BYPASS_SLOWMODE, Slowmode
from chat.domain.messages.thread_writing import Insertion, Opening, destination_of
from chat.domain.policy.component_trees import is_interactive, walk
from chat.domain.policy.embeds import require_embeds
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess, require_message_channel
from chat.domain.standing.private_channels import PrivateChannelAccess, PrivateChannels
from chat.domain.standing.thread_access import ThreadAccess
from chat.domain.standing.user_objects import limits_of, partial_user
from chat.domain.standing.verification import require_verification
from chat.errors import ApiError, InvalidFormBody
from chat.registries.channel_types import THREAD_ONLY_CHANNEL_TYPES
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.guild_values import DisabledOperation
from chat.registries.message_types import SENDABLE_MESSAGE_FLAGS, MessageFlag, MessageType
from chat.registries.permissions import Permission
from chat.store.guilds import channels
from chat.store.messages import messages, polls, read_states
from chat.store.messages.messages import Message, MessageExtra

SEND_MESSAGES: Final = Permission.SEND_MESSAGES.value
ATTACH_FILES: Final = Permission.ATTACH_FILES.value
SECOND_MS: Final = 1_000
HOUR_MS: Final = 3_600_000
LOADING: Final = MessageFlag.LOADING.value
SEND_MESSAGE_DISABLED: Final = DisabledOperation.SEND_MESSAGE.value


class MessageSending:
    """The operations that send a message, with what they remember of those sent before."""

    def __init__(
        self,
        core: Core,
        private_channels: PrivateChannels,
        slowmode: Slowmode,
        online_in: Callable[[int], Iterable[int]],
        poll_begun: Callable[[], None],
    ) -> None:
        self._core = core
        self._private_channels = private_channels
        self._online_in = online_in
        self._poll_begun = poll_begun
        self._slowmode = slowmode
        self._nonces = Nonces(core.clock)

    async def create(
        self, principal: Principal, channel_id: int, draft: MessageDraft, *, is_absent: bool = False
    ) -> wire.Message:
        """Send a message; the same author's nonce in the same channel within five minutes gives the same message.
        `is_absent` where the author is not there to read what stands before it.

        :raises ApiError: as `Access.channel`; CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL, FEATURE_TEMPORARILY_DISABLED,
            COMMUNICATION_DISABLED, GUILD_VERIFICATION_REQUIRED, CANNOT_SEND_EMPTY_MESSAGE, CONTENT_BLOCKED,
            UNKNOWN_MESSAGE (answered or forwarded), UNKNOWN_STICKER, SLOWMODE_RATE_LIMITED.
        :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`; as `require_embeds`, `require_whole` and
            `find_context`.
        """
        now_ms = self._core.clock.now_ms()
        access = self._core.access.channel(principal, channel_id)
        self._require_may_send(principal, access, draft, now_ms)
        sender = account_sender(principal, is_absent=is_absent)
        return await self._send_once(sender, access, draft, self._source(principal, access, draft))

    async def require_sendable(self, principal: Principal, channel_id: int, draft: MessageDraft) -> None:
        """Refuse what `create` would refuse at this moment, slow mode apart; nothing is sent.

        :raises ApiError: as `create`.
        :raises InvalidFormBody: as `create`.
        """
        access = self._core.access.channel(principal, channel_id)
        self._require_may_send(principal, access, draft, self._core.clock.now_ms())
        source = self._source(principal, access, draft)
        context = await find_context(self._core, account_sender(principal), access, draft, source)
        if context.carried is not None:
            self._require_unblocked_forward(context.carried)

    async def create_of_webhook(self, sender: Sender, access: GuildChannelAccess, draft: MessageDraft) -> wire.Message:
        """Send a webhook's message. Slow mode and the rules for members do not concern it.

        :raises ApiError: CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL, FEATURE_TEMPORARILY_DISABLED,
            CANNOT_SEND_EMPTY_MESSAGE, CONTENT_BLOCKED.
        :raises InvalidFormBody: as `create`.
        """
        self._require_webhook_may_send(access, draft)
        return await self._send_once(sender, access, draft)

    async def create_of_application(self, sender: Sender, access: ChannelAccess, draft: MessageDraft) -> wire.Message:
        """Send an application's answer. Slow mode and the rules for members do not concern it.

        :raises ApiError: as `create_of_webhook`.
        :raises InvalidFormBody: as `create`.
        """
        require_message_channel(access.channel)
        if access.disables(SEND_MESSAGE_DISABLED):
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        if isinstance(access, ThreadAccess):
            access.require_unlocked(self._core.clock.now_ms())
        self.require_good(draft)
        return await self._send_once(sender, access, draft)

    def require_good(self, draft: MessageDraft) -> None:
        """Check what can be checked of an application's answer by itself. Raises as `create_of_application`."""
        self._require_good(draft, self._core.settings.limits_for(premium=False))

    async def post(
        self, principal: Principal, access: ThreadAccess, draft: MessageDraft, opening: Opening
    ) -> wire.Message:
        """Send the first message of a thread that is made with it, and that has the message's id.

        :raises ApiError: as `create`, and as the opening does.
        :raises InvalidFormBody: as `create`.
        """
        self._require_may_send(principal, access, draft, self._core.clock.now_ms())
        source = self._source(principal, access, draft)
        return await self._send(account_sender(principal), access, draft, None, source, opening=opening)

    async def post_of_webhook(
        self, sender: Sender, access: ThreadAccess, draft: MessageDraft, opening: Opening
    ) -> wire.Message:
        """As `post`, by a webhook.

        :raises ApiError: as `create_of_webhook`, and as the opening does.
        :raises InvalidFormBody: as `create_of_webhook`.
        """
        self._require_webhook_may_send(access, draft)
        return await self._send(sender, access, draft, None, opening=opening)

    def require_may_write(self, principal: Principal, access: ChannelAccess) -> None:
        """Raises as `create`, as far as the content has no part in it."""
        self._require_may_write(principal, access, SEND_MESSAGES, self._core.clock.now_ms())

    def require_may_attach(self, principal: Principal, channel_id: int) -> ChannelAccess:
        """The channel, if the caller may send files to it.

        :raises ApiError: as `create`, as far as the content has no part in it.
        """
        access = self._core.access.channel(principal, channel_id)
        if access.channel.type in THREAD_ONLY_CHANNEL_TYPES:
            access.require(SEND_MESSAGES | ATTACH_FILES)  # the files of a post
            access.require_voice(self._core.clock.now_ms())
        else:
            self._require_may_write(principal, access, SEND_MESSAGES | ATTACH_FILES, self._core.clock.now_ms())
        return access

    def forget_recent(self) -> None:
        """The store was emptied: no nonce stands for a message, no member waits for slow mode."""
        self._nonces.forget_all()
        self._slowmode.forget()

    def _require_may_send(self, principal: Principal, access: ChannelAccess, draft: MessageDraft, now_ms: int) -> None:
        needed = SEND_MESSAGES | Permission.SEND_TTS_MESSAGES.value if draft.tts else SEND_MESSAGES
        if draft.attachments:
            needed |= ATTACH_FILES
        if draft.embeds:
            needed |= Permission.EMBED_LINKS.value
        if (draft.components or draft.flags & SECOND_FORM) and not principal.is_bot:
            raise InvalidFormBody.at("components", FieldCode.COMPONENTS_FOR_BOTS_ONLY)
        self._require_may_write(principal, access, needed, now_ms)
        self._require_good(draft, limits_of(self._core.settings, principal.account, now_ms))

    def _require_good(self, draft: MessageDraft, limits: Limits) -> None:
        """Check what can be checked of a draft by itself."""
        require_whole(draft)
        require_content(draft.content, limits.max_message_length, needed=not draft.is_wordless)
        self._core.blocked.require_text(draft.content)
        if draft.embeds:
            require_embeds(draft.embeds, limits.max_embeds_per_message)
            self._core.blocked.require_embeds(draft.embeds)
        if draft.components:
            self._core.blocked.require_components(draft.components)
        if draft.poll is not None:
            self._core.blocked.require_text(draft.poll.text)
        if draft.attachments:
            self._core.blocked.require_files(file.attachment for file in draft.attachments)

    def _require_unblocked_forward(self, carried: Carried) -> None:
        """A forward may carry what was written before it was blocked."""
        self._core.blocked.require_text(carried.snapshot.get("content") or "")
        self._core.blocked.require_embeds(carried.snapshot.get("embeds") or ())
        self._core.blocked.require_components(carried.snapshot.get("components") or ())
        self._core.blocked.require_files(file.attachment for file in carried.files)

    def _require_webhook_may_send(self, access: GuildChannelAccess, draft: MessageDraft) -> None:
        require_message_channel(access.channel)
        if access.disables(SEND_MESSAGE_DISABLED):
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        if isinstance(access, ThreadAccess):
            access.require_unlocked(self._core.clock.now_ms())
        if any(is_interactive(component) for _, component in walk(draft.components)):
            raise InvalidFormBody.at("components", FieldCode.COMPONENTS_FOR_BOTS_ONLY)
        self._require_good(draft, self._core.settings.limits_for(premium=False))

    def _require_may_write(self, principal: Principal, access: ChannelAccess, permissions: int, now_ms: int) -> None:
        require_message_channel(access.channel)
        access.require(permissions)
        if access.disables(SEND_MESSAGE_DISABLED):
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        access.require_voice(now_ms)
        if isinstance(access, ThreadAccess):
            access.require_unlocked(now_ms)
        if isinstance(access, GuildChannelAccess):
            require_verification(access.state, access.member, principal.account, now_ms)
        elif isinstance(access, PrivateChannelAccess):
            self._private_channels.require_may_write(access, principal.account)

    def _source(self, principal: Principal, access: ChannelAccess, draft: MessageDraft) -> ForwardSource | None:
        if draft.forward is None:
            return None
        return forward_source(principal, self._core.access, access, draft.forward)

    async def _send_once(
        self, sender: Sender, access: ChannelAccess, draft: MessageDraft, source: ForwardSource | None = None
    ) -> wire.Message:
        if draft.nonce is None:
            return await self._send(sender, access, draft, None, source)
        channel_id = access.channel.id
        key = (sender.id, channel_id, draft.nonce)
        while True:
            async with self._nonces.sending(key) as sending:
                if sending.message_id is None:
                    return await self._send(sender, access, draft, key, source)
                stored = await self._core.database.read(functools.partial(one_message, channel_id, sending.message_id))
            if stored is not None:
                return stored.object_of(stored.messages[0], self._core.media_addresses)
            self._nonces.forget(key)

    async def _send(
        self,
        sender: Sender,
        access: ChannelAccess,
        draft: MessageDraft,
        nonce: NonceKey | None,
        source: ForwardSource | None = None,
        *,
        opening: Opening | None = None,
    ) -> wire.Message:
        context = await find_context(self._core, sender, access, draft, source)
        if context.carried is not None:
            self._require_unblocked_forward(context.carried)
        user_id, channel = sender.id, access.channel if opening is None else opening.slowmode_channel
        slow = channel.rate_limit_per_user > 0 and not access.may(BYPASS_SLOWMODE)
        if slow:
            self._slowmode.take_turn(user_id, channel.id, channel.rate_limit_per_user, self._core.clock.now_ms())
        destination = destination_of(self._core, access, sender, context.counted, opening)
        message = destination.settled(self._message(sender, access, draft, context))
        mentions, addresses = list(map(partial_user, context.counted.users)), self._core.media_addresses
        sent = whole_message_object(
            message,
            author=sender.author,
            mentions=mentions,
            accounts={**context.accounts, **sender.named},
            addresses=addresses,
        )
        if context.answered is not None and context.stored is not None:
            around = context.stored.accounts, addresses, context.stored.parts
            sent["referenced_message"] = referenced_message_object(context.answered, *around)
        committed = False

        def then(shown: list[int]) -> None:
            nonlocal committed
            committed = True
            if nonce is not None:
                self._nonces.sent(nonce, message.id)
            if draft.poll is not None:
                self._poll_begun()
            renewed = destination.tell()
            if renewed is not None:
                renewed.note_message(message.id)
                if isinstance(renewed, PrivateChannelAccess):
                    self._private_channels.shown(renewed, shown)
                self._core.bus.publish(message_created(renewed, message, sent, here=context.counted.here))

        insertion = destination.around(self._insertion(destination.access, message, sender, context))
        try:
            await self._core.database.write(insertion, then, guard=sender.guard)
        finally:
            if slow and not committed:
                self._slowmode.give_back(user_id, channel.id)
        return sent

    def _insertion(self, access: ChannelAccess, message: Message, sender: Sender, context: MessageContext) -> Insertion:
        """The unit that writes a message, with what it means for the channel and for read states."""
        files, carried, before_id = context.files, context.carried, access.channel.last_message_id or 0
        notified = notified_by(access, context.counted, self._online_in)

        def unit(connection: sqlite3.Connection) -> list[int]:
            # A channel that is gone may still be stored, in no guild, until its messages are.
            guild_id = channels.take_message(connection, message.channel_id, message.id)
            if guild_id is None and not isinstance(access, PrivateChannelAccess):
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            if carried is not None:
                require_still_there(connection, carried)
            if not messages.insert(connection, message):
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            poll = None if message.extra is None else message.extra.poll
            if poll is not None:
                ends_at = round(read_moment(poll["expiry"]).timestamp() * SECOND_MS)
                polls.insert(connection, message.id, ends_at, [each["answer_id"] for each in poll["answers"]])
            if files:
                put_into_message(connection, message, files, self._core.settings, self._core.clock.now_ms())
            if sender.is_absent:
                read_states.read_on(connection, sender.id, message.channel_id, before_id, message.id)
            elif sender.keeps_read_state:
                read_states.acknowledge(connection, sender.id, message.channel_id, message.id, 0)
            if notified is not None:
                notified.write(connection, message)
            if isinstance(access, PrivateChannelAccess):
                return self._private_channels.show_in(connection, access)
            return []

        return unit

    def _message(self, sender: Sender, access: ChannelAccess, draft: MessageDraft, context: MessageContext) -> Message:
        counted = context.counted
        return Message(
            id=self._core.snowflakes() if sender.message_id is None else sender.message_id,
            channel_id=access.channel.id,
            author_id=sender.id,
            webhook_id=sender.webhook_id,
            type=MessageType.DEFAULT.value if context.answered is None else MessageType.REPLY.value,
            content=context.text.content,
            flags=draft.flags & SENDABLE_MESSAGE_FLAGS.value | (LOADING if draft.is_deferred else 0),
            mention_everyone=counted.everyone or counted.here,
            tts=draft.tts,
            nonce=draft.nonce,
            reference=context.reference,
            extra=context.extra if draft.poll is None else self._asking(context.extra, draft.poll),
            mentioned_user_ids=counted.user_ids,
            mentioned_role_ids=counted.role_ids,
            attachments=tuple(file.attachment for file in context.files),
        )

    def _asking(self, extra: MessageExtra | None, poll: PollDraft) -> MessageExtra:
        """What the message has besides its text, with the poll, which is open from now on."""
        expiry = iso_timestamp(self._core.clock.now_ms() + poll.hours * HOUR_MS)
        return attrs.evolve(extra or MessageExtra(), poll={**poll.asked, "expiry": expiry})
