"""`kill -9` in the middle of writing, again and again: nothing that was acknowledged is lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import chat
from chat.store.connections import connect

pytestmark = pytest.mark.long

KILLS = 20
SCRIPT = Path(__file__).with_name("acknowledging_writer.py")


def write_until_killed(path: Path, first: int, milliseconds: float) -> list[str]:
    """What the process acknowledged before it was killed, `milliseconds` after its first acknowledgement."""
    environment = os.environ | {"PYTHONPATH": str(Path(chat.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, SCRIPT, path, str(first)], stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        beginning = process.stdout.readline()
        time.sleep(milliseconds / 1000)
        process.kill()
        acknowledged = beginning + process.stdout.read()
    assert beginning, "the process ended by itself"
    return acknowledged.decode().rpartition("\n")[0].splitlines()


def test_no_acknowledged_write_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "chat.sqlite3"
    chance = random.Random(20_150_101)
    acknowledged: set[str] = set()
    for round_number in range(KILLS):
        acknowledged |= set(write_until_killed(path, round_number * 1_000_000, chance.uniform(0, 60)))
        connection = connect(path)
        stored = {key for (key,) in connection.execute("SELECT key FROM instance")}
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
        connection.close()
        assert acknowledged <= stored
    assert len(acknowledged) > KILLS
