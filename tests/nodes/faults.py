"""Rounds of faults on a core with two gateway nodes (architecture.md, Beyond one process).

    python -m tests.nodes.faults --rounds 200

Each round breaks one thing while clients of every kind are connected and people write, lets it heal, and holds what all
clients were sent against what is stored. It prints a table and ends with 1 when something was not as it must be.
"""

from __future__ import annotations

import argparse
import functools
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import trio

from tests.nodes.processes import Network, Program
from tests.nodes.steady_client import SteadyClient
from tests.nodes.storm import Round, Storm, storm

CLIENTS: Final = 60
CALM_SECONDS: Final = 0.5
"""Between the rounds."""

LOG_LINES: Final = 60
"""Of the logs, after a round that had faults."""

ASK_SECONDS: Final = 3.0
"""A client that did not reach its home node stays where it is; after this many seconds it is asked again, and each time
after twice as many: on a busy machine a move takes long, and moves that begin anew keep each other from ending."""

BROKER_AWAY_SECONDS: Final = 5.0
STILL_SECONDS: Final = 10.0
CUT_SECONDS: Final = 5.0
"""Longer than a lease."""

DRAINED: Final = 4000

PARTITION: Final = "partition of a node"
"""Needs a network namespace, so root."""

Fault = Callable[[Storm, Round], Awaitable[None]]
FAULTS: dict[str, Fault] = {}


def fault(name: str) -> Callable[[Fault], Fault]:
    """Register a row of the table under its name."""

    def register(function: Fault) -> Fault:
        FAULTS[name] = function
        return function

    return register


async def _gone_home(running: Storm) -> None:
    """Sessions move to their homes again, each while its socket is open."""
    asked: dict[SteadyClient, tuple[float, float]] = {}  # when it may be asked again, and the pause after that

    def are_home() -> bool:
        now = trio.current_time()
        for client in running.clients:
            again, pause = asked.get(client, (0.0, ASK_SECONDS))
            if client.port not in {0, client.home} and now > again:
                asked[client] = (now + pause, 2 * pause)
                client.leave(client.home)
        return all(client.port == client.home for client in running.clients)

    await running.until(are_home, "all are at home")


async def _served(running: Storm, counted: Round, since: float) -> None:
    """Wait until a message that is written from now on has reached everybody; note how long that took."""
    message_id = await running.post()
    await running.until(lambda: running.all_know(message_id), "all clients know a new message")
    counted.slowest = trio.current_time() - since


async def _all_resumed(running: Storm, counted: Round, since: float) -> None:
    """Wait until all clients have a session again; note when the last one got it."""
    await running.until(lambda: all(client.port for client in running.clients), "all clients have a session")
    counted.slowest = max((at for at in running.tally.attached_at if at >= since), default=since) - since


def _node(running: Storm) -> Program:
    return running.chance.choice(running.processes.nodes)


async def _back(running: Storm, node: Program) -> None:
    await node.start()
    await node.is_ready()
    await _gone_home(running)


@fault("node kill -9")
async def node_killed(running: Storm, counted: Round) -> None:
    node, counted.bound = _node(running), 5.0
    since = trio.current_time()
    await node.end(signal.SIGKILL)
    await running.until(lambda: all(client.port != node.port for client in running.clients), "sockets are closed")
    await _all_resumed(running, counted, since)
    await _back(running, node)


@fault("core kill -9")
async def core_killed(running: Storm, counted: Round) -> None:
    counted.bound = 3.0
    await running.processes.core.end(signal.SIGKILL)
    await trio.sleep(running.chance.uniform(0.2, 4.0))
    await running.processes.start_core()
    since = trio.current_time()
    await running.until(
        lambda: running.tally.invalid_sessions >= len(running.clients), "all sessions are told that they are over"
    )
    counted.slowest = max(running.tally.told_at) - since
    if running.tally.closed:
        counted.faults.append(f"sockets were closed: {running.tally.closed}")
    await running.until(lambda: all(client.port for client in running.clients), "all clients have a session")


