"""What reading, searching and posting cost in channels of growing size; a part of `chat bench http`.

Each figure is CPU time of the server, all of its threads together. Reading takes 50 messages, the newest or those from
the middle of the channel. One search is for a word that a hundred messages have, however many there are; one for a
word that nearly a third of all messages have, so that it comes to the most that a search finds; one for what one
account of many wrote with that word. Posting is measured in a guild whose sessions are all connected and hear each
message, while as many requests read the channel: a figure is for one post, its deliveries and one reading.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from chat.bench import message_world, world
from chat.bench.gateway import generator, serving
from chat.bench.message_world import COMMON_WORD, RARE_MESSAGES, RARE_WORD, Messages
from chat.bench.processes import Process
from chat.bench.report import Figure

READ_MESSAGES: Final = 50
CONNECTIONS: Final = 4
FLAT: Final = 1.5
"""An indexed read may cost so many times as much in the largest channel, noise included."""

INDEXED: Final = frozenset({"read_newest", "read_middle", "search_rare"})


@attrs.frozen
class Plan:
    """How many messages there are, how long each thing is measured, and how many sessions hear what is posted."""

    messages: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    rounds: int = 3
    seconds: float = 2.0
    sessions: int = 1_000


QUICK: Final = Plan(messages=(300,), rounds=1, seconds=0.05, sessions=10)


def figures(load: Process, plan: Plan, notes: list[str]) -> Iterator[Figure]:
    """Measure every size. `load` makes the requests (`chat.bench.http_load`)."""
    costs = [_measure(load, plan, count, notes) for count in plan.messages]
    for name in costs[0]:
        for count, cost in zip(plan.messages, costs, strict=True):
            yield Figure(f"{name}_{count}", cost[name], "ms of CPU")
        if len(costs) > 1:
            growth = costs[-1][name] / costs[0][name]
            at_most = FLAT if name in INDEXED else None
            yield Figure(f"{name}_growth", growth, f"of {plan.messages[0]}, at {plan.messages[-1]}", at_most=at_most)
    yield Figure("post_while_read_sessions", plan.sessions, "sessions that hear each post")


def _measure(load: Process, plan: Plan, count: int, notes: list[str]) -> Mapping[str, float]:
    """Milliseconds of CPU for one request of each kind: the median of the rounds."""
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-bench-"))
        here = world.prepare(Path(directory), world.MEMBERS)
        messages = message_world.fill(Path(directory), here, count)
        server, port = stack.enter_context(serving(directory))
        costs: dict[str, list[float]] = {}

        def take(name: str, *asked: Mapping[str, str]) -> None:
            result = load.ask(
                port=port,
                pid=server.pid,
                seconds=plan.seconds,
                connections=CONNECTIONS,
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
