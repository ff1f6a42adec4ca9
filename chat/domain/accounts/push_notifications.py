"""Who is told of a message on devices where no client runs, and the telling.

Messages are seen as they are published, and their senders do not wait for this: what concerns accounts that have
subscribed is looked at afterwards, within bounds; a server that ends forgets what it had not yet sent. An account is
told when the message is for it (`chat.domain.accounts.notification_settings`), it sees the channel, has not silenced
the author, has no quiet hours, and no client of it is in use. Where an administrator has disabled push notifications in
a guild, nothing in it is told (guilds.md, Disabled operations).

A reminder that fell due is told in the same way (messages.md, Reminders), whatever is muted: its moment was chosen.

What they are told is in `push_objects`.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import attrs
import structlog
import trio

from chat import wire
from chat.auth.principal import CredentialKind, Principal
from chat.bus.audience import Mentions, ToAccounts, ToChannel, ToThread
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.accounts.notification_settings import (
    ALL_MESSAGES,
    OUTSIDE_GUILDS,
    HeardMessage,
    Listener,
    is_notified,
    is_quiet,
)
from chat.domain.accounts.notification_words import called_by
from chat.domain.accounts.push_objects import (
    NotificationPlace,
    PushObject,
    as_reminder,
    push_bytes,
    push_object,
    reminder_of_nothing,
)
from chat.domain.accounts.push_subscriptions import PushSubscriptions
from chat.domain.core import Core
from chat.domain.messages.kept_messages import ReadableChannels
from chat.domain.presence.calls import Ringing, ringing
from chat.domain.presence.presences import Presences
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.permissions import CHANNEL_THREADS
from chat.errors import StorageUnavailable
from chat.push.encryption import PLAIN_BYTES, SALT_BYTES, SEED_BYTES, Receiver, Vapid, encrypted, key_of
from chat.push.sending import Notice, PushOutcome, PushQueue, PushRequest, PushSender, Result, Urgency, origin_of
from chat.registries.channel_types import ChannelType
from chat.registries.events import EventName
from chat.registries.guild_values import DisabledOperation
from chat.registries.message_types import MessageFlag, MessageType
from chat.store import threads
from chat.store.accounts import accounts, notification_words, push_subscriptions, user_settings
from chat.store.accounts.push_subscriptions import PushSubscription
from chat.store.guilds import channels
from chat.store.messages import read_states
from chat.store.standing import private_channels
from chat.store.standing.private_channels import PrivateChannel
from chat.store.threads import Thread, ThreadMember

WAITING_MAXIMUM: Final = 1_024
"""Messages that wait to be looked at; one more is not told."""

MESSAGE_SECONDS: Final = 86_400
"""How long a push service keeps what it cannot deliver."""

TOPIC_DIGITS: Final = 32

TOLD: Final = frozenset({MessageType.DEFAULT, MessageType.REPLY, MessageType.CALL})
PUSH_DISABLED: Final = DisabledOperation.PUSH_NOTIFICATIONS.value
SILENT: Final = MessageFlag.SUPPRESS_NOTIFICATIONS.value
NONE_NAMED: Final = Mentions()

log: Final = structlog.get_logger("chat.push")


@frozen
class _PublishedMessage:
    """A message that was published, and what its event says of it."""

    data: Mapping[str, Any]
    audience: ToAccounts | ToChannel | ToThread
    mentions: Mentions

    @property
    def author_id(self) -> int:
        return int(self.data["author"]["id"])

    @property
    def channel_id(self) -> int:
        return int(self.data["channel_id"])


@frozen
class _DueReminder:
    """A reminder that fell due."""

    user_id: int
    channel_id: int
    message_id: int


@frozen
class _PushFacts:
    """The stored facts about those whom a message may concern."""

    settings: Mapping[int, Mapping[str, Any]]
    unblocked: Sequence[int]
    thread: Thread | None
    thread_members: Mapping[int, ThreadMember]
    conversation: PrivateChannel | None
    subscriptions: Sequence[PushSubscription]
    called: frozenset[int]
    """Accounts of whose words the message has one."""
    person_levels: Mapping[int, int]
    """What accounts have chosen for the author's messages."""


