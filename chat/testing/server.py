"""A whole server inside a test's own Trio run.

The parts are those of `chat.server`; what they stand on is the test's: a network in memory (or loopback sockets), a
database in a temporary directory that works on the loop's thread, the run's clock, chance from a seed, cheap password
hashing, development routes.

    async with open_chat_server(folder, seed=1) as server:
        client = RestClient(server.route())
"""

from __future__ import annotations

import functools
import math
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
import trio
import trio.testing

from chat.assembly import Surroundings
from chat.auth.passwords import CHEAP
from chat.clock import JumpingClock, MovableClock, SkippingClock
from chat.config import Loaded, load_settings
from chat.development.answers import DescribedWorld
from chat.development.seeded_world import SeededWorld, describe
from chat.domain.policy.origins import Origins
from chat.log import without_secrets
from chat.port.listener import Listener, open_listeners
from chat.server import Server, develop
from chat.store.data_directory import DataDirectory
from chat.store.database import Database, open_database
from chat.store.migrations import prepare
from chat.testing import options
from chat.testing.network import MemoryNetwork, MemoryRoute, Route, TcpRoute

if TYPE_CHECKING:
    from chat.nodes.broker import Broker
    from chat.testing.gateway_node import GatewayNode

CONNECTIONS_MAXIMUM: Final = 10_000

OUTSIDE_POLL_SECONDS: Final = 600.0
"""No other process works on the database; looking for changes five times a second would fill virtual hours."""

STARTED_MS: Final = 1_767_225_600_000
"""2026-01-01T00:00:00Z: when virtual time begins, so that a test's time stamps are the same each time."""

SECRET: Final = bytes(32)
"""The instance's signing key: a run replays from its seed alone."""

LOOPBACK: Final = "127.0.0.1"


class ChatServer:
    """A running server; see `open_chat_server`.

    `server` is the composition, for a look inside; `restart` replaces it.
    """

    def __init__(
        self,
        folder: Path,
        loaded: Loaded,
        *,
        chance: random.Random,
        sockets: bool,
        nursery: trio.Nursery,
        broker: Broker | None = None,
        node: GatewayNode | None = None,
    ) -> None:
        self.settings = loaded.settings
        self._follows_host = loaded.follows_host
        self.clock: MovableClock = clock_of_this_run()
        self.chance = chance
        self.network = MemoryNetwork()
        self.server: Server
        self.database: Database
        self.world: SeededWorld
        self._folder = folder
        self._sockets = sockets
        self._nursery = nursery
        self._broker = broker
        self.node = node
        """The gateway node to which `route` leads gateway sockets; None where the server serves them itself."""
        self._port = 0
        self._life: trio.CancelScope
        self._over = trio.Event()

    # Coming and going

    async def start(self) -> None:
        """Start on what the database holds."""
        self._over = trio.Event()
        await self._nursery.start(self._live)
        if self.node is not None:
            await self.node.serves(self.server)

    async def _live(self, task_status: trio.TaskStatus[None]) -> None:
        over = self._over
        try:
            with trio.CancelScope() as self._life:
                async with AsyncExitStack() as stack:
                    path = fresh_database(DataDirectory(self._folder).database)
                    self.database = await stack.enter_async_context(open_database(path, inline=True, durable=False))
                    self.server = await develop(
                        Surroundings(
                            settings=self.settings,
                            database=self.database,
                            clock=self.clock,
                            chance=self.chance,
                            directory=self._folder,
                            secret=SECRET,
                            origins=Origins(self.settings.public_url, follows_host=self._follows_host),
                            hash_cost=CHEAP,
                            work_in_threads=False,
                            outside_poll_seconds=OUTSIDE_POLL_SECONDS,
                            movable_clock=self.clock,
                            broker=self._broker,
                        )
                    )
                    assert self.server.world is not None
                    self.world = self.server.world
                    listeners = await self._listen()
                    await stack.enter_async_context(
                        self.server.running(listeners, maximum_connections=CONNECTIONS_MAXIMUM)
                    )
                    task_status.started()
                    await trio.sleep_forever()
        finally:
            over.set()

    async def _listen(self) -> list[Listener]:
        if not self._sockets:
            return [self.network.listen()]
        listeners = await open_listeners(LOOPBACK, self._port)
        self._port = listeners[0].port
        return list(listeners)

    async def stop(self) -> None:
        """End at once, as if the process had been killed; what was committed stays."""
        self._life.cancel()
        await self._over.wait()

    async def drain(self) -> None:
        """End in good order, as at SIGTERM: sessions are sent elsewhere and retained, running requests finish."""
        await self.server.drain()
        await self.stop()

    async def restart(self) -> None:
        """`drain`, and start anew on the same data."""
        await self.drain()
        await self.start()

    # Ways to it

    def route(self, address: str = LOOPBACK) -> Route:
        """The way here for a client from `address` (which counts in memory only)."""
        node = self.node
        if self._sockets:
            return TcpRoute(LOOPBACK, self._port, gateway_port=None if node is None else node.port)
        return MemoryRoute(self.network, address, gateway=None if node is None else node.network)

    def description(self) -> DescribedWorld:
        """What `chat dev --json` would print."""
        host = self.route().host
        return describe(self.world, base_url=f"http://{host}/v1", gateway_url=f"ws://{host}/gateway", pid=0)


