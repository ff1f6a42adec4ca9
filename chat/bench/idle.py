"""`chat bench idle`: thousands of sessions that do nothing but heartbeat stay up, at a flat size."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from typing import Final

from chat.bench import world
from chat.bench.gateway import generator, observe, serving
from chat.bench.load_sessions import CLIENTS_PER_ADDRESS
from chat.bench.measuring import BenchReport, Figure, resident_bytes
from chat.classes import frozen
from chat.errors import OperatorError

MEGABYTE: Final = 1_000_000
SESSIONS_PER_MEMBER: Final = 100
RESERVED_DESCRIPTORS: Final = 256


@frozen
class IdleBenchPlan:
    connections: int = 10_000
    seconds: float = 120.0


WHOLE: Final = IdleBenchPlan()

QUICK: Final = IdleBenchPlan(connections=20, seconds=0.2)


def run(plan: IdleBenchPlan) -> BenchReport:
    """Open all sessions, wait, and look what is left. Raises OperatorError where the system has too few sockets."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < plan.connections + RESERVED_DESCRIPTORS:
        raise OperatorError(f"this system lets a process open {hard} files, too few for {plan.connections} connections")
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
        here = world.prepare(Path(directory), max(world.MEMBERS, -(-plan.connections // SESSIONS_PER_MEMBER)))
        with serving(directory) as (server, port):
            empty = resident_bytes(server.pid)
            with generator(server, port, here, plan.connections) as load:
                tasks, memory = observe(server)["tasks"], resident_bytes(server.pid)
                result = load.ask(seconds=plan.seconds)
                seen, after = observe(server), resident_bytes(server.pid)
    open_at_the_end = plan.connections - result["closed"]
    return BenchReport(
        "idle",
        (
            Figure("connections", open_at_the_end, "still open", at_least=plan.connections),
            Figure("heartbeats_answered", result["acknowledged"], "in the sample"),
            Figure("tasks", seen["tasks"], "at the end"),
            Figure("tasks_growth", seen["tasks"] - tasks, "tasks", at_most=0),
            Figure("memory", after / MEGABYTE, "MB at the end"),
            Figure("memory_growth", after / memory - 1, "of the beginning", at_most=0.02),
            Figure("memory_per_session", (after - empty) / 1024 / plan.connections, "KiB"),
            Figure("longest_turn", seen["longest_turn_cpu_ms"], "ms of CPU"),
            Figure("server_cpu", result["server_cpu"], "of a core"),
        ),
        (f"{CLIENTS_PER_ADDRESS} connections from each address from 127.0.1.1 on",),
    )
