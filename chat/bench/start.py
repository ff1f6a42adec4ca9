"""`chat bench start`: how soon `chat serve` can serve, and what it takes while idle."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

from chat.bench import world
from chat.bench.measuring import MEASURED_CORE, BenchReport, Figure, resident_bytes, started
from chat.classes import frozen

MEGABYTE: Final = 1_000_000


@frozen
class StartBenchPlan:
    """How often it is started, and how long it idles before its memory is read."""

    rounds: int = 5
    idle_seconds: float = 2.0


WHOLE: Final = StartBenchPlan()

QUICK: Final = StartBenchPlan(rounds=1, idle_seconds=0.2)


def run(plan: StartBenchPlan) -> BenchReport:
    """Start again and again on the same database."""
    seconds, resident = [], []
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
        world.prepare(Path(directory), world.MEMBERS)
        for _ in range(plan.rounds):
            began = time.perf_counter()
            arguments = ("serve", "--data", directory, "--port", 0)
            with started("chat", *arguments, core=MEASURED_CORE, environment={"CHAT_LOG_LEVEL": "error"}) as server:
                server.line()
                seconds.append(time.perf_counter() - began)
                time.sleep(plan.idle_seconds)
                resident.append(resident_bytes(server.pid))
    return BenchReport(
        "start",
        (
            Figure("listening_after", statistics.median(seconds), "s", at_most=0.5),
            Figure("idle_memory", statistics.median(resident) / MEGABYTE, "MB", at_most=75.0),
        ),
    )
