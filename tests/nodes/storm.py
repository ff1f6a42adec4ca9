"""Clients of every kind on a core with two nodes, people who write meanwhile, and the checker of all histories."""

from __future__ import annotations

import itertools
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import attrs
import trio

from chat.registries.opcodes import Opcode
from chat.testing import RestClient
from chat.testing.gateway_client import GatewayClient
from chat.testing.gateway_model import ModelSession
from chat.testing.http_client import NoAnswer
from tests.nodes.processes import Network, Processes
from tests.nodes.steady_client import Channels, History, Kind, SteadyClient, Tally
from tests.patience import PATIENCE_SECONDS

PEOPLE: Final = ("alice", "bob", "carol")
ACCOUNTS: Final = (*PEOPLE, "bot")
POLL_SECONDS: Final = 0.02
STORM_SECONDS: Final = 3 * PATIENCE_SECONDS
"""For what all clients do together. Sixty clients in one process need minutes where the machine has other work."""

WRITE_SECONDS: Final = 0.25
"""Between two messages of one writer."""

PAGE: Final = 100
LOST: Final = (NoAnswer, OSError, trio.BrokenResourceError, trio.TooSlowError)
"""A request without an answer: nothing is known of it."""


@attrs.define
class Round:
    """What one round counted. Seconds are None where the fault has no such bound."""

    fault: str
    clients: int = 0
    events: int = 0
    messages: int = 0
    resumes: int = 0
    missed: int = 0
    doubled: int = 0
    invalid_sessions: int = 0
    lost_writes: int = 0
    two_holders: int = 0
    slowest: float | None = None
    """Seconds from the fault, or from the return, until every session is served or told."""
    bound: float | None = None
    faults: list[str] = attrs.field(factory=list)
    said: list[str] = attrs.field(factory=list)
    """What core, nodes and broker logged meanwhile."""

    @property
    def is_in_bound(self) -> bool:
        return self.slowest is None or self.bound is None or self.slowest <= self.bound


