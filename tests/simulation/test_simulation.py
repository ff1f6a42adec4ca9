"""Simulated weeks: what always holds, what must have been reached, and that a seed replays to the letter."""

from __future__ import annotations

import collections
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.simulation import Simulation

PROJECT = Path(__file__).parents[2]

SOMETIMES = {
    "resumed",
    "resumed with a replay",
    "invalid session",
    "session expired",
    "session ended under its socket",
    "displaced",
    "resumed from too low",
    "told to reconnect",
    "sessions adopted after a restart",
    "killed",
    "a post refused",
    "a request lost",
    "away for longer than the retention",
    "a quiet time",
    "closed 1006 ",
    "closed 4000 Session drain requested; reconnect to continue",
    "closed 4000 Session unavailable",
    "closed 4002 Decode failed",
    "closed 4005 Already authenticated",
    "closed 4007 Invalid sequence",
    "closed 4009 Heartbeat timeout",
}
"""A run that never got into these states has proved less than it says."""

SEEDS = 4
"""At least this number of each row is run, and more until all those states were reached."""


@pytest.mark.long(minutes=2)
@pytest.mark.parametrize("seeds", [range(8), range(100, 108)], ids=["0-7", "100-107"])
def test_everything_holds_in_simulated_weeks(seeds: range) -> None:
    reached: collections.Counter[str] = collections.Counter()
    for number, seed in enumerate(seeds):
        if number >= SEEDS and set(reached) >= SOMETIMES:
            break
        print(f"seed {seed}: python -m tests.simulation.run --seeds 1 --start {seed}")
        reached += Simulation(seed).run().reached
    assert set(reached) >= SOMETIMES, f"never reached: {sorted(SOMETIMES - set(reached))}"


@pytest.mark.long
def test_a_seed_replays_to_the_letter() -> None:
    first, second = (Simulation(4, hours=24).run() for _ in range(2))
    assert first.events > 500
    assert (first.digest, list(first.tail)) == (second.digest, list(second.tail))
    assert Simulation(5, hours=24).run().digest != first.digest


@pytest.mark.long
def test_a_seed_replays_in_another_process() -> None:
    """Neither the order of hashing nor anything else of a process has a part in it."""
    command = [sys.executable, "-m", "tests.simulation.run", "--seeds", "1", "--start", "9", "--hours", "6"]
    printed = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True, timeout=100
        )
        printed.append(done.stdout.splitlines()[0])
    assert printed[0].startswith("seed 9 ")
    assert printed[0] == printed[1]