@define(kw_only=True, eq=False)
class PushNotifications:
    """Sees messages go by on the bus, and tells devices. Nothing is sent unless `run` runs."""

    _core: Core
    _presences: Presences
    _subscriptions: PushSubscriptions
    _sender: PushSender | None
    _vapid: Vapid
    _queue: PushQueue[PushSubscription] = attrs.field(init=False)
    _heard: trio.MemorySendChannel[_PublishedMessage | _DueReminder] = attrs.field(init=False)
    _to_look_at: trio.MemoryReceiveChannel[_PublishedMessage | _DueReminder] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._queue = PushQueue(self._send, self._over, self._core.chance)
        self._heard, self._to_look_at = trio.open_memory_channel[_PublishedMessage | _DueReminder](WAITING_MAXIMUM)
        if self._sender is not None:
            self._core.bus.subscribe_events((EventName.MESSAGE_CREATE,), self._message_written)
            self._core.bus.subscribe_events((EventName.REMINDER_UPDATE,), self._reminder_changed)

    def _message_written(self, signal: Event) -> None:
        """Take note of a message that may concern an account that has subscribed."""
        if not self._subscriptions.subscribed:
            return
        data = signal.data if signal.thread_data is None else signal.thread_data
        if not isinstance(data, Mapping) or not isinstance(signal.audience, ToAccounts | ToChannel | ToThread):
            return
        if not self._may_concern(signal.audience) or data["type"] not in TOLD or data["flags"] & SILENT:
            return
        self._take_note(_PublishedMessage(data, signal.audience, signal.mentions or NONE_NAMED))

    def _reminder_changed(self, signal: Event) -> None:
        """Take note of a reminder that fell due."""
        data, audience = signal.data, signal.audience
        if isinstance(data, Mapping) and isinstance(audience, ToAccounts) and data["told_at"] is not None:
            for user_id in self._subscriptions.any_of(audience.user_ids):
                self._take_note(_DueReminder(user_id, int(data["channel_id"]), int(data["message_id"])))

    def _take_note(self, heard: _PublishedMessage | _DueReminder) -> None:
        try:
            self._heard.send_nowait(heard)
        except trio.WouldBlock:
            log.warning("a message is not notified of: too many wait")

    async def run(self) -> None:
        """Tell devices, for as long as the server runs."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._queue.run)
            async for heard in self._to_look_at:
                if isinstance(heard, _DueReminder):
                    await self._remind(heard)
                else:
                    await self._look_at(heard)

    # Who

    def _may_concern(self, audience: ToAccounts | ToChannel | ToThread) -> bool:
        if isinstance(audience, ToAccounts):
            return bool(self._subscriptions.any_of(audience.user_ids))
        return self._subscriptions.may_concern(audience.guild_id)

    async def _look_at(self, heard: _PublishedMessage) -> None:
        state = None
        if not isinstance(heard.audience, ToAccounts):
            state = self._core.guild_states.get(heard.audience.guild_id)
            if state is None or state.guild.disabled_operations & PUSH_DISABLED:
                return
        listening = await self._listening(heard)
        if not listening:
            return
        now_ms = self._core.clock.now_ms()
        found = await self._core.database.read(lambda connection: _found(connection, heard, state, listening, now_ms))
        told = self._told(heard, state, found)
        place = _place(heard.data, state, found.thread, found.conversation)
        for subscription in found.subscriptions:
            if subscription.user_id in told:
                self._put(heard, place, subscription)

    async def _listening(self, heard: _PublishedMessage) -> list[int]:
        """Accounts that have subscribed, that the message may be for, and of which no client is in use."""
        audience = heard.audience
        subscribed: Collection[int]
        if isinstance(audience, ToAccounts):
            subscribed = self._subscriptions.any_of(audience.user_ids)
        else:
            subscribed = await self._subscriptions.members_of(audience.guild_id)
        if isinstance(audience, ToThread) and audience.member_ids is not None:
            subscribed = audience.member_ids & frozenset(subscribed)
        author_id, in_use = heard.author_id, self._presences.is_attended
        return [user_id for user_id in subscribed if user_id != author_id and not in_use(user_id)]

    def _told(self, heard: _PublishedMessage, state: GuildState | None, found: _PushFacts) -> set[int]:
        message, now_ms = _as_heard(heard, state, found), self._core.clock.now_ms()
        told = set()
        for user_id in found.unblocked:
            member = None if state is None else state.member(user_id)
            if state is not None and (member is None or not state.can_view(user_id, _channel_seen(heard))):
                continue
            listener = Listener(
                user_id,
                found.settings.get(user_id),
                found.thread_members.get(user_id),
                frozenset() if member is None else member.role_ids,
                self._presences.is_online(user_id),
                user_id in found.called,
                found.person_levels.get(user_id),
            )
            if is_notified(message, listener, now_ms):
                told.add(user_id)
        return told

    async def _remind(self, due: _DueReminder) -> None:
        reader, user_id = self._core.database.reader, due.user_id
        account = accounts.by_id(reader, user_id)
        if account is None or self._presences.is_attended(user_id):
            return
        principal = Principal(account, CredentialKind.SESSION, capabilities=frozenset({CHANNEL_THREADS}))
        readable = ReadableChannels(self._core, principal)
        seen = [due.message_id] if readable(due.channel_id, due.message_id) else []
        message = (await readable.objects(seen)).get(due.message_id)
        if message is None:
            told = reminder_of_nothing(user_id, due.channel_id, due.message_id, self._core.origins.shared)
        else:
            told = self._reminder_of(message, user_id)
        notice = Notice(push_bytes(told, PLAIN_BYTES), Urgency.HIGH, self._topic(due.message_id), MESSAGE_SECONDS)
        for subscription in push_subscriptions.of_users(reader, [user_id]):
            self._queue.put(subscription, notice)

    # What, and how

    def _reminder_of(self, message: wire.Message, user_id: int) -> PushObject:
        reader, channel_id = self._core.database.reader, int(message["channel_id"])
        guild_id = channels.guild_of(reader, channel_id)
        state = None if guild_id is None else self._core.guild_states.get(guild_id)
        place = _place(message, state, threads.by_id(reader, channel_id), private_channels.by_id(reader, channel_id))
        return as_reminder(push_object(message, place, user_id, self._core.origins.shared))

    def _put(self, heard: _PublishedMessage, place: NotificationPlace, subscription: PushSubscription) -> None:
        user_id = subscription.user_id
        told = push_object(heard.data, place, user_id, self._core.origins.shared)
        is_personal = isinstance(heard.audience, ToAccounts) or user_id in heard.mentions.user_ids
        urgency = Urgency.HIGH if is_personal else Urgency.NORMAL
        notice = Notice(push_bytes(told, PLAIN_BYTES), urgency, self._topic(heard.channel_id), MESSAGE_SECONDS)
        self._queue.put(subscription, notice)

    def _topic(self, channel_id: int) -> str:
        """Of what waits for a device only the last of each channel is kept. The name, at most 32 characters of
        base64url (RFC 8030, 5.4), says nothing of the channel to the push service."""
        return hmac.digest(self._core.keys.of("push topics"), str(channel_id).encode(), hashlib.sha256).hex()[
            :TOPIC_DIGITS
        ]

    async def _send(self, subscription: PushSubscription, notice: Notice) -> PushOutcome:
        # It may have gone while the notice waited: its sign-in ended, or another account has the browser now.
        present = push_subscriptions.by_id(self._core.database.reader, subscription.id)
        if present is None or self._sender is None:
            return PushOutcome(Result.GONE)
        receiver = Receiver(present.public_key, present.auth)
        salt, key = self._core.chance.randbytes(SALT_BYTES), key_of(self._core.chance.randbytes(SEED_BYTES))
        request = PushRequest(
            endpoint=present.endpoint,
            body=encrypted(notice.plain, receiver, salt=salt, key=key),
            authorization=self._vapid.authorization(origin_of(present.endpoint)),
            ttl_seconds=notice.ttl_seconds,
            urgency=notice.urgency,
            topic=notice.topic,
        )
        return await self._sender.send(request)

    async def _over(self, subscription: PushSubscription, result: Result) -> None:
        if result is Result.GONE:
            try:
                await self._subscriptions.forget(subscription)
            except StorageUnavailable:
                log.warning("a subscription that is gone could not be forgotten")
        elif result is not Result.ACCEPTED:
            log.info("a notification was not delivered", user_id=subscription.user_id, result=result.name)


def _found(
    connection: sqlite3.Connection,
    heard: _PublishedMessage,
    state: GuildState | None,
    user_ids: Sequence[int],
    now_ms: int,
) -> _PushFacts:
    listening = read_states.that_listen(connection, heard.author_id, user_ids)
    own = {user_id: user_settings.of_user(connection, user_id) for user_id in listening}
    unblocked = [user_id for user_id in listening if not is_quiet(own[user_id].get("quiet_hours"), now_ms)]
    person_levels = {user_id: _person_level(own[user_id], heard.author_id) for user_id in unblocked}
    if heard.data["type"] == MessageType.CALL:
        # Whom the caller may not make ring hears nothing on its devices either.
        author_id = heard.author_id
        unblocked = [user_id for user_id in unblocked if ringing(connection, author_id, user_id) is Ringing.LOUD]
    place = OUTSIDE_GUILDS if state is None else state.id
    in_thread = isinstance(heard.audience, ToThread)
    members = ((user_id, threads.member(connection, heard.channel_id, user_id)) for user_id in unblocked)
    return _PushFacts(
        settings=user_settings.of_guild_by_users(connection, unblocked, place),
        unblocked=unblocked,
        thread=threads.by_id(connection, heard.channel_id) if in_thread else None,
        thread_members={user_id: member for user_id, member in members if member is not None} if in_thread else {},
        conversation=private_channels.by_id(connection, heard.channel_id) if state is None else None,
        subscriptions=push_subscriptions.of_users(connection, unblocked),
        called=called_by(heard.data["content"], notification_words.of_users(connection, unblocked)),
        person_levels={user_id: level for user_id, level in person_levels.items() if level is not None},
    )


def _person_level(settings: Mapping[str, Any], author_id: int) -> int | None:
    level: int | None = settings.get("person_notifications", {}).get(str(author_id))
    return level


def _channel_seen(heard: _PublishedMessage) -> int:
    """The channel that one must see to hear of the message: of a thread the one above it."""
    audience = heard.audience
    return audience.parent_id if isinstance(audience, ToThread) else heard.channel_id


def _as_heard(heard: _PublishedMessage, state: GuildState | None, found: _PushFacts) -> HeardMessage:
    places = [heard.channel_id]
    if state is None:
        return HeardMessage(tuple(places), ALL_MESSAGES, heard.mentions)
    in_thread = isinstance(heard.audience, ToThread)
    if in_thread:
        places.append(_channel_seen(heard))
    channel = state.channels.get(_channel_seen(heard))
    if channel is not None and channel.parent_id is not None:
        places.append(channel.parent_id)
    return HeardMessage(tuple(places), state.guild.default_message_notifications, heard.mentions, in_thread)


def _place(
    message: Mapping[str, Any], state: GuildState | None, thread: Thread | None, private: PrivateChannel | None
) -> NotificationPlace:
    channel_id = message["channel_id"]
    if state is None:
        is_group = private is not None and private.channel.type == ChannelType.GROUP_DM
        return NotificationPlace(
            channel_id, name=(private.channel.name or "group") if private is not None and is_group else None
        )
    channel = state.channels.get(int(channel_id)) if thread is None else thread.channel
    return NotificationPlace(
        channel_id,
        guild_id=str(state.id),
        name=None if channel is None else channel.name,
        guild_name=state.guild.name,
        role_names={role.id: role.name for role in state.roles.values()},
        channel_names={
            int(named["id"]): named["name"] for named in message.get("mention_channels", ()) if named.get("name")
        },
    )
