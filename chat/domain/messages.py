"""Messages of guild channels: sending, reading, editing, deleting, acknowledging (wire facts 5.3).

Sending is what a server does most. It asks the store for nothing but what the text or a reply names, writes once, and
builds the wire object once, for the answer and for the event.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Bus, Event
from chat.clock import Clock
from chat.config import Settings
from chat.domain.access import Access, ChannelAccess
from chat.domain.guild_states import GuildStates
from chat.domain.instance_policy import InstancePolicy
from chat.domain.limits import limits_of
from chat.domain.mention_parsing import ParsedMentions, parse_mentions
from chat.domain.message_drafts import MessageDraft, MessageEdit, ReplyTo, require_content, require_message_channel
from chat.domain.message_events import message_created, message_deleted, message_updated
from chat.domain.message_mentions import NOTHING_COUNTED, CountedMentions, count_mentions
from chat.domain.nonces import NonceKey, Nonces
from chat.domain.objects.messages import account_ids, answering_message_object, message_object
from chat.domain.objects.users import partial_user
from chat.domain.slowmode import Slowmode
from chat.domain.verification import require_verification
from chat.errors import ApiError, InvalidFormBody
from chat.registries.events import EventName
from chat.registries.guild_values import DisabledOperation
from chat.registries.message_types import SENDABLE_MESSAGE_FLAGS, MessageReferenceType, MessageType
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator, snowflake_at
from chat.store import accounts, channels, messages, read_states
from chat.store.accounts import Account
from chat.store.database import Database
from chat.store.messages import Message, MessageReference

EDITABLE_MESSAGE_TYPES: Final = frozenset({MessageType.DEFAULT, MessageType.REPLY})
"""Messages that somebody wrote; the others are the server's."""

SEND_MESSAGES: Final = Permission.SEND_MESSAGES.value
SEND_TTS_MESSAGES: Final = Permission.SEND_TTS_MESSAGES.value
MANAGE_MESSAGES: Final = Permission.MANAGE_MESSAGES.value
READ_MESSAGE_HISTORY: Final = Permission.READ_MESSAGE_HISTORY.value
BYPASS_SLOWMODE: Final = Permission.BYPASS_SLOWMODE.value
SEND_MESSAGE_DISABLED: Final = DisabledOperation.SEND_MESSAGE.value
SENDABLE_FLAGS: Final = SENDABLE_MESSAGE_FLAGS.value


@attrs.frozen
class Page:
    """Which messages of a channel to read: the newest, or those next to one cursor. `around` includes its message."""

    limit: int = 50
    before: int | None = None
    after: int | None = None
    around: int | None = None


@attrs.frozen
class _Stored:
    """Messages with everything that their wire objects need."""

    messages: list[Message]
    referenced: Mapping[int, Message]
    accounts: Mapping[int, Account]

    def wire(self, message: Message, floor: int = 0) -> dict[str, Any]:
        """The wire object; an answered message under `floor` is not shown."""
        reference = message.reference
        referenced = None
        if reference is not None and reference.message_id >= floor:
            referenced = self.referenced.get(reference.message_id)
        return answering_message_object(message, referenced, self.accounts)


@attrs.frozen
class _Context:
    """What a draft refers to, as it is stored."""

    counted: CountedMentions = NOTHING_COUNTED
    stored: _Stored | None = None
    referenced: Message | None = None