@fault("broker kill -9, empty after 5 s")
async def broker_killed(running: Storm, counted: Round) -> None:
    counted.bound = 2.0
    running.processes.broker.kill()
    await trio.sleep(BROKER_AWAY_SECONDS)
    await trio.to_thread.run_sync(running.processes.broker.start)
    await _served(running, counted, trio.current_time())


@fault("broker killed, empty at once")
async def broker_restarted(running: Storm, counted: Round) -> None:
    counted.bound = 2.0
    running.processes.broker.kill()
    await trio.to_thread.run_sync(running.processes.broker.start)
    await _served(running, counted, trio.current_time())


@fault("broker stopped for 5 s")
async def broker_stopped(running: Storm, counted: Round) -> None:
    counted.bound = 2.0
    running.processes.broker.signal(signal.SIGSTOP)
    await trio.sleep(BROKER_AWAY_SECONDS)
    running.processes.broker.signal(signal.SIGCONT)
    await _served(running, counted, trio.current_time())


@fault("node stands still for 10 s")
async def node_stopped(running: Storm, counted: Round) -> None:
    node = _node(running)
    held = sum(client.port == node.port for client in running.clients)
    since = trio.current_time()
    node.signal(signal.SIGSTOP)
    await trio.sleep(STILL_SECONDS)
    await running.until(lambda: all(client.port != node.port for client in running.clients), "sockets are left")
    await _all_resumed(running, counted, since)
    node.signal(signal.SIGCONT)
    await _closes_with_4000(running, counted, node, held)
    await node.is_ready()
    await _gone_home(running)


async def _closes_with_4000(running: Storm, counted: Round, node: Program, held: int) -> None:
    """All sockets that the node held, whether left or not, are closed by it."""

    def ends() -> list[int]:
        tally = running.tally
        return [close.code for port, close in (*tally.closed, *tally.left_closed) if port == node.port]

    await running.until(lambda: len(ends()) >= held, "the node has closed its sockets")
    if any(code != DRAINED for code in ends()):
        counted.faults.append(f"the node closed with {ends()}")


