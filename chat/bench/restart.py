"""`chat bench restart`: an orderly stop and the next start, with sessions without a socket whose buffers are full; and
what a message costs while such sessions hear it."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from chat.bench import world
from chat.bench.gateway import generator, observe, serving
from chat.bench.http import MESSAGE
from chat.bench.measuring import (
    LOAD_CORE,
    BenchReport,
    Figure,
    MeasuredProcess,
    Rates,
    note_if_busy,
    resident_bytes,
    started,
)
from chat.classes import frozen
from chat.registries.limits import REPLAY_DISPATCHES

CONNECTIONS: Final = 16
MEGABYTE: Final = 1_000_000


@frozen
class RestartBenchPlan:
    """How many sessions are retained, and how many messages each of them holds at least."""

    sessions: tuple[int, ...] = (1_000, 2_400, 5_000)
    messages: int = REPLAY_DISPATCHES
    rounds: int = 5
    """How often the cost of a message is measured, by turns at all servers."""
    seconds: float = 2.0
    """How long messages are posted for their cost each time."""
    settled_seconds: float = 8.0
    """How long after their sockets dropped: at 5 s accounts go offline, and others are told, which is not measured."""


WHOLE: Final = RestartBenchPlan()

QUICK: Final = RestartBenchPlan(sessions=(20,), messages=40, rounds=1, seconds=0.05, settled_seconds=0.0)


def run(plan: RestartBenchPlan) -> BenchReport:
    """Measure each number of sessions with a server of its own."""
    figures: list[Figure] = []
    notes: list[str] = []
    for count in plan.sessions:
        figures += _measure(count, plan, notes)
    return BenchReport("restart", tuple(figures), tuple(notes))


OTHERS: Final = {
    0: ("", "of a message that no session hears"),
    1: ("_of_one", "of one that a single retained session hears"),
}
"""Servers to compare with, by their sessions: for the first of them an event is encoded and kept, as for thousands."""


def _measure(count: int, plan: RestartBenchPlan, notes: list[str]) -> Iterator[Figure]:
    members = max(world.MEMBERS, count // 80)  # each account has at most 100 sessions
    with contextlib.ExitStack() as stack:
        load = stack.enter_context(started("chat.bench.load_generator", "http", core=LOAD_CORE))
        servers = {sessions: _serving(stack, load, members, notes) for sessions in (count, *OTHERS)}
        for sessions, posting in servers.items():
            if sessions:
                with generator(posting.server, posting.port, posting.here, sessions):
                    pass  # every socket drops, and the sessions stay
        dropped_at = time.monotonic()
        time.sleep(min(1.0, plan.settled_seconds))
        for posting in servers.values():
            observe(posting.server)  # begins anew: that all sockets ended in one turn is the network's doing
            posting.fill(plan.messages)
        time.sleep(max(0.0, dropped_at + plan.settled_seconds - time.monotonic()))
        costs = [{each: posting.cost_ms(plan.seconds) for each, posting in servers.items()} for _ in range(plan.rounds)]
        for few, (ending, heard) in OTHERS.items():
            ratios = [cost[count] / cost[few] for cost in costs]
            yield Figure(f"first_posts_while_retained_{count}{ending}", ratios[0], heard, at_most=1.1)
            yield Figure(f"post_while_retained_{count}{ending}", statistics.median(ratios), heard, at_most=1.1)
        yield from _restarted(servers[count], count)


def _restarted(measured: Posting, count: int) -> Iterator[Figure]:
    yield Figure(f"longest_turn_{count}", observe(measured.server)["longest_turn_cpu_ms"], "ms of CPU", at_most=20.0)
    before = resident_bytes(measured.server.pid)
    yield Figure(f"stopped_after_{count}", measured.server.stop(), "s", at_most=2.0)
    began = time.perf_counter()
    with serving(measured.directory) as (server, _):
        yield Figure(f"listening_after_{count}", time.perf_counter() - began, "s", at_most=1.2)
        after = resident_bytes(server.pid)
    yield Figure(f"memory_before_{count}", before / MEGABYTE, "MB")
    yield Figure(f"memory_after_{count}", after / before, "of that before the stop", at_most=1.3)


def _serving(stack: contextlib.ExitStack, load: MeasuredProcess, members: int, notes: list[str]) -> Posting:
    directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-bench-"))
    here = world.prepare(Path(directory), members)
    server, port = stack.enter_context(serving(directory))
    return Posting(load, server, port, here, directory, notes)


@frozen
class Posting:
    """Messages of the members of a server, one connection each."""

    load: MeasuredProcess
    server: MeasuredProcess
    port: int
    here: world.World
    directory: str
    notes: list[str]

    def cost_ms(self, seconds: float) -> float:
        """CPU time of the server for one message, in milliseconds."""
        return 1000 / float(self._post(seconds)["per_cpu_second"])

    def fill(self, messages: int) -> None:
        """Post at least this many messages."""
        posted, seconds = 0.0, 0.05
        while posted < messages:
            result = self._post(seconds)
            posted += result["per_second"] * seconds
            seconds = min(2.0, max(0.05, (messages - posted) / result["per_second"]))

    def _post(self, seconds: float) -> Rates:
        result: Rates = self.load.ask(
            port=self.port,
            pid=self.server.pid,
            seconds=seconds,
            connections=CONNECTIONS,
            tokens=self.here.tokens,
            asked=[{"method": "POST", "path": f"/v1/channels/{self.here.channel_id}/messages", "body": MESSAGE}],
        )
        note_if_busy(result, "posting", self.notes)
        return result
