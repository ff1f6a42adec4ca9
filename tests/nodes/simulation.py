"""A core, its nodes and the broker between them in one run on virtual time, from a seed; replays to the letter.

    python -m tests.nodes.simulation --seeds 10000 [--start S]

Clients post, listen, come and go, at another place each time, while faults drawn from the seed fall on nodes, core and
broker, also several at once. Then everything is made whole, and what the clients were sent is compared: with what is
stored, with each other, with a fresh session.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import itertools
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any, Final
from unittest import mock

import structlog
import trio

from chat.gateway.session import GatewaySession
from chat.nodes import link
from chat.nodes.node import Node
from chat.nodes.recovery import Remains
from chat.nodes.relay import HeldNumbering
from chat.testing.deterministic import run_deterministically
from chat.testing.gateway_client import GatewayClosed
from chat.testing.gateway_node import GatewayNode
from chat.testing.network import Route
from chat.testing.rest_client import NoAnswer, Response
from chat.testing.world import Actor
from tests.nodes.cluster import Cluster, open_cluster
from tests.nodes.ledger import MESSAGE, Ledger, TappedEngine
from tests.nodes.roaming_clients import Credentials, RoamingActor, RoamingClient
from tests.simulation.history import History
from tests.simulation.sessions import Post, SimulatedSession, comparable

CLIENTS: Final = ("alice", "bob", "bob", "carol", "carol", "bot")
NODES_MAXIMUM: Final = 4

RECOVERY_SECONDS: Final = 15.0
"""After the last fault each place takes an Identify within this many seconds, also nodes that stood still and a core
whose messages were held back."""

CATCH_UP_SECONDS: Final = 200.0
ARRIVAL_SECONDS: Final = 5.0
UNCONFIRMED_BYTES: Final = 24_000
"""What the core keeps for a node in the simulations in which this limit is to be reached."""

BETWEEN_RESTARTS_SECONDS: Final = 6.0
"""Where no session may be lost, a core lives this many seconds before it is restarted: nodes have to meet it first."""

HARMLESS: Final = {
    1: {"kill_node", "kill_in_transfer", "cut_node_off", "drain_node", "start_node", "broker_slow"},
    2: {"restart_core", "drain_node", "start_node", "broker_slow"},
}
"""Faults by which no session may be lost: those of nodes while the broker keeps what it is given, and what is done in
good order. In simulations of these kinds (the seed modulo 5) no others happen."""

SET_BACK_MS: Final = 60_000
"""How far the clock goes back while there is no core."""

VIRTUAL_SECONDS: Final = 3_000.0


class Simulation:
    """One run. `history` is there from the start, so that a failure can show it."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.history = History()
        self.chance = random.Random(seed)
        self.posts: list[Post] = []
        self.turn = 0
        self.clients: list[RoamingClient] = []
        self.errors: list[str] = []
        self._deleted: set[str] = set()
        self._ledger = Ledger(self.history)
        self._engine = TappedEngine(random.Random(seed), self.history)
        self._broker_lock = trio.Lock()
        self._core_lock = trio.Lock()
        self._carol_is_away = False
        self._invite = ""
        self._cluster: Cluster
        self._nursery: trio.Nursery

    def run(self) -> History:
        """Simulate; raises what a check raises."""
        bytes_ = UNCONFIRMED_BYTES if self.seed % 5 == 4 else link.NODE_UNCONFIRMED_BYTES
        with (
            tempfile.TemporaryDirectory(prefix="chat-simulation-") as folder,
            mock.patch.object(link, "NODE_UNCONFIRMED_BYTES", bytes_),
            self._watching_recovery(),
            self._reading_the_log(),
        ):
            run_deterministically(self.seed, lambda: self._run(Path(folder)), virtual_seconds=VIRTUAL_SECONDS)
        return self.history

    def _next_turn(self) -> int:
        self.turn += 1
        return self.turn

    async def _run(self, folder: Path) -> None:
        nodes = self.chance.choice((2, 2, 3))
        self._engine.delay_seconds = self.chance.choice((0.0, 0.0, 0.005, 0.05))
        async with (
            open_cluster(folder, nodes=nodes, seed=self.seed, engine=self._engine) as self._cluster,
            trio.open_nursery() as self._nursery,
        ):
            async with self._cluster.world:
                await self._populate()
                async with trio.open_nursery() as lives:
                    for client in self.clients:
                        lives.start_soon(client.live)
                    await self._trouble(self.chance.uniform(20, 60))
                    await self._make_whole()
                    await self._catch_up()
                    await self._compare()
                    lives.cancel_scope.cancel()
            self._nursery.cancel_scope.cancel()

    async def _populate(self) -> None:
        world = self._cluster.world
        answer = await world.alice.rest.create_channel_invite(world.channel_id, max_uses=0, max_age=0)
        self._invite = answer.expect(200)["code"]
        for number, name in enumerate(CLIENTS):
            actor = getattr(world, name)
            credentials = Credentials(actor.email, actor.password, world.route) if name == "carol" else None
            self.clients.append(
                RoamingClient(
                    f"{name}{number}",
                    RoamingActor(actor, self._some_place, self._ledger, self._nursery),
                    random.Random(self.chance.random()),
                    self.history,
                    self._nursery,
                    self._next_turn,
                    ledger=self._ledger,
                    credentials=credentials,
                    hurries=self.seed % 5 in HARMLESS,
                    is_away=lambda name=name: name == "carol" and self._carol_is_away,
                )
            )

    # Where clients go

    @property
    def _nodes(self) -> list[GatewayNode]:
        return [node for node in self._cluster.nodes if not node.over.is_set()]

    def _some_place(self) -> tuple[str, Route]:
        places: list[tuple[str, Route]] = [(node.server.node.id[:4], node.route()) for node in self._nodes]
        places += places
        places.append(("core", self._cluster.core.route()))
        return self.chance.choice(places)

    # Posts

    async def _post_now_and_then(self, author: Actor) -> None:
        mine: list[Post] = []
        while True:
            await trio.sleep(self.chance.choice((0.0, 0.05, 0.3, self.chance.uniform(0, 4))))
            try:
                await self._write(author, mine)
            except (NoAnswer, OSError, trio.TooSlowError) as error:
                self.history.note(author.name, f"no answer: {type(error).__name__}")
                self.history.reach("a request lost")

    async def _write(self, author: Actor, mine: list[Post]) -> None:
        channel_id = self._cluster.world.channel_id
        what, old = self.chance.random(), [post.id for post in mine if post.id is not None]
        if what < 0.12 and old:
            await author.rest.edit_message(channel_id, self.chance.choice(old), f"edited {self._next_turn()}")
        elif what < 0.2 and old:
            gone = self.chance.choice(old)
            self._deleted.add(gone)
            await author.rest.delete_message(channel_id, gone)
        elif what < 0.35 and old:
            await author.rest.acknowledge(channel_id, old[-1])
        else:
            turn = self._next_turn()
            post = Post(author.id, f"{MESSAGE}{turn}", turn)
            self.posts.append(post)
            mine.append(post)
            answer = await author.rest.send_message(channel_id, post.content)
            self.history.note(author.name, f"posts {turn}: {answer.status}")
            if answer.status == 200:
                post.id = answer.json()["id"]
            else:
                assert answer.status == 503, answer

    # Faults

    async def _trouble(self, seconds: float) -> None:
        world = self._cluster.world
        every: list[tuple[Callable[[], Awaitable[None]], int]] = [
            (self._kill_node, 4),
            (self._kill_in_transfer, 4),
            (self._cut_node_off, 5),
            (self._lose_answers, 2),
            (self._drain_node, 3),
            (self._start_node, 3),
            (self._kill_core, 2),
            (self._restart_core, 2),
            (self._broker_down, 2),
            (self._broker_stalled, 2),
            (self._broker_forgets, 3),
            (self._broker_drops, 3),
            (self._broker_slow, 2),
            (self._end_some_session, 2),
            (self._send_away, 2),
        ]
        allowed = HARMLESS.get(self.seed % 5)
        faults = [fault for fault in every if allowed is None or fault[0].__name__.strip("_") in allowed]
        kinds, weights = [fault for fault, _ in faults], [weight for _, weight in faults]
        async with trio.open_nursery() as running:
            with trio.move_on_after(seconds):
                async with trio.open_nursery() as stirring:
                    stirring.start_soon(self._post_now_and_then, world.alice)
                    stirring.start_soon(self._post_now_and_then, world.bob)
                    stirring.start_soon(self._watch)
                    while True:
                        await trio.sleep(self.chance.choice((0.05, 1.0, self.chance.uniform(0.5, 8))))
                        fault = self.chance.choices(kinds, weights)[0]
                        self.history.note("fate", fault.__name__.strip("_"))
                        running.start_soon(fault)
            self.history.note("fate", "is done")

    def _some_node(self) -> GatewayNode | None:
        nodes = self._nodes
        return self.chance.choice(nodes) if nodes else None

    async def _kill_node(self) -> None:
        node = self._some_node()
        if node is not None:
            self.history.note("fate", f"kills {node.server.node.id[:4]}")
            await node.kill()
            self.history.reach("a node killed")
            await trio.sleep(self.chance.uniform(0, 5))
            await self._start_node()

    async def _kill_in_transfer(self) -> None:
        """The next node that is to give a session away, or to take one, is killed before it has."""
        kind = self.chance.choice(("Export", "ArriveFromDead", "Arrive", "Judge"))
        self.history.note("fate", f"dooms at {kind}")
        self._engine.doom[kind] = lambda node: self._nursery.start_soon(self._kill, node)

    async def _kill(self, doomed: str) -> None:
        for node in self._nodes:
            if node.server.node.id == doomed:
                await node.kill()
                self.history.reach("a node killed in a transfer")
                await trio.sleep(self.chance.uniform(0, 5))
                await self._start_node()

    async def _cut_node_off(self) -> None:
        node = self._some_node()
        if node is not None:
            self.history.note("fate", f"cuts off {node.server.node.id[:4]}")
            node.broker.cut_off = True
            await trio.sleep(self.chance.choice((0.5, 2.5, 3.2, self.chance.uniform(1, 8))))
            node.broker.cut_off = False

    async def _lose_answers(self) -> None:
        node = self._some_node()
        if node is not None:
            node.broker.answers_lost = True
            await trio.sleep(self.chance.uniform(0.1, 3))
            node.broker.answers_lost = False

    async def _drain_node(self) -> None:
        node = self._some_node()
        if node is not None:
            self.history.note("fate", f"drains {node.server.node.id[:4]}")
            node.server.node.drain()
            self.history.reach("a node drained")
            await self._start_node()

    async def _start_node(self) -> None:
        if len(self._nodes) < NODES_MAXIMUM:
            await self._cluster.add_node()

    async def _kill_core(self) -> None:
        async with self._core_lock:
            await self._cluster.core.stop()
            self.history.reach("the core killed")
            await trio.sleep(self.chance.choice((0.0, 1.0, 4.0)))
            if self.chance.random() < 0.3:
                self.history.reach("the clock set back")
                clock = self._cluster.core.clock
                clock.set_back(clock.skipped_ms - SET_BACK_MS)
            await self._start_core()

    async def _restart_core(self) -> None:
        async with self._core_lock:
            await self._cluster.core.drain()
            self.history.reach("the core restarted")
            await trio.sleep(self.chance.choice((0.0, 0.5, 4.0)))
            await self._start_core()
            if self.seed % 5 in HARMLESS:
                await trio.sleep(BETWEEN_RESTARTS_SECONDS)

    async def _start_core(self) -> None:
        async with self._broker_lock:  # a core does not start without its broker
            await self._cluster.core.start()

    async def _broker_down(self) -> None:
        async with self._broker_lock:
            self._engine.down = True
            await trio.sleep(self.chance.choice((0.2, 2.0, 5.0)))
            if self.chance.random() < 0.5:
                self._engine.lose_everything()
            self._engine.down = False

    async def _broker_stalled(self) -> None:
        async with self._broker_lock:
            self._engine.stalled = True
            await trio.sleep(self.chance.choice((0.2, 1.0, 4.0)))
            self._engine.stalled = False

    async def _broker_forgets(self) -> None:
        self._engine.lose_everything()

    async def _broker_drops(self) -> None:
        self._engine.drop_appends = self.chance.randint(1, 6)

    async def _broker_slow(self) -> None:
        self._engine.delay_seconds = self.chance.choice(
            (0.0, 0.02, 0.05) if self.seed % 5 in HARMLESS else (0.0, 0.2, 0.4)
        )

    async def _end_some_session(self) -> None:
        sessions = sorted(self._cluster.core.server.gateway.table, key=lambda session: session.id)
        if sessions and not self._core_lock.locked():
            session = self.chance.choice(sessions)
            self.history.note("fate", f"ends {session.id[:4]}")
            self._cluster.core.server.gateway.table.end(session)

    async def _send_away(self) -> None:
        """Carol is kicked or banned; later she comes back."""
        world = self._cluster.world
        guild, carol = f"/v1/guilds/{world.guild_id}", world.carol.id
        self._carol_is_away = True
        for client in self.clients:
            if client.actor.id == carol:
                client.excused |= {session.id for session in client.sessions}
        with contextlib.suppress(NoAnswer, OSError, trio.TooSlowError):
            if self.chance.random() < 0.5:
                await world.alice.rest.delete(f"{guild}/members/{carol}")
            else:
                await world.alice.rest.put(f"{guild}/bans/{carol}", {})
                self.history.reach("banned")

    # What always holds

    async def _watch(self) -> None:
        while True:
            await trio.sleep(self.chance.uniform(0.2, 3))
            self._check()

    def _check(self) -> None:
        self._ledger.check()
        assert not self.errors, self.errors[0]
        for node in self._nodes:
            holders = [socket.session for socket in node.server.node.connections if socket.session is not None]
            assert len(holders) == len(set(holders)), "two sockets of a node hold one session"

    # Making whole, and comparing

    async def _make_whole(self) -> None:
        self.history.note("fate", "makes whole")
        self._engine.delay_seconds, self._engine.drop_appends = 0.0, 0
        self._engine.doom.clear()
        for node in self._cluster.nodes:
            node.broker.cut_off = node.broker.answers_lost = False
        while len(self._nodes) < 2:
            await self._start_node()
        with trio.fail_after(RECOVERY_SECONDS):
            while not all(_may_serve(node.server.node) for node in self._nodes):  # noqa: ASYNC110 - virtual time
                await trio.sleep(0.05)
            await self._bring_carol_back()
            for place, route in self._all_places():
                await self._serves(place, route)
        for client in self.clients:
            client.calm = True

    async def _serves(self, place: str, route: Route) -> None:
        """Return once a new session begins there, at the second attempt where a node has just begun anew."""
        while True:
            try:
                fresh = await self._cluster.world.alice.connect(route=route)
            except GatewayClosed as closed:
                self.history.note(place, f"does not serve yet: {closed}")
            else:
                await fresh.aclose()
                return

    def _all_places(self) -> list[tuple[str, Route]]:
        nodes = [(node.server.node.id[:4], node.route()) for node in self._nodes]
        return [*nodes, ("core", self._cluster.core.route())]

    async def _bring_carol_back(self) -> None:
        world = self._cluster.world
        if self._carol_is_away:
            unbanned: Response = await world.alice.rest.delete(f"/v1/guilds/{world.guild_id}/bans/{world.carol.id}")
            assert unbanned.status in {204, 400, 404}, unbanned
            client = next(client for client in self.clients if client.actor.id == world.carol.id)
            credentials = client._credentials
            assert credentials is not None
            token = (await world.anyone.login(email=credentials.email, password=credentials.password)).expect(200)
            await world.carol.rest.signed_in(token["token"]).accept_invite(self._invite)

    async def _catch_up(self) -> None:
        with trio.fail_after(CATCH_UP_SECONDS):
            while not all(client.caught_up for client in self.clients):  # noqa: ASYNC110 - virtual time
                await trio.sleep(0.5)
        last = Post("alice", f"{MESSAGE}{self._next_turn()}", self.turn)
        self.posts.append(last)
        world = self._cluster.world
        last.id = (await world.alice.rest.send_message(world.channel_id, last.content)).expect(200)["id"]
        with trio.fail_after(ARRIVAL_SECONDS):
            while waiting := [client.name for client in self.clients if not self._is_at_its_place(client, last.id)]:
                await trio.sleep(0.1)
                self.history.note("waits for", ",".join(waiting))
        self._check()

    def _is_at_its_place(self, client: RoamingClient, last: str) -> bool:
        """Whether the client has been sent everything, and core and places agree about where its session is."""
        session = client.session
        assert session is not None
        at_core = self._cluster.core.server.gateway.table.get(session.id)
        if at_core is None or at_core.receiver is None or last not in session.seen:
            return False
        holders = [
            held
            for node in self._nodes
            if (held := node.server.node.table.get(session.id)) is not None and held.receiver is not None
        ]
        if at_core.place is None:
            return not holders and _is_through(at_core, session)
        return len(holders) == 1 and _is_through(holders[0], session)

    async def _compare(self) -> None:
        stored = await self._stored()
        lost = [post for post in self.posts if post.id and post.id not in stored and post.id not in self._deleted]
        assert not lost, f"acknowledged, and not stored: {lost}"
        for client in self.clients:
            assert client.session is not None
            if client.session.id not in client.excused:
                missing = client.session.missing(self.posts)
                assert not missing, f"{client.name} misses {[(post.id, post.content) for post in missing]}"
        self._compare_with_each_other()
        if self.seed % 5 in HARMLESS:
            lost = {what: self.history.reached[what] for what in ("invalid session", "session ended under its socket")}
            assert not any(lost.values()), f"sessions were lost, for no reason: {lost}"
        for client in self.clients:
            await self._compare_with_fresh(client)
        self.history.note("broker", self._engine.given.hexdigest())

    async def _stored(self) -> set[str]:
        world, stored, before = self._cluster.world, set[str](), None
        while True:
            page = await world.alice.rest.messages(world.channel_id, limit=100, before=before)
            ids = [message["id"] for message in page.expect(200)]
            if not ids:
                return stored
            stored.update(ids)
            before = ids[-1]

    def _compare_with_each_other(self) -> None:
        """All sessions that heard the same stretch of the channel heard it in the same order, without a hole."""
        heard = [
            (f"{client.name} {session.id[:4]}", self._channel_of(session))
            for client in self.clients
            for session in client.sessions
            if session.id not in client.excused
        ]
        for (one, ones), (other, others) in itertools.combinations(heard, 2):
            common = set(ones) & set(others)
            if common:
                assert _between(ones, common) == _between(others, common), f"{one} and {other} heard different things"

    def _channel_of(self, session: SimulatedSession) -> list[tuple[str, str]]:
        return [
            event
            for _, event in sorted(session.received.items())
            if event[0] in {"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"}
        ]

    async def _compare_with_fresh(self, client: RoamingClient) -> None:
        route = self.chance.choice(self._all_places())[1]
        fresh = await client.actor.connect(route=route)
        assert fresh.ready is not None
        guild: dict[str, Any] = fresh.ready["guilds"][0]
        if guild.get("unavailable"):
            guild = (await fresh.expect("GUILD_CREATE")).data
        assert client.session is not None
        assert client.session.state() == comparable(guild), f"{client.name} has another guild than a fresh session"
        await fresh.aclose()

    # What happens inside

    @contextlib.contextmanager
    def _reading_the_log(self) -> Iterator[None]:
        """The program's log goes into the history; what it reports as an error is one."""

        def read(_: object, level: str, event: MutableMapping[str, Any]) -> None:
            what = str(event.pop("event"))
            self.history.reach(f"log: {what}")
            self.history.note("log", f"{what} {event}"[:300])
            if level in {"error", "critical"} or "exc_info" in event:
                self.errors.append(f"{what}\n{traceback.format_exc()}")
                self.history.note("log", self.errors[-1])
            raise structlog.DropEvent

        processors = structlog.get_config()["processors"]
        before = list(processors)
        processors[:] = [read]
        try:
            yield
        finally:
            processors[:] = before

    @contextlib.contextmanager
    def _watching_recovery(self) -> Iterator[None]:
        """Count what take-overs are made of."""
        folded, following, reach = Remains._folded, Remains._next, self.history.reach

        async def counted_folded(remains: Remains, slot: int, facts: Any, position: Any, *arguments: Any) -> Any:
            if position is None:
                reach("taken over from the session's beginning")
            elif remains._rest is None or remains._rest[0] != position:
                reach("taken over from a checkpoint")
            else:
                reach("taken over whole from a node that ended")
            return await folded(remains, slot, facts, position, *arguments)

        async def counted_next(remains: Remains, message: Any, numbering: Any, *arguments: Any) -> Any:
            if isinstance(numbering, HeldNumbering):
                kind = type(message).__name__
                reach({"Arrive": "fold over a transfer", "ArriveFromDead": "take-over chain"}.get(kind, "other"))
            return await following(remains, message, numbering, *arguments)

        with mock.patch.object(Remains, "_folded", counted_folded), mock.patch.object(Remains, "_next", counted_next):
            yield


