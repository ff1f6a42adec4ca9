"""Who is told of a message on devices where no client runs, what they are told, and the telling.

Messages are seen as they are published, and their senders do not wait for this: what concerns accounts that have
subscribed is looked at afterwards, within bounds; a server that ends forgets what it had not yet sent. An account is
told when the message is for it (`chat.domain.accounts.notification_settings`), it sees the channel, has
not blocked the author, and no client of it is in use. Where an administrator has disabled push notifications in a
guild, nothing in it is told (guilds.md, Disabled operations).

A reminder that fell due is told in the same way (messages.md, Reminders), whatever is muted: its moment was chosen.

A device gets JSON for the service worker of the web client, which shows it as it is: a title, a line or two, and where
it leads.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import attrs
import orjson
import structlog
import trio

from chat import wire
from chat.auth.principal import CredentialKind, Principal
from chat.bus.audience import Mentions, ToAccounts, ToChannel, ToThread
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.accounts.notification_settings import ALL_MESSAGES, OUTSIDE_GUILDS, HeardMessage, Listener, is_notified
from chat.domain.accounts.notification_words import called_by
from chat.domain.accounts.push_subscriptions import PushSubscriptions
from chat.domain.core import Core
from chat.domain.messages.kept_messages import ReadableChannels
from chat.domain.presence.calls import Ringing, ringing
from chat.domain.presence.presences import Presences
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.permissions import CHANNEL_THREADS
from chat.errors import StorageUnavailable
from chat.markdown.inline import Mention, mentions_in, spoilers_in
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

REMINDED_OF_NOTHING: Final = "The message was deleted, or you cannot see it any more."

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
        found = await self._core.database.read(lambda connection: _found(connection, heard, state, listening))
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
        told = self._reminder_of_nothing(due) if message is None else self._reminder_of(message, user_id)
        notice = Notice(push_bytes(told, PLAIN_BYTES), Urgency.HIGH, self._topic(due.message_id), MESSAGE_SECONDS)
        for subscription in push_subscriptions.of_users(reader, [user_id]):
            self._queue.put(subscription, notice)

    # What, and how

    def _reminder_of(self, message: wire.Message, user_id: int) -> dict[str, Any]:
        reader, channel_id = self._core.database.reader, int(message["channel_id"])
        guild_id = channels.guild_of(reader, channel_id)
        state = None if guild_id is None else self._core.guild_states.get(guild_id)
        place = _place(message, state, threads.by_id(reader, channel_id), private_channels.by_id(reader, channel_id))
        return _as_reminder(push_object(message, place, user_id, self._core.origins.shared), message["id"])

    def _reminder_of_nothing(self, due: _DueReminder) -> dict[str, Any]:
        """The message was deleted, or the account sees it no more: what is not there leads nowhere."""
        origin, message_id = self._core.origins.shared, str(due.message_id)
        data = {
            "user_id": str(due.user_id),
            "guild_id": None,
            "channel_id": str(due.channel_id),
            "message_id": message_id,
            "author_id": None,
            "url": f"{origin}/channels/{OWN_CONVERSATIONS}",
        }
        told = {"type": "reminder", "title": "a message", "body": REMINDED_OF_NOTHING, "icon": None, "data": data}
        return _as_reminder(told, message_id)

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
    connection: sqlite3.Connection, heard: _PublishedMessage, state: GuildState | None, user_ids: Sequence[int]
) -> _PushFacts:
    unblocked = read_states.without_blockers(connection, heard.author_id, user_ids)
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
    )


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


BODY_CHARACTERS: Final = 500
"""How many characters of a text a device shows at most."""

PLACE_CHARACTERS: Final = 100

OWN_CONVERSATIONS: Final = "@me"
"""Stands in addresses of the web client for a guild."""

_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


@frozen
class NotificationPlace:
    """Where a message was written, with names as the receiver knows them. `name` is that of the channel or the
    group."""

    channel_id: str
    guild_id: str | None = None
    name: str | None = None
    guild_name: str | None = None
    role_names: Mapping[int, str] = attrs.field(factory=dict)
    channel_names: Mapping[int, str] = attrs.field(factory=dict)


def push_object(message: Mapping[str, Any], place: NotificationPlace, user_id: int, origin: str) -> dict[str, Any]:
    """The notification of a message, made from its MESSAGE_CREATE. `origin` is that of the web client."""
    author = message["author"]
    where = quote(place.guild_id or OWN_CONVERSATIONS, safe="@")
    return {
        "type": "message_create",
        "title": _title(message, place),
        "body": body_text(message, place),
        "icon": _icon(author, origin),
        "data": {
            "user_id": str(user_id),
            "guild_id": place.guild_id,
            "channel_id": place.channel_id,
            "message_id": message["id"],
            "author_id": author["id"],
            "url": f"{origin}/channels/{where}/{place.channel_id}/{message['id']}",
        },
    }


def _as_reminder(told: Mapping[str, Any], message_id: str) -> dict[str, Any]:
    """The notification of a message as a reminder of it, which stands beside those of its channel."""
    data = {**told["data"], "tag": f"reminder {message_id}"}
    return {**told, "type": "reminder", "title": f"Reminder: {told['title']}", "data": data}


def push_bytes(told: Mapping[str, Any], most: int) -> bytes:
    """The JSON of it, with as much of the text as fits into `most` bytes."""
    body = told["body"]
    while len(encoded := orjson.dumps({**told, "body": body})) > most and body:
        body = f"{body[: len(body) // 2].rstrip('…')}…" if len(body) > 1 else ""
    return encoded


def body_text(message: Mapping[str, Any], place: NotificationPlace) -> str:
    """The text as it reads without markup; of a message without one, what it carries."""
    text = str(message["content"])
    if text.strip():
        shown = _plain(text, message, place).strip()
        return shown if len(shown) <= BODY_CHARACTERS else f"{shown[: BODY_CHARACTERS - 1]}…"
    if message["type"] == MessageType.CALL:
        return "Started a call"
    if message["attachments"]:
        return f"Sent {_counted('file', message['attachments'], 'filename')}"
    if message["stickers"]:
        return f"Sent {_counted('sticker', message['stickers'], 'name')}"
    if message.get("message_snapshots"):
        return "Forwarded a message"
    titles = [embed["title"] for embed in message["embeds"] if embed.get("title")]
    return str(titles[0])[:BODY_CHARACTERS] if titles else "Sent a message"


def _counted(what: str, items: list[Mapping[str, Any]], name: str) -> str:
    return f"a {what}: {items[0][name]}"[:BODY_CHARACTERS] if len(items) == 1 else f"{len(items)} {what}s"


def _title(message: Mapping[str, Any], place: NotificationPlace) -> str:
    author = _name(message["author"])
    nick = (message.get("member") or {}).get("nick") or message.get("nicks", {}).get(message["author"]["id"])
    who = str(nick or author)
    if place.guild_id is not None:
        return f"{who} (#{_short(place.name)}, {_short(place.guild_name)})"
    return who if place.name is None else f"{who} ({_short(place.name)})"


def _short(name: str | None) -> str:
    return (name or "")[:PLACE_CHARACTERS]


def _name(user: Mapping[str, Any]) -> str:
    return str(user.get("global_name") or user["username"])


def _icon(author: Mapping[str, Any], origin: str) -> str | None:
    avatar = author.get("avatar")
    return None if avatar is None else f"{origin}/media/avatars/{author['id']}/{avatar}.webp"


def _plain(text: str, message: Mapping[str, Any], place: NotificationPlace) -> str:
    users = {user["id"]: _name(user) for user in message["mentions"]}

    def shown(mention: Mention) -> str:
        match mention.kind:
            case "user":
                return f"@{users.get(mention.value, 'unknown')}"
            case "role":
                return f"@{place.role_names.get(int(mention.value), 'unknown')}"
            case "channel":
                return f"#{place.channel_names.get(int(mention.value), 'unknown')}"
            case "emoji":
                return f":{mention.value.partition(':')[0]}:"
            case _:
                return f"@{mention.value}"

    # What is hidden in the app is not shown on a locked screen.
    pieces = [(start, end, "\u25ae" * min(end - start - len("||||"), 8)) for start, end in spoilers_in(text)]
    pieces.extend((mention.start, mention.end, shown(mention)) for mention in mentions_in(text))
    said: list[str] = []
    at = 0
    for start, end, words in sorted(pieces):
        if start >= at:  # what lies in a spoiler is gone with it
            said.extend((text[at:start], words))
            at = end
    return _CONTROL.sub(" ", "".join([*said, text[at:]]))
