"""Core, nodes and broker from seeds: what always holds, what must have been reached, and that a seed replays."""

from __future__ import annotations

import collections
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.nodes.simulation import Simulation

PROJECT = Path(__file__).parents[2]

SOMETIMES = {
    "resumed",
    "resumed with a replay",
    "several Resumes at once",
    "said again",
    "a gap is complained of",
    "taken over from the session's beginning",
    "a node killed",
    "the core killed",
    "the core restarted",
    "invalid session",
    "log: a gateway node is dead",
}
"""A run of a few seeds that never got into these states has proved less than it says."""

RARELY = SOMETIMES | {
    "taken over from a checkpoint",
    "taken over whole from a node that ended",
    "fold over a transfer",
    "take-over chain",
    "Export answered by a death",
    "Judge refused",
    "epoch change with kept sessions",
    "the clock set back",
    "revoked in the middle of a transfer",
    "banned",
    "resumed wrongly: 4007",
    "resumed wrongly: 4004",
    "log: the core took this node for dead",
    "log: a gateway node hears nothing: its sessions end",
    "log: a session cannot be taken over",
    "log: a gateway node did not hear everything",
}
"""Many seeds reach all of these."""


def reached_by(seeds: Iterable[int]) -> set[str]:
    reached: collections.Counter[str] = collections.Counter()
    for seed in seeds:
        print(f"seed {seed}: python -m tests.nodes.simulation --seeds 1 --start {seed}")
        reached += Simulation(seed).run().reached
    return set(reached)


def test_everything_holds_from_a_few_seeds() -> None:
    reached = reached_by(range(3, 7))
    assert reached >= SOMETIMES, f"never reached: {sorted(SOMETIMES - reached)}"


@pytest.mark.long(minutes=3)
def test_everything_holds_from_many_seeds() -> None:
    reached = reached_by([*range(3), *range(7, 10), *range(100, 112)])
    # One seed in twenty-five reaches the rarest, and which one does changes with whatever takes another turn.
    for seed in range(112, 400):
        if reached >= RARELY:
            break
        reached |= reached_by([seed])
    assert reached >= RARELY, f"never reached: {sorted(RARELY - reached)}"


def test_a_seed_replays_to_the_letter() -> None:
    """The digest is of all that clients were sent, and of all that the broker was given."""
    first, second = (Simulation(3).run() for _ in range(2))
    assert first.events > 500
    assert (first.digest, list(first.tail)) == (second.digest, list(second.tail))


@pytest.mark.long
def test_a_seed_replays_in_another_process() -> None:
    """Neither the order of hashing nor anything else of a process has a part in it."""
    command = [sys.executable, "-m", "tests.nodes.simulation", "--seeds", "1", "--start", "7"]
    printed = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True, timeout=100
        )
        printed.append(done.stdout.splitlines()[0])
    assert printed[0].startswith("seed 7 ")
    assert printed[0] == printed[1]
