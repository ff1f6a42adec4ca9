"""What sessions hear of messages (gateway.md, Audiences), and messages that the server writes itself: an account
joined, was added to a group, pinned a message ...

An area makes a system message one part of its own unit and publishes it in its own `then`:

    message_id = self._system_messages.new_id()                        # before the unit
    def unit(connection):
        ...                                                            # the change itself
        return self._system_messages.write(
            connection, Message(id=message_id, channel_id=..., author_id=..., type=MessageType.CALL.value, content="",
                                mentioned_user_ids=(...), reference=..., extra=MessageExtra(call={...})))
    def then(written):
        ...                                                            # memory and the domain's own events
        self._system_messages.publish(access, written)

`access` is a `ChannelAccess` of the channel that the message stands in; it is renewed on what memory holds then. In a
conversation outside of guilds give `recipients`, so that the message puts the conversation into their lists, and
`notified`, the accounts whose count of mentions goes up. Services without `SystemMessages` use the two functions below.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat.bus.audience import Audience, Mentions, ToChannel, ToThread
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.messages.message_reading import StoredMessages, with_context
from chat.domain.policy.embeds import Addresses
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.private_channels import PrivateChannelAccess, PrivateChannels
from chat.registries.events import EventName
from chat.registries.guild_values import SystemChannelFlag
from chat.registries.message_types import THREAD_MESSAGE_FLAGS, THREAD_MESSAGE_TYPES, MessageType
from chat.store import threads
from chat.store.guilds import channels
from chat.store.guilds.guilds import Guild
from chat.store.messages import messages, read_states
from chat.store.messages.messages import Message
from chat.store.standing import private_channels

THREAD_FLAGS: Final = THREAD_MESSAGE_FLAGS.value


def message_created(access: ChannelAccess, message: Message, shown: Mapping[str, Any], *, here: bool = False) -> Event:
    """MESSAGE_CREATE for everyone who sees the channel; `here` says that the message mentions who is there."""
    member_id = _member_id(message)
    audience, names, place = access.audience(), access.names(), access.place_of(member_id)
    data = {**shown, **place, **names, "channel_type": access.channel.type}
    if here:
        data["mention_here"] = True
    return _event(EventName.MESSAGE_CREATE, message, data, audience, _mentions(message, here))


def message_updated(access: ChannelAccess, stored: StoredMessages, addresses: Addresses) -> Event:
    """MESSAGE_UPDATE with the whole message, which is the first in `stored`, for everyone who may read it."""
    message = stored.messages[0]
    data = {**stored.object_of(message, addresses), **access.place_of(_member_id(message))}
    return _event(EventName.MESSAGE_UPDATE, message, data, access.audience(message.id))


def message_changed(message: Message, shown: Mapping[str, Any], place: Mapping[str, Any], audience: Audience) -> Event:
    """As `message_updated`, for a change by the server: `place` and `audience` are those of an event of the message."""
    if isinstance(audience, ToChannel | ToThread):
        audience = attrs.evolve(audience, message_id=message.id)
    return _event(EventName.MESSAGE_UPDATE, message, {**shown, **place}, audience)


def message_saved(message: Message, shown: Mapping[str, Any], audience: Audience) -> Event:
    """SAVED_MESSAGE_CREATE with the message as the account sees it."""
    return _event(EventName.SAVED_MESSAGE_CREATE, message, dict(shown), audience)


def message_deleted(access: ChannelAccess, message: Message) -> Event:
    """MESSAGE_DELETE, for everyone who could read it."""
    data = {
        "id": str(message.id),
        "channel_id": str(message.channel_id),
        **access.place_of(None),
        "author_id": str(message.author_id),
        "content": message.content,
    }
    only_threads = message.type in THREAD_MESSAGE_TYPES
    return Event(EventName.MESSAGE_DELETE, data, access.audience(message.id), only_threads=only_threads)


def _event(
    name: EventName, message: Message, data: Mapping[str, Any], audience: Audience, mentions: Mentions | None = None
) -> Event:
    """The event, with what sessions get of it that know no threads (gateway.md, Sessions without threads)."""
    if message.type in THREAD_MESSAGE_TYPES:
        return Event(name, data, audience, mentions=mentions, only_threads=True)
    if _speaks_of_threads(data):
        return Event(name, _without_threads(data), audience, mentions=mentions, thread_data=data)
    return Event(name, data, audience, mentions=mentions)


def messages_deleted(access: ChannelAccess, message_ids: Sequence[int]) -> Event:
    """MESSAGE_DELETE_BULK, for everyone who sees the channel."""
    data = {
        "ids": [str(message_id) for message_id in message_ids],
        "channel_id": str(access.channel.id),
        **access.place_of(None),
    }
    return Event(EventName.MESSAGE_DELETE_BULK, data, access.audience())


def pins_changed(access: ChannelAccess, last_pin: int | None) -> Event:
    """CHANNEL_PINS_UPDATE, for everyone who sees the channel."""
    data = {
        "channel_id": str(access.channel.id),
        "last_pin_timestamp": None if last_pin is None else iso_timestamp(last_pin),
        **access.place_of(None),
    }
    return Event(EventName.CHANNEL_PINS_UPDATE, data, access.audience())


def _member_id(message: Message) -> int | None:
    """The author as a member; a webhook is none."""
    return None if message.webhook_id is not None else message.author_id


def _mentions(message: Message, here: bool) -> Mentions | None:
    if not (message.mention_everyone or message.mentioned_user_ids or message.mentioned_role_ids):
        return None
    return Mentions(
        everyone=message.mention_everyone and not here,
        here=here,
        user_ids=frozenset(message.mentioned_user_ids),
        role_ids=frozenset(message.mentioned_role_ids),
    )


def _speaks_of_threads(shown: Mapping[str, Any]) -> bool:
    """Whether sessions that know no threads get another message object."""
    answered = shown.get("referenced_message")
    return bool(shown["flags"] & THREAD_FLAGS) or (answered is not None and bool(answered["flags"] & THREAD_FLAGS))


def _without_threads(shown: Mapping[str, Any]) -> Mapping[str, object]:
    """The message object for sessions that know no threads; of the message that it answers too."""
    shown = {name: value for name, value in shown.items() if name != "thread"}
    shown["flags"] = shown["flags"] & ~THREAD_FLAGS
    answered = shown.get("referenced_message")
    if answered is not None:
        shown["referenced_message"] = _without_threads(answered)
    return shown


NOT_LAST: Final = frozenset({MessageType.THREAD_CREATED})
"""Messages that are not a channel's last one: sessions that know no threads are not shown them, and would find the
channel unread for ever."""

UNREAD_BY_AUTHOR: Final = frozenset({MessageType.USER_JOIN, MessageType.POLL_RESULT, *THREAD_MESSAGE_TYPES})
"""Messages whose author did not act in the channel, or that not every session of the author hears of. Any other message
is read by its author, if that had read everything before."""


@frozen
class WrittenMessage:
    """A system message as it is stored, with what its wire object needs."""

    message: Message
    stored: StoredMessages
    shown: list[int]
    """The accounts whose lists did not show the conversation."""


def write_system_message(
    connection: sqlite3.Connection, message: Message, *, recipients: Sequence[int] = (), notified: Sequence[int] = ()
) -> WrittenMessage | None:
    """In a unit: write the message, with what it means for its channel; None when the channel is gone."""
    newest_id = channels.last_message_of(connection, message.channel_id)
    if not messages.insert(connection, message):
        return None
    if message.type not in NOT_LAST:
        channels.set_last_message(connection, message.channel_id, message.id)
    threads.count_message(connection, message.channel_id)
    if message.type not in UNREAD_BY_AUTHOR:
        read_states.read_on(connection, message.author_id, message.channel_id, newest_id, message.id)
    if notified:
        read_states.add_mention(connection, message.channel_id, notified)
    shown = private_channels.show(connection, message.channel_id, *recipients) if recipients else []
    return WrittenMessage(message, with_context(connection, [message]), shown)


def system_message_created(access: ChannelAccess, written: WrittenMessage, addresses: Addresses) -> Event:
    """The event of a system message, for after the commit."""
    if written.message.type not in NOT_LAST:
        access.note_message(written.message.id)
    return message_created(access, written.message, written.stored.object_of(written.message, addresses))


@define(kw_only=True, eq=False)
class SystemMessages:
    """Writes and publishes system messages for other services."""

    _core: Core
    _private_channels: PrivateChannels

    def new_id(self) -> int:
        """The id of a message to be."""
        return self._core.snowflakes()

    write = staticmethod(write_system_message)

    def publish(self, access: ChannelAccess, written: WrittenMessage | None) -> None:
        """After the commit: publish the message to all who see the channel; does nothing if none was written."""
        renewed = None if written is None else self._core.access.renewed(access)
        if written is None or renewed is None:
            return
        if isinstance(renewed, PrivateChannelAccess):
            self._private_channels.shown(renewed, written.shown)
        self._core.bus.publish(system_message_created(renewed, written, self._core.media_addresses))


def write_join_message(
    connection: sqlite3.Connection, guild: Guild, user_id: int, message_id: int
) -> WrittenMessage | None:
    """In a unit: tell the guild's system channel that the account joined (guilds.md, System messages); None where the
    guild wants no such message."""
    suppressed = guild.system_channel_flags & SystemChannelFlag.SUPPRESS_JOIN_NOTIFICATIONS.value
    if guild.system_channel_id is None or suppressed:
        return None
    joined = Message(message_id, guild.system_channel_id, user_id, MessageType.USER_JOIN.value, content="")
    return write_system_message(connection, joined)
