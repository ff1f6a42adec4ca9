"""One target under atheris, started by `tests.fuzz.run`: `python -m tests.fuzz.guided TARGET [OPTION ...]`."""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-untyped]  # it has none

with atheris.instrument_imports(include=["chat", "tests"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """Search until libFuzzer's options say stop; it ends the process."""
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
