"""What sessions hear of messages in guilds (wire facts 1.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chat.bus.audience import Mentions, ToChannel
from chat.bus.bus import Event
from chat.domain.guild_states import Channel, GuildState
from chat.registries.events import EventName
from chat.store.messages import Message


def message_created(
    state: GuildState, channel: Channel, message: Message, wire: Mapping[str, Any], *, here: bool = False
) -> Event:
    """MESSAGE_CREATE for everyone who sees the channel; `here` says that the message mentions who is there."""
    data = {**wire, **_author_in_guild(state, message), "channel_type": channel.type}
    if here:
        data["mention_here"] = True
    return Event(EventName.MESSAGE_CREATE, data, ToChannel(state.id, channel.id), mentions=_mentions(message, here))


def message_updated(state: GuildState, message: Message, wire: Mapping[str, Any]) -> Event:
    """MESSAGE_UPDATE with the whole message, for everyone who may read it."""
    data = {**wire, **_author_in_guild(state, message)}
    return Event(EventName.MESSAGE_UPDATE, data, ToChannel(state.id, message.channel_id, message_id=message.id))


def message_deleted(guild_id: int, message: Message) -> Event:
    """MESSAGE_DELETE, for everyone who could read it."""
    data = {
        "id": str(message.id),
        "channel_id": str(message.channel_id),
        "guild_id": str(guild_id),
        "author_id": str(message.author_id),
        "content": message.content,
    }
    return Event(EventName.MESSAGE_DELETE, data, ToChannel(guild_id, message.channel_id, message_id=message.id))


def _author_in_guild(state: GuildState, message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {"guild_id": str(state.id)}
    member = None if message.webhook_id is not None else state.member(message.author_id)
    if member is not None:
        data["member"] = state.member_object(member, None)
    return data


def _mentions(message: Message, here: bool) -> Mentions | None:
    if not (message.mention_everyone or message.mentioned_user_ids or message.mentioned_role_ids):
        return None
    return Mentions(
        everyone=message.mention_everyone and not here,
        here=here,
        user_ids=frozenset(message.mentioned_user_ids),
        role_ids=frozenset(message.mentioned_role_ids),
    )
