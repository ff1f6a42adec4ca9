"""Targets under atheris, started by `tests.fuzz.run`: `python -m tests.fuzz.guided LOGS < SEARCHES`.

What is read is an object: the options of libFuzzer by the name of the target. Each target is searched in a child of
this process, which has counted the branches of the whole program once for all; what a child says is in LOGS/NAME. What
is printed is the status of each child, by name.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import atheris  # type: ignore[import-untyped]  # it has none

with atheris.instrument_imports(include=["chat", "tests"]):
    from tests.fuzz.targets import TARGETS


def search(name: str, options: list[str], log: Path) -> int:
    """The status of a child that searches until libFuzzer's options say stop."""
    child = os.fork()
    if child == 0:
        output = os.open(log, os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        atheris.Setup([name, *options], TARGETS[name])
        atheris.Fuzz()  # it ends the process
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def main() -> None:
    """Search each target."""
    logs, searches = Path(sys.argv[1]), json.load(sys.stdin)
    print(json.dumps({name: search(name, options, logs / name) for name, options in searches.items()}))


if __name__ == "__main__":
    main()
