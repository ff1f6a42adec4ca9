"""Puts the parts of a server together, each once: the areas of the domain from the lowest up, and the gateway on them.

What they stand on are `Surroundings`: sockets, threads and the time of day in production (`chat.serving`), memory and a
virtual clock in the test kit.
"""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from chat.api import buckets
from chat.api.rate_limit import RateLimiter
from chat.auth.address_bans import AddressBans
from chat.auth.client_address import ClientAddresses
from chat.auth.keys import Keys
from chat.auth.passwords import STRONG, HashCost, Passwords
from chat.auth.tokens import TokenMint
from chat.bus.bus import Bus
from chat.classes import frozen
from chat.clock import Clock, MovableClock
from chat.config import Settings
from chat.config.loading import Overrides
from chat.domain.accounts import assemble as accounts
from chat.domain.administration import assemble as administration
from chat.domain.applications import assemble as applications
from chat.domain.areas import Areas
from chat.domain.core import Core
from chat.domain.ground import Ground
from chat.domain.guilds import assemble as guilds
from chat.domain.imports import assemble as imports
from chat.domain.interactions import assemble as interactions
from chat.domain.interactions.answers import Callback
from chat.domain.messages import assemble as messages
from chat.domain.people import assemble as people
from chat.domain.policy import assemble as policy
from chat.domain.policy.assemble import PolicyArea
from chat.domain.policy.origins import Origins
from chat.domain.presence import assemble as presence
from chat.domain.presence.assemble import PresenceArea
from chat.domain.signing_in import assemble as signing_in
from chat.domain.standing import assemble as standing
from chat.domain.standing.assemble import StandingArea
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.verification import has_factor
from chat.domain.threads import assemble as threads
from chat.domain.webhooks import assemble as webhooks
from chat.gateway.gateway import Gateway
from chat.snowflake import SnowflakeGenerator
from chat.store import outside_changes
from chat.store.database import Database

if TYPE_CHECKING:
    from chat.nodes.broker import Broker


@frozen(kw_only=True)
class Surroundings:
    """What a server stands on: everything that a test replaces."""

    settings: Settings
    database: Database
    clock: Clock
    chance: random.Random
    directory: Path
    """The data directory."""
    secret: bytes = attrs.field(repr=False)
    """The instance's signing key."""
    hash_cost: HashCost = STRONG
    work_in_threads: bool = True
    """Whether hashing passwords and parsing large bodies leave the loop; a run on virtual time has no threads."""
    outside_poll_seconds: float = outside_changes.POLL_SECONDS
    origins: Origins = attrs.field(
        default=attrs.Factory(lambda surroundings: Origins(surroundings.settings.public_url), takes_self=True)
    )
    watches_itself: bool = False
    """Whether the server writes down what it measures of itself (`chat.figures`), and logs what is slow: for a process
    that lives in real time."""
    snowflakes: SnowflakeGenerator | None = None
    """What makes ids here, for a process that works beside the server and has a worker's number of its own."""
    broker: Broker | None = None
    """Between this server, as the core, and its gateway nodes; None for a server without nodes."""
    movable_clock: MovableClock | None = None
    """Set for a server with development routes: the clock that they move."""


@frozen(kw_only=True)
class Parts:
    """What a server is made of."""

    core: Core
    areas: Areas
    gateway: Gateway
    limiter: RateLimiter
    addresses: ClientAddresses
    address_bans: AddressBans