class Messages:
    """The operations on messages."""

    def __init__(
        self,
        database: Database,
        guild_states: GuildStates,
        access: Access,
        bus: Bus,
        clock: Clock,
        snowflakes: SnowflakeGenerator,
        settings: Settings,
        policy: InstancePolicy,
    ) -> None:
        self._database = database
        self._guild_states = guild_states
        self._access = access
        self._bus = bus
        self._clock = clock
        self._snowflakes = snowflakes
        self._settings = settings
        self._policy = policy
        self._slowmode = Slowmode()
        self._nonces = Nonces(clock)

    async def create(self, principal: Principal, channel_id: int, draft: MessageDraft) -> dict[str, Any]:
        """Send a message; the same author's nonce in the same channel within five minutes gives the same message.

        :raises ApiError: as `Access.channel`; CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL, FEATURE_TEMPORARILY_DISABLED,
            COMMUNICATION_DISABLED, GUILD_VERIFICATION_REQUIRED, CANNOT_SEND_EMPTY_MESSAGE, UNKNOWN_MESSAGE (answered),
            SLOWMODE_RATE_LIMITED.
        :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`.
        """
        access = self._access.channel(principal, channel_id)
        self._require_may_send(principal, access, draft)
        if draft.nonce is None:
            return await self._send(principal, access, draft, None)
        key = (principal.user_id, channel_id, draft.nonce)
        while True:
            async with self._nonces.sending(key) as sending:
                if sending.message_id is None:
                    return await self._send(principal, access, draft, key)
                stored = await self._database.read(functools.partial(_one, channel_id, sending.message_id))
            if stored is not None:
                return stored.wire(stored.messages[0])
            self._nonces.forget(key)

    async def of_channel(self, principal: Principal, channel_id: int, page: Page) -> list[dict[str, Any]]:
        """Messages of a channel, newest first; none of those that the caller may not read."""
        access = self._access.channel(principal, channel_id)
        floor = history_floor(access)
        if floor is None:
            return []
        stored = await self._database.read(functools.partial(_page, channel_id, page, floor))
        return [stored.wire(message, floor) for message in stored.messages]

    async def get(self, principal: Principal, channel_id: int, message_id: int) -> dict[str, Any]:
        """One message.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, also for one that the caller may not read.
        """
        access = self._access.channel(principal, channel_id)
        floor = history_floor(access)
        if floor is None or message_id < floor:
            raise ApiError("UNKNOWN_MESSAGE")
        stored = await self._database.read(functools.partial(_one, channel_id, message_id))
        if stored is None:
            raise ApiError("UNKNOWN_MESSAGE")
        return stored.wire(stored.messages[0], floor)

    async def edit(
        self, principal: Principal, channel_id: int, message_id: int, edit: MessageEdit
    ) -> dict[str, Any]:
        """Change one's own message; mentions are judged afresh, and nobody is notified again.

        A change of flags alone does not mark the message as edited.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, CANNOT_EDIT_OTHER_USER_MESSAGE, COMMUNICATION_DISABLED,
            CANNOT_SEND_EMPTY_MESSAGE.
        :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`.
        """
        access = self._access.channel(principal, channel_id)
        message = messages.by_id(self._database.reader, channel_id, message_id)
        if message is None:
            raise ApiError("UNKNOWN_MESSAGE")
        if message.author_id != principal.user_id or message.type not in EDITABLE_MESSAGE_TYPES:
            raise ApiError("CANNOT_EDIT_OTHER_USER_MESSAGE")
        if access.member.is_timed_out(self._clock.now_ms()):
            raise ApiError("COMMUNICATION_DISABLED")
        edited = await self._edited(principal, access, message, edit)

        def unit(connection: sqlite3.Connection) -> _Stored:
            if not messages.update(connection, edited):
                raise ApiError("UNKNOWN_MESSAGE")
            return _stored(connection, [edited])

        def then(stored: _Stored) -> None:
            state = self._guild_states.get(access.state.id)
            if state is not None:
                self._bus.publish(message_updated(state, edited, stored.wire(edited)))

        stored = await self._database.write(unit, then)
        return stored.wire(edited)

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

        def unit(connection: sqlite3.Connection) -> None:
            if not messages.delete(connection, channel_id, message_id):
                raise ApiError("UNKNOWN_MESSAGE")

        def then(_: None) -> None:
            self._bus.publish(message_deleted(access.state, message))

        await self._database.write(unit, then)

    async def acknowledge(
        self, principal: Principal, channel_id: int, message_id: int, *, mention_count: int = 0, manual: bool = False
    ) -> None:
        """The caller has read up to this message; `manual` where that was chosen by hand, backwards perhaps."""
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
        """The caller's read state of the channel is as if it had never opened it."""
        self._access.channel(principal, channel_id)
        await self._database.write(lambda connection: read_states.delete(connection, principal.user_id, channel_id))

    def forget_recent(self) -> None:
        """The store was emptied: no nonce stands for a message, nobody waits for slowmode."""
        self._nonces.forget_all()
        self._slowmode.forget()

    # Sending

    def _require_may_send(self, principal: Principal, access: ChannelAccess, draft: MessageDraft) -> None:
        require_message_channel(access.channel)
        access.require(SEND_MESSAGES | SEND_TTS_MESSAGES if draft.tts else SEND_MESSAGES)
        if access.state.guild.disabled_operations & SEND_MESSAGE_DISABLED:
            raise ApiError("FEATURE_TEMPORARILY_DISABLED")
        now_ms = self._clock.now_ms()
        if access.member.is_timed_out(now_ms):
            raise ApiError("COMMUNICATION_DISABLED")
        require_verification(access.state, access.member, principal.account, now_ms)
        self._require_content(principal, draft.content, now_ms)

    def _require_content(self, principal: Principal, content: str, now_ms: int) -> None:
        require_content(content, limits_of(self._settings, principal.account, now_ms).max_message_length)
        self._policy.require_unblocked(content)

    async def _send(
        self, principal: Principal, access: ChannelAccess, draft: MessageDraft, nonce: NonceKey | None
    ) -> dict[str, Any]:
        context = await self._context(access, draft)
        slow = access.channel.rate_limit_per_user and not access.may(BYPASS_SLOWMODE)
        if slow:
            self._slowmode.take_turn(
                principal.user_id, access.channel.id, access.channel.rate_limit_per_user, self._clock.now_ms()
            )
        committed = False
        message = self._message(principal, access, draft, context)
        wire = _wire(principal.account, message, context)
        unit = _insertion(message, principal, context.counted.notified_user_ids(access))

        def then(_: None) -> None:
            nonlocal committed
            committed = True
            if nonce is not None:
                self._nonces.sent(nonce, message.id)
            state = self._guild_states.get(access.state.id)
            if state is not None:
                state.note_message(message.channel_id, message.id)
                self._bus.publish(
                    message_created(state, access.channel, message, wire, here=context.counted.here)
                )

        try:
            await self._database.write(unit, then)
        finally:
            if slow and not committed:
                self._slowmode.give_back(principal.user_id, access.channel.id)
        return wire

    def _message(
        self, principal: Principal, access: ChannelAccess, draft: MessageDraft, context: _Context
    ) -> Message:
        referenced, counted = context.referenced, context.counted
        return Message(
            id=self._snowflakes(),
            channel_id=access.channel.id,
            author_id=principal.user_id,
            type=MessageType.DEFAULT.value if referenced is None else MessageType.REPLY.value,
            content=draft.content,
            flags=draft.flags & SENDABLE_FLAGS,
            mention_everyone=counted.everyone or counted.here,
            tts=draft.tts,
            nonce=draft.nonce,
            reference=None if referenced is None else _reference(access, referenced),
            mentioned_user_ids=counted.user_ids,
            mentioned_role_ids=counted.role_ids,
        )

    async def _context(self, access: ChannelAccess, draft: MessageDraft) -> _Context:
        """Read what the draft answers and whom it names, if anything."""
        parsed = parse_mentions(draft.content)
        if draft.reply_to is None and not parsed.user_ids:
            return _Context(count_mentions(access, parsed, draft.allowed_mentions, {}))
        answered_id = None if draft.reply_to is None else self._answered_id(access, draft.reply_to)
        channel_id = access.channel.id

        def query(connection: sqlite3.Connection) -> tuple[_Stored, dict[int, Account]]:
            answered = None if answered_id is None else messages.by_id(connection, channel_id, answered_id)
            stored = _stored(connection, [] if answered is None else [answered], with_referenced=False)
            return stored, _accounts(connection, parsed.user_ids)

        stored, named = await self._database.read(query)
        referenced = stored.messages[0] if stored.messages else None
        if draft.reply_to is not None and referenced is None and draft.reply_to.required:
            raise ApiError("UNKNOWN_MESSAGE")
        replied_to = None if referenced is None else stored.accounts.get(referenced.author_id)
        counted = count_mentions(access, parsed, draft.allowed_mentions, named, replied_to)
        return _Context(counted, stored, referenced)

    def _answered_id(self, access: ChannelAccess, reply_to: ReplyTo) -> int | None:
        """The id of the answered message if it can be one: of the same channel, and one that the caller may read."""
        if reply_to.channel_id is not None and reply_to.channel_id != access.channel.id:
            raise InvalidFormBody.at("message_reference.channel_id", "INVALID_FORMAT")
        floor = history_floor(access)
        return None if floor is None or reply_to.message_id < floor else reply_to.message_id

    async def _edited(
        self, principal: Principal, access: ChannelAccess, message: Message, edit: MessageEdit
    ) -> Message:
        content = message.content if edit.content is None else edit.content
        self._require_content(principal, content, self._clock.now_ms())
        parsed = parse_mentions(content)
        counted = await self._edited_mentions(access, message, parsed, edit)
        flags = message.flags
        if edit.flags is not None:
            flags = flags & ~SENDABLE_FLAGS | edit.flags & SENDABLE_FLAGS
        return attrs.evolve(
            message,
            content=content,
            flags=flags,
            edited_at=message.edited_at if edit.content is None else self._clock.now_ms(),
            mention_everyone=counted.everyone or counted.here,
            mentioned_user_ids=counted.user_ids,
            mentioned_role_ids=counted.role_ids,
        )

    async def _edited_mentions(
        self, access: ChannelAccess, message: Message, parsed: ParsedMentions, edit: MessageEdit
    ) -> CountedMentions:
        """Mentions of the new text; whoever was mentioned by being answered stays mentioned."""
        reference = message.reference

        def query(connection: sqlite3.Connection) -> tuple[dict[int, Account], Account | None]:
            named = _accounts(connection, parsed.user_ids)
            if reference is None:
                return named, None
            answered = messages.by_id(connection, reference.channel_id, reference.message_id)
            mentioned = answered is not None and answered.author_id in message.mentioned_user_ids
            return named, accounts.by_id(connection, answered.author_id) if answered and mentioned else None

        if reference is None and not parsed.user_ids:
            return count_mentions(access, parsed, edit.allowed_mentions, {})
        named, replied_to = await self._database.read(query)
        return count_mentions(access, parsed, edit.allowed_mentions, named, replied_to)


