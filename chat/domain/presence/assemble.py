"""Puts the area together: presences, voice states and calls that are going on."""

from __future__ import annotations

from functools import partial

from chat.classes import frozen
from chat.domain.ground import Ground
from chat.domain.policy.assemble import PolicyArea
from chat.domain.presence.account_events import AccountEvents
from chat.domain.presence.calls import ActiveCalls
from chat.domain.presence.presences import Presences, are_acquainted, presence_audience
from chat.domain.presence.voice_connections import VoiceRegions
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.assemble import StandingArea
from chat.domain.standing.guild_objects import is_animated
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.user_objects import find_partial_user
from chat.store.standing import private_channels


@frozen(kw_only=True)
class PresenceArea:
    presences: Presences
    voice_states: VoiceStates
    voice_regions: VoiceRegions
    active_calls: ActiveCalls
    account_events: AccountEvents


def voice_states(ground: Ground, guild_states: GuildStates) -> VoiceStates:
    """The voice states, on which the access of members who are connected rests."""
    reader = ground.database.reader
    return VoiceStates(
        ground.bus,
        guild_states,
        ground.clock,
        random_hex=ground.random_hex,
        recipients_of=lambda channel_id: private_channels.recipient_ids(reader, channel_id),
    )


def assemble(ground: Ground, standing: StandingArea, policy: PolicyArea, voice_states: VoiceStates) -> PresenceArea:
    """Build the area."""
    database, bus, clock, settings = ground.database, ground.bus, ground.clock, ground.settings
    presences = Presences(
        bus,
        clock,
        friends_of=partial(presence_audience, database),
        partial_user_of=partial(find_partial_user, database),
        are_acquainted=partial(are_acquainted, database),
        is_animated=partial(is_animated, database),
        blocks_text=policy.blocked.blocks_text,
    )
    return PresenceArea(
        presences=presences,
        voice_states=voice_states,
        voice_regions=VoiceRegions(settings.voice, standing.access),
        active_calls=ActiveCalls(voice_states),
        account_events=AccountEvents(database, bus, clock, settings, standing.guild_states),
    )
