"""What the gateway sends of a guild that changed (gateway.md, Audiences), and of one that it does not send whole."""

from __future__ import annotations

from chat import wire
from chat.bus.audience import ToChannel, ToGuild
from chat.bus.bus import Event
from chat.domain.standing.guild_states import GuildState
from chat.registries.events import EventName
from chat.registries.guild_features import GuildFeature


def guild_updated(state: GuildState) -> Event:
    """GUILD_UPDATE with the guild object, for its members."""
    data = {**state.guild_object(), "guild_id": str(state.id)}
    return Event(EventName.GUILD_UPDATE, data, ToGuild(state.id))


def channel_updated(state: GuildState, channel_id: int) -> Event:
    """CHANNEL_UPDATE with the whole channel, for those who see it."""
    return Event(
        EventName.CHANNEL_UPDATE,
        state.channel_object(channel_id, threads=False),
        ToChannel(state.id, channel_id),
        thread_data=state.channel_object(channel_id, threads=True),
    )


def unavailable_guild(state: GuildState) -> wire.UnavailableGuild:
    """The stub that stands for a guild that is closed to the session, or not sent yet."""
    stub: wire.UnavailableGuild = {"id": str(state.id), "unavailable": True}
    if GuildFeature.UNAVAILABLE_HIDDEN in state.guild.features:
        stub["unavailable_hidden"] = True
    return stub
