"""What an account may do with voice: which voice channels of a guild it may enter, what it may show there, and which
regions may be picked (gateway.md, Voice State Update; permissions.md, Masks; guilds.md, Voice regions).

USE_VAD has no trace here: by voice or by key is a matter between a client and a media server. There is none, so a
region is what the operator names for the clients' own use, and every instance has the automatic one.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

import attrs

from chat.auth.principal import Principal
from chat.clock import Clock
from chat.config.settings import VoiceSettings
from chat.domain.presence.voice_connections import VoiceCaller, VoiceConnections, VoiceRefusal, VoiceState
from chat.domain.standing.access import Access, GuildChannelAccess
from chat.domain.standing.channel_objects import VOICE_CONNECTION_LIMIT
from chat.domain.standing.guild_states import Channel, GuildStates
from chat.domain.standing.verification import is_unclaimed
from chat.errors import ApiError
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_features import GuildFeature
from chat.registries.permissions import Permission

AUTOMATIC: Final = {"id": "automatic", "name": "Automatic", "emoji": "globe"}
"""The nearest one."""

CALL_CHANNEL_TYPES: Final = frozenset({ChannelType.DM, ChannelType.GROUP_DM})
"""Conversations that people call each other in."""

WITH_REGION: Final = frozenset({ChannelType.GUILD_VOICE, *CALL_CHANNEL_TYPES})
"""Kinds of channels that people speak in."""

CONNECTIONS_PER_ACCOUNT: Final = 100
"""Voice connections that an account may have in all channels together: as many as one channel may allow."""


@attrs.define(eq=False)
class VoiceRules:
    """Judges by what the guild in memory says now, and by the connections that there are already."""

    _guild_states: GuildStates
    _connections: VoiceConnections
    _clock: Clock

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
        if channel is None or channel.type != ChannelType.GUILD_VOICE or not mask & Permission.VIEW_CHANNEL:
            return VoiceRefusal.UNKNOWN_CHANNEL
        if not mask & Permission.CONNECT:
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
        if guild is not None and guild.permissions(state.user_id, state.channel_id) & Permission.STREAM:
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
        if full and not connections and not mask & Permission.MOVE_MEMBERS:
            return VoiceRefusal.CHANNEL_FULL
        limit = channel.voice_connection_limit
        if connections >= (VOICE_CONNECTION_LIMIT if limit is None else limit):
            return VoiceRefusal.TOO_MANY_CONNECTIONS
        return None


def region_objects(named: Sequence[str]) -> list[dict[str, str]]:
    """The automatic region and those that the operator named."""
    return [AUTOMATIC, *({"id": region, "name": region, "emoji": "globe"} for region in named)]


@attrs.define(eq=False)
class VoiceRegions:
    """The instance's regions, and which channels may have them."""

    _settings: VoiceSettings
    _access: Access

    def of_channel(self, principal: Principal, channel_id: int) -> list[dict[str, str]]:
        """The regions that a voice channel, or the call of a conversation, may ask for.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE.
        """
        access = self._access.channel(principal, channel_id)
        if access.channel.type not in WITH_REGION:
            raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
        features = access.state.guild.features if isinstance(access, GuildChannelAccess) else frozenset()
        return region_objects(self._named(features))

    def require(self, features: Set[str], region: str | None) -> None:
        """Raise UNKNOWN_VOICE_REGION for one that a guild with these features may not pick."""
        if region is not None and region != AUTOMATIC["id"] and region not in self._named(features):
            raise ApiError(ErrorCode.UNKNOWN_VOICE_REGION)

    def _named(self, features: Set[str]) -> tuple[str, ...]:
        return self._settings.regions + (self._settings.vip_regions if GuildFeature.VIP_VOICE in features else ())
