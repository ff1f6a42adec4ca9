"""What sessions hear of messages (gateway.md, Audiences)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from chat.bus.audience import Audience, Mentions, ToChannel, ToThread
from chat.bus.bus import Event
from chat.clock import iso_timestamp
from chat.domain.messages.message_threads import speaks_of_threads, without_threads
from chat.domain.standing.access import ChannelAccess
from chat.registries.events import EventName
from chat.registries.message_types import THREAD_MESSAGE_TYPES
from chat.store.messages.messages import Message


def message_created(access: ChannelAccess, message: Message, wire: Mapping[str, Any], *, here: bool = False) -> Event:
    """MESSAGE_CREATE for everyone who sees the channel; `here` says that the message mentions who is there."""
    place = access.place_of(_member_id(message))
    data = {**wire, **place, **access.names(), "channel_type": access.channel.type}
    if here:
        data["mention_here"] = True
    return _told(EventName.MESSAGE_CREATE, message, data, access.audience(), _mentions(message, here))


def message_updated(access: ChannelAccess, message: Message, wire: Mapping[str, Any]) -> Event:
    """MESSAGE_UPDATE with the whole message, for everyone who may read it."""
    data = {**wire, **access.place_of(_member_id(message))}
    return _told(EventName.MESSAGE_UPDATE, message, data, access.audience(message.id))


def message_changed(message: Message, wire: Mapping[str, Any], place: Mapping[str, Any], audience: Audience) -> Event:
    """As `message_updated`, for what nobody did: `place` and `audience` are those of an event of the same message."""
    if isinstance(audience, ToChannel | ToThread):
        audience = attrs.evolve(audience, message_id=message.id)
    return _told(EventName.MESSAGE_UPDATE, message, {**wire, **place}, audience)


def message_saved(message: Message, wire: Mapping[str, Any], audience: Audience) -> Event:
    """SAVED_MESSAGE_CREATE with the message as the account sees it."""
    return _told(EventName.SAVED_MESSAGE_CREATE, message, dict(wire), audience)


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


def _told(
    name: EventName, message: Message, data: dict[str, Any], audience: Audience, mentions: Mentions | None = None
) -> Event:
    """The event, with what sessions get of it that know no threads (gateway.md, Sessions without threads)."""
    if message.type in THREAD_MESSAGE_TYPES:
        return Event(name, data, audience, mentions=mentions, only_threads=True)
    if speaks_of_threads(data):
        return Event(name, without_threads(data), audience, mentions=mentions, thread_data=data)
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
