"""The composition root: every part of a server is built here, once, and started and drained in order.

A `Server` stands on a database, a clock and a source of chance, whichever they are: sockets, threads and the time of
day in production (`chat.serving`), memory and a virtual clock in the test kit.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
import structlog
import trio

from chat.admin.routes import ADMIN_ROUTES
from chat.api import buckets
from chat.api.app import ChatApp
from chat.api.backend import Backend
from chat.api.faults import HttpFaults
from chat.api.http_server import HttpServer
from chat.api.kernel import Kernel
from chat.api.openapi.published import PublishedDocument
from chat.api.operation import Routes
from chat.api.rate_limit import RateLimiter
from chat.api.routes import ROUTES
from chat.auth.address_bans import AddressBans
from chat.auth.captcha import Captcha
from chat.auth.client_address import ClientAddresses
from chat.auth.connection_counts import ConnectionCounts
from chat.auth.keys import Keys
from chat.auth.outgoing_http import OutgoingHttp
from chat.auth.passwords import STRONG, HashCost, Passwords
from chat.auth.resolve import resolve_gateway_token
from chat.auth.tokens import TokenMint
from chat.bus.bus import Bus, CredentialsRevoked
from chat.clock import JUMP_MS, Clock, MovableClock, SkippingClock, report_jumps
from chat.config import Settings
from chat.config.overrides import Overrides, accepted
from chat.domain.accounts import assemble as accounts_assembly
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.administration import assemble as administration
from chat.domain.administration import guild_administration
from chat.domain.applications import assemble as applications
from chat.domain.areas import Areas
from chat.domain.core import Core
from chat.domain.ground import Ground
from chat.domain.guilds import assemble as guilds
from chat.domain.messages import assemble as messages
from chat.domain.people import assemble as people
from chat.domain.people.assemble import PeopleArea
from chat.domain.policy import assemble as policy
from chat.domain.policy.assemble import PolicyArea
from chat.domain.policy.origins import Origins
from chat.domain.policy.readiness import Readiness
from chat.domain.presence import assemble as presence
from chat.domain.presence.assemble import PresenceArea
from chat.domain.signing_in import assemble as signing_in
from chat.domain.standing import assemble as standing
from chat.domain.standing.assemble import StandingArea
from chat.domain.standing.factors import has_factor
from chat.domain.standing.guild_states import GuildStates
from chat.domain.threads import assemble as threads
from chat.domain.webhooks import assemble as webhooks
from chat.gateway.commands.handler import CommandHandler
from chat.gateway.gateway import Gateway, GatewaySettings
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.retention import at_rest, revived
from chat.gateway.subscriptions import Subscriptions
from chat.observation import Observer
from chat.port.listener import Listener, Port
from chat.snowflake import SnowflakeGenerator
from chat.store import outside_changes, retained_sessions
from chat.store.accounts import accounts
from chat.store.administration import chosen_settings
from chat.store.data_directory import DataDirectory
from chat.store.database import Database
from chat.store.last_id import last_id
from chat.supervision import lasting
from chat.web.pages import Pages

if TYPE_CHECKING:
    from chat.development.seeded_world import SeededWorld
    from chat.metrics import Metrics

logger = structlog.get_logger(__name__)

DRAIN_SECONDS: Final = 10.0
"""How long running requests and closing sockets may take once a shutdown was asked for."""


@attrs.frozen(kw_only=True)
class Surroundings:
    """What a server stands on; everything that a test replaces."""

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
    snowflakes: SnowflakeGenerator | None = None
    """What makes ids here, for a process that works beside the server and has a worker's number of its own."""
    movable_clock: MovableClock | None = None
    """Set for a server with development routes: the clock that they move."""


