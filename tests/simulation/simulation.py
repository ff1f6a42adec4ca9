"""A simulated week of one server and its clients, from a seed; replays to the letter.

Busy hours and quiet ones take turns. In a busy time clients come and go with all sorts of misfortunes, people post,
edit and delete, and the server has faults: its store fails, it drains and restarts, it is killed, it is full, it cannot
reach its sessions, it ends some. Then everything is made whole, all clients catch up, and what they know is compared
with what they are owed, with the history over HTTP and with a fresh session. In a quiet time nobody is there and
whatever is left has to be gone after a minute.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import trio

from chat.gateway.session_table import RETENTION_SECONDS
from chat.gateway.websocket import OUTBOX_BYTES
from chat.registries.limits import REPLAY_BYTES, REPLAY_DISPATCHES
from chat.testing.deterministic import run_deterministically
from chat.testing.rest_client import NoAnswer
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import Actor, World
from tests.simulation.clients import SimulatedClient
from tests.simulation.history import History
from tests.simulation.sessions import Post, comparable

HOURS: Final = 168.0
"""Virtual hours of one simulation."""

CLIENTS: Final = ("bob", "bob", "carol", "carol", "bot")

CATCH_UP_SECONDS: Final = 120.0
"""By then every client is connected and up to date, once faults have ended."""

ARRIVAL_SECONDS: Final = 2.0
"""Dispatches that nothing holds up are there by then."""

FLOOD: Final = 220
"""Long messages of a flood: more than a replay puts on its way at once."""

LONG_CONTENT: Final = "x" * 1_800


class Simulation:
    """One run. `history` is there from the start, so that a failure can show it."""

    def __init__(self, seed: int, hours: float = HOURS) -> None:
        self.seed = seed
        self.hours = hours
        self.history = History()
        self.chance = random.Random(seed)
        self.posts: list[Post] = []
        self.turn = 0
        self.clients: list[SimulatedClient] = []
        self._chat: ChatServer
        self._world: World
        self._is_up = True

    def run(self) -> History:
        """Simulate; raises what an invariant raises."""
        with tempfile.TemporaryDirectory(prefix="chat-simulation-") as folder:
            limit = self.hours * 3_600 + 7_200
            run_deterministically(self.seed, lambda: self._run(Path(folder)), virtual_seconds=limit)
        return self.history

    def _next_turn(self) -> int:
        self.turn += 1
        return self.turn

    async def _run(self, folder: Path) -> None:
        async with open_chat_server(folder, seed=self.seed) as self._chat, trio.open_nursery() as nursery:
            async with World(self._chat.description(), self._chat.route(), nursery) as self._world:
                self._populate(nursery)
                while trio.current_time() < self.hours * 3_600:
                    await self._busy_time()
                    await self._quiet_time()
            nursery.cancel_scope.cancel()

    def _populate(self, nursery: trio.Nursery) -> None:
        for number, name in enumerate(CLIENTS):
            actor: Actor = getattr(self._world, name)
            chance = random.Random(self.chance.random())
            self.clients.append(
                SimulatedClient(f"{name}{number}", actor, chance, self.history, nursery, self._next_turn)
            )

    # A busy time

    async def _busy_time(self) -> None:
        for client in self.clients:
            client.calm = False
        async with trio.open_nursery() as lives:
            for client in self.clients:
                lives.start_soon(client.live)
            with trio.move_on_after(self.chance.uniform(30, 150)):
                async with trio.open_nursery() as stirring:
                    stirring.start_soon(self._post_now_and_then, self._world.alice)
                    stirring.start_soon(self._post_now_and_then, self._world.bob)
                    stirring.start_soon(self._trouble)
                    stirring.start_soon(self._watch)
            await self._make_whole()
            await self._catch_up()
            await self._compare()
            lives.cancel_scope.cancel()

    async def _post_now_and_then(self, author: Actor) -> None:
        mine: list[Post] = []
        while True:
            await trio.sleep(self.chance.choice((0.0, 0.05, 1.0, self.chance.uniform(0, 10))))
            try:
                await self._write(author, mine)
            except (NoAnswer, OSError, trio.TooSlowError) as error:
                self.history.note(author.id, f"no answer: {type(error).__name__}")
                self.history.reach("a request lost")

    async def _write(self, author: Actor, mine: list[Post]) -> None:
        what = self.chance.random()
        old = [post for post in mine if post.id is not None]
        if what < 0.15 and old:
            post = self.chance.choice(old)
            await author.rest.edit_message(self._world.channel_id, post.id or "", "edited")
        elif what < 0.25 and old:
            post = self.chance.choice(old)
            await author.rest.delete_message(self._world.channel_id, post.id or "")
        else:
            content = LONG_CONTENT if self.chance.random() < 0.2 else f"message {self.turn}"
            post = Post(author.id, content, self._next_turn())
            self.posts.append(post)
            mine.append(post)
            answer = await author.rest.send_message(self._world.channel_id, content)
            self.history.note(author.id, f"posts: {answer.status}")
            if answer.status == 200:
                post.id = answer.json()["id"]
            else:
                assert answer.status == 503, answer
                self.history.reach("a post refused")

    async def _trouble(self) -> None:
        troubles: list[Callable[[], Awaitable[None]]] = [
            self._failing_store,
            self._restart,
            self._kill,
            self._full_node,
            self._unreachable_sessions,
            self._end_some_session,
            self._resume_storm,
            self._flood,
        ]
        while True:
            await trio.sleep(self.chance.uniform(1, 40))
            trouble = self.chance.choice(troubles)
            self.history.note("fate", trouble.__name__)
            with trio.CancelScope(shield=True):  # a server that is half restarted would be another story
                await trouble()

    async def _failing_store(self) -> None:
        self._chat.database.failing = True
        await trio.sleep(self.chance.uniform(0.1, 10))
        self._chat.database.failing = False

    async def _restart(self) -> None:
        self._is_up = False
        await self._chat.drain()
        await trio.sleep(self.chance.choice((0.0, 1.0, 20.0)))
        await self._start()
        if len(self._chat.server.gateway.table):
            self.history.reach("sessions adopted after a restart")

    async def _kill(self) -> None:
        self._is_up = False
        await self._chat.stop()
        await trio.sleep(self.chance.choice((0.0, 1.0, 20.0)))
        await self._start()
        assert not len(self._chat.server.gateway.table)
        self.history.reach("killed")

    async def _start(self) -> None:
        await self._chat.start()
        self._is_up = True

    async def _full_node(self) -> None:
        node = self._chat.server.gateway.node
        node.at_capacity = True
        await trio.sleep(self.chance.uniform(1, 15))
        node.at_capacity = False

    async def _unreachable_sessions(self) -> None:
        node = self._chat.server.gateway.node
        node.rpc_failing = True
        await trio.sleep(self.chance.uniform(1, 8))
        node.rpc_failing = False

    async def _end_some_session(self) -> None:
        table = self._chat.server.gateway.table
        sessions = sorted(table, key=lambda session: session.id)
        if sessions:
            table.end(self.chance.choice(sessions))

    async def _resume_storm(self) -> None:
        """Everybody loses the connection at the same moment, and comes back at once."""
        await trio.lowlevel.checkpoint()
        for connection in list(self._chat.server.gateway.connections):
            connection.cut()

    async def _flood(self) -> None:
        """More than fits on the way to a client that does not read, all at once."""
        for _ in range(FLOOD):
            post = Post(self._world.carol.id, LONG_CONTENT, self._next_turn())
            self.posts.append(post)
            answer = await self._world.carol.rest.send_message(self._world.channel_id, LONG_CONTENT)
            post.id = answer.expect(200)["id"]

    # What always holds

    async def _watch(self) -> None:
        while True:
            await trio.sleep(self.chance.uniform(0.2, 3))
            if self._is_up:
                self._check()

    def _check(self) -> None:
        gateway, now = self._chat.server.gateway, trio.current_time()
        holders = [connection.session for connection in gateway.connections if connection.session is not None]
        assert len(holders) == len(set(holders)), "two sockets hold one session"
        for session in gateway.table:
            numbering = session.numbering
            assert numbering.replay_floor <= numbering.sequence
            assert numbering.acknowledged <= numbering.sequence
            assert numbering.retained_count <= REPLAY_DISPATCHES
            assert numbering.retained_bytes <= REPLAY_BYTES
            assert session.receiver is None or session.detached_at is None
            if session.detached_at is not None:
                assert now <= session.detached_at + RETENTION_SECONDS, "a session outlived its retention"
        for connection in gateway.connections:
            assert connection.pending_bytes <= OUTBOX_BYTES + 2 * len(LONG_CONTENT) + 65_536

    # Making whole, and comparing

    async def _make_whole(self) -> None:
        gateway = self._chat.server.gateway
        self._chat.database.failing = False
        gateway.node.at_capacity = gateway.node.rpc_failing = False
        for client in self.clients:
            client.calm = True

    async def _catch_up(self) -> None:
        with trio.fail_after(CATCH_UP_SECONDS + RETENTION_SECONDS * 2):
            while not all(client.caught_up for client in self.clients):  # noqa: ASYNC110 - virtual time
                await trio.sleep(1)
        await trio.sleep(5)
        self._check()

    async def _compare(self) -> None:
        page = (await self._world.alice.rest.messages(self._world.channel_id, limit=100)).expect(200)
        fresh_messages = {message["id"]: message["content"] for message in page}
        oldest = min(map(int, fresh_messages), default=0)
        await self._all_arrives()
        for client in self.clients:
            session = client.session
            assert session is not None
            assert session.attached, client.name
            missing = session.missing(self.posts)
            assert not missing, f"{client.name} misses {[(post.id, post.began) for post in missing]}"
            known = {key: value for key, value in session.messages.items() if int(key) >= oldest}
            assert known.items() <= fresh_messages.items(), f"{client.name} knows messages that are not there"
        for client in self.clients:
            await self._compare_with_fresh(client)
        self.posts = [post for post in self.posts if post.id is not None][-50:]
        self.history.note("all", "compared")

    async def _all_arrives(self) -> None:
        """Every client is at its session's sequence; what is under way at this moment arrives in the next."""
        with trio.fail_after(ARRIVAL_SECONDS):
            while True:
                shown = {session["id"]: session["sequence"] for session in await self._world.anyone.gateway_sessions()}
                sessions = [client.session for client in self.clients if client.session is not None]
                if all(shown.get(session.id) == session.last for session in sessions):
                    return
                await trio.sleep(0.1)

    async def _compare_with_fresh(self, client: SimulatedClient) -> None:
        fresh = await client.actor.connect()
        assert fresh.ready is not None
        guild: dict[str, Any] = fresh.ready["guilds"][0]
        if guild.get("unavailable"):
            guild = (await fresh.expect("GUILD_CREATE")).data
        assert client.session is not None
        assert client.session.state() == comparable(guild), f"{client.name} has another guild than a fresh session"
        await fresh.aclose()

    # A quiet time

    async def _quiet_time(self) -> None:
        for client in self.clients:
            if client.session is not None and self.chance.random() < 0.8:
                client.session.end()  # programs that are started anew next time, and know no session
        await trio.sleep(RETENTION_SECONDS + 1)
        assert not len(self._chat.server.gateway.table), "sessions outlived their retention"
        assert not self._chat.server.gateway.connections, "sockets outlived their clients"
        assert not self._chat.server.gateway.hub.rooms, "rooms outlived their sessions"
        self.history.reach("a quiet time")
        left = self.hours * 3_600 - trio.current_time()
        await trio.sleep(max(0.0, min(left, self.chance.uniform(12, 48) * 3_600)))
