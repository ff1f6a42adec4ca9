"""Messages that the server writes itself: an account joined, was added to a group, pinned a message ...

An area makes one part of its own unit and publishes it in its own `then`:

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
from collections.abc import Sequence
from typing import Final

import attrs

from chat.bus.bus import Event
from chat.domain.core import Core
from chat.domain.messages.message_events import message_created
from chat.domain.messages.message_reading import StoredMessages, with_context
from chat.domain.policy.embeds import Addresses
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.private_channels import PrivateChannelAccess, PrivateChannels
from chat.registries.guild_values import SystemChannelFlag
from chat.registries.message_types import THREAD_MESSAGE_TYPES, MessageType
from chat.store import threads
from chat.store.guilds import channels
from chat.store.guilds.guilds import Guild
from chat.store.messages import messages, read_states
from chat.store.messages.messages import Message
from chat.store.standing import private_channels

NOT_LAST: Final = frozenset({MessageType.THREAD_CREATED})
"""Messages that are not a channel's last one: sessions that know no threads are not shown them, and would find the
channel unread for ever."""

UNREAD_BY_AUTHOR: Final = frozenset({MessageType.USER_JOIN, *THREAD_MESSAGE_TYPES})
"""Messages whose author did not act in the channel, or that not every session of the author hears of. Any other message
is read by its author, if that had read everything before."""


@attrs.frozen
class WrittenMessage:
    """A system message as it is stored, with what its wire object needs."""

    message: Message
    stored: StoredMessages
    shown: list[int]
    """Those in whose lists the conversation was not."""


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
    return message_created(access, written.message, written.stored.wire(written.message, addresses))


@attrs.define(kw_only=True, eq=False)
class SystemMessages:
    """Writes and publishes system messages for other services."""

    _core: Core
    _private_channels: PrivateChannels

    def new_id(self) -> int:
        """The id of a message to be."""
        return self._core.snowflakes()

    write = staticmethod(write_system_message)

    def publish(self, access: ChannelAccess, written: WrittenMessage | None) -> None:
        """After the commit: tell everyone who sees the channel; nothing happens where nothing was written."""
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
