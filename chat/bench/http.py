"""`chat bench http`: requests per CPU second of the server, against an empty route; and what requests cost in channels
of growing size (`chat.bench.message_growth`)."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from chat.bench import message_growth, world
from chat.bench.gateway import serving
from chat.bench.processes import LOAD_CORE, MEASURED_CORE, Process, started
from chat.bench.report import Figure, Report, median_ratio

CONNECTIONS: Final = 16
BUSY_GENERATOR: Final = 0.9
EMPTY_PATH: Final = "/empty"
MESSAGE: Final = '{"content":"a chat message of usual length, such as people write when they have something to say"}'


@attrs.frozen
class Plan:
    """How much is measured."""

    rounds: int = 5
    seconds: float = 2.0
    growth: message_growth.Plan = attrs.field(factory=message_growth.Plan)


QUICK: Final = Plan(rounds=1, seconds=0.05, growth=message_growth.QUICK)


@attrs.frozen
class Target:
    """Something to ask: of which process, on which port, as whom, and what."""

    process: Process
    port: int
    tokens: tuple[str, ...] = attrs.field(repr=False)
    request: dict[str, str]


def run(plan: Plan) -> Report:
    """Measure everything."""
    notes: list[str] = []
    with contextlib.ExitStack() as stack:
        load = stack.enter_context(started("chat.bench.http_load", core=LOAD_CORE))
        with contextlib.ExitStack() as servers:
            targets = _targets(servers)
            results: dict[str, list[float]] = {name: [] for name in targets}
            for _ in range(plan.rounds):
                for name, target in targets.items():
                    results[name].append(_measure(load, target, plan.seconds, name, notes))
        growth = tuple(message_growth.figures(load, plan.growth, notes))
    return Report("http", (*_figures(results), *growth), tuple(notes))


def _targets(stack: contextlib.ExitStack) -> dict[str, Target]:
    directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-bench-"))
    here = world.prepare(Path(directory), world.MEMBERS)
    ours, stock = (
        stack.enter_context(started("chat.bench.http_floor", kind, core=MEASURED_CORE)) for kind in ("ours", "stock")
    )
    server, port = stack.enter_context(serving(directory))
    ours_port, stock_port = (process.answer()["port"] for process in (ours, stock))
    empty = {"method": "GET", "path": EMPTY_PATH}
    get = {"method": "GET", "path": f"/v1/guilds/{here.guild_id}"}
    post = {"method": "POST", "path": f"/v1/channels/{here.channel_id}/messages", "body": MESSAGE}
    return {
        "empty": Target(ours, ours_port, here.tokens, empty),
        "empty_stock": Target(stock, stock_port, here.tokens, empty),
        "get_guild": Target(server, port, here.tokens, get),
        "post_message": Target(server, port, here.tokens, post),
    }


def _measure(load: Process, target: Target, seconds: float, name: str, notes: list[str]) -> float:
    result = load.ask(
        port=target.port,
        pid=target.process.pid,
        seconds=seconds,
        connections=CONNECTIONS,
        tokens=target.tokens,
        asked=[target.request],
    )
    if result["generator_cpu"] > BUSY_GENERATOR:
        notes.append(f"{name}: the load generator was busy ({result['generator_cpu']:.2f} of its core)")
    return float(result["per_cpu_second"])


def _figures(results: dict[str, list[float]]) -> Iterator[Figure]:
    for name, at_least in (("get_guild", 0.60), ("post_message", 0.45)):
        yield Figure(
            f"{name}_ratio", median_ratio(results[name], results["empty"]), "of an empty route", at_least=at_least
        )
        yield Figure(
            f"{name}_stock_ratio", median_ratio(results[name], results["empty_stock"]), "of one on stock Hypercorn"
        )
    for name, values in results.items():
        yield Figure(f"{name}_per_cpu_second", statistics.median(values), "requests")
