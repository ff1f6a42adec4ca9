"""Voice connections: each record, who is connected where, what the wire shows (gateway.md, Voice states), and what an
account may do with voice: the channels that it may enter, what it may show there, and the regions that may be picked
(gateway.md, Voice State Update; permissions.md, Masks; guilds.md, Voice regions).

USE_VAD has no trace here: by voice or by key is a matter between a client and a media server. There is none, so a
region is what the operator names for the clients' own use, and every instance has the automatic one.
"""

from __future__ import annotations

import enum
from collections.abc import KeysView, Sequence, Set
from typing import Any, Final, TypedDict

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.clock import Clock
from chat.config.settings import VoiceSettings
from chat.domain.standing.access import Access, GuildChannelAccess
from chat.domain.standing.channel_objects import VOICE_CONNECTION_LIMIT
from chat.domain.standing.guild_states import Channel, GuildState, GuildStates
from chat.domain.standing.user_objects import partial_user
from chat.domain.standing.verification import is_unclaimed
from chat.errors import ApiError
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_features import GuildFeature
from chat.registries.permissions import Permission


class VoiceRefusal(enum.Enum):
    """Why a voice command was rejected: the code and the text of its acknowledgement."""

    UNKNOWN_GUILD = "unknown_guild", "There is no such guild, or you are not in it."
    UNKNOWN_CHANNEL = "unknown_channel", "There is no such voice channel."
    UNKNOWN_CONNECTION = "unknown_connection", "You have no such voice connection."
    MISSING_CONNECTION_ID = "missing_connection_id", "Leaving a guild's voice needs the connection's id."
    MISSING_PERMISSIONS = "missing_permissions", "You may not connect to this channel."
    COMMUNICATION_DISABLED = "communication_disabled", "You are timed out in this guild."
    UNCLAIMED_ACCOUNT = "unclaimed_account", "Claim your account first."
    CHANNEL_FULL = "channel_full", "This channel has no room left."
    TOO_MANY_CONNECTIONS = "too_many_connections", "You have too many connections in this channel."
    STALE_BASE_VERSION = "stale_base_version", "The voice state has changed meanwhile."
    UNAVAILABLE = "unavailable", "The call cannot be started now."

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message


@frozen
class VoiceCaller:
    """The gateway session that a voice command comes from."""

    user_id: int
    session_id: str
    is_staff: bool
    e2ee_capable: bool


@frozen
class VoiceState:
    connection_id: str
    user_id: int
    session_id: str
    guild_id: int | None
    """None in the call of a conversation outside of guilds."""
    channel_id: int
    version: int
    self_mute: bool
    self_deaf: bool
    self_video: bool
    self_stream: bool
    is_mobile: bool
    e2ee_capable: bool
    viewer_stream_keys: tuple[str, ...] = ()


class SelectedState(TypedDict):
    """What an account chooses of its own voice state."""

    self_mute: bool
    self_deaf: bool
    self_video: bool
    self_stream: bool
    is_mobile: bool
    viewer_stream_keys: tuple[str, ...]