class Storm:
    """The clients, the writers, and what all of them know. Made by `storm`."""

    def __init__(self, processes: Processes, nursery: trio.Nursery, seed: int) -> None:
        self.processes = processes
        self.chance = random.Random(seed)
        self.tally = Tally()
        self.clients: list[SteadyClient] = []
        self.routes = {node.port: node.route for node in processes.nodes}
        self.nursery = nursery
        self.acknowledged: dict[str, str] = {}
        """Messages of the round whose writers got an answer: their contents by id."""
        self._channel_id = str(processes.world["channel_id"])
        self._guild_id = str(processes.world["guild_id"])
        self._tokens = {str(user["username"]): str(user["token"]) for user in processes.world["users"]}
        self._tokens["bot"] = str(processes.world["bot"]["token"])
        route = processes.core.route
        self.people = {account: RestClient(route, token=self._tokens[account]) for account in PEOPLE}
        self._may_write = trio.Event()
        self._may_write.set()
        self._writing = 0
        self._numbers = itertools.count(1)
        self._settled_at = "0"

    async def begin(self, count: int) -> None:
        """Connect `count` clients, of every kind in turn, half of them at each node."""
        kinds = itertools.cycle(
            Kind(account, compressed, acknowledges)
            for acknowledges, compressed, account in itertools.product((True, False), (False, True), ACCOUNTS)
        )
        homes = sorted(self.routes)
        for number, kind in zip(range(count), kinds, strict=False):
            client = SteadyClient(
                f"client {number}",
                kind,
                self._tokens[kind.account],
                lambda: self.routes,
                homes[number * len(homes) // count],
                self._channel_id,
                lambda: self.tally,
            )
            self.clients.append(client)
            self.nursery.start_soon(client.live, self.nursery)
        await self.until(lambda: all(client.port for client in self.clients), "all clients have a session")
        for writer in PEOPLE:
            self.nursery.start_soon(self._write, writer)
        self.nursery.start_soon(self._change_channels)

    async def until(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait until it is so. Raises AssertionError when it never is."""
        with trio.move_on_after(STORM_SECONDS):
            while not is_so():  # noqa: ASYNC110 - what it looks at has no event
                await trio.sleep(POLL_SECONDS)
            return
        absent = [f"{client.name} ({client.kind}) at {client.port}" for client in self.clients if not client.port]
        raise AssertionError(f"waited in vain until {what}; without a session: {absent}")

    # Writers

    async def _write(self, account: str) -> None:
        rest = self.people[account]
        while True:
            await trio.sleep(WRITE_SECONDS * self.chance.uniform(0.5, 1.5))
            content = f"{account} {next(self._numbers)}"
            async with self._as_writer():
                try:
                    answer = await rest.send_message(self._channel_id, content)
                except LOST:
                    continue
            if answer.status == 200:
                self.acknowledged[answer.json()["id"]] = content

    async def _change_channels(self) -> None:
        """Topics change, channels come and go."""
        rest, spare = self.people["alice"], ""
        while True:
            await trio.sleep(self.chance.uniform(0.3, 0.6))
            number = next(self._numbers)
            async with self._as_writer():
                try:
                    await rest.change_channel(self._channel_id, topic=f"topic {number}")
                    if spare:
                        await rest.delete(f"/v1/channels/{spare}")
                        spare = ""
                    else:
                        answer = await rest.create_channel(self._guild_id, f"spare-{number}", type=0)
                        spare = answer.json()["id"] if answer.status == 200 else ""
                except LOST:
                    continue

    @asynccontextmanager
    async def _as_writer(self) -> AsyncIterator[None]:
        while not self._may_write.is_set():  # else nothing comes in between: a writer that passes is counted
            await self._may_write.wait()
        self._writing += 1
        try:
            yield
        finally:
            self._writing -= 1

    # The checker

    async def post(self) -> str:
        """A message that is acknowledged; asked for until it is."""
        rest = self.people["alice"]
        with trio.fail_after(STORM_SECONDS):
            while True:
                try:
                    answer = await rest.send_message(self._channel_id, f"marker {next(self._numbers)}")
                except LOST:
                    await trio.sleep(POLL_SECONDS)
                    continue
                if answer.status == 200:
                    return str(answer.json()["id"])
                await trio.sleep(POLL_SECONDS)

    def all_know(self, message_id: str) -> bool:
        """Whether every client is attached and has been told of the message."""
        return all(
            client.port and client.history is not None and client.history.knows(message_id) for client in self.clients
        )

    async def settle(self, counted: Round) -> None:
        """Let everything arrive, and hold what all clients were sent against what is stored."""
        self._may_write = trio.Event()
        await self.until(lambda: self._writing == 0, "the writers pause")
        last = await self.post()
        await self.until(lambda: self.all_know(last), "all clients know the last message")
        stored = await self._stored(last)
        lost = self.acknowledged.items() - stored.items()
        counted.lost_writes = len(lost)
        counted.faults += [f"an acknowledged write is not stored: {write}" for write in lost]
        ids = sorted(map(int, stored))
        for client in self.clients:
            assert client.history is not None
            for history in (*client.over, client.history):
                who, is_over = f"{client.name} ({client.kind})", history is not client.history
                judge(history, ids, int(self._settled_at), is_over=is_over, who=who, counted=counted)
        await self._compare_states(counted)
        tally = self.tally
        counted.clients, counted.messages = len(self.clients), len(stored)
        counted.resumes, counted.invalid_sessions = tally.resumes, tally.invalid_sessions
        counted.two_holders = tally.late
        if counted.doubled:
            counted.faults.append(f"{counted.doubled} events came twice")
        self._begin_anew(last)

    async def _stored(self, last: str) -> dict[str, str]:
        """The messages of the channel since the round began, up to the last."""
        found: dict[str, str] = {}
        rest, after = self.people["alice"], self._settled_at
        while int(after) < int(last):
            page = (await rest.messages(self._channel_id, limit=PAGE, after=after)).expect(200)
            assert page, "the last message is stored"
            found.update((message["id"], message["content"]) for message in page)
            after = max((message["id"] for message in page), key=int)
        return found

    async def _compare_states(self, counted: Round) -> None:
        """What a Ready says now is what Ready and events have told every session of the account."""
        for account in ACCOUNTS:
            fresh = await self._fresh_state(account)
            for client in self.clients:
                if client.kind.account == account and client.history is not None and client.history.state != fresh:
                    counted.faults.append(f"{client.name} ({client.kind}) has another state than a fresh Ready")

    async def _fresh_state(self, account: str) -> tuple[Channels, str | None]:
        port = self.chance.choice(sorted(self.routes))
        fresh = History(ModelSession("fresh", account, is_whole=False), self._channel_id)
        socket = await GatewayClient.connect(self.nursery, self.routes[port])
        await socket.identify(self._tokens[account])
        while fresh.after is None:
            payload = await socket.next_payload(seconds=PATIENCE_SECONDS)
            if payload.op == Opcode.DISPATCH:
                fresh.take(payload)
        await socket.aclose()
        return fresh.state

    def _begin_anew(self, last: str) -> None:
        self._settled_at, self.acknowledged, self.tally = last, {}, Tally()
        for client in self.clients:
            client.over.clear()
            if client.history is not None:
                client.history.begin_anew()
        self._may_write.set()


def judge(history: History, ids: Sequence[int], since: int, *, is_over: bool, who: str, counted: Round) -> None:
    """Hold what a session was sent against the messages that were stored after `since`, in their order. Of a session
    that is over only what came before its end is owed."""
    got = list(map(int, history.messages))
    after, until = max(int(history.after or 0), since), ids[-1]
    if is_over:
        until = max(got, default=0)
    known = set(got)
    missed = [number for number in ids if after < number <= until and number not in known]
    counted.missed += len(missed)
    counted.doubled += history.doubled
    counted.events += history.events
    counted.faults += [f"{who}: {fault}" for fault in history.faults]
    if missed:
        counted.faults.append(f"{who} was not sent {len(missed)} messages: {missed[:5]}")
    if got != sorted(got):
        counted.faults.append(f"{who} was sent messages in another order: {got}")


@asynccontextmanager
async def storm(folder: Path, *, clients: int, seed: int, network: Network | None) -> AsyncIterator[Storm]:
    """A cluster of processes with `clients` clients, for as long as the block lasts."""
    processes = Processes(folder, network=network)
    try:
        await processes.start()
        async with trio.open_nursery() as nursery:
            running = Storm(processes, nursery, seed)
            try:
                await running.begin(clients)
                yield running
            finally:
                nursery.cancel_scope.cancel()
                with trio.CancelScope(shield=True):
                    for person in running.people.values():
                        await person.aclose()
    finally:
        with trio.CancelScope(shield=True):
            await processes.end()
