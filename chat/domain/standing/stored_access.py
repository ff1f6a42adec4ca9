"""Access to guilds and channels as one transaction of the store sees them, for what is judged once more where it is
written (`chat.store.guard`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import attrs

from chat.clock import Clock
from chat.domain.standing.access import Access, ChannelAccess
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.thread_access import ThreadLookup
from chat.store.standing import private_channels


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
