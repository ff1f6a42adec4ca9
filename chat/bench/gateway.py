"""`chat bench gateway`: deliveries, memory, latency and the longest turn of the loop."""

from __future__ import annotations

import contextlib
import signal
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from chat.bench import world
from chat.bench.measuring import (
    HERE,
    LOAD_CORE,
    MEASURED_CORE,
    BenchReport,
    Deliveries,
    Figure,
    MeasuredProcess,
    ObservedLoop,
    median_ratio,
    note_if_busy,
    resident_bytes,
    started,
)
from chat.classes import frozen

BURST: Final = 8
PAIR: Final = 2
LATENCY_RATE: Final = 20.0
KIBIBYTE: Final = 1024
SMALL_SESSIONS: Final = 200
"""So few that a message costs as much as its deliveries."""

ENVIRONMENT: Final = {"CHAT_RATE_LIMITS": "false", "CHAT_LOG_LEVEL": "error", "CHAT_COMPAT__DISCORD": "on"}


@frozen
class GatewayBenchPlan:
    """How much is measured. Every figure is the median of `rounds` rounds; what is measured once is measured with the
    first number of sessions."""

    sessions: tuple[int, ...] = (1_000, 3_000, SMALL_SESSIONS)
    rounds: int = 5
    seconds: float = 2.0
    latency_seconds: float = 10.0


WHOLE: Final = GatewayBenchPlan()

QUICK: Final = GatewayBenchPlan(sessions=(20,), rounds=1, seconds=0.05, latency_seconds=0.1)


@frozen
class Load:
    """A server or a floor, and the generator whose sessions it holds."""

    generator: MeasuredProcess
    server: MeasuredProcess

    def measure(self, **phase: float) -> Deliveries:
        result: Deliveries = self.generator.ask(**phase)
        return result


def run(plan: GatewayBenchPlan) -> BenchReport:
    figures: list[Figure] = []
    notes: list[str] = []
    for count in plan.sessions:
        figures += _deliveries(count, plan, notes)
    figures += _compressed(plan.sessions[0], plan, notes)
    figures += _mounted(plan.sessions[0], plan, notes)
    return BenchReport("gateway", tuple(figures), tuple(notes))


def _deliveries(count: int, plan: GatewayBenchPlan, notes: list[str]) -> Iterator[Figure]:
    with contextlib.ExitStack() as stack:
        server, port, here = stack.enter_context(_server())
        before = resident_bytes(server.pid)
        load = stack.enter_context(_load(server, port, here, count))
        yield _memory(f"memory_{count}", before, server, count, at_most=32.0)
        first = load.measure(seconds=plan.seconds, window=PAIR)
        floor = stack.enter_context(_floor(round(first["bytes_per_delivery"]), here, count))
        is_small = count <= SMALL_SESSIONS
        for name, window, at_least in (
            (f"pairs_{count}", PAIR, 0.75 if is_small else 0.60),
            (f"bursts_{count}", BURST, None if is_small else 2.5),
        ):
            floors, servers = _alternate(floor, load, plan, window, name, notes)
            yield Figure(f"{name}_ratio", median_ratio(servers, floors), "of the floor", at_least=at_least)
            yield Figure(f"{name}_per_cpu_second", statistics.median(servers), "deliveries")
            yield Figure(f"{name}_floor_per_cpu_second", statistics.median(floors), "deliveries")
        yield from _longest_turn(load, plan, count)
        if count == plan.sessions[0]:
            yield from _latency(load, plan, count)


def _alternate(
    floor: Load, load: Load, plan: GatewayBenchPlan, window: int, name: str, notes: list[str]
) -> tuple[list[float], list[float]]:
    """Deliveries per CPU second, round by round, of the floor and of the server."""
    floors, servers = [], []
    for _ in range(plan.rounds):
        # The floor gets the same load, message by message: it has nothing that could gather them.
        floors.append(_delivered(floor.measure(seconds=plan.seconds, window=window), f"{name}, floor", notes))
        servers.append(_delivered(load.measure(seconds=plan.seconds, window=window), name, notes))
    return floors, servers


def _delivered(result: Deliveries, name: str, notes: list[str]) -> float:
    if result["undelivered"] or result["sequence_gaps"] or result["closed"]:
        notes.append(
            f"{name}: {result['undelivered']} undelivered, {result['sequence_gaps']} gaps in the sequence, "
            f"{result['closed']} connections closed"
        )
    note_if_busy(result, name, notes)
    return float(result["per_cpu_second"])


def _longest_turn(load: Load, plan: GatewayBenchPlan, count: int) -> Iterator[Figure]:
    observe(load.server)
    walls, processor = [], []
    for _ in range(plan.rounds):
        for window in (PAIR, BURST):
            load.measure(seconds=plan.seconds, window=window)
            observed = observe(load.server)
            walls.append(observed["longest_turn_ms"])
            processor.append(observed["longest_turn_cpu_ms"])
    yield Figure(f"longest_turn_{count}", max(processor), "ms of CPU", at_most=20.0)
    yield Figure(f"longest_turn_wall_{count}", max(walls), "ms, other programs included")