def history_floor(access: ChannelAccess) -> int | None:
    """The least id of a message that the caller may read in the channel; None when it may read none (document 001,
    message_history_cutoff)."""
    if access.may(READ_MESSAGE_HISTORY):
        return 0
    cutoff = access.state.guild.message_history_cutoff
    return None if cutoff is None else snowflake_at(cutoff)


def _wire(author: Account, message: Message, context: _Context) -> dict[str, Any]:
    wire = message_object(
        message,
        author=partial_user(author),
        mentions=[partial_user(account) for account in context.counted.users],
    )
    if context.stored is not None and context.referenced is not None:
        wire["referenced_message"] = answering_message_object(
            attrs.evolve(context.referenced, reference=None), None, context.stored.accounts
        )
    return wire


def _insertion(
    message: Message, principal: Principal, notified: Iterable[int]
) -> Callable[[sqlite3.Connection], None]:
    """The unit that writes a message, with what it means for the channel and for read states."""

    def unit(connection: sqlite3.Connection) -> None:
        if not messages.insert(connection, message):
            raise ApiError("UNKNOWN_CHANNEL")
        channels.set_last_message(connection, message.channel_id, message.id)
        if not principal.is_bot:
            read_states.acknowledge(connection, principal.user_id, message.channel_id, message.id, 0)
        read_states.add_mention(connection, message.channel_id, notified)

    return unit


