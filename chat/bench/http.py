"""`chat bench http`: requests per CPU second of the server, against an empty route; and what requests cost in channels
of growing size."""

from __future__ import annotations

import contextlib
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from chat.bench import world
from chat.bench.gateway import generator, serving
from chat.bench.measuring import LOAD_CORE, MEASURED_CORE, Figure, Process, Report, median_ratio, note_if_busy, started
from chat.bench.world import COMMON_WORD, RARE_MESSAGES, RARE_WORD, Messages

CONNECTIONS: Final = 16
EMPTY_PATH: Final = "/empty"
MESSAGE: Final = '{"content":"a chat message of usual length, such as people write when they have something to say"}'


READ_MESSAGES: Final = 50
READING_CONNECTIONS: Final = 4
FLAT: Final = 1.5
"""An indexed read may cost so many times as much in the largest channel, noise included."""

INDEXED: Final = frozenset({"read_newest", "read_middle", "search_rare"})


@attrs.frozen
class GrowthPlan:
    """How many messages there are, how long each thing is measured, and how many sessions hear what is posted."""

    messages: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    rounds: int = 3
    seconds: float = 2.0
    sessions: int = 1_000


QUICK_GROWTH: Final = GrowthPlan(messages=(300,), rounds=1, seconds=0.05, sessions=10)


@attrs.frozen
class Plan:
    rounds: int = 5
    seconds: float = 2.0
    growth: GrowthPlan = attrs.field(factory=GrowthPlan)


QUICK: Final = Plan(rounds=1, seconds=0.05, growth=QUICK_GROWTH)


@attrs.frozen
class Target:
    """Something to ask: of which process, on which port, as whom, and what."""

    process: Process
    port: int
    tokens: tuple[str, ...] = attrs.field(repr=False)
    request: dict[str, str]


def run(plan: Plan) -> Report:
    notes: list[str] = []
    with contextlib.ExitStack() as stack:
        load = stack.enter_context(started("chat.bench.load_generator", "http", core=LOAD_CORE))
        with contextlib.ExitStack() as servers:
            targets = _targets(servers)
            results: dict[str, list[float]] = {name: [] for name in targets}
            for _ in range(plan.rounds):
                for name, target in targets.items():
                    results[name].append(_measure(load, target, plan.seconds, name, notes))
        growth = tuple(_growth(load, plan.growth, notes))
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
    note_if_busy(result, name, notes)
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


def _growth(load: Process, plan: GrowthPlan, notes: list[str]) -> Iterator[Figure]:
    """Measure every size of a channel; each figure is CPU time of the server, all of its threads together.

    Reading takes 50 messages, the newest or those from the middle of the channel. One search is for a word that a
    hundred messages have, however many there are; one for a word that nearly a third of all messages have, so that it
    comes to the most that a search finds; one for what one account of many wrote with that word. Posting is measured in
    a guild whose sessions are all connected and hear each message, while as many requests read the channel: a figure is
    for one post, its deliveries and one reading.
    """
    costs = [_measure_channel(load, plan, count, notes) for count in plan.messages]
    for name in costs[0]:
        for count, cost in zip(plan.messages, costs, strict=True):
            yield Figure(f"{name}_{count}", cost[name], "ms of CPU")
        if len(costs) > 1:
            growth = costs[-1][name] / costs[0][name]
            at_most = FLAT if name in INDEXED else None
            yield Figure(f"{name}_growth", growth, f"of {plan.messages[0]}, at {plan.messages[-1]}", at_most=at_most)
    yield Figure("post_while_read_sessions", plan.sessions, "sessions that hear each post")


def _measure_channel(load: Process, plan: GrowthPlan, count: int, notes: list[str]) -> Mapping[str, float]:
    """Milliseconds of CPU for one request of each kind: the median of the rounds."""
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-bench-"))
        here = world.prepare(Path(directory), world.MEMBERS)
        messages = world.fill(Path(directory), here, count)
        server, port = stack.enter_context(serving(directory))
        costs: dict[str, list[float]] = {}

        def take(name: str, *asked: Mapping[str, str]) -> None:
            result = load.ask(
                port=port,
                pid=server.pid,
                seconds=plan.seconds,
                connections=READING_CONNECTIONS,
                tokens=here.tokens,
                asked=asked,
            )
            if not result["per_cpu_second"]:
                notes.append(f"{name}: nothing was answered in time")
                return
            costs.setdefault(name, []).append(len(asked) * 1_000 / result["per_cpu_second"])

        requests = _requests(here, messages)
        for _ in range(plan.rounds):
            for name, request in requests.items():
                take(name, request)
        with generator(server, port, here, plan.sessions):
            for _ in range(plan.rounds):
                take("post_while_read", _post(here), requests["read_newest"])
        return {name: statistics.median(values) for name, values in costs.items()}


def _requests(here: world.World, messages: Messages) -> dict[str, dict[str, str]]:
    path = f"/v1/channels/{here.channel_id}/messages?limit={READ_MESSAGES}"

    def search(**members: Any) -> dict[str, str]:
        body = {"context_guild_id": str(here.guild_id), **members}
        return {"method": "POST", "path": "/v1/search/messages", "body": json.dumps(body)}

    return {
        "read_newest": {"method": "GET", "path": path},
        "read_middle": {"method": "GET", "path": f"{path}&before={messages.middle_id}"},
        "search_rare": search(content=RARE_WORD),
        "search_common": search(content=COMMON_WORD),
        "search_author": search(content=COMMON_WORD, author_id=[str(messages.author_id)]),
    }


def _post(here: world.World) -> dict[str, str]:
    body = json.dumps({"content": f"{RARE_MESSAGES} words and more, such as people write when they have much to say"})
    return {"method": "POST", "path": f"/v1/channels/{here.channel_id}/messages", "body": body}
