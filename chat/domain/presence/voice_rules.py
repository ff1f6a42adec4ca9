"""Who may enter a guild's voice channel, and what they may show there (gateway.md, Voice State Update; permissions.md,
Masks).

USE_VAD has no trace here: by voice or by key is a matter between a client and a media server.
"""

from __future__ import annotations

from typing import Final

import attrs

from chat.clock import Clock
from chat.domain.presence.voice_connections import VoiceCaller, VoiceConnections, VoiceRefusal, VoiceState
from chat.domain.standing.channel_objects import VOICE_CONNECTION_LIMIT
from chat.domain.standing.guild_states import Channel, GuildStates
from chat.domain.standing.verification import is_unclaimed
from chat.registries.channel_types import ChannelType
from chat.registries.permissions import Permission

CONNECTIONS_PER_ACCOUNT: Final = 100
"""Voice connections that an account may have in all channels together: as many as one channel may allow."""

VIEW_CHANNEL: Final = Permission.VIEW_CHANNEL.value
CONNECT: Final = Permission.CONNECT.value
STREAM: Final = Permission.STREAM.value
MOVE_MEMBERS: Final = Permission.MOVE_MEMBERS.value


class VoiceRules:
    """Judges by what the guild in memory says now, and by who is connected already."""

    def __init__(self, guild_states: GuildStates, connections: VoiceConnections, clock: Clock) -> None:
        self._guild_states = guild_states
        self._connections = connections
        self._clock = clock

    def refusal(
        self, caller: VoiceCaller, guild_id: int, channel_id: int, *, is_new: bool = False
    ) -> VoiceRefusal | None:
        """Why the caller may not enter the channel, with a connection that `is_new` or comes from another channel."""
        state = self._guild_states.get(guild_id)
        member = None if state is None else state.member(caller.user_id)
        if state is None or member is None or self._is_closed(guild_id, caller):
            return VoiceRefusal.UNKNOWN_GUILD
        channel = state.channels.get(channel_id)
        mask = state.permissions(caller.user_id, channel_id)
        if channel is None or channel.type != ChannelType.GUILD_VOICE or not mask & VIEW_CHANNEL:
            return VoiceRefusal.UNKNOWN_CHANNEL
        if not mask & CONNECT:
            return VoiceRefusal.MISSING_PERMISSIONS
        if member.is_timed_out(self._clock.now_ms()):
            return VoiceRefusal.COMMUNICATION_DISABLED
        account = state.account(caller.user_id)
        if account is None or is_unclaimed(account):
            return VoiceRefusal.UNCLAIMED_ACCOUNT
        if is_new and self.has_too_many(caller.user_id):
            return VoiceRefusal.TOO_MANY_CONNECTIONS
        return self._no_room(caller.user_id, channel, mask)

    def has_too_many(self, user_id: int) -> bool:
        """Whether the account may have no further connection, wherever."""
        return len(self._connections.of_account(user_id)) >= CONNECTIONS_PER_ACCOUNT

    def permitted(self, state: VoiceState) -> VoiceState:
        """The connection without what its account may not show: camera and screen need STREAM."""
        if state.guild_id is None or not (state.self_video or state.self_stream):
            return state
        guild = self._guild_states.get(state.guild_id)
        if guild is not None and guild.permissions(state.user_id, state.channel_id) & STREAM:
            return state
        return attrs.evolve(state, self_video=False, self_stream=False)

    def _is_closed(self, guild_id: int, caller: VoiceCaller) -> bool:
        state = self._guild_states.get(guild_id)
        missing = guild_id in self._guild_states.missing_guild_ids
        return missing or state is None or state.unavailable_for(caller.is_staff)

    def _no_room(self, user_id: int, channel: Channel, mask: int) -> VoiceRefusal | None:
        """The channel's `user_limit` counts accounts and does not hold for those who may move members, its
        `voice_connection_limit` counts connections of one account and holds for all."""
        connections = self._connections.connections_in(channel.id, user_id)
        full = channel.user_limit and self._connections.accounts_in(channel.id) >= channel.user_limit
        if full and not connections and not mask & MOVE_MEMBERS:
            return VoiceRefusal.CHANNEL_FULL
        limit = channel.voice_connection_limit
        if connections >= (VOICE_CONNECTION_LIMIT if limit is None else limit):
            return VoiceRefusal.TOO_MANY_CONNECTIONS
        return None