def _reference(access: ChannelAccess, referenced: Message) -> MessageReference:
    return MessageReference(
        channel_id=referenced.channel_id,
        message_id=referenced.id,
        guild_id=access.state.id,
        type=MessageReferenceType.REPLY.value,
    )


# Reading. These run in a reader's thread.


def _one(channel_id: int, message_id: int, connection: sqlite3.Connection) -> _Stored | None:
    message = messages.by_id(connection, channel_id, message_id)
    return None if message is None else _stored(connection, [message])


def _page(channel_id: int, page: Page, floor: int, connection: sqlite3.Connection) -> _Stored:
    limit = page.limit
    if page.around is not None:
        newer = messages.above(connection, channel_id, limit // 2, after=page.around, floor=floor)
        older = messages.below(connection, channel_id, limit - limit // 2, before=page.around + 1, floor=floor)
        return _stored(connection, newer + older)
    if page.after is not None:
        return _stored(connection, messages.above(connection, channel_id, limit, after=page.after, floor=floor))
    return _stored(connection, messages.below(connection, channel_id, limit, before=page.before, floor=floor))


def _stored(connection: sqlite3.Connection, found: list[Message], *, with_referenced: bool = True) -> _Stored:
    referenced_ids = {message.reference.message_id for message in found if message.reference} if with_referenced else ()
    referenced = messages.by_ids(connection, referenced_ids) if referenced_ids else []
    return _Stored(
        found,
        {message.id: message for message in referenced},
        _accounts(connection, account_ids([*found, *referenced])),
    )


def _accounts(connection: sqlite3.Connection, user_ids: Iterable[int]) -> dict[int, Account]:
    return {account.id: account for account in accounts.by_ids(connection, tuple(user_ids))}
