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
from chat.api.app import ChatApp
from chat.api.faults import HttpFaults
from chat.api.http_server import HttpServer
from chat.api.kernel import Kernel
from chat.api.operation import Routes
from chat.api.routes import ROUTES
from chat.api.services import Services
from chat.auth.address_bans import AddressBans
from chat.auth.blocked_networks import BlockedNetworks
from chat.auth.client_address import ClientAddresses
from chat.auth.connection_counts import ConnectionCounts
from chat.auth.keys import Keys
from chat.auth.passwords import STRONG, HashCost, Passwords
from chat.auth.resolve import resolve_gateway_token
from chat.auth.tokens import TokenMint
from chat.bus.bus import Bus, CredentialsRevoked
from chat.clock import JUMP_MS, Clock, MovableClock, SkippingClock, report_jumps
from chat.composition import build_services
from chat.config import Settings
from chat.config.overrides import Overrides, accepted
from chat.domain.accounts.account_states import AccountStates, find_partial_user, is_animated
from chat.domain.administration import guild_administration
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.origins import Origins
from chat.domain.presence.active_calls import ActiveCalls
from chat.domain.presence.presence_audience import are_acquainted, presence_audience
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.relationships import Relationships
from chat.domain.standing.rosters import Rosters
from chat.domain.standing.thread_access import ThreadLookup
from chat.foundations import Foundations
from chat.gateway.commands.handler import CommandHandler
from chat.gateway.gateway import Gateway, GatewaySettings
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.listener import Listener, Port
from chat.gateway.retention import at_rest, revived
from chat.gateway.subscriptions import Subscriptions
from chat.observation import Observer
from chat.snowflake import SnowflakeGenerator
from chat.store import outside_changes, retained_sessions
from chat.store.accounts import accounts
from chat.store.administration import chosen_settings
from chat.store.data_directory import DataDirectory
from chat.store.database import Database
from chat.store.last_id import last_id
from chat.store.standing import private_channels as private_channels_store
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
        chance = surroundings.chance
        self.settings = settings
        self.overrides = Overrides(settings)
        self.take_up_chosen_settings()
        self.database = database
        self.clock = clock
        self.bus = bus = Bus()
        self.snowflakes = snowflakes = surroundings.snowflakes or SnowflakeGenerator(clock)
        self._keep_ids_ascending()
        self.guild_states = guild_states = GuildStates(database, clock)
        self.passwords = passwords = Passwords(chance, surroundings.hash_cost, in_threads=surroundings.work_in_threads)
        mint = TokenMint(chance)
        blocked = BlockedValues(settings, BlockedNetworks())
        self.addresses = ClientAddresses(
            settings.trusted_proxies, test_header=settings.gateway.address_header_for_tests
        )
        self.address_bans = address_bans = AddressBans(
            database, clock, settings.ip_ban, blocked.networks, self.addresses.was_unnamed_proxy
        )
        partial_user_of = partial(find_partial_user, database)
        self.relationships = relationships = Relationships(database, bus, clock, partial_user_of=partial_user_of)
        thread_lookup = ThreadLookup(database)
        private_channels = PrivateChannels(database, bus, snowflakes, settings, partial_user_of=partial_user_of)
        random_hex = partial(_random_hex, chance)
        voice_states = VoiceStates(
            bus,
            guild_states,
            clock,
            random_hex=random_hex,
            recipients_of=lambda channel_id: private_channels_store.recipient_ids(database.reader, channel_id),
        )
        self.voice_states = voice_states
        active_calls = ActiveCalls(voice_states)
        self.account_states = account_states = AccountStates(
            database,
            clock,
            relationships,
            private_channels,
            guild_states,
            premium_for_everyone=settings.premium_mode == "everyone",
            calls_of=active_calls.of_account,
            voice_regions=settings.voice.regions,
            memes_of=lambda user_id: self.services.favorite_memes.of_user(user_id),
        )
        self.presences = presences = Presences(
            bus,
            clock,
            friends_of=partial(presence_audience, database),
            partial_user_of=partial_user_of,
            are_acquainted=partial(are_acquainted, database),
            is_animated=partial(is_animated, database),
            blocks_text=blocked.blocks_text,
        )
        self.rosters = rosters = Rosters(database, bus)

        def make_commands(hub: Hub, subscriptions: Subscriptions, guild_payloads: GuildPayloads) -> CommandHandler:
            return CommandHandler(
                hub,
                subscriptions,
                guild_payloads,
                bus=bus,
                presences=presences,
                voice_states=voice_states,
                rosters=rosters,
                database=database,
                clock=clock,
                rate_limited=settings.rate_limits,
                prepare_call=lambda caller, channel_id: self.services.calls.prepare(caller, channel_id),
            )

        self.gateway = Gateway(
            GatewaySettings(
                heartbeat_interval_ms=settings.gateway.heartbeat_interval_ms,
                identify_budget=settings.gateway.identify_budget,
                connections_per_address=settings.gateway.connections_per_address,
                sessions_per_user=settings.gateway.sessions_per_user,
                bot_shard_guild_ceiling=settings.gateway.bot_shard_guild_ceiling,
                rate_limited=settings.rate_limits,
            ),
            bus=bus,
            guild_states=guild_states,
            presences=presences,
            voice_states=voice_states,
            accounts=account_states,
            resolve_token=lambda token: resolve_gateway_token(database.reader, token),
            note_failure=address_bans.note_failure,
            storage_failing=lambda: database.failing,
            random_hex=random_hex,
            random_between=chance.randint,
            make_commands=make_commands,
            threads_shown=thread_lookup,
        )

        foundations = Foundations(
            settings=settings,
            database=database,
            clock=clock,
            bus=bus,
            chance=chance,
            snowflakes=snowflakes,
            origins=surroundings.origins,
            mint=mint,
            keys=Keys(surroundings.secret, chance),
            address_bans=address_bans,
            blocked=blocked,
            passwords=passwords,
            guild_states=guild_states,
            relationships=relationships,
            presences=presences,
            voice_states=voice_states,
            active_calls=active_calls,
            rosters=self.rosters,
            private_channels=private_channels,
            thread_lookup=thread_lookup,
            directory=surroundings.directory,
            overrides=self.overrides,
            gateway_figures=self.gateway.figures,
            sessions_in=self.gateway.sessions_in,
            is_draining=lambda: self.gateway.node.draining,
            in_threads=surroundings.work_in_threads,
        )
        self.account_events = foundations.account_events
        self.outbox = foundations.outbox
        self.services = build_services(foundations)
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
        from chat.development.parts import Development, DevelopmentServices
        from chat.development.routes import routes as development_routes

        self.world = world
        self._faults = faults = HttpFaults()
        self._routes.append(development_routes)
        services = {field.name: getattr(self.services, field.name) for field in attrs.fields(Services)}
        self.services = DevelopmentServices(
            **services,
            development=Development(
                world=world,
                hash_password=self.passwords.hash,
                clock=clock,
                snowflakes=self.snowflakes,
                guild_states=self.guild_states,
                account_events=self.account_events,
                relationships=self.relationships,
                gateway=self.gateway,
                http_faults=faults,
                forget=(self.rosters.forget, self.take_up_chosen_settings, self.services.instance_setup.forget),
            ),
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
        if not self.services.instance_setup.is_configured:
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
            await self.services.media.begin()
            await self.services.push_subscriptions.begin()
            await self.services.administration.blocklists.load()
            await self.services.calls.end_those_left_behind()
            nursery.start_soon(lasting, self._follow_outside_changes)
            if self.surroundings.movable_clock is None:
                nursery.start_soon(report_jumps, self.clock)
            nursery.start_soon(lasting, self.services.sign_ins.run)
            nursery.start_soon(lasting, self.services.guild_deletion.run)
            nursery.start_soon(lasting, self.services.errands.run)
            nursery.start_soon(lasting, self.services.message_search_index.run)
            nursery.start_soon(lasting, self.services.temporary_members.run)
            nursery.start_soon(lasting, self.services.inactive_members.run)
            nursery.start_soon(lasting, self.services.calls.run)
            nursery.start_soon(lasting, self.services.administration.jobs.run)
            nursery.start_soon(lasting, self.services.administration.archives.run)
            nursery.start_soon(lasting, self.services.administration.erasure.run)
            nursery.start_soon(lasting, self.services.media.run)
            nursery.start_soon(lasting, self.services.link_embeds.run)
            nursery.start_soon(lasting, self.services.push_notifications.run)
            nursery.start_soon(lasting, self.services.thread_archiving.run)
            nursery.start_soon(lasting, self.services.crossposting.run)
            nursery.start_soon(lasting, self.services.user_settings.due.run)
            nursery.start_soon(lasting, self.services.own_message_deletion.run)
            nursery.start_soon(lasting, self.services.admin_api_keys.run)
            nursery.start_soon(lasting, self.address_bans.run)
            if self.outbox is not None:
                nursery.start_soon(lasting, self.outbox.run)
            nursery.start_soon(self.port.serve)
            yield
            nursery.cancel_scope.cancel()

    def application(self) -> ChatApp:
        """The HTTP side."""
        kernel = Kernel(
            self.services,
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
        self.voice_states.end_all()
        await self.services.calls.close()
        await self.services.sign_ins.write_uses()
        await self.services.admin_api_keys.write_uses()
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
        self.gateway.adopt(revived(sessions, events), self.account_states.guild_ids)

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
                guild_administration.take_up(self.database, self.guild_states, self.bus, int(body["guild_id"]))
            case outside_changes.ACCOUNT_CHANGED:
                account = accounts.by_id(self.database.reader, int(body["user_id"]))
                if account is not None:
                    self.account_events.changed(account, account)
            case outside_changes.BLOCKLISTS_CHANGED:
                await self.services.administration.blocklists.load()
            case outside_changes.INVITE_CREATED:
                self.services.invites.take_up(str(body["code"]), int(body["entry_id"]))
            case outside_changes.INVITE_DELETED:
                place = int(body["guild_id"]), int(body["channel_id"])
                self.services.invites.take_up_deleted(str(body["code"]), *place, int(body["entry_id"]))
            case _:
                logger.warning("an outside change of an unknown kind", kind=change.kind)
        # Whatever it was, it may have ordered jobs, begun errands or written mail as well.
        self.services.administration.jobs.ordered()
        self.services.errands.look_again()
        if self.outbox is not None:
            self.outbox.wake()


def _random_hex(chance: random.Random, characters: int) -> str:
    return f"{chance.getrandbits(4 * characters):0{characters}x}"


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
