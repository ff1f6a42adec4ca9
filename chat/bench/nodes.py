"""`chat bench nodes`: what gateway nodes deliver and cost, beside one `chat serve` in the same run."""

from __future__ import annotations

import contextlib
import shutil
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from chat.bench import world
from chat.bench.gateway import ENVIRONMENT, KIBIBYTE, LATENCY_RATE, PAIR, generator, serving
from chat.bench.measuring import (
    LOAD_CORE,
    MEASURED_CORE,
    BenchReport,
    Deliveries,
    Figure,
    MeasuredProcess,
    cpu_seconds,
    median_ratio,
    note_if_busy,
    resident_bytes,
    started,
)
from chat.classes import frozen
from chat.errors import OperatorError

BROKERS: Final = ("valkey-server", "redis-server")
SESSIONS_PER_ACCOUNT: Final = 80
STORM_AT_ONCE: Final = 400
"""Logins under way at any time: what a server works on without holding any."""

STORMS_MAXIMUM: Final = 3

PATIENCE_SECONDS: Final = 10.0
READY: Final = b"GET /_ready HTTP/1.1\r\nHost: localhost\r\n\r\n"


@frozen
class NodesBenchPlan:
    """How many sessions, how often, and how many identify in the storm."""

    sessions: int = 1_000
    rounds: int = 5
    seconds: float = 2.0
    latency_seconds: float = 10.0
    storm: int = 5_000


WHOLE: Final = NodesBenchPlan()

QUICK: Final = NodesBenchPlan(sessions=20, rounds=1, seconds=0.05, latency_seconds=0.2, storm=20)


@frozen
class Cluster:
    """A broker, a core and nodes on ports."""

    broker: MeasuredProcess
    core: MeasuredProcess
    port: int
    here: world.World
    nodes: tuple[MeasuredProcess, ...]
    ports: tuple[int, ...]

    @property
    def processes(self) -> tuple[MeasuredProcess, ...]:
        """The nodes, then the core, then the broker."""
        return (*self.nodes, self.core, self.broker)

    @contextlib.contextmanager
    def load(self, count: int, *, opening_at_once: int = 64) -> Iterator[MeasuredProcess]:
        """A generator whose sessions are at the nodes, in turn."""
        beside = [process.pid for process in self.processes]
        with generator(
            self.core,
            self.port,
            self.here,
            count,
            gateway_ports=self.ports,
            beside=beside,
            opening_at_once=opening_at_once,
        ) as load:
            yield load


def run(plan: NodesBenchPlan) -> BenchReport:
    """Measure."""
    figures: list[Figure] = []
    notes: list[str] = []
    figures += _one_node(plan, notes)
    figures += _two_nodes(plan, notes)
    figures += _storm(plan)
    return BenchReport("nodes", tuple(figures), tuple(notes))


def _one_node(plan: NodesBenchPlan, notes: list[str]) -> Iterator[Figure]:
    with contextlib.ExitStack() as stack:
        alone = stack.enter_context(_alone(plan.sessions))
        cluster = stack.enter_context(_cluster(1, plan.sessions))
        node, core = cluster.nodes[0], cluster.core
        before = resident_bytes(node.pid), resident_bytes(core.pid)
        load = stack.enter_context(cluster.load(plan.sessions))
        yield _memory("memory_at_a_node", before[0], node, plan.sessions, at_most=24.0)
        yield _memory("memory_at_the_core", before[1], core, plan.sessions, at_most=3.0)
        serves, nodes, posts = [], [], []
        for _ in range(plan.rounds):
            serves.append(_measured(alone, plan, notes)["per_cpu_second"])
            result = _measured(load, plan, notes)
            at_node, at_core, _broker = result["beside"]
            nodes.append(result["deliveries"] / max(at_node, 1e-9))
            posts.append(1_000 * at_core / max(result["posted"], 1))
        yield Figure("node_ratio", median_ratio(nodes, serves), "of chat serve", at_least=0.90)
        yield Figure("node_per_cpu_second", statistics.median(nodes), "deliveries")
        yield Figure("serve_per_cpu_second", statistics.median(serves), "deliveries")
        yield Figure(f"core_post_to_{plan.sessions}", statistics.median(posts), "ms of CPU at the core", at_most=1.5)
        yield from _latency(alone, load, plan)


def _latency(alone: MeasuredProcess, load: MeasuredProcess, plan: NodesBenchPlan) -> Iterator[Figure]:
    direct = alone.ask(seconds=plan.latency_seconds, rate=LATENCY_RATE)
    relayed = load.ask(seconds=plan.latency_seconds, rate=LATENCY_RATE)
    for name, at_most in (("p50", 1.5), ("p99", 5.0)):
        added = relayed.get(f"{name}_ms", 0.0) - direct.get(f"{name}_ms", 0.0)
        yield Figure(f"latency_added_{name}", added, f"ms at {LATENCY_RATE:g} messages a second", at_most=at_most)