@fault(PARTITION)
async def node_cut_off(running: Storm, counted: Round) -> None:
    network = running.processes.network
    assert network is not None
    node = running.processes.node_beyond()
    await node.start()
    await node.is_ready()
    running.routes[node.port] = node.route
    moved = running.chance.sample(running.clients, len(running.clients) // 3)
    homes = {client: client.home for client in moved}
    for client in moved:
        client.home = node.port
    await _gone_home(running)
    network.cut()
    since = trio.current_time()
    for client in moved:
        client.home = homes[client]
    for client in moved[::2]:  # these come back elsewhere while their sockets stay; the others do not notice
        client.leave(client.home)
    await trio.sleep(CUT_SECONDS)
    await running.until(
        lambda: all(client.port == client.home for client in moved[::2]), "those that left have resumed"
    )
    counted.slowest = max(at for at in running.tally.attached_at if at >= since) - since
    network.mend()
    await _closes_with_4000(running, counted, node, len(moved))
    del running.routes[node.port]
    await running.until(lambda: all(client.port for client in running.clients), "all clients have a session")
    await _gone_home(running)
    await node.end(signal.SIGTERM)


@fault("node SIGTERM")
async def node_ended(running: Storm, counted: Round) -> None:
    node = _node(running)
    since = trio.current_time()
    await _end_well(node, counted)
    await _all_resumed(running, counted, since)
    await _back(running, node)


@fault("core SIGTERM")
async def core_ended(running: Storm, counted: Round) -> None:
    await _end_well(running.processes.core, counted)
    await running.processes.start_core()
    await _served(running, counted, trio.current_time())


@fault("rolling restart of all")
async def all_restarted(running: Storm, counted: Round) -> None:
    since = trio.current_time()
    for node in running.processes.nodes:
        await _end_well(node, counted)
        await node.start()
        await node.is_ready()
    await _end_well(running.processes.core, counted)
    await running.processes.start_core()
    await _served(running, counted, since)
    await _gone_home(running)


async def _end_well(program: Program, counted: Round) -> None:
    status = await program.end(signal.SIGTERM)
    if status:
        counted.faults.append(f"{' '.join(program.arguments)} ended with {status}")


TELLS: Final = frozenset(name for name in FAULTS if name.startswith(("core kill", "broker")))
"""Faults after which a session may be told that it is over."""


async def run(
    names: Sequence[str], *, seed: int, clients: int, network: Network | None, note: Callable[[Round], None]
) -> None:
    """Let these faults happen one after the other; `note` is told what each counted."""
    with tempfile.TemporaryDirectory(prefix="chat-faults-") as folder:
        async with storm(Path(folder), clients=clients, seed=seed, network=network) as running:
            for name in names:
                await trio.sleep(CALM_SECONDS)
                counted = Round(name)
                await FAULTS[name](running, counted)
                await running.settle(counted)
                if counted.invalid_sessions and name not in TELLS:
                    counted.faults.append(f"{counted.invalid_sessions} sessions were lost")
                if counted.two_holders:
                    counted.faults.append(f"{counted.two_holders} Dispatches on sockets whose sessions were elsewhere")
                counted.said = running.processes.said()
                note(counted)


COLUMNS: Final = ("rounds", "events", "messages", "resumes", "missed", "doubled", "invalid", "lost", "two", "slowest")


def table(rounds: Sequence[Round]) -> str:
    """What was counted, by fault."""
    lines = [f"{'fault':<34}" + "".join(f"{column:>10}" for column in COLUMNS)]
    for name in FAULTS:
        of = [counted for counted in rounds if counted.fault == name]
        if not of:
            continue
        sums = [
            len(of),
            *(sum(getattr(counted, field) for counted in of) for field in ("events", "messages", "resumes", "missed")),
            *(sum(getattr(counted, field) for counted in of) for field in ("doubled", "invalid_sessions")),
            *(sum(getattr(counted, field) for counted in of) for field in ("lost_writes", "two_holders")),
        ]
        slowest = max((counted.slowest for counted in of if counted.slowest is not None), default=0.0)
        beyond = sum(not counted.is_in_bound for counted in of)
        lines.append(f"{name:<34}" + "".join(f"{number:>10}" for number in sums) + f"{slowest:>8.2f} s")
        if beyond:
            lines.append(f"  {beyond} of these took longer than {of[0].bound} s")
    return "\n".join(lines)


def made_network() -> tuple[Network | None, str]:
    """A network of its own where the machine allows it, or the reason why not."""
    network = Network()
    try:
        network.make()
    except FileNotFoundError:
        return None, "there is no program ip"
    except subprocess.CalledProcessError as error:
        return None, error.stderr.decode().strip()
    return network, ""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nodes.faults")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", choices=sorted(FAULTS), action="append", help="only this one; may be repeated")
    given = parser.parse_args(arguments)
    network, reason = made_network()
    names = [name for name in given.fault or FAULTS if network is not None or name != PARTITION]
    if network is None:
        print(f"without the partition: {reason}")
    rounds: list[Round] = []

    def note(counted: Round) -> None:
        rounds.append(counted)
        slowest = "" if counted.slowest is None else f", slowest {counted.slowest:.2f} s"
        print(f"{len(rounds):>4} {counted.fault}: {len(counted.faults)} faults{slowest}", flush=True)
        for words in counted.faults[:5]:
            print(f"     {words}", flush=True)
        for words in counted.said[-LOG_LINES:] if counted.faults else ():
            print(f"       {words}", flush=True)

    began = time.monotonic()
    plan = [names[number % len(names)] for number in range(given.rounds)]
    try:
        trio.run(functools.partial(run, plan, seed=given.seed, clients=given.clients, network=network, note=note))
    finally:
        if network is not None:
            network.remove()
        print(table(rounds))
        print(f"{len(rounds)} rounds, {given.clients} clients, {time.monotonic() - began:.0f} s")
    return 1 if any(counted.faults for counted in rounds) else 0


if __name__ == "__main__":
    sys.exit(main())