def _may_serve(node: Node) -> bool:
    return node.is_up and not node.drain_asked.is_set()


def _is_through(held: GatewaySession, session: SimulatedSession) -> bool:
    return not isinstance(held.numbering, HeldNumbering) and held.numbering.sequence == session.last


def _between(events: list[tuple[str, str]], common: set[tuple[str, str]]) -> list[tuple[str, str]]:
    at = [number for number, event in enumerate(events) if event in common]
    return events[at[0] : at[-1] + 1]


def main() -> int:
    """Run the seeds; 0 when all held, 1 at the first that did not."""
    parser = argparse.ArgumentParser(description="Simulate a core, its nodes and their clients on virtual time.")
    parser.add_argument("--seeds", type=int, default=100, help="how many seeds")
    parser.add_argument("--start", type=int, default=0, help="the first of them")
    parser.add_argument("--tail", type=int, default=400, help="lines of the history that a failure shows")
    parser.add_argument("--go-on", action="store_true", help="run the others as well when one fails")
    arguments = parser.parse_args()
    reached: collections.Counter[str] = collections.Counter()
    began, failed = time.monotonic(), []
    for seed in range(arguments.start, arguments.start + arguments.seeds):
        simulation = Simulation(seed)
        simulation.history.tail = collections.deque(maxlen=arguments.tail)
        try:
            history = simulation.run()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            if arguments.tail:
                print("\n".join(simulation.history.tail))
            print(f"seed {seed}: {_reason(error)}", flush=True)
            failed.append(seed)
            if not arguments.go_on:
                traceback.print_exc()
                print(f"repeat: python -m tests.nodes.simulation --seeds 1 --start {seed}")
                break
            continue
        reached += history.reached
        print(f"seed {seed} {history.events} events, {history.digest}", flush=True)
    print(f"{seed - arguments.start + 1} seeds in {time.monotonic() - began:.1f} s, failed: {failed}")
    for what, times in reached.most_common():
        print(f"{times:8} {what}")
    return 1 if failed else 0


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {str(error)[:600]}"


if __name__ == "__main__":
    sys.exit(main())
