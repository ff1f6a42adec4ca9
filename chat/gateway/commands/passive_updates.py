"""Passive Updates (gateway.md, Passive sessions): what passive sessions missed in a large guild, in brief, every 30 s.

Who is in voice they hear at once; where that changed, the update repeats it as a whole.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import trio

from chat.bus.audience import ToChannel
from chat.bus.bus import Bus, Event, Turn
from chat.domain.presence.voice_states import VoiceStates
from chat.gateway.hub import Hub
from chat.gateway.rooms import GuildRoom
from chat.gateway.session import GatewaySession
from chat.registries.channel_types import ChannelType
from chat.registries.events import EventName
from chat.registries.limits import PASSIVE_GUILD_MEMBERS, PASSIVE_UPDATES_MS

UPDATE_SECONDS: Final = PASSIVE_UPDATES_MS / 1000
ACCOUNTS_PER_TURN: Final = 512
"""Accounts judged before other tasks get a turn."""


@attrs.define(eq=False)
class PassiveUpdates:
    """Tells passive sessions where messages were written, and who is in voice. Hears the bus."""

    _hub: Hub
    _bus: Bus
    _voice_states: VoiceStates
    _written: dict[int, set[int]] = attrs.field(factory=dict, init=False)
    """Since the last round: for each large guild the channels with a new message."""
    _spoken: set[int] = attrs.field(factory=set, init=False)
    """Since the last round: the large guilds where an account joined, changed or left voice."""
    _something: trio.Event = attrs.field(factory=trio.Event, init=False)

    def __attrs_post_init__(self) -> None:
        self._bus.subscribe_events((EventName.MESSAGE_CREATE,), self._message_written, Turn.DELIVERY)
        self._bus.subscribe_events((EventName.VOICE_STATE_UPDATE,), self._voice_changed, Turn.DELIVERY)

    def _message_written(self, event: Event) -> None:
        match event.audience:
            case ToChannel(guild_id, channel_id) if self._is_large(guild_id):
                self._written.setdefault(guild_id, set()).add(channel_id)
                self._something.set()

    def _voice_changed(self, event: Event) -> None:
        match event.audience:
            case ToChannel(guild_id) if self._is_large(guild_id):
                self._spoken.add(guild_id)
                self._something.set()

    async def run(self) -> None:
        """Send a round every 30,000 ms, where there is something to tell; runs until cancelled."""
        began = trio.current_time()
        while True:
            await self._something.wait()
            await trio.sleep(UPDATE_SECONDS - (trio.current_time() - began) % UPDATE_SECONDS)
            self._something = trio.Event()
            written, self._written = self._written, {}
            spoken, self._spoken = self._spoken, set()
            for guild_id in {**written, **dict.fromkeys(spoken)}:
                room = self._hub.rooms.get(guild_id)
                if room is not None and room.available_to_members:
                    await self._tell(room, written.get(guild_id, set()), voice=guild_id in spoken)

    def _is_large(self, guild_id: int) -> bool:
        room = self._hub.rooms.get(guild_id)
        return room is not None and room.state.member_count > PASSIVE_GUILD_MEMBERS

    async def _tell(self, room: GuildRoom, channel_ids: set[int], *, voice: bool) -> None:
        spoken_in = _voice_channels(room) if voice else set()
        addressed: dict[frozenset[int], list[GatewaySession]] = {}
        for position, (user_id, sessions) in enumerate(tuple(room.sessions_by_user.items()), start=1):
            passive = [session for session in sessions if _is_passive(session, room.guild_id)]
            visible = self._visible(room, user_id, channel_ids, spoken_in) if passive else frozenset()
            if visible or (voice and passive):
                addressed.setdefault(visible, []).extend(passive)
            if position % ACCOUNTS_PER_TURN == 0:
                await trio.lowlevel.checkpoint()
        # Taken now, with no turn of others in between: it must not be older than what was told one by one.
        states = self._voice_states.of_guild(room.guild_id) if voice else []
        for visible, receivers in addressed.items():
            last_message_ids = {
                str(channel_id): str(room.state.last_message_id(channel_id))
                for channel_id in sorted(visible & channel_ids)
            }
            data: dict[str, Any] = {"guild_id": str(room.guild_id), "channels": last_message_ids}
            if voice:
                data["voice_states"] = [state for state in states if int(state["channel_id"]) in visible]
            self._hub.send(receivers, EventName.PASSIVE_UPDATES, data)

    def _visible(self, room: GuildRoom, user_id: int, written: set[int], spoken_in: set[int]) -> frozenset[int]:
        connected = {channel_id for channel_id in spoken_in if self._voice_states.is_in_channel(user_id, channel_id)}
        return room.state.visible_channels(user_id) & (written | spoken_in) | connected


def _voice_channels(room: GuildRoom) -> set[int]:
    return {channel.id for channel in room.state.channels.values() if channel.type == ChannelType.GUILD_VOICE}


def _is_passive(session: GatewaySession, guild_id: int) -> bool:
    return not session.bot and not session.ended and guild_id not in session.active_guilds
