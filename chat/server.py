"""A server as a whole: its parts (`chat.assembly`) are started and drained here, in order."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import attrs
import structlog
import trio

from chat.api.endpoint import Backend
from chat.api.http_faults import HttpFaults
from chat.api.http_server import Deferred, HttpServer
from chat.api.kernel import Kernel, RequestTap
from chat.api.mounts import Mount, Mounts
from chat.api.openapi.published import PublishedDocument
from chat.api.operation import Routes
from chat.api.routes import AT_START
from chat.api.unread_members import noting_of
from chat.assembly import Surroundings, assemble
from chat.auth.captcha import Captcha
from chat.auth.client_address import ConnectionCounts
from chat.auth.keys import Keys
from chat.auth.outgoing_http import OutgoingHttp
from chat.auth.remembered import RememberedCallers
from chat.bus.bus import CredentialsRevoked
from chat.clock import MovableClock, SkippingClock, report_jumps
from chat.config.loading import Overrides, accepted
from chat.domain.administration import command_line
from chat.domain.policy.readiness import Readiness
from chat.errors import StorageUnavailable
from chat.observation import Observer
from chat.port.listener import Listener, Port
from chat.snowflake import SnowflakeGenerator, go_on_above
from chat.store import outside_changes
from chat.store.accounts import accounts
from chat.store.administration import instance
from chat.store.data_directory import DataDirectory
from chat.store.guard import UNGUARDED
from chat.store.whole_database import last_id
from chat.supervision import lasting

if TYPE_CHECKING:
    from chat.api.app import ChatApp
    from chat.development.seeded_world import SeededWorld
    from chat.figures import FigureKeeper
    from chat.metrics import Metrics
    from chat.nodes.core import CoreNodes
    from chat.voice.service import EmbeddedVoice
    from chat.web.manual import Manual

logger = structlog.get_logger(__name__)

WITH_PAGES: Final = ("chat.api.app", "chat.web.pages")
"""Modules that come with the first request for a page."""

DRAIN_SECONDS: Final = 10.0
"""How long running requests and closing sockets may take once a shutdown was asked for."""


class Server:
    """One server, put together and not yet listening."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        self.database, self.clock = surroundings.database, surroundings.clock
        # A copy for this server alone: settings change while it runs.
        self.settings = attrs.evolve(surroundings.settings)
        self.overrides = Overrides(self.settings)
        self.take_up_chosen_settings()
        self.snowflakes = surroundings.snowflakes or SnowflakeGenerator(self.clock)
        go_on_above(self.snowflakes, last_id(self.database.reader), self.clock)
        self._parts = parts = assemble(surroundings, self.overrides, self.snowflakes)
        self.core, self.areas, self.gateway = parts.core, parts.areas, parts.gateway
        self.http_connections = ConnectionCounts(self.settings.gateway.connections_per_address)
        self._callers = RememberedCallers(self.database.reader)
        self.port: Port
        self.world: SeededWorld | None = None
        self.metrics: Metrics | None = None
        self.figures: FigureKeeper | None = None
        self._routes: list[Routes] = [*AT_START]
        self._others: list[object] = [
            Readiness(self.database, lambda: self.gateway.node.draining),
            PublishedDocument(_every_operation, self.core.origins.fixed, in_threads=self.core.in_threads),
        ]
        self._faults: HttpFaults | None = None
        self._tap: RequestTap | None = None
        self._mounts: Mounts
        self.voice = self._carry_voice()
        self._be_compatible()
        self.nodes = self._core_of_nodes()
        self._observers: list[Observer] = []
        self._observe()
        if self.nodes is not None:
            self._tell_of_nodes(self.nodes)

    def _be_compatible(self) -> None:
        """Set up what programs of other services expect; the OpenAPI document leaves it out."""
        compat, mounts, second_names = self.settings.compat, list[Mount](), dict[str, str]()
        if compat.discord == "on":
            from chat.compat.discord.rest import MOUNTS
            from chat.compat.discord.setting_up import set_up

            self._routes.append(set_up(self.core, self.areas, self.gateway))
            mounts += MOUNTS
        if compat.fluxer == "on":
            from chat.compat import fluxer

            self._routes.append(fluxer.routes)
            mounts += fluxer.MOUNTS
            second_names = fluxer.SECOND_NAMES
        self._mounts = Mounts(mounts, second_names)

    def _carry_voice(self) -> EmbeddedVoice | None:
        """What carries sound and pictures, where the settings ask for it."""
        if self.settings.voice.engine == "off":
            return None
        from chat.voice.service import EmbeddedVoice

        voice_states = self.areas.presence.voice_states
        voice_states.media = voice = EmbeddedVoice(
            settings=self.settings.voice,
            clock=self.clock,
            secret=Keys(self.surroundings.secret, self.surroundings.chance).of("voice token"),
            origin=lambda: self.core.origins.shared,
            random_hex=lambda characters: self.surroundings.chance.randbytes(characters // 2).hex(),
            give_up=lambda connection_id: voice_states.move(connection_id, None),
            in_threads=self.surroundings.work_in_threads,
        )
        return voice

    def _core_of_nodes(self) -> CoreNodes | None:
        """What speaks with gateway nodes, where there is a broker between."""
        surroundings = self.surroundings
        if surroundings.broker is None:
            return None
        from chat.nodes.core import CoreNodes

        nodes = CoreNodes(
            self.gateway,
            surroundings.broker,
            self.core.bus,
            self.settings,
            self.clock,
            hashlib.sha256(surroundings.secret).hexdigest()[:16],
            self._parts.address_bans,
            self._parts.addresses,
            self._next_epoch,
        )
        nodes.prepare()
        return nodes

    async def _next_epoch(self, at_least: int) -> int:
        try:
            unit = partial(instance.next_epoch, at_least=at_least)
            return await self.core.database.write(unit, guard=UNGUARDED)
        except StorageUnavailable:  # a full disk is no reason not to start; most clocks go forward
            logger.warning("the life of the core was not written down: the store is unavailable")
            return at_least

    def _observe(self) -> None:
        """Set up what looks on: nothing of it is imported unless it is wanted."""
        settings = self.settings
        if settings.access_log == "on":
            from chat.access_log import write_line

            self._observers.append(write_line)
        if self.surroundings.watches_itself:
            self._watch()
        if settings.metrics == "on":
            from chat.metrics import Metrics, routes_of

            file = DataDirectory(self.surroundings.directory).database
            in_threads = self.surroundings.work_in_threads
            self.metrics = Metrics(
                self.database,
                file,
                self.gateway,
                self.areas.signing_in.outbox,
                in_threads=in_threads,
                settings=settings,
            )
            self._observers.append(self.metrics.observe)
            if settings.metrics_listen is None:
                self._routes.append(routes_of(self.metrics))

    def _tell_of_nodes(self, nodes: CoreNodes) -> None:
        from chat.nodes.standing import standing_of

        standing = partial(standing_of, nodes, self.clock)
        self.areas.administration.figures.nodes = standing
        if self.metrics is not None:
            self.metrics.nodes = standing

    def _watch(self) -> None:
        """Keep figures, and log what is slow."""
        from chat.figures import AtHand, FigureKeeper
        from chat.slow_log import SlowLog

        presences, settings = self.areas.presence.presences, self.settings
        at_hand = AtHand(sessions=lambda: len(self.gateway.table), online=lambda: presences.online_total)
        file = DataDirectory(self.surroundings.directory).database
        self.figures = FigureKeeper(self.database, file, self.clock, self.core.bus, at_hand)
        self._observers.append(self.figures.observe)
        slow = SlowLog(settings.slow_request_ms)
        if settings.slow_request_ms:
            self._observers.append(slow.request)
        if settings.slow_statement_ms:
            self.database.observe_slowness(settings.slow_statement_ms / 1_000, slow.statement)

    def develop(self, world: SeededWorld, clock: MovableClock) -> None:
        """Add the development routes."""
        # `chat serve` starts a tenth of a second sooner without them.
        from chat.development.history import History
        from chat.development.limits import Limits
        from chat.development.node import Development
        from chat.development.routes import ROUTES as DEVELOPMENT_ROUTES
        from chat.development.snapshots import Snapshots
        from chat.development.watching import RequestsIntoHistory

        self.world = world
        self._faults = faults = HttpFaults()
        limiter = self._parts.limiter
        routes = [*_every_operation(), *self._routes]
        limits = Limits(limiter, self.gateway, routes, counted_at_start=self.settings.rate_limits)
        self._routes.extend(DEVELOPMENT_ROUTES)
        history = History(clock)
        self.gateway.tap, self._tap = history.tap, RequestsIntoHistory(history, clock)
        self._others += [
            history,
            limits,
            Snapshots(self.core.directory, self.areas.policy.media.storage, self.core.in_threads),
            Development(
                world=world,
                hash_password=self.core.passwords.hash,
                clock=clock,
                core=self.core,
                areas=self.areas,
                limiter=limiter,
                address_bans=self._parts.address_bans,
                gateway=self.gateway,
                http_faults=faults,
                forget=(
                    self._callers.start_anew,
                    self.areas.messages.messages.known_authors.start_anew,
                    self.areas.standing.rosters.forget,
                    self.take_up_chosen_settings,
                    self.areas.administration.setup.forget,
                    limits.clear,
                ),
            ),
        ]

    def take_up_chosen_settings(self) -> None:
        """Put in force what the store says of settings chosen at run time."""
        self.overrides.put(accepted(instance.chosen_settings(self.surroundings.database.reader)))

    # Coming and going

    @asynccontextmanager
    async def running(
        self, listeners: Sequence[Listener], *, maximum_connections: int, metrics_listeners: Sequence[Listener] = ()
    ) -> AsyncIterator[None]:
        """Serve on the listeners while the block lasts; leaving it closes everything at once, `drain` in good order."""
        self._read_looks()
        kernel = self.kernel()
        pages = Deferred(partial(self.application, kernel), WITH_PAGES, in_threads=self.surroundings.work_in_threads)
        hsts = (b"strict-transport-security", b"max-age=%d" % self.settings.hsts_max_age)
        http = HttpServer(pages, self.clock, kernel, besides=[hsts] if self.settings.asks_for_https else ())
        self.port = Port(
            listeners,
            gateway=self.gateway.serve,
            http=http,
            addresses=self._parts.addresses,
            maximum_connections=maximum_connections,
            per_address=self.http_connections,
            refuse=self._parts.address_bans.refuse,
            greets=True,
            observers=self._observers,
            signalling=self.voice,
        )
        await self._parts.address_bans.load()
        if not self.areas.administration.setup.is_configured:
            logger.warning("not set up: no account may administer", remedy="open the set-up link in a browser")
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(http.running())
            await stack.enter_async_context(self.gateway.running())
            if self.metrics is not None and metrics_listeners:
                from chat.metrics import page_of_its_own

                await stack.enter_async_context(page_of_its_own(self.metrics, metrics_listeners, self.clock))
            nursery = await stack.enter_async_context(trio.open_nursery())
            await self.gateway.take_up_sessions()
            if self.nodes is not None:
                await nursery.start(self.nodes.run)
                nursery.start_soon(lasting, partial(self._write_nodes, self.nodes))
            if self.metrics is not None:
                nursery.start_soon(self.metrics.run)
            if self.figures is not None:
                nursery.start_soon(self.figures.run, self.sleep_unmoved)
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
            for task in (self._parts.address_bans.run, *([] if self.voice is None else [self.voice.run])):
                nursery.start_soon(lasting, task)
            nursery.start_soon(self.port.serve)
            yield
            nursery.cancel_scope.cancel()

    def _read_looks(self) -> None:
        """Refuse a look, or somebody's web application, that the settings name and that cannot be read."""
        if self.settings.accent_colour is not None or self.settings.logo_file is not None:
            from chat.web.look import read_look

            read_look(self.settings.accent_colour, self.settings.logo_file, self.surroundings.directory)  # or refuses
        if self.settings.webapp_directory is not None:
            from chat.web.webapp import Webapp

            Webapp(self.surroundings.directory / self.settings.webapp_directory)  # refuses a folder that has none

    def backend(self) -> Backend:
        """What the operations of the API stand on."""
        return Backend(
            core=self.core,
            areas=self.areas,
            limiter=self._parts.limiter,
            captcha=Captcha(self.settings.captcha, OutgoingHttp(in_threads=self.core.in_threads)),
            address_bans=self._parts.address_bans,
            callers=self._callers,
            others=tuple(self._others),
        )

    def kernel(self) -> Kernel:
        """The operations, and what happens around each."""
        return Kernel(
            self.backend(),
            self._routes,
            addresses=self._parts.addresses,
            chance=self.surroundings.chance,
            faults=self._faults,
            per_address=self.http_connections,
            in_threads=self.surroundings.work_in_threads,
            mounts=self._mounts,
            noting=noting_of(self.settings.compat, everywhere=self.world is not None),
            observers=self._observers,
            tap=self._tap,
            later=_operations_beside_start,
        )

    def application(self, kernel: Kernel) -> ChatApp:
        """The whole HTTP side: the operations, and the pages for people."""
        from chat.api.app import ChatApp
        from chat.web.pages import Pages

        pages = Pages(
            self.settings,
            self.database,
            self.clock,
            self.surroundings.origins,
            directory=self.surroundings.directory,
            is_set_up=lambda: self.areas.administration.setup.is_configured,
            manual=self._open_manual,
            in_threads=self.surroundings.work_in_threads,
            in_development=self.world is not None,
        )
        return ChatApp(kernel, pages)

    def _open_manual(self) -> Manual:
        from chat.manual.opening import open_manual  # only for those who read it

        return open_manual(is_development=self.world is not None)

    async def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Send every session elsewhere, finish running requests, write down the sessions that may be resumed."""
        outbox = self.areas.signing_in.outbox
        self.gateway.drain()
        with trio.move_on_after(seconds):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.gateway.finish)
                nursery.start_soon(self.port.drain, seconds)
                if outbox is not None:
                    nursery.start_soon(outbox.finish)
        self.gateway.hub.reactions.close_all()  # delivered while the rest is written
        # A session that resumes after the restart hears that voice is empty.
        self.areas.presence.voice_states.end_all()
        await self.areas.people.calls.close()
        await self.areas.signing_in.sign_ins.write_uses()
        await self.areas.administration.admin_api_keys.write_uses()
        await self._parts.address_bans.write()
        if self.figures is not None:
            await self.figures.finish()
        if self.nodes is not None:
            await self.nodes.finish()
        await self.gateway.write_down_sessions()

    async def _write_nodes(self, nodes: CoreNodes) -> None:
        from chat.nodes.standing import keep_written

        await keep_written(nodes, self.surroundings.directory, in_threads=self.core.in_threads)

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
                self.core.bus.publish(CredentialsRevoked(int(body["user_id"])))
            case outside_changes.ADDRESS_BAN_LIFTED:
                self._parts.address_bans.lift(str(body["network"]))
            case outside_changes.GUILD_CHANGED:
                command_line.take_up_guild(self.database, self.core.guild_states, self.core.bus, int(body["guild_id"]))
            case outside_changes.GUILD_CREATED:
                self.areas.guilds.guilds.take_up(int(body["guild_id"]), int(body["user_id"]))
            case outside_changes.GUILD_IMPORTED:
                command_line.take_up_import(self.core.guild_states, self.core.bus, int(body["guild_id"]))
            case outside_changes.CHANNEL_CREATED:
                place = int(body["guild_id"]), int(body["channel_id"])
                self.areas.guilds.guild_channels.take_up(*place, body["entry_ids"])
            case outside_changes.ACCOUNT_CHANGED:
                account = accounts.by_id(self.database.reader, int(body["user_id"]))
                if account is not None:
                    self.core.account_events.changed(account, account)
            case outside_changes.BLOCKLISTS_CHANGED:
                await self.areas.administration.blocklists.load()
            case outside_changes.JOB_ORDERED:
                pass
            case outside_changes.NODE_DRAIN:
                if self.nodes is not None:
                    self.nodes.drain(str(body["node"]))
            case outside_changes.INVITE_CREATED:
                self.areas.guilds.invites.take_up(str(body["code"]), int(body["entry_id"]))
            case outside_changes.INVITE_DELETED:
                place = int(body["guild_id"]), int(body["channel_id"])
                self.areas.guilds.invites.take_up_deleted(str(body["code"]), *place, int(body["entry_id"]))
            case _:
                logger.warning("an outside change of an unknown kind", kind=change.kind)
        # It may have ordered jobs, begun errands or written mail as well.
        self.areas.administration.jobs.ordered()
        self.core.errands.look_again()
        outbox = self.areas.signing_in.outbox
        if outbox is not None:
            outbox.wake()


async def develop(surroundings: Surroundings) -> Server:
    """A server with the seeded world and the development routes; needs a movable clock."""
    from chat.development import seeded_world

    clock = surroundings.movable_clock
    if clock is None:
        raise TypeError("development routes move the clock")
    server = Server(surroundings)
    world = await seeded_world.ensure(
        surroundings.database, surroundings.chance, surroundings.clock, server.core.passwords.hash
    )
    server.develop(world, clock)
    return server


def _every_operation() -> list[Routes]:
    from chat.admin.routes import ADMIN_ROUTES
    from chat.api.routes.every import ROUTES

    return [*ROUTES, *ADMIN_ROUTES]


def _operations_beside_start() -> list[Routes]:
    return [routes for routes in _every_operation() if routes not in AT_START]
