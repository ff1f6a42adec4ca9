"""Worker processes begin to collect at both ends of the suite.

A pytest plugin. Before anything is compiled, pytest rewrites the assertions of every module, which takes longer than
all the rest of collecting. Workers of pytest-xdist would do it side by side, each for itself: every other one goes
through the folders from the end, and from where they meet each finds what the other has compiled. The order of the
tests is put right afterwards, since all workers must have the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Only workers with an odd number collect from the end, and only folders: tests that are named have an order."""
    worker: dict[str, str] = getattr(config, "workerinput", {})
    number = worker.get("workerid", "gw0").removeprefix("gw")
    if int(number) % 2 and all(Path(argument).is_dir() for argument in config.args):
        config.pluginmanager.register(FromTheEnd(), "collects-from-the-end")


class FromTheEnd:
    """Turns the order round while modules are imported."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, (pytest.Session, pytest.Directory)):
            report.result.reverse()
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        modules = [list(module) for _, module in itertools.groupby(items, key=lambda item: item.path)]
        items[:] = itertools.chain.from_iterable(reversed(modules))
