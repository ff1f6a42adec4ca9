"""What sessions hear of messages (wire facts 1.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chat.bus.audience import Mentions
from chat.bus.bus import Event
from chat.domain.access import ChannelAccess
from chat.registries.events import EventName
from chat.store.messages import Message


def message_created(access: ChannelAccess, message: Message, wire: Mapping[str, Any], *, here: bool = False) -> Event:
    """MESSAGE_CREATE for everyone who sees the channel; `here` says that the message mentions who is there."""
    place = access.place_of(_member_id(message))
    data = {**wire, **place, **access.names(), "channel_type": access.channel.type}
    if here:
        data["mention_here"] = True
    return Event(EventName.MESSAGE_CREATE, data, access.audience(), mentions=_mentions(message, here))


def message_updated(access: ChannelAccess, message: Message, wire: Mapping[str, Any]) -> Event:
    """MESSAGE_UPDATE with the whole message, for everyone who may read it."""
    data = {**wire, **access.place_of(_member_id(message))}
    return Event(EventName.MESSAGE_UPDATE, data, access.audience(message.id))


def message_deleted(access: ChannelAccess, message: Message) -> Event:
    """MESSAGE_DELETE, for everyone who could read it."""
    data = {
        "id": str(message.id),
        "channel_id": str(message.channel_id),
        **access.place_of(None),
        "author_id": str(message.author_id),
        "content": message.content,
    }
    return Event(EventName.MESSAGE_DELETE, data, access.audience(message.id))


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
