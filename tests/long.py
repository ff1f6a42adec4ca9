"""Tests that take long by nature run when somebody asks for them.

A pytest plugin. Simulated weeks, series of kills, browsers, other people's clients and crawls carry
`@pytest.mark.long`. A run that chooses no marks leaves them out, and says at its end how many:

    python -m pytest -n 2             everything else
    python -m pytest -n 2 -m long     these
    python -m pytest tests/FILE.py    a file that is named runs whole, and so does a test of it that is named

Tests that take minutes say so, `@pytest.mark.long(minutes=2)`, and run first. At the end one worker would wait for
another that had just begun such a test. Behind them come the tests of what is published, which `.ci/run` builds until
then.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

BUILT: Final = "built"
"""The fixture of what is published (`tests/packaging/conftest.py`)."""

LEFT_OUT: Final = pytest.StashKey[int]()
"""How many tests this run leaves out."""

OUTPUT: Final = "long tests left out"
"""The name under which a worker of pytest-xdist reports its number."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", "long(minutes): takes long by nature; runs with `-m long` or when named")
    config.stash[LEFT_OUT] = 0


def named_files(config: pytest.Config) -> set[Path]:
    """The files that the command line names, by themselves or with a test."""
    paths = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return {path.resolve() for path in paths if path.is_file()}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is long and was not asked for; begin with what takes minutes."""
    if config.option.markexpr:
        items.sort(key=lambda item: (minutes(item), BUILT in fixtures(item)), reverse=True)
        return
    named = named_files(config)
    left_out = {item for item in items if item.get_closest_marker("long") and item.path not in named}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
        config.stash[LEFT_OUT] = len(left_out)


def fixtures(item: pytest.Item) -> Sequence[str]:
    """The names of a test's fixtures."""
    return item.fixturenames if isinstance(item, pytest.Function) else ()


def minutes(item: pytest.Item) -> float:
    """How many a test says it takes; 0 for nearly all."""
    marker = item.get_closest_marker("long")
    taken: float = marker.kwargs.get("minutes", 0) if marker is not None else 0
    return taken


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist passes its number on to the process that leads."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[OUTPUT] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker has collected the same tests; one that died has nothing to say."""
    number = getattr(node, "workeroutput", {}).get(OUTPUT, 0)
    node.config.stash[LEFT_OUT] = max(node.config.stash[LEFT_OUT], number)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what did not run."""
    number = config.stash[LEFT_OUT]
    if number:
        terminalreporter.write_line(f"{number} long tests left out: `-m long` runs them")
