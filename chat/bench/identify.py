"""Part of `chat bench http`: what it costs to connect, to identify with one guild, and to be gone again."""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from chat.bench.gateway import serving
from chat.bench.measuring import (
    HERE,
    LOAD_CORE,
    MEASURED_CORE,
    Figure,
    MeasuredProcess,
    median_ratio,
    note_if_busy,
    started,
)
from chat.classes import frozen

AT_ONCE: Final = 32
FLOOR_FRAME_BYTES: Final = 100
TARGET: Final = 2_500
"""Identifies per CPU second of the server, from accepting the connection to Ready."""

PREPARE: Final = """
import json, sys
from pathlib import Path
from chat.bench import world
from chat.bench.gateway import ENVIRONMENT
here = world.prepare(Path(sys.argv[1]), int(sys.argv[2]))
print(json.dumps([here.guild_id, here.channel_id, here.tokens, dict(ENVIRONMENT)]), flush=True)
"""
"""Run by another checkout's Python, which makes a database as that checkout knows it."""


@frozen
class IdentifyBenchPlan:
    """In each round `clients` accounts identify; none of them has another session."""

    clients: int = 400
    rounds: int = 5


WHOLE: Final = IdentifyBenchPlan()

QUICK: Final = IdentifyBenchPlan(clients=10, rounds=1)


def figures(plan: IdentifyBenchPlan, against: Path | None, notes: list[str]) -> Iterator[Figure]:
    """Round by round: a bare loop that answers with constants, the server, and that of another checkout."""
    with contextlib.ExitStack() as stack:
        load = stack.enter_context(started("chat.bench.identifying", core=LOAD_CORE))
        floor = stack.enter_context(started("chat.bench.gateway_floor", FLOOR_FRAME_BYTES, core=MEASURED_CORE))
        count = plan.clients * plan.rounds
        served = {"floor": (floor, floor.answer()["port"], ["anyone"] * count), "": _server(stack, HERE, count)}
        if against is not None:
            served["against"] = _server(stack, against.resolve(), count)
        identified: dict[str, list[float]] = {name: [] for name in served}
        left: list[float] = []
        for start in range(0, count, plan.clients):
            for name, (server, port, tokens) in served.items():
                result = load.ask(
                    port=port, pid=server.pid, tokens=tokens[start : start + plan.clients], at_once=AT_ONCE
                )
                if name != "floor":
                    note_if_busy(result, f"identify {name}".rstrip(), notes)
                identified[name].append(float(result["per_cpu_second"]))
                if not name:
                    left.append(float(result["leaving_per_cpu_second"]))
    yield Figure("identify_per_cpu_second", statistics.median(identified[""]), "Identifies", at_least=TARGET)
    yield Figure("identify_floor_per_cpu_second", statistics.median(identified["floor"]), "of a bare loop")
    yield Figure("leaving_per_cpu_second", statistics.median(left), "sockets that close after it")
    if against is not None:
        ratio = median_ratio(identified[""], identified["against"])
        yield Figure("against_identify_per_cpu_second", statistics.median(identified["against"]), "Identifies")
        yield Figure("identify_against_ratio", ratio, "of the other checkout")


def _server(stack: contextlib.ExitStack, checkout: Path, members: int) -> tuple[MeasuredProcess, int, list[str]]:
    directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-bench-"))
    program = (sys.executable, "-c", PREPARE)
    with started(directory, members, core=MEASURED_CORE, checkout=checkout, program=program) as prepared:
        _, _, tokens, environment = prepared.answer()
    server, port = stack.enter_context(serving(directory, checkout, environment))
    return server, port, tokens
