"""The server as a process: from its settings to the open port, and in good order to its end.

SIGTERM, SIGINT and SIGHUP (the terminal it was started from has closed) end it alike: sessions are sent elsewhere and
written down, running requests finish. Another SIGTERM or SIGINT ends it at once. Under `nohup` SIGHUP stays ignored.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
import structlog
import trio

from chat.allocator import keep_large_blocks
from chat.assembly import Surroundings
from chat.auth.passwords import CHEAP
from chat.classes import frozen
from chat.clock import DoubtingClock, SkippingClock
from chat.collector import start_is_over, sweep
from chat.config import Loaded, Settings
from chat.config.settings import WILDCARD_HOSTS, address_and_port, origin_of
from chat.domain.policy.origins import Origins
from chat.ending import Ending
from chat.port.listener import Listener, SocketListener, answering, connections_maximum, listening, not_ready
from chat.port.own_address import own_address
from chat.process_memory import give_back, resident_bytes
from chat.server import Server, develop
from chat.service_manager import ServiceManager
from chat.store.data_directory import DataDirectory, is_writable_by_others
from chat.store.database import SWITCH_INTERVAL_SECONDS, Database, open_database
from chat.store.migrations import prepare
from chat.supervision import lasting

if TYPE_CHECKING:
    from chat.backup.schedule import BackupSchedule
    from chat.development.seeded_world import SeededWorld
    from chat.import_processes import ImportProcesses
    from chat.nodes.broker import Broker
    from chat.port.tls import Certificates

logger = structlog.get_logger(__name__)

GIVE_BACK_SECONDS: Final = 60.0
"""How often memory is given back to the system."""

GIVE_BACK_ABOVE_BYTES: Final = 201_326_592
"""A smaller process keeps what it has: it will need it again."""

SWEEP_SECONDS: Final = 3_600.0
"""How often what was taken out of the collector's sight is looked through, if the moment is quiet."""

QUIET_CONNECTIONS: Final = 256
"""Gateway connections up to which a full collection is short enough to go unnoticed."""


@frozen
class ServerAddresses:
    """Where a server that can serve is reached."""

    host: str
    port: int
    origin: str
    gateway_url: str
    has_tls: bool = attrs.field(default=False, kw_only=True)
    """Whether it speaks TLS itself."""
    world: SeededWorld | None = None
    """The seeded world of a development server."""
    setup_url: str | None = attrs.field(default=None, repr=False)
    """Whoever opens it sets the instance up; None once that is done."""