class Server:
    """One server, put together and not yet listening."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        database, clock = surroundings.database, surroundings.clock
        settings = attrs.evolve(surroundings.settings)  # of this server alone: they change while it runs
        self.settings = settings
        self.overrides = Overrides(settings)
        self.take_up_chosen_settings()
        self.database = database
        self.clock = clock
        self.snowflakes = surroundings.snowflakes or SnowflakeGenerator(clock)
        self._keep_ids_ascending()
        ground = _ground(surroundings, self.overrides, self.snowflakes)
        self.bus, self.passwords = ground.bus, ground.passwords
        self.limiter = RateLimiter(enabled=settings.rate_limits)

        # From the lowest area up: each is built from the core and the areas before it.
        guild_states = GuildStates(database, clock)
        voice_states = presence.voice_states(ground, guild_states)
        standing_area = standing.assemble(
            ground,
            guild_states,
            has_factor=partial(has_factor, database),
            is_in_voice=voice_states.is_in_channel,
        )
        policy_area = policy.assemble(ground, surroundings.origins)
        presence_area = presence.assemble(ground, standing_area, policy_area, voice_states)
        self.core = core = _core(ground, surroundings.origins, standing_area, policy_area, presence_area)
        signing_in_area = signing_in.assemble(core, policy_area, self._guesses())
        messages_area = messages.assemble(core, standing_area, policy_area, presence_area, signing_in_area)
        accounts_area = accounts_assembly.assemble(
            core, standing_area, policy_area, presence_area, signing_in_area, messages_area
        )
        threads_area = threads.assemble(core, standing_area, messages_area)
        people_area = people.assemble(core, standing_area, policy_area, presence_area, messages_area)
        guilds_area = guilds.assemble(
            core,
            standing_area,
            policy_area,
            presence_area,
            signing_in_area,
            messages_area,
            accounts_area,
            people_area,
        )
        self.addresses = ClientAddresses(
            settings.trusted_proxies, test_header=settings.gateway.address_header_for_tests
        )
        self.address_bans = AddressBans(
            database, clock, settings.ip_ban, policy_area.blocked.networks, self.addresses.was_unnamed_proxy
        )
        self.gateway = gateway = _gateway(
            core, standing_area, presence_area, accounts_area, people_area, self.address_bans
        )
        self.areas = Areas(
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
            applications=applications.assemble(core, policy_area, signing_in_area, accounts_area, guilds_area),
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
        )
        self.outbox = signing_in_area.outbox
        self._others: list[object] = [
            Readiness(database, lambda: gateway.node.draining),
            PublishedDocument([*ROUTES, *ADMIN_ROUTES], core.origins.fixed, in_threads=core.in_threads),
        ]
        self.http_connections = ConnectionCounts(settings.gateway.connections_per_address)
        self.world: SeededWorld | None = None
        self._routes: list[Routes] = [*ROUTES, *ADMIN_ROUTES]
        self._faults: HttpFaults | None = None
        self.port: Port
        self.metrics: Metrics | None = None
        self._observers: list[Observer] = []
        self._observe()

    def _observe(self) -> None:
        """Set up what looks on: nothing of it is imported unless it is wanted."""
        settings = self.settings
        if settings.access_log == "on":
            from chat.access_log import write_line

            self._observers.append(write_line)
        if settings.metrics == "on":
            from chat.metrics import Metrics
            from chat.metrics_page import routes_of

            file = DataDirectory(self.surroundings.directory).database
            in_threads = self.surroundings.work_in_threads
            self.metrics = Metrics(self.database, file, self.gateway, self.outbox, in_threads=in_threads)
            self._observers.append(self.metrics.observe)
            if settings.metrics_listen is None:
                self._routes.append(routes_of(self.metrics))

    def develop(self, world: SeededWorld, clock: MovableClock) -> None:
        """Add the development routes."""
        # `chat serve` starts a tenth of a second sooner without them.
        from chat.development.parts import Development
        from chat.development.routes import routes as development_routes

        self.world = world
        self._faults = faults = HttpFaults()
        self._routes.append(development_routes)
        self._others.append(
            Development(
                world=world,
                hash_password=self.passwords.hash,
                clock=clock,
                core=self.core,
                areas=self.areas,
                limiter=self.limiter,
                address_bans=self.address_bans,
                gateway=self.gateway,
                http_faults=faults,
                forget=(
                    self.areas.standing.rosters.forget,
                    self.take_up_chosen_settings,
                    self.areas.administration.setup.forget,
                ),
            )
        )

    def _guesses(self) -> signing_in.Guesses:
        take = self.limiter.take
        return signing_in.Guesses(
            may_guess_code=lambda user_id: not take(buckets.SUDO_CODES, user_id),
            wait_to_guess_password=lambda user_id: take(buckets.SUDO_PASSWORDS, user_id),
        )

    def take_up_chosen_settings(self) -> None:
        """Put in force what the store says of settings chosen at run time."""
        self.overrides.put(accepted(chosen_settings.every(self.surroundings.database.reader)))

    def _keep_ids_ascending(self) -> None:
        behind_ms = self.snowflakes.stay_above(last_id(self.database.reader))
        if behind_ms > JUMP_MS:
            logger.warning("the clock is behind the last id: ids go on above it", seconds=behind_ms // 1000)

    # Coming and going

    @asynccontextmanager
    async def running(
        self, listeners: Sequence[Listener], *, maximum_connections: int, metrics_listeners: Sequence[Listener] = ()
    ) -> AsyncIterator[None]:
        """Serve on the listeners while the block lasts; leaving it closes everything at once, `drain` in good order."""
        http = HttpServer(self.application(), self.clock)
        self.port = Port(
            listeners,
            gateway=self.gateway.serve,
            http=http,
            addresses=self.addresses,
            maximum_connections=maximum_connections,
            per_address=self.http_connections,
            refuse=self.address_bans.refuse,
            observers=self._observers,
        )
        await self.address_bans.load()
        if not self.areas.administration.setup.is_configured:
            logger.warning("not set up: no account may administer, the first one may make itself the administrator")
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(http.running())
            await stack.enter_async_context(self.gateway.running())
            if self.metrics is not None and metrics_listeners:
                from chat.metrics_page import page_of_its_own

                await stack.enter_async_context(page_of_its_own(self.metrics, metrics_listeners, self.clock))
            nursery = await stack.enter_async_context(trio.open_nursery())
            await self._adopt_retained()
            if self.metrics is not None:
                nursery.start_soon(self.metrics.run)
            await self.areas.policy.media.begin()
            await self.areas.accounts.push_subscriptions.begin()
            await self.areas.administration.blocklists.load()
            await self.areas.people.calls.end_those_left_behind()
            nursery.start_soon(lasting, self._follow_outside_changes)
            if self.surroundings.movable_clock is None:
                nursery.start_soon(report_jumps, self.clock)
            for area in attrs.astuple(self.areas, recurse=False):
                for task in getattr(area, "background", ()):
                    nursery.start_soon(lasting, task)
            nursery.start_soon(lasting, self.address_bans.run)
            nursery.start_soon(self.port.serve)
            yield
            nursery.cancel_scope.cancel()

    def backend(self) -> Backend:
        """What the operations of the API stand on."""
        return Backend(
            core=self.core,
            areas=self.areas,
            limiter=self.limiter,
            captcha=Captcha(self.settings.captcha, OutgoingHttp(in_threads=self.core.in_threads)),
            address_bans=self.address_bans,
            others=tuple(self._others),
        )

    def application(self) -> ChatApp:
        """The HTTP side."""
        kernel = Kernel(
            self.backend(),
            self._routes,
            addresses=self.addresses,
            chance=self.surroundings.chance,
            faults=self._faults,
            per_address=self.http_connections,
            in_threads=self.surroundings.work_in_threads,
        )
        return ChatApp(
            kernel, Pages(self.settings, self.database, self.clock, self.surroundings.origins), self._observers
        )

    async def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Send every session elsewhere, finish running requests, write down the sessions that may be resumed."""
        self.gateway.drain()
        with trio.move_on_after(seconds):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.gateway.finish)
                nursery.start_soon(self.port.drain, seconds)
                if self.outbox is not None:
                    nursery.start_soon(self.outbox.finish)
        self.gateway.hub.reactions.close_all()  # delivered while the rest is written
        # Whoever resumes after the restart hears that nobody is in voice any more.
        self.areas.presence.voice_states.end_all()
        await self.areas.people.calls.close()
        await self.areas.signing_in.sign_ins.write_uses()
        await self.areas.administration.admin_api_keys.write_uses()
        await self.address_bans.write()
        await self._retain_sessions()

    async def _retain_sessions(self) -> None:
        now = self.clock.now_ms()
        sessions, events = at_rest((session for session in self.gateway.table if session.starting is None), now)
        await self.database.write(lambda connection: retained_sessions.store(connection, sessions, events))
        logger.info("sessions retained", count=len(sessions), events=len(events))

    async def _adopt_retained(self) -> None:
        try:
            sessions, events = await self.database.write(retained_sessions.take_all)
        except Exception:  # what cannot be read is no reason not to start
            logger.exception("the retained sessions were lost")
            return
        self.gateway.adopt(revived(sessions, events), self.areas.accounts.account_states.guild_ids)

    async def _follow_outside_changes(self) -> None:
        """Carry out what the command line changes beside this server."""

        async def sleep(seconds: float) -> None:
            await self.sleep_unmoved(seconds)
            self.snowflakes.stay_above(last_id(self.database.reader))

        await outside_changes.follow(
            self.database, self._act, poll_seconds=self.surroundings.outside_poll_seconds, sleep=sleep
        )

    async def sleep_unmoved(self, seconds: float) -> None:
        """Sleep in the machine's own time, for what has nothing to do with the clock that development routes move."""
        clock = self.surroundings.movable_clock
        await (clock.sleep_unmoved if isinstance(clock, SkippingClock) else trio.sleep)(seconds)

    async def _act(self, change: outside_changes.OutsideChange) -> None:
        body = change.body
        match change.kind:
            case outside_changes.CREDENTIALS_REVOKED:
                self.bus.publish(CredentialsRevoked(int(body["user_id"])))
            case outside_changes.ADDRESS_BAN_LIFTED:
                self.address_bans.lift(str(body["network"]))
            case outside_changes.GUILD_CHANGED:
                guild_administration.take_up(self.database, self.core.guild_states, self.bus, int(body["guild_id"]))
            case outside_changes.ACCOUNT_CHANGED:
                account = accounts.by_id(self.database.reader, int(body["user_id"]))
                if account is not None:
                    self.core.account_events.changed(account, account)
            case outside_changes.BLOCKLISTS_CHANGED:
                await self.areas.administration.blocklists.load()
            case outside_changes.INVITE_CREATED:
                self.areas.guilds.invites.take_up(str(body["code"]), int(body["entry_id"]))
            case outside_changes.INVITE_DELETED:
                place = int(body["guild_id"]), int(body["channel_id"])
                self.areas.guilds.invites.take_up_deleted(str(body["code"]), *place, int(body["entry_id"]))
            case _:
                logger.warning("an outside change of an unknown kind", kind=change.kind)
        # Whatever it was, it may have ordered jobs, begun errands or written mail as well.
        self.areas.administration.jobs.ordered()
        self.core.errands.look_again()
        if self.outbox is not None:
            self.outbox.wake()


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


