"""Part of `chat bench http`: what an Identify of an account in 200 guilds costs, beside one in one guild.

Each guild has 300 members, ten of whom are online. `communities` have 10 channels and 5 roles, a Ready of 1.2 MB;
`guilds` have one channel, as the guild of `identify_per_cpu_second`. A figure is CPU time of the whole server from
accepting a connection to the last byte of Ready, without compression, for one account after the other: `first` for
accounts whose memberships are still to be read from the store, `again` for those that have identified before. The
clients know threads, as the web client does.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from chat.bench.gateway import serving
from chat.bench.measuring import (
    HERE,
    LOAD_CORE,
    MEASURED_CORE,
    Figure,
    Identified,
    MeasuredProcess,
    median_ratio,
    note_if_busy,
    started,
)
from chat.classes import frozen

READY_MS: Final = 2.0
"""For one Identify, the first of an account as well."""

PREPARE: Final = """
import json, sys
from pathlib import Path
from chat.bench import world
from chat.bench.gateway import ENVIRONMENT
prepare = getattr(world, sys.argv[4], None)
here = prepare and prepare(Path(sys.argv[1]), guild_count=int(sys.argv[2]), signed_in=int(sys.argv[3]))
print(json.dumps(here and [here.tokens, here.newcomers, dict(ENVIRONMENT)]), flush=True)
"""
"""Run by another checkout's Python, which makes a database as that checkout knows it; null if it cannot."""


@frozen
class ManyGuildsBenchPlan:
    """In each round `clients` accounts identify one after the other; `online` others are connected before."""

    guilds: int = 200
    clients: int = 20
    online: int = 10
    rounds: int = 5


WHOLE: Final = ManyGuildsBenchPlan()

QUICK: Final = ManyGuildsBenchPlan(guilds=3, clients=2, online=1, rounds=1)


@frozen
class _ServerProcess:
    """A server with the tokens of accounts in all of its guilds, and of those in one."""

    process: MeasuredProcess
    port: int
    everywhere: Sequence[str] = attrs.field(repr=False)
    newcomers: Sequence[str] = attrs.field(repr=False)


KINDS: Final = {"communities": "prepare_communities", "guilds": "prepare_plain_guilds"}
"""Which function of `world` makes guilds of a kind."""


def figures(plan: ManyGuildsBenchPlan, against: Path | None, notes: list[str]) -> Iterator[Figure]:
    """For each kind of guild, round by round: the server, and that of another checkout."""
    for kind in KINDS:
        yield from _figures(kind, plan, against, notes)


def _figures(kind: str, plan: ManyGuildsBenchPlan, against: Path | None, notes: list[str]) -> Iterator[Figure]:
    with contextlib.ExitStack() as stack:
        load = stack.enter_context(started("chat.bench.identifying", core=LOAD_CORE))
        servers = {}
        for prefix, checkout in {"": HERE, "against_": against}.items():
            server = None if checkout is None else _serving(stack, checkout.resolve(), kind, plan)
            if server is not None:
                servers[prefix] = server
            elif checkout is not None:
                notes.append(f"{checkout} has no world of many {kind} to be measured in")
        costs: dict[str, list[float]] = {}
        for server in servers.values():
            _identify(load, server, server.everywhere[: plan.online], staying=True)
        for start in range(plan.online, plan.online + plan.clients * plan.rounds, plan.clients):
            for prefix, server in servers.items():
                for name, tokens in _storms(server, slice(start, start + plan.clients), kind, plan).items():
                    result = _identify(load, server, tokens)
                    note_if_busy(result, f"{prefix}{name}", notes)
                    costs.setdefault(f"{prefix}{name}", []).append(1_000 / result["per_cpu_second"])
    for name, values in costs.items():
        at_most = None if name.startswith("against_") or "_1_" in name else READY_MS
        yield Figure(name, statistics.median(values), "ms of CPU", at_most=at_most)
    for name in [name for name in costs if f"against_{name}" in costs]:
        yield Figure(f"{name}_against_ratio", median_ratio(costs[name], costs[f"against_{name}"]), "of the other's")


def _storms(server: _ServerProcess, accounts: slice, kind: str, plan: ManyGuildsBenchPlan) -> dict[str, Sequence[str]]:
    everywhere, newcomers = server.everywhere[accounts], server.newcomers[accounts]
    return {
        f"ready_{plan.guilds}_{kind}_first": everywhere,
        f"ready_{plan.guilds}_{kind}_again": everywhere,
        f"ready_1_of_{kind}_first": newcomers,
        f"ready_1_of_{kind}_again": newcomers,
    }


def _identify(
    load: MeasuredProcess, server: _ServerProcess, tokens: Sequence[str], *, staying: bool = False
) -> Identified:
    result: Identified = load.ask(
        port=server.port, pid=server.process.pid, tokens=tokens, at_once=1, staying=staying, threads=True
    )
    return result


def _serving(
    stack: contextlib.ExitStack, checkout: Path, kind: str, plan: ManyGuildsBenchPlan
) -> _ServerProcess | None:
    """A server of a checkout; None for one from before this measurement."""
    directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-bench-"))
    signed_in = plan.online + plan.clients * plan.rounds
    program = (sys.executable, "-c", PREPARE)
    arguments = directory, plan.guilds, signed_in, KINDS[kind]
    with started(*arguments, core=MEASURED_CORE, checkout=checkout, program=program) as prepared:
        answer = prepared.answer()
    if answer is None:
        return None
    everywhere, newcomers, environment = answer
    server, port = stack.enter_context(serving(directory, checkout, environment, watched=False))
    return _ServerProcess(server, port, everywhere, newcomers)