@define(eq=False)
class VoiceConnections:
    """All voice connections by their ids, and by session, guild and channel."""

    _states: dict[str, VoiceState] = attrs.field(factory=dict, init=False)
    _by_session: dict[str, dict[str, None]] = attrs.field(factory=dict, init=False)
    _by_account: dict[int, dict[str, None]] = attrs.field(factory=dict, init=False)
    _by_guild: dict[int, dict[str, None]] = attrs.field(factory=dict, init=False)
    _by_channel: dict[int, dict[int, int]] = attrs.field(factory=dict, init=False)
    """For each channel the accounts in it, with how many connections each has there."""

    def get(self, connection_id: str) -> VoiceState | None:
        """The connection of that id, if there is one."""
        return self._states.get(connection_id)

    def every(self) -> list[VoiceState]:
        """All connections."""
        return list(self._states.values())

    def of_session(self, session_id: str) -> list[VoiceState]:
        """The connections of a gateway session."""
        return [self._states[connection_id] for connection_id in self._by_session.get(session_id, ())]

    def of_guild(self, guild_id: int) -> list[VoiceState]:
        """The connections in a guild."""
        return [self._states[connection_id] for connection_id in self._by_guild.get(guild_id, ())]

    def guild_ids(self) -> KeysView[int]:
        """The guilds with connections, at any time that it is looked at."""
        return self._by_guild.keys()

    def of_account(self, user_id: int) -> list[VoiceState]:
        """The connections of an account, wherever they are."""
        return [self._states[connection_id] for connection_id in self._by_account.get(user_id, ())]

    def channels_of(self, guild_id: int, user_id: int) -> frozenset[int]:
        """The channels of a guild that an account is connected to."""
        if user_id not in self._by_account:
            return frozenset()
        return frozenset(state.channel_id for state in self.of_account(user_id) if state.guild_id == guild_id)

    def in_channel(self, channel_id: int) -> list[VoiceState]:
        """The connections in a channel, by account."""
        return [
            state
            for user_id in self._by_channel.get(channel_id, ())
            for state in self.of_account(user_id)
            if state.channel_id == channel_id
        ]

    def accounts_in(self, channel_id: int) -> int:
        """How many accounts are connected to the channel."""
        return len(self._by_channel.get(channel_id, ()))

    def connections_in(self, channel_id: int, user_id: int) -> int:
        """How many connections an account has in the channel."""
        return self._by_channel.get(channel_id, {}).get(user_id, 0)

    def put(self, state: VoiceState) -> None:
        """Add a connection, in place of what it was before."""
        before = self._states.get(state.connection_id)
        if before is not None:
            self.drop(before)
        self._states[state.connection_id] = state
        self._by_session.setdefault(state.session_id, {})[state.connection_id] = None
        self._by_account.setdefault(state.user_id, {})[state.connection_id] = None
        if state.guild_id is not None:
            self._by_guild.setdefault(state.guild_id, {})[state.connection_id] = None
        occupants = self._by_channel.setdefault(state.channel_id, {})
        occupants[state.user_id] = occupants.get(state.user_id, 0) + 1

    def drop(self, state: VoiceState) -> None:
        """Remove a connection."""
        connection_id = state.connection_id
        del self._states[connection_id]
        _discard(self._by_session, state.session_id, connection_id)
        _discard(self._by_account, state.user_id, connection_id)
        if state.guild_id is not None:
            _discard(self._by_guild, state.guild_id, connection_id)
        occupants = self._by_channel[state.channel_id]
        occupants[state.user_id] -= 1
        if not occupants[state.user_id]:
            _discard(self._by_channel, state.channel_id, state.user_id)


def _discard(index: dict[Any, dict[Any, Any]], key: Any, entry: Any) -> None:
    entries = index[key]
    del entries[entry]
    if not entries:
        del index[key]


def voice_state_object(state: VoiceState, guild: GuildState | None, *, left: bool = False) -> wire.VoiceState:
    """The voice state object; `left` shows it as it is told when the connection has left its channel.

    In a call no account is muted, deafened or suppressed.
    """
    member = None if guild is None else _member_object(guild, state.user_id)
    mask = 0 if guild is None else guild.permissions(state.user_id, state.channel_id)
    return {
        "guild_id": None if state.guild_id is None else str(state.guild_id),
        "channel_id": None if left else str(state.channel_id),
        "user_id": str(state.user_id),
        "connection_id": state.connection_id,
        "session_id": state.session_id,
        "member": member,
        "mute": member is not None and member["mute"],
        "deaf": member is not None and member["deaf"],
        "self_mute": state.self_mute,
        "self_deaf": state.self_deaf,
        "self_video": state.self_video,
        "self_stream": state.self_stream,
        "is_mobile": state.is_mobile,
        "suppress": state.guild_id is not None and not mask & Permission.SPEAK,
        "viewer_stream_keys": list(state.viewer_stream_keys),
        "e2ee_capable": state.e2ee_capable,
        "version": state.version,
    }


def _member_object(guild: GuildState, user_id: int) -> wire.Member | None:
    member, account = guild.member(user_id), guild.account(user_id)
    return None if member is None or account is None else guild.member_object(member, partial_user(account))


AUTOMATIC: Final[wire.VoiceRegion] = {"id": "automatic", "name": "Automatic", "emoji": "globe"}
"""The nearest one."""

CALL_CHANNEL_TYPES: Final = frozenset({ChannelType.DM, ChannelType.GROUP_DM})
"""Conversations that people call each other in."""

WITH_REGION: Final = frozenset({ChannelType.GUILD_VOICE, *CALL_CHANNEL_TYPES})
"""Kinds of channels that people speak in."""

CONNECTIONS_PER_ACCOUNT: Final = 100
"""Voice connections that an account may have in all channels together: as many as one channel may allow."""


@define(eq=False)
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


def region_objects(named: Sequence[str]) -> list[wire.VoiceRegion]:
    """The automatic region and those that the operator named."""
    chosen: list[wire.VoiceRegion] = [{"id": region, "name": region, "emoji": "globe"} for region in named]
    return [AUTOMATIC, *chosen]


@define(eq=False)
class VoiceRegions:
    """The instance's regions, and which channels may have them."""

    _settings: VoiceSettings
    _access: Access

    def of_channel(self, principal: Principal, channel_id: int) -> list[wire.VoiceRegion]:
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