def _gateway(
    core: Core,
    standing: StandingArea,
    presence: PresenceArea,
    accounts: AccountsArea,
    people: PeopleArea,
    address_bans: AddressBans,
) -> Gateway:
    database, settings = core.database, core.settings

    def make_commands(hub: Hub, subscriptions: Subscriptions, guild_payloads: GuildPayloads) -> CommandHandler:
        return CommandHandler(
            hub,
            subscriptions,
            guild_payloads,
            bus=core.bus,
            presences=presence.presences,
            voice_states=presence.voice_states,
            rosters=standing.rosters,
            database=database,
            clock=core.clock,
            rate_limited=settings.rate_limits,
            prepare_call=people.calls.prepare,
        )

    return Gateway(
        GatewaySettings(
            heartbeat_interval_ms=settings.gateway.heartbeat_interval_ms,
            identify_budget=settings.gateway.identify_budget,
            connections_per_address=settings.gateway.connections_per_address,
            sessions_per_user=settings.gateway.sessions_per_user,
            bot_shard_guild_ceiling=settings.gateway.bot_shard_guild_ceiling,
            rate_limited=settings.rate_limits,
        ),
        bus=core.bus,
        guild_states=core.guild_states,
        presences=presence.presences,
        voice_states=presence.voice_states,
        accounts=accounts.account_states,
        resolve_token=lambda token: resolve_gateway_token(database.reader, token),
        note_failure=address_bans.note_failure,
        storage_failing=lambda: database.failing,
        random_hex=core.random_hex,
        random_between=core.chance.randint,
        make_commands=make_commands,
        threads_shown=standing.thread_lookup,
    )


async def develop(surroundings: Surroundings) -> Server:
    """A server with the seeded world and the development routes; needs a movable clock."""
    from chat.development import seeded_world

    clock = surroundings.movable_clock
    if clock is None:
        raise TypeError("development routes move the clock")
    server = Server(surroundings)
    world = await seeded_world.ensure(
        surroundings.database, surroundings.chance, surroundings.clock, server.passwords.hash
    )
    server.develop(world, clock)
    return server