QUIET: Final[Mapping[str, object]] = {"media.link_embeds": False, "reverse_dns.enabled": False}
"""Settings of a server that asks no other host, unless a test says otherwise."""


@asynccontextmanager
async def open_chat_server(
    folder: Path,
    *,
    seed: int = 0,
    settings: Mapping[str, object] | None = None,
    sockets: bool = False,
    broker: Broker | None = None,
    at_node: bool | None = None,
) -> AsyncIterator[ChatServer]:
    """Run a server for as long as the block lasts.

    `folder` is its data directory, `settings` are dotted names with values above those of `chat dev`, `sockets` listens
    on a loopback port instead of a MemoryNetwork, `broker` lets gateway nodes stand around the server, `at_node` has
    gateway sockets served by a node of its own, which stays over a restart (None: as the option `--chat-gateway` says).
    Two runs from one seed on a virtual clock do the same.
    """
    _log_plainly()
    loaded = load_settings(folder, flags={**QUIET, **(settings or {})}, development=True)
    async with trio.open_nursery() as nursery:
        chance = random.Random(seed)  # noqa: S311 - a test replays from its seed
        node = None
        if broker is None and (options.current().at_node if at_node is None else at_node):
            broker, node = _with_node(seed)
        server = ChatServer(folder, loaded, chance=chance, sockets=sockets, nursery=nursery, broker=broker, node=node)
        if node is not None:
            await nursery.start(functools.partial(node.live, sockets=sockets))
        await server.start()
        yield server
        nursery.cancel_scope.cancel()


def _log_plainly() -> None:
    """Where the test has no wish: what structlog does by itself is to print every local variable of every frame, a
    hundred thousand lines for one error."""
    if structlog.is_configured():
        return
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            without_secrets,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),  # as it is then: pytest captures it
    )


def _with_node(seed: int) -> tuple[Broker, GatewayNode]:
    """A broker for a core, and a node around it. Imported here: servers without nodes need none of it."""
    from chat.nodes.memory_broker import MemoryBroker
    from chat.testing.gateway_node import GatewayNode

    broker = MemoryBroker(chance=random.Random(seed))  # noqa: S311 - a test replays from its seed
    return broker, GatewayNode.beside(broker, random.Random(seed), "node")  # noqa: S311


def fresh_database(path: Path) -> Path:
    """The path; a database with the whole schema and no rows is put there unless there was one.

    Migrations are not run for each, since they take longer than most tests.
    """
    if not path.exists():
        path.write_bytes(_bytes())
    return path


@functools.cache
def _bytes() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.sqlite3"
        prepare(path, durable=False)
        return path.read_bytes()


class RealTimeError(RuntimeError):
    """A test on the machine's own clock tried to move time."""


def _refuse(_: object) -> None:
    raise RealTimeError("time can be moved only on a virtual clock: let the test ask for `autojump_clock`")


def clock_of_this_run() -> MovableClock:
    """The clock for a server that runs inside the present `trio.run`.

    On a virtual clock (pytest-trio's `autojump_clock`, Trio's MockClock) time jumps as soon as all tasks wait, so a
    minute takes no time, and the development route can move the clock besides. On the machine's own clock nothing can
    move time; `skip` says so. The clock of `chat dev` (SkippingClock) is taken as it is.
    """
    clock = trio.lowlevel.current_clock()
    if isinstance(clock, SkippingClock):
        return clock
    if isinstance(clock, trio.testing.MockClock):
        return JumpingClock(STARTED_MS, clock.jump, _holder(clock))
    return JumpingClock(time.time_ns() // 1_000_000, _refuse, _refuse)


def _holder(clock: trio.testing.MockClock) -> Callable[[bool], None]:
    threshold = clock.autojump_threshold

    def hold(stopped: bool) -> None:
        clock.autojump_threshold = math.inf if stopped else threshold

    return hold
