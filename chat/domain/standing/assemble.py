"""Puts the area together: who may see and do what."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from chat.classes import frozen
from chat.domain.ground import Ground
from chat.domain.standing.access import Access
from chat.domain.standing.audit_log import AuditLog
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.relationships import Relationships
from chat.domain.standing.rosters import Rosters
from chat.domain.standing.thread_access import ChannelWitness, ThreadLookup, stored_access
from chat.domain.standing.user_objects import find_partial_user
from chat.store.accounts.accounts import Account


@frozen(kw_only=True)
class StandingArea:
    guild_states: GuildStates
    relationships: Relationships
    private_channels: PrivateChannels
    thread_lookup: ThreadLookup
    rosters: Rosters
    witness: ChannelWitness
    access: Access
    audit_log: AuditLog


def assemble(
    ground: Ground,
    guild_states: GuildStates,
    *,
    has_factor: Callable[[Account], bool],
    is_in_voice: Callable[[int, int], bool],
) -> StandingArea:
    """Build the area.

    `has_factor` says whether an account holds a second factor, `is_in_voice` whether an account is connected to a
    channel.
    """
    database, bus, clock, snowflakes = ground.database, ground.bus, ground.clock, ground.snowflakes
    partial_user_of = partial(find_partial_user, database)
    private_channels = PrivateChannels(database, bus, snowflakes, ground.settings, partial_user_of=partial_user_of)
    thread_lookup = ThreadLookup(database)
    access = Access(
        guild_states,
        private_channels.find,
        thread_lookup.find,
        has_factor,
        is_in_voice,
        partial(stored_access, guild_states, private_channels, is_in_voice, clock),
    )
    return StandingArea(
        guild_states=guild_states,
        relationships=Relationships(database, bus, clock, partial_user_of=partial_user_of),
        private_channels=private_channels,
        thread_lookup=thread_lookup,
        rosters=Rosters(database, bus),
        witness=ChannelWitness(guild_states, private_channels, thread_lookup),
        access=access,
        audit_log=AuditLog(database, access, bus, clock, snowflakes),
    )
