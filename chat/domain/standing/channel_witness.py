"""Access beside that of an operation's caller: what the instance itself does in a channel (`ChannelWitness`), and what
one transaction of the store sees, for what is judged once more where it is written (`stored_access`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import attrs

from chat.clock import Clock
from chat.domain.standing.access import Access, ChannelAccess, GuildChannelAccess
from chat.domain.standing.guild_states import GuildStates, Member
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.thread_access import ThreadLookup
from chat.store.standing import private_channels


@attrs.define(eq=False)
class ChannelWitness:
    """Finds any channel of the instance, for its audience, without any check.

    What the witness may do in the channel says nothing: in a guild it stands where the owner stands, in a conversation
    where one of its accounts does.
    """

    _guild_states: GuildStates
    _private_channels: PrivateChannels
    _thread_lookup: ThreadLookup

    def of(self, channel_id: int) -> ChannelAccess | None:
        """The channel; None if it is gone, or its guild is not known to this node."""
        guild_id = self._guild_states.guild_of_channel(channel_id)
        if guild_id is None:
            return self._private_channels.of_any_account(channel_id)
        state = self._guild_states.get(guild_id)
        if state is None:
            return None
        witness = Member(guild_id, state.guild.owner_id, 0)
        channel = state.channels.get(channel_id)
        if channel is None:
            return self._thread_lookup.find(state, witness, channel_id)
        return GuildChannelAccess(witness.user_id, channel, 0, state, witness)


@attrs.frozen
class _Transaction:
    reader: sqlite3.Connection


def stored_access(
    known: GuildStates,
    conversations: PrivateChannels,
    is_connected: Callable[[int, int], bool],
    clock: Clock,
    connection: sqlite3.Connection,
) -> Access:
    """Access on what the connection reads. Second factors are not asked for anew."""
    transaction = _Transaction(connection)
    states = GuildStates(transaction, clock)
    states.missing_guild_ids = known.missing_guild_ids

    def conversation(user_id: int, channel_id: int) -> ChannelAccess | None:
        private = private_channels.by_id(connection, channel_id)
        if private is None or user_id not in private.recipient_ids:
            return None
        return conversations.access(private, user_id)

    return Access(states, conversation, ThreadLookup(transaction).find, is_connected=is_connected)
