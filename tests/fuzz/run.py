"""Search for inputs that break an invariant: `python -m tests.fuzz.run --seconds 5 [TARGET ...]`.

With atheris installed the search is guided by coverage, each target in a process of its own; without it the corpus is
mutated blindly. An input that fails is written beside the corpus, into `tests/fuzz/found/<target>/`, and the run ends
with status 1. Reproduce it with `--replay FILE TARGET`; then move it into the corpus, where the test suite keeps it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.fuzz.targets import TARGETS

FOLDER: Final = Path(__file__).parent
CORPUS: Final = FOLDER / "corpus"
FOUND: Final = FOLDER / "found"

LONGEST_INPUT: Final = 20_000
"""Bytes: beyond the limit on messages, so that the limit itself is searched too."""

GUIDANCE: Final = (
    f"-max_len={LONGEST_INPUT}",
    "-timeout=10",
    "-keep_seed=1",  # the standard library is not watched, so seeds that differ in it alone would be thrown away
    "-use_value_profile=1",
    "-print_final_stats=1",
)
"""Options of libFuzzer."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Search each target for a number of seconds; 0 when nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"all of them by default: {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=5, help="for each target (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="of the search without atheris")
    parser.add_argument("--grow", action="store_true", help="keep inputs that reach new code in the corpus")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="only run this input")
    options = parser.parse_args(arguments)
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    names = options.targets or list(TARGETS)
    if options.replay is not None:
        for name in names:
            TARGETS[name](options.replay.read_bytes())
        return 0
    if importlib.util.find_spec("atheris") is not None:
        found = _search_guided(names, options)
    else:
        found = [name for name in names if not _search_blindly(name, options)]
    for name in found:
        print(f"{name}: an input failed, see {FOUND / name}")
    return 1 if found else 0


def _search_guided(names: Sequence[str], options: argparse.Namespace) -> list[str]:
    """Search with atheris; the targets for which something was found."""
    with tempfile.TemporaryDirectory() as new_inputs, tempfile.TemporaryDirectory() as logs:
        searches = {}
        for name in names:
            (FOUND / name).mkdir(parents=True, exist_ok=True)
            grown = CORPUS / name if options.grow else Path(new_inputs) / name
            grown.mkdir(exist_ok=True)
            bounds = [f"-max_total_time={options.seconds}", f"-artifact_prefix={FOUND / name}/"]
            searches[name] = [*GUIDANCE, *bounds, str(grown), str(CORPUS / name)]
        command = [sys.executable, "-m", "tests.fuzz.guided", logs]
        ended = subprocess.run(command, input=json.dumps(searches), stdout=subprocess.PIPE, text=True, check=True)
        statuses = json.loads(ended.stdout)
        return [name for name in names if not _ended_well(name, statuses[name], (Path(logs) / name).read_text())]


def _ended_well(name: str, status: int, log: str) -> bool:
    runs = [line for line in log.splitlines() if "number_of_executed_units" in line]
    print(f"{name}: {runs[0].split()[-1] if runs else 'no'} runs")
    if status or not runs:
        print(log)
        return False
    return _nothing_found(name)


def _search_blindly(name: str, options: argparse.Namespace) -> bool:
    """Mutate the corpus; whether nothing was found."""
    seed = random.randrange(2**32) if options.seed is None else options.seed
    chance = random.Random(seed)
    kept = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    end = time.monotonic() + options.seconds
    runs = 0
    while time.monotonic() < end:
        data = _mutate(chance.choice(kept), kept, chance)
        runs += 1
        try:
            TARGETS[name](data)
        except Exception:  # noqa: BLE001 - whatever a target raises is what is searched for
            traceback.print_exc()
            (FOUND / name).mkdir(parents=True, exist_ok=True)
            (FOUND / name / f"seed-{seed}-run-{runs}").write_bytes(data)
            return False
    print(f"{name}: {runs} runs, seed {seed}")
    return True


def _mutate(data: bytes, kept: Sequence[bytes], chance: random.Random) -> bytes:
    mutated = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place, end = sorted((chance.randint(0, len(mutated)), chance.randint(0, len(mutated))))
        other = chance.choice(kept)
        start = chance.randint(0, len(other))
        replacements = (
            bytes((chance.randrange(256),)),
            b"",
            other[start : start + chance.randint(0, 40)],
            bytes(mutated[place:end]) * 2,
        )
        mutated[place : min(end, place + chance.randint(0, 8))] = chance.choice(replacements)
    return bytes(mutated[:LONGEST_INPUT])


def _nothing_found(name: str) -> bool:
    folder = FOUND / name
    if any(folder.iterdir()):
        return False
    folder.rmdir()
    if not any(FOUND.iterdir()):
        FOUND.rmdir()
    return True


if __name__ == "__main__":
    sys.exit(main())
