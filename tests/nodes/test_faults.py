"""Faults with real processes: a core, two nodes, a broker, sixty clients of every kind, and the checker of their
histories. `python -m tests.nodes.faults --rounds 200` is the long form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import ServerPayload
from chat.testing.gateway_model import ModelSession
from tests.nodes.faults import CLIENTS, PARTITION, made_network, run, table
from tests.nodes.processes import Network
from tests.nodes.redis_server import program
from tests.nodes.steady_client import History, Kind
from tests.nodes.storm import Round, judge

LOADED: Final = 8.0
"""Bounds such as five seconds are an idle machine's. The long form reports them; here a session may take this many
times as long, because the machine may run other tests at the same time."""

IN_TURN: Final = (
    "node kill -9",
    "core kill -9",
    "broker killed, empty at once",
    "node SIGTERM",
    "node kill -9",
    "core SIGTERM",
    "broker stopped for 5 s",
    "core kill -9",
    "node stands still for 10 s",
    "rolling restart of all",
    "node kill -9",
    "broker killed, empty at once",
    "core kill -9",
    "node SIGTERM",
)

CHANNEL: Final = "100"


@pytest.fixture
def network() -> Iterator[Network]:
    made, reason = made_network()
    if made is None:
        pytest.skip(f"this machine makes no network namespace: {reason}")
    yield made
    made.remove()


async def held(names: Sequence[str], network: Network | None) -> list[Round]:
    """Let the faults happen, and hold what they counted against what must be."""
    program()
    rounds: list[Round] = []
    await run(names, seed=1, clients=CLIENTS, network=network, note=rounds.append)
    print(table(rounds))
    assert [counted.faults for counted in rounds] == [[]] * len(names)
    for counted in rounds:
        assert (counted.missed, counted.doubled, counted.lost_writes, counted.two_holders) == (0, 0, 0, 0)
        assert counted.clients == CLIENTS
        assert counted.events > counted.clients
        if counted.bound is not None and counted.slowest is not None:
            assert counted.slowest <= LOADED * counted.bound
    return rounds


@pytest.mark.long
async def test_no_fault_loses_doubles_or_splits_anything() -> None:
    for counted in await held(IN_TURN, None):
        if counted.fault.startswith("core kill"):
            assert counted.invalid_sessions == CLIENTS
        elif not counted.fault.startswith("broker"):
            assert counted.resumes >= CLIENTS // 2


@pytest.mark.long
async def test_a_node_beyond_a_partition_holds_no_session_that_resumed_elsewhere(network: Network) -> None:
    (counted,) = await held([PARTITION], network)
    assert counted.resumes >= 2 * (CLIENTS // 3)


# The checker


def history(*messages: int, after: int | None = None) -> History:
    """A session that began when the channel's last message was `after`, and was sent these."""
    channel = {"id": CHANNEL, "name": "general", "last_message_id": None if after is None else str(after)}
    there = History(ModelSession("1", "alice", is_whole=False), CHANNEL)
    there.take(dispatch(1, "READY", {"guilds": [{"channels": [channel]}]}))
    for sequence, number in enumerate(messages, 2):
        there.take(dispatch(sequence, "MESSAGE_CREATE", {"id": str(number), "channel_id": CHANNEL}))
    return there


def dispatch(sequence: int, name: str, data: Any) -> ServerPayload:
    return ServerPayload({"op": int(Opcode.DISPATCH), "s": sequence, "t": name, "d": data})


@pytest.mark.parametrize(
    ("there", "is_over", "missed", "doubled", "faults"),
    [
        (history(1, 2, 3, 4), False, 0, 0, 0),
        (history(3, 4, after=2), False, 0, 0, 0),
        (history(1, 2, 3), False, 1, 0, 1),
        (history(1, 2, 3), True, 0, 0, 0),
        (history(1, 3), True, 1, 0, 1),
        (history(1, 2, 2, 3, 4), False, 0, 1, 0),
        (history(2, 3, 4, after=2), False, 0, 1, 0),
        (history(1, 3, 2, 4), False, 0, 0, 1),
    ],
)
def test_the_checker_finds_what_a_session_was_not_sent_or_twice(
    there: History, is_over: bool, missed: int, doubled: int, faults: int
) -> None:
    counted = Round("none")
    judge(there, [1, 2, 3, 4], 0, is_over=is_over, who="a client", counted=counted)
    assert (counted.missed, counted.doubled, len(counted.faults)) == (missed, doubled, faults)


def test_the_checker_finds_a_gap_and_a_number_that_came_twice() -> None:
    there = history(1)
    there.take(dispatch(4, "MESSAGE_CREATE", {"id": "2", "channel_id": CHANNEL}))
    there.take(dispatch(4, "MESSAGE_CREATE", {"id": "3", "channel_id": CHANNEL}))
    assert len(there.faults) == 2
    assert there.doubled == 1


def test_the_kinds_of_clients_differ() -> None:
    assert len({str(Kind("alice", *how)) for how in ((True, True), (True, False), (False, True), (False, False))}) == 4