async def serve(loaded: Loaded, *, clock: SkippingClock | None, announce: Callable[[ServerAddresses], None]) -> None:
    """Run a server on a data directory that this process has locked, until a signal has drained it.

    With a clock that can be moved it is a development server. Raises OperatorError (in a group) when it cannot listen.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    settings, directory, ending = loaded.settings, DataDirectory(loaded.data_directory), Ending()
    manager = ServiceManager.of(os.environ)
    async with (
        ending.heard(),
        manager.kept_informed(),
        listening(settings.host, settings.port) as sockets,
        _listening_for_metrics(settings) as metrics_listeners,
    ):
        settings = settings.listening_on(sockets[0].port)
        directory.tell_address(settings.host, settings.port)
        _warn_of_mode(directory.path)
        certificates = _certificates(settings, directory)
        listeners = sockets if certificates is None else certificates.over(sockets)
        manager.status("looking at the database")
        await migrate(directory, listeners, partial(_back_up, loaded, directory))
        async with open_database(directory.database) as database, _broker(settings) as broker:
            origins = _origins(settings, follows_host=loaded.follows_host)
            server = await assemble(settings, database, directory, origins, clock=clock, broker=broker)
            if server.metrics is not None and certificates is not None:
                server.metrics.certificate_ends_at = lambda: certificates.expires_at
            async with server.running(
                listeners, maximum_connections=connections_maximum(), metrics_listeners=metrics_listeners
            ):
                ending.started()
                keep_large_blocks()
                start_is_over()
                announce(_addresses(settings, sockets[0].port, server))
                manager.ready(f"serving {settings.public_url}")
                async with trio.open_nursery() as nursery:
                    connections = server.gateway.connections
                    nursery.start_soon(sweep_while_quiet, partial(len, connections), server.sleep_unmoved)
                    nursery.start_soon(give_memory_back, server.sleep_unmoved)
                    if certificates is not None:
                        certificates.tell_of_end(server.clock.now_ms())
                        nursery.start_soon(
                            lasting, partial(certificates.follow, server.sleep_unmoved, server.clock.now_ms)
                        )
                    if settings.backup.directory is not None:
                        nursery.start_soon(lasting, _backup_schedule(loaded, server).run)
                    nursery.start_soon(lasting, _import_processes(loaded, server).run)
                    await ending.asked.wait()
                    nursery.cancel_scope.cancel()
                manager.stopping("sending sessions elsewhere, finishing requests")
                await server.drain()


def _warn_of_mode(folder: Path) -> None:
    """The mode of the data directory is told and left as it is: a group may be meant."""
    if is_writable_by_others(folder):
        logger.warning(
            "others can write to the data directory, and so put another database in its place",
            directory=str(folder),
            remedy=f"chmod -R go= {folder}",
        )


@asynccontextmanager
async def _broker(settings: Settings) -> AsyncIterator[Broker | None]:
    """The broker between this server and its gateway nodes, if the settings name one."""
    if settings.nodes is None:
        yield None
        return
    from chat.nodes.redis_broker import open_broker

    async with open_broker(settings.nodes) as broker:
        yield broker


def _certificates(settings: Settings, directory: DataDirectory) -> Certificates | None:
    if settings.tls_certificate is None or settings.tls_key is None:
        return None
    from chat.port.tls import Certificates

    return Certificates.read(directory.path / settings.tls_certificate, directory.path / settings.tls_key)


def _backup_schedule(loaded: Loaded, server: Server) -> BackupSchedule:
    from chat.backup.schedule import BackupSchedule

    return BackupSchedule(
        settings=loaded.settings,
        data=loaded.data_directory,
        settings_file=loaded.settings_file,
        database=server.database,
        clock=server.clock,
    )


def _import_processes(loaded: Loaded, server: Server) -> ImportProcesses:
    from chat.import_processes import ImportProcesses

    return ImportProcesses(
        exports=server.areas.imports.brought,
        data=loaded.data_directory,
        settings_file=loaded.settings_file,
        clock=server.clock,
    )


@asynccontextmanager
async def _listening_for_metrics(settings: Settings) -> AsyncIterator[Sequence[SocketListener]]:
    if settings.metrics_listen is None:
        yield ()
        return
    async with listening(*address_and_port(settings.metrics_listen)) as listeners:
        yield listeners


async def migrate(
    directory: DataDirectory, listeners: Sequence[Listener], before: Callable[[], object] = lambda: None
) -> None:
    """Create or migrate the database unless it is current, and say so meanwhile to those who ask. `before` runs first,
    in a thread."""
    if not directory.has_current_database():
        async with answering(listeners, not_ready("migrating", "the database is being migrated")):
            await trio.to_thread.run_sync(before)
            await trio.to_thread.run_sync(prepare, directory.database)


def _back_up(loaded: Loaded, directory: DataDirectory) -> None:
    from chat.backup.before_migrating import back_up_before_migrating

    back_up_before_migrating(directory, loaded.settings, loaded.settings_file)


async def assemble(
    settings: Settings,
    database: Database,
    directory: DataDirectory,
    origins: Origins,
    *,
    clock: SkippingClock | None,
    broker: Broker | None = None,
) -> Server:
    """The parts of a server in production or, with the clock that `chat dev` moves, for development."""
    surroundings = Surroundings(
        settings=settings,
        database=database,
        clock=DoubtingClock() if clock is None else clock,
        chance=secrets.SystemRandom(),
        directory=directory.path,
        secret=directory.signing_key(),
        origins=origins,
        watches_itself=True,
        broker=broker,
    )
    if clock is None:
        return Server(surroundings)
    return await develop(attrs.evolve(surroundings, hash_cost=CHEAP, movable_clock=clock))


async def sweep_while_quiet(
    connections: Callable[[], int], sleep: Callable[[float], Awaitable[None]] = trio.sleep
) -> None:
    """Now and then, while few are connected, collect what was out of sight: cycles that were in use when frozen."""
    while True:
        await sleep(SWEEP_SECONDS)
        if connections() <= QUIET_CONNECTIONS:
            sweep()


async def give_memory_back(sleep: Callable[[float], Awaitable[None]] = trio.sleep) -> None:
    """Now and then, while the process is large, return what it no longer needs: a crowd that was served leaves holes
    that nothing fills again."""
    while True:
        await sleep(GIVE_BACK_SECONDS)
        if (resident_bytes() or 0) > GIVE_BACK_ABOVE_BYTES:
            await trio.to_thread.run_sync(give_back)


def _origins(settings: Settings, *, follows_host: bool) -> Origins:
    if not follows_host:
        return Origins(settings.public_url)
    logger.warning(
        "public_url is not set: answers name the host that they were asked at, and what many receive names another one",
        host=settings.host,
        remedy="set public_url to the origin at which people reach this server",
    )
    address = own_address(settings.host) if settings.host in WILDCARD_HOSTS else None
    shared = settings.public_url if address is None else origin_of(address, settings.port, tls=settings.has_tls)
    return Origins(settings.public_url, follows_host=True, shared=shared)


def _addresses(settings: Settings, port: int, server: Server) -> ServerAddresses:
    origin = settings.public_url
    scheme, _, rest = origin.partition("://")
    websocket_scheme = "wss" if scheme == "https" else "ws"
    gateway_url = f"{websocket_scheme}://{rest}/gateway"
    setup = server.areas.administration.setup
    setup_url = None if setup.is_configured else f"{server.core.origins.shared}/setup#token={setup.token}"
    return ServerAddresses(settings.host, port, origin, gateway_url, server.world, setup_url, has_tls=settings.has_tls)
