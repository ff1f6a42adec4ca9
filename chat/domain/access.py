"""The only way to hold a guild or a channel in an operation: whoever has one has passed the checks.

They come in one order (design 7, order of checks on guild routes): existence, whether this node knows the guild,
availability, membership, permission. Each method raises the refusal of the first that fails.
"""

from __future__ import annotations

from typing import Final

import attrs

from chat.auth.principal import Principal
from chat.domain.guild_states import Channel, GuildState, GuildStates, Member
from chat.errors import ApiError
from chat.registries.permissions import Permission
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_at

CHANNEL_THREADS: Final = "channel_threads"
"""The client capability that lets a user session see threads (wire facts 3.3)."""

STAFF: Final = UserFlag.STAFF.value
VIEW_CHANNEL: Final = Permission.VIEW_CHANNEL.value
READ_MESSAGE_HISTORY: Final = Permission.READ_MESSAGE_HISTORY.value


@attrs.frozen
class GuildAccess:
    """A guild, the caller's membership in it and what the caller may do there."""

    state: GuildState
    member: Member
    permissions: int


@attrs.frozen
class ChannelAccess:
    """A channel that the caller sees, in its guild, and what the caller may do in it."""

    state: GuildState
    member: Member
    channel: Channel
    permissions: int

    def may(self, permission: int) -> bool:
        """Whether the caller holds the bit in the channel."""
        return bool(self.permissions & permission)

    def require(self, permission: int) -> None:
        """Raise MISSING_PERMISSIONS unless the caller holds every one of these bits in the channel."""
        if self.permissions & permission != permission:
            raise ApiError("MISSING_PERMISSIONS")


class Access:
    """Gives access to guilds and channels, or refuses it."""

    def __init__(self, guild_states: GuildStates) -> None:
        self._guild_states = guild_states

    def guild(self, principal: Principal, guild_id: int, permission: int = 0) -> GuildAccess:
        """A guild that the caller is in, with every bit of `permission`.

        :raises ApiError: UNKNOWN_GUILD, ACCESS_DENIED (stored, but not known to this node), MISSING_ACCESS
            (unavailable), MISSING_PERMISSIONS (not a member, or lacking a bit); document 001, Endpoints.
        """
        state = self._guild_states.get(guild_id)
        if state is None:
            raise ApiError("UNKNOWN_GUILD")
        member = self._membership(principal, state)
        permissions = state.member_permissions(member)
        if permissions & permission != permission:
            raise ApiError("MISSING_PERMISSIONS")
        return GuildAccess(state, member, permissions)

    def channel(self, principal: Principal, channel_id: int, permission: int = 0) -> ChannelAccess:
        """A channel of a guild that the caller sees, with every bit of `permission`.

        :raises ApiError: UNKNOWN_CHANNEL; otherwise as `guild`, with MISSING_PERMISSIONS for a channel not seen.
        """
        guild_id = self._guild_states.guild_of_channel(channel_id)
        state = None if guild_id is None else self._guild_states.get(guild_id)
        channel = None if state is None else state.channels.get(channel_id)
        if state is None or channel is None:
            raise ApiError("UNKNOWN_CHANNEL")
        member = self._membership(principal, state)
        permissions = state.member_permissions(member, channel_id)
        if not (permissions & VIEW_CHANNEL or state.can_view(principal.user_id, channel_id)):
            raise ApiError("MISSING_PERMISSIONS")
        if permissions & permission != permission:
            raise ApiError("MISSING_PERMISSIONS")
        return ChannelAccess(state, member, channel, permissions)

    def require_open(self, principal: Principal, state: GuildState) -> None:
        """Raise ACCESS_DENIED or MISSING_ACCESS for a guild that nobody, or not this account, may enter now."""
        if state.id in self._guild_states.missing_guild_ids:
            raise ApiError("ACCESS_DENIED")
        if state.unavailable_for(bool(principal.account.flags & STAFF)):
            raise ApiError("MISSING_ACCESS")

    def _membership(self, principal: Principal, state: GuildState) -> Member:
        self.require_open(principal, state)
        member = state.member(principal.user_id)
        if member is None:
            raise ApiError("MISSING_PERMISSIONS")
        return member


def history_floor(access: ChannelAccess) -> int | None:
    """The least id of a message that the caller may read in the channel; None when it may read none (document 001,
    message_history_cutoff)."""
    if access.permissions & READ_MESSAGE_HISTORY:
        return 0
    cutoff = access.state.guild.message_history_cutoff
    return None if cutoff is None else snowflake_at(cutoff)


def sees_threads(principal: Principal) -> bool:
    """Whether the caller is shown threads and their bits: a bot, or a session that declared the capability."""
    return principal.is_bot or CHANNEL_THREADS in principal.capabilities
