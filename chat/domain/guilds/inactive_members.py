"""Members who do nothing while they are in voice: they move to the guild's AFK channel (guilds.md, AFK channel), if
they see it.

Clients say when nobody touches them (`afk` of a presence). An account is inactive while all of its sessions say so;
what counts is how long that has been seen here. On the way it is looked whose time-out is over.
"""

from __future__ import annotations

from typing import Final

import trio

from chat.bus.bus import Event
from chat.domain.core import Core
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.registries.channel_types import ChannelType
from chat.registries.events import EventName

LOOK_SECONDS: Final = 5.0
"""How often it is looked who is inactive, while anybody is in voice."""


class InactiveMembers:
    """Moves inactive members. Hears the bus."""

    def __init__(self, core: Core, presences: Presences, voice_states: VoiceStates) -> None:
        self._core = core
        self._presences = presences
        self._voice_states = voice_states
        self._since: dict[int, int] = {}
        """Since when (Unix milliseconds) accounts in voice are seen inactive."""
        self._somebody_came = trio.Event()
        core.bus.subscribe_events((EventName.VOICE_STATE_UPDATE,), self._voice_changed)

    def _voice_changed(self, event: Event) -> None:
        """Note that somebody is in voice; `run` does the rest."""
        self._somebody_came.set()

    async def run(self) -> None:
        """Look who is inactive until cancelled; sleeps while nobody is in voice."""
        while True:
            self._somebody_came = trio.Event()
            if not self._look():
                await self._somebody_came.wait()
            await trio.sleep(LOOK_SECONDS)

    def _look(self) -> bool:
        """Move whoever is inactive for long enough; whether anybody is in voice."""
        connections = self._voice_states.every()
        now_ms = self._core.clock.now_ms()
        away = {state.user_id for state in connections if self._presences.is_away(state.user_id)}
        self._since = {user_id: self._since.get(user_id, now_ms) for user_id in away}
        for state in connections:
            guild = None if state.guild_id is None else self._core.guild_states.loaded(state.guild_id)
            if guild is None or state.user_id not in away:
                continue
            afk_channel = guild.channels.get(guild.guild.afk_channel_id or 0)
            if afk_channel is None or afk_channel.type != ChannelType.GUILD_VOICE:
                continue
            is_due = now_ms - self._since[state.user_id] >= guild.guild.afk_timeout * 1_000
            if is_due and guild.can_view(state.user_id, afk_channel.id):
                self._voice_states.move(state.connection_id, afk_channel.id)
        self._voice_states.timeouts_looked_at()
        return bool(connections)
