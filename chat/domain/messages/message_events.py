"""What sessions hear of messages (gateway.md, Audiences)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat.bus.audience import Audience, Mentions, ToChannel, ToThread
from chat.bus.bus import Event
from chat.clock import iso_timestamp
from chat.domain.messages.message_reading import StoredMessages
from chat.domain.policy.embeds import Addresses
from chat.domain.standing.access import ChannelAccess
from chat.registries.events import EventName
from chat.registries.message_types import THREAD_MESSAGE_FLAGS, THREAD_MESSAGE_TYPES
from chat.store.messages.messages import Message

THREAD_FLAGS: Final = THREAD_MESSAGE_FLAGS.value


def message_created(access: ChannelAccess, message: Message, wire: Mapping[str, Any], *, here: bool = False) -> Event:
    """MESSAGE_CREATE for everyone who sees the channel; `here` says that the message mentions who is there."""
    place = access.place_of(_member_id(message))
    data = {**wire, **place, **access.names(), "channel_type": access.channel.type}
    if here:
        data["mention_here"] = True
    return _event(EventName.MESSAGE_CREATE, message, data, access.audience(), _mentions(message, here))


def message_updated(access: ChannelAccess, stored: StoredMessages, addresses: Addresses) -> Event:
    """MESSAGE_UPDATE with the whole message, which is the first in `stored`, for everyone who may read it."""
    message = stored.messages[0]
    data = {**stored.wire(message, addresses), **access.place_of(_member_id(message))}
    return _event(EventName.MESSAGE_UPDATE, message, data, access.audience(message.id))


def message_changed(message: Message, wire: Mapping[str, Any], place: Mapping[str, Any], audience: Audience) -> Event:
    """As `message_updated`, for a change by the server: `place` and `audience` are those of an event of the message."""
    if isinstance(audience, ToChannel | ToThread):
        audience = attrs.evolve(audience, message_id=message.id)
    return _event(EventName.MESSAGE_UPDATE, message, {**wire, **place}, audience)


def message_saved(message: Message, wire: Mapping[str, Any], audience: Audience) -> Event:
    """SAVED_MESSAGE_CREATE with the message as the account sees it."""
    return _event(EventName.SAVED_MESSAGE_CREATE, message, dict(wire), audience)


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
    name: EventName, message: Message, data: dict[str, Any], audience: Audience, mentions: Mentions | None = None
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


def _speaks_of_threads(wire: Mapping[str, Any]) -> bool:
    """Whether sessions that know no threads get another message object."""
    answered = wire.get("referenced_message")
    return bool(wire["flags"] & THREAD_FLAGS) or (answered is not None and bool(answered["flags"] & THREAD_FLAGS))


def _without_threads(wire: Mapping[str, Any]) -> dict[str, Any]:
    """The message object for sessions that know no threads; of the message that it answers too."""
    shown = {name: value for name, value in wire.items() if name != "thread"}
    shown["flags"] = wire["flags"] & ~THREAD_FLAGS
    answered = wire.get("referenced_message")
    if answered is not None:
        shown["referenced_message"] = _without_threads(answered)
    return shown