def assemble(surroundings: Surroundings, overrides: Overrides, snowflakes: SnowflakeGenerator) -> Parts:
    """Build all parts; each area is built from the core and the areas before it."""
    ground = _ground(surroundings, overrides, snowflakes)
    database, clock, settings = ground.database, ground.clock, ground.settings
    limiter = RateLimiter(enabled=settings.rate_limits)
    guild_states = GuildStates(database, clock)
    voice_states = presence.voice_states(ground, guild_states)
    standing_area = standing.assemble(
        ground, guild_states, has_factor=partial(has_factor, database), is_in_voice=voice_states.is_in_channel
    )
    policy_area = policy.assemble(ground, surroundings.origins)
    presence_area = presence.assemble(ground, standing_area, policy_area, voice_states)
    core = _core(ground, surroundings.origins, standing_area, policy_area, presence_area)
    signing_in_area = signing_in.assemble(core, policy_area, _guesses(limiter))
    messages_area = messages.assemble(core, standing_area, policy_area, presence_area, signing_in_area)
    accounts_area = accounts.assemble(core, standing_area, policy_area, presence_area, signing_in_area, messages_area)
    threads_area = threads.assemble(core, standing_area, messages_area)
    people_area = people.assemble(core, standing_area, policy_area, presence_area, messages_area)
    guilds_area = guilds.assemble(
        core, standing_area, policy_area, presence_area, signing_in_area, messages_area, accounts_area, people_area
    )
    addresses = ClientAddresses(settings.trusted_proxies, test_header=settings.gateway.address_header_for_tests)
    blocked_networks = policy_area.blocked.networks
    address_bans = AddressBans(database, clock, settings.ip_ban, blocked_networks, addresses.was_unnamed_proxy)
    gateway = Gateway(core, standing_area, presence_area, accounts_area, people_area, address_bans)
    applications_area = applications.assemble(core, policy_area, signing_in_area, accounts_area, guilds_area)
    areas = Areas(
        standing=standing_area,
        policy=policy_area,
        presence=presence_area,
        signing_in=signing_in_area,
        messages=messages_area,
        accounts=accounts_area,
        threads=threads_area,
        people=people_area,
        webhooks=webhooks.assemble(core, policy_area, messages_area, threads_area),
        guilds=guilds_area,
        applications=applications_area,
        interactions=interactions.assemble(
            core, standing_area, messages_area, applications_area.endpoints, _read_callback
        ),
        administration=administration.assemble(
            core,
            standing_area,
            policy_area,
            presence_area,
            signing_in_area,
            messages_area,
            accounts_area,
            people_area,
            guilds_area,
            administration.GatewayView(figures=gateway.figures, sessions_in=gateway.sessions_in),
        ),
        imports=imports.assemble(core, policy_area, messages_area, guilds_area),
    )
    return Parts(
        core=core, areas=areas, gateway=gateway, limiter=limiter, addresses=addresses, address_bans=address_bans
    )


def _guesses(limiter: RateLimiter) -> signing_in.Guesses:
    return signing_in.Guesses(
        may_guess_code=lambda user_id: not limiter.take(buckets.SUDO_CODES, user_id),
        wait_to_guess_password=lambda user_id: limiter.take(buckets.SUDO_PASSWORDS, user_id),
    )


def _read_callback(content: bytes) -> Callback:
    """What an application answers in the answer to a request."""
    from chat.api.routes.interactions.interactions import callback_of  # many a server has no such application

    return callback_of(content)


def _ground(surroundings: Surroundings, overrides: Overrides, snowflakes: SnowflakeGenerator) -> Ground:
    chance, in_threads = surroundings.chance, surroundings.work_in_threads
    return Ground(
        settings=overrides.settings,
        overrides=overrides,
        database=surroundings.database,
        clock=surroundings.clock,
        bus=Bus(),
        chance=chance,
        snowflakes=snowflakes,
        mint=TokenMint(chance),
        keys=Keys(surroundings.secret, chance),
        passwords=Passwords(chance, surroundings.hash_cost, in_threads=in_threads),
        directory=surroundings.directory,
        in_threads=in_threads,
    )


def _core(ground: Ground, origins: Origins, standing: StandingArea, policy: PolicyArea, presence: PresenceArea) -> Core:
    return Core(
        **attrs.asdict(ground, recurse=False),
        guild_states=standing.guild_states,
        access=standing.access,
        audit_log=standing.audit_log,
        policy=policy.policy,
        blocked=policy.blocked,
        account_events=presence.account_events,
        errands=policy.errands,
        media_addresses=policy.media_addresses,
        origins=origins,
    )