def _latency(load: Load, plan: GatewayBenchPlan, count: int) -> Iterator[Figure]:
    result = load.measure(seconds=plan.latency_seconds, rate=LATENCY_RATE)
    yield Figure(f"latency_p50_{count}", result.get("p50_ms", 0.0), f"ms at {LATENCY_RATE:g} messages a second")
    yield Figure(f"latency_p99_{count}", result.get("p99_ms", 0.0), f"ms at {LATENCY_RATE:g} messages a second")


def _compressed(count: int, plan: GatewayBenchPlan, notes: list[str]) -> Iterator[Figure]:
    """zstd-stream against the same server uncompressed."""
    with contextlib.ExitStack() as stack:
        plain = stack.enter_context(_load(*stack.enter_context(_server()), count))
        server, port, here = stack.enter_context(_server())
        before = resident_bytes(server.pid)
        load = stack.enter_context(_load(server, port, here, count, kind="compressed"))
        yield _memory(f"memory_zstd_{count}", before, server, count, at_most=130.0)
        plains, compressed = _alternate(plain, load, plan, PAIR, f"zstd_{count}", notes)
        yield Figure(f"zstd_{count}_ratio", median_ratio(compressed, plains), "of uncompressed", at_least=0.40)
        yield Figure(f"zstd_{count}_per_cpu_second", statistics.median(compressed), "deliveries")


def _mounted(count: int, plan: GatewayBenchPlan, notes: list[str]) -> Iterator[Figure]:
    """Sessions of the mount against those of the documented gateway, each on a server of its own."""
    with contextlib.ExitStack() as stack:
        documented = stack.enter_context(_load(*stack.enter_context(_server()), count))
        mounted = stack.enter_context(_load(*stack.enter_context(_server()), count, kind="mounted"))
        for name, window in ((f"mount_pairs_{count}", PAIR), (f"mount_bursts_{count}", BURST)):
            plains, translated = _alternate(documented, mounted, plan, window, name, notes)
            yield Figure(f"{name}_ratio", median_ratio(translated, plains), "of the documented gateway", at_least=0.85)


def _memory(name: str, before: int, server: MeasuredProcess, count: int, *, at_most: float) -> Figure:
    grown = resident_bytes(server.pid) - before
    return Figure(name, grown / KIBIBYTE / count, "KiB a session", at_most=at_most)


def observe(server: MeasuredProcess) -> ObservedLoop:
    """What the server noticed of its loop since it was asked last."""
    server.signal(signal.SIGUSR1)
    observed: ObservedLoop = server.answer()
    return observed


@contextlib.contextmanager
def serving(
    directory: str, checkout: Path = HERE, environment: Mapping[str, str] = ENVIRONMENT, *, watched: bool = True
) -> Iterator[tuple[MeasuredProcess, int]]:
    """A server of a checkout on this data directory, and its port; `watched` says whether `observe` may ask it."""
    look = () if watched else ("unwatched",)
    with started(
        "chat.bench.observed_server", directory, *look, core=MEASURED_CORE, environment=environment, checkout=checkout
    ) as server:
        yield server, server.answer()["port"]


@contextlib.contextmanager
def _server() -> Iterator[tuple[MeasuredProcess, int, world.World]]:
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
        here = world.prepare(Path(directory), world.MEMBERS)
        with serving(directory) as (server, port):
            yield server, port, here


@contextlib.contextmanager
def _load(server: MeasuredProcess, port: int, here: world.World, count: int, *, kind: str = "plain") -> Iterator[Load]:
    with generator(server, port, here, count, kind=kind) as load:
        yield Load(load, server)


@contextlib.contextmanager
def _floor(frame_bytes: int, here: world.World, count: int) -> Iterator[Load]:
    with (
        started("chat.bench.gateway_floor", frame_bytes, core=MEASURED_CORE) as floor,
        generator(floor, floor.answer()["port"], here, count) as load,
    ):
        yield Load(load, floor)


@contextlib.contextmanager
def generator(
    server: MeasuredProcess, port: int, here: world.World, count: int, *, kind: str = "plain", **besides: object
) -> Iterator[MeasuredProcess]:
    """A generator whose sessions with the server are all ready, of one of the kinds of `chat.bench.load_generator`.
    `besides` are further members of its `Specification`."""
    specification = {
        "port": port,
        "pid": server.pid,
        "sessions": count,
        "tokens": here.tokens,
        "post_path": f"/v1/channels/{here.channel_id}/messages",
        "kind": kind,
        **besides,
    }
    with started("chat.bench.load_generator", "gateway", core=LOAD_CORE) as load:
        load.opened = load.ask(**specification)
        yield load