def _two_nodes(plan: NodesBenchPlan, notes: list[str]) -> Iterator[Figure]:
    """Deliveries over the CPU time of whatever process is the busiest: what two cores would make of it."""
    with contextlib.ExitStack() as stack:
        alone = stack.enter_context(_alone(plan.sessions))
        cluster = stack.enter_context(_cluster(2, 2 * plan.sessions))
        load = stack.enter_context(cluster.load(2 * plan.sessions))
        serves, pairs = [], []
        shares: list[list[float]] = []
        for _ in range(plan.rounds):
            serves.append(_measured(alone, plan, notes)["per_cpu_second"])
            result = _measured(load, plan, notes)
            pairs.append(result["deliveries"] / max(*result["beside"], 1e-9))
            shares.append(result["beside"])
        yield Figure("two_nodes_ratio", median_ratio(pairs, serves), "of one chat serve", at_least=1.8)
        one, other, core, broker = (statistics.median(share[at] for share in shares) for at in range(4))
        notes.append(f"two nodes: CPU {one:.2f} and {other:.2f} s at the nodes, {core:.2f} core, {broker:.2f} broker")


def _storm(plan: NodesBenchPlan) -> Iterator[Figure]:
    """Many identify at once: all CPU time that this takes, of all processes."""
    alone, together = [], []
    for _ in range(min(plan.rounds, STORMS_MAXIMUM)):
        with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
            here = world.prepare(Path(directory), _members(plan.storm))
            with serving(directory, watched=False) as (server, port):
                before = cpu_seconds(server.pid)
                with generator(server, port, here, plan.storm, opening_at_once=STORM_AT_ONCE):
                    alone.append(cpu_seconds(server.pid) - before)
        with _cluster(2, plan.storm) as cluster, cluster.load(plan.storm, opening_at_once=STORM_AT_ONCE) as load:
            together.append(sum(load.opened["beside"]))
    ratio = median_ratio(together, alone)
    yield Figure(f"storm_of_{plan.storm}", ratio, "of the CPU time of one process", at_most=1.3)


def _measured(load: MeasuredProcess, plan: NodesBenchPlan, notes: list[str]) -> Deliveries:
    result: Deliveries = load.ask(seconds=plan.seconds, window=PAIR)
    if result["undelivered"] or result["sequence_gaps"] or result["closed"]:
        notes.append(f"{result['undelivered']} undelivered, {result['sequence_gaps']} gaps, {result['closed']} closed")
    note_if_busy(result, "deliveries", notes)
    return result


def _memory(name: str, before: int, process: MeasuredProcess, count: int, *, at_most: float) -> Figure:
    return Figure(name, (resident_bytes(process.pid) - before) / KIBIBYTE / count, "KiB a session", at_most=at_most)


def _members(count: int) -> int:
    return max(world.MEMBERS, count // SESSIONS_PER_ACCOUNT)


@contextlib.contextmanager
def _alone(count: int) -> Iterator[MeasuredProcess]:
    """One `chat serve` with `count` sessions, and the process that drives them."""
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
        here = world.prepare(Path(directory), _members(count))
        with serving(directory, watched=False) as (server, port), generator(server, port, here, count) as load:
            yield load


@contextlib.contextmanager
def _cluster(nodes: int, count: int) -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-bench-"))
        here = world.prepare(Path(directory), _members(count))
        broker, url = stack.enter_context(_broker())
        environment = {**ENVIRONMENT, "CHAT_NODES": url}
        core, port = stack.enter_context(serving(directory, environment=environment, watched=False))
        running = [
            stack.enter_context(
                started("chat.bench.observed_node", url, f"node {number}", core=_core(number), environment=ENVIRONMENT)
            )
            for number in range(nodes)
        ]
        ports = tuple(node.answer()["port"] for node in running)
        for each in ports:
            _wait_until_ready(each)
        yield Cluster(broker, core, port, here, tuple(running), ports)


def _core(number: int) -> int:
    return MEASURED_CORE if number % 2 == 0 else LOAD_CORE


@contextlib.contextmanager
def _broker() -> Iterator[tuple[MeasuredProcess, str]]:
    program = next(filter(None, map(shutil.which, BROKERS)), None)
    if program is None:
        raise OperatorError(f"this measurement needs one of {', '.join(BROKERS)}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
        arguments = ("--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory)
        with started(*arguments, "--logfile", "broker.log", core=LOAD_CORE, program=(program,)) as broker:
            _wait_until_open(port)
            yield broker, f"redis://127.0.0.1:{port}"


def _wait_until_open(port: int) -> None:
    _until(lambda: _asked(port, b"PING\r\n").startswith(b"+PONG"), "the broker")


def _wait_until_ready(port: int) -> None:
    _until(lambda: _asked(port, READY).startswith(b"HTTP/1.1 200"), "a gateway node")


def _until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise OperatorError(f"{what} does not begin to serve")
        time.sleep(0.05)


def _asked(port: int, request: bytes) -> bytes:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as asked:
            asked.sendall(request)
            return asked.recv(4_096)
    except OSError:
        return b""
