"""What every family of services may stand on (`chat.composition`); `chat.server` makes it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from chat.auth.address_bans import AddressBans
from chat.auth.keys import Keys
from chat.auth.passwords import Passwords
from chat.auth.tokens import TokenMint
from chat.bus.bus import Bus
from chat.clock import Clock
from chat.config import Settings
from chat.config.overrides import Overrides
from chat.domain.administration.instance_figures import GatewayFigures
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.errands import Errands
from chat.domain.policy.origins import Origins
from chat.domain.presence.account_events import AccountEvents
from chat.domain.presence.active_calls import ActiveCalls
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.signing_in.address_lookups import AddressLookups
from chat.domain.signing_in.geolocation import Geolocation
from chat.domain.signing_in.mail_bounces import MailBounces
from chat.domain.signing_in.reverse_dns import ReverseDns
from chat.domain.signing_in.user_agents import UserAgents
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.relationships import Relationships
from chat.domain.standing.rosters import Rosters
from chat.domain.standing.thread_access import ThreadLookup
from chat.snowflake import SnowflakeGenerator
from chat.store.database import Database

if TYPE_CHECKING:
    from chat.mail.outbox import Outbox


@attrs.frozen(kw_only=True)
class Foundations:
    """What every family of services may stand on."""

    settings: Settings
    database: Database
    clock: Clock
    bus: Bus
    chance: random.Random
    snowflakes: SnowflakeGenerator
    origins: Origins
    mint: TokenMint
    keys: Keys
    address_bans: AddressBans
    blocked: BlockedValues
    passwords: Passwords
    guild_states: GuildStates
    relationships: Relationships
    presences: Presences
    voice_states: VoiceStates
    active_calls: ActiveCalls
    rosters: Rosters
    private_channels: PrivateChannels
    thread_lookup: ThreadLookup
    directory: Path
    """The data directory: uploads lie below it."""
    overrides: Overrides
    """What the operator chooses at run time, over `settings`."""
    gateway_figures: Callable[[], GatewayFigures]
    sessions_in: Callable[[int], int]
    """What the gateway has in hand, and how many sessions hear a guild."""
    is_draining: Callable[[], bool]
    """Whether the gateway sends its sessions elsewhere."""
    in_threads: bool
    """Whether long work may leave the loop; a run on virtual time has no threads."""
    account_events: AccountEvents = attrs.field(
        default=attrs.Factory(
            lambda self: AccountEvents(self.database, self.bus, self.clock, self.settings, self.guild_states),
            takes_self=True,
        )
    )
    errands: Errands = attrs.field(default=attrs.Factory(lambda self: Errands(self.database), takes_self=True))
    address_lookups: AddressLookups = attrs.field(
        default=attrs.Factory(lambda self: _address_lookups(self), takes_self=True)
    )
    user_agents: UserAgents = attrs.field(
        default=attrs.Factory(lambda self: UserAgents(in_threads=self.in_threads), takes_self=True)
    )
    outbox: Outbox | None = attrs.field(default=attrs.Factory(lambda self: _outbox(self), takes_self=True))
    """Where mail waits for the SMTP server; None where none is sent."""


def _address_lookups(base: Foundations) -> AddressLookups:
    settings, path = base.settings, base.settings.geolocation_file
    reverse = ReverseDns(settings.reverse_dns.name_servers, in_threads=base.in_threads)
    return AddressLookups(
        reverse if settings.reverse_dns.enabled else None,
        # A relative path starts in the data directory, where chat.toml lies.
        None if path is None else Geolocation(base.directory / path, in_threads=base.in_threads),
    )


def _outbox(base: Foundations) -> Outbox | None:
    """The outbox of an instance that sends mail."""
    if base.settings.mail.mode != "smtp":
        return None
    from chat.mail.outbox import Outbox, Sender  # an instance that sends none starts without smtplib and its like

    sender = Sender.of(base.settings)
    bounces = MailBounces(base.account_events)
    return Outbox(base.database, base.clock, base.chance, base.keys, sender, bounces, in_threads=base.in_threads)
