"""What sessions hear of a guild's channels besides seeing them come and go (gateway.md, Audiences)."""

from __future__ import annotations

from chat.bus.audience import ToChannel
from chat.bus.bus import Event
from chat.domain.standing.guild_state import GuildState
from chat.registries.events import EventName


def channel_updated(state: GuildState, channel_id: int) -> Event:
    """CHANNEL_UPDATE with the whole channel, for those who see it."""
    return Event(
        EventName.CHANNEL_UPDATE,
        state.channel_object(channel_id, threads=False),
        ToChannel(state.id, channel_id),
        thread_data=state.channel_object(channel_id, threads=True),
    )
