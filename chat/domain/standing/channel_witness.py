"""Channels as nobody in particular holds them: for what the instance itself does in them."""

from __future__ import annotations

from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.guild_states import GuildStates, Member
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.thread_access import ThreadLookup


class ChannelWitness:
    """Finds any channel of the instance, for its audience; it asks nobody's permission.

    What the witness may do in the channel says nothing: in a guild it stands where the owner stands, in a conversation
    where one of its accounts does.
    """

    def __init__(
        self, guild_states: GuildStates, private_channels: PrivateChannels, thread_lookup: ThreadLookup
    ) -> None:
        self._guild_states = guild_states
        self._private_channels = private_channels
        self._thread_lookup = thread_lookup

    def of(self, channel_id: int) -> ChannelAccess | None:
        """The channel; None where it is gone, or where its guild is not known to this node."""
        guild_id = self._guild_states.guild_of_channel(channel_id)
        if guild_id is None:
            return self._private_channels.of_anybody(channel_id)
        state = self._guild_states.get(guild_id)
        if state is None:
            return None
        witness = Member(guild_id, state.guild.owner_id, 0)
        channel = state.channels.get(channel_id)
        if channel is None:
            return self._thread_lookup.find(state, witness, channel_id)
        return GuildChannelAccess(witness.user_id, channel, 0, state, witness)
