"""Every request that any test sends is one unit of writing, or stands in `spec_fixtures/units.json`.

A pytest plugin beside `tests.answers`: it counts the units that change something while an operation answers. What needs
more than one must be whole after `kill -9` between them: an errand (`chat.domain.policy.errands`), a durable job, or a
reason why nothing is lost. `parts` are units that are so wherever they occur, `operations` those that have other ones.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

import pytest

from chat.api.answers import Answer
from chat.api.endpoint import Endpoint
from chat.api.request import Request
from chat.store.database import Database

FIXTURE: Final = Path(__file__).parents[1] / "spec_fixtures" / "units.json"

counted: Final[ContextVar[list[str] | None]] = ContextVar("counted", default=None)
"""The units of the request that this task answers."""


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """What may take more than one unit, and why that is well."""
    rows: dict[str, dict[str, str]] = json.loads(FIXTURE.read_text("utf-8"))
    return rows


def name_of(unit: Callable[..., Any]) -> str:
    """Where a unit is written down."""
    while isinstance(unit, functools.partial) or hasattr(unit, "__wrapped__"):
        unit = unit.func if isinstance(unit, functools.partial) else unit.__wrapped__
    return f"{unit.__module__}:{unit.__qualname__}".replace(".<locals>", "")


def fault_of(operation: str, units: list[str]) -> str | None:
    """What is wrong with a request that took these units."""
    rest = [unit for unit in units if unit not in table()["parts"]]
    if len(rest) < 2 or operation in table()["operations"]:
        return None
    return f"{operation} takes {len(rest)} units of writing, which {FIXTURE.name} does not know: {rest[:5]}"


@pytest.fixture(autouse=True)
def requests_are_whole(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Watches a test; fails it afterwards where an operation took more units than it may."""
    faults: list[str] = []
    answer, write = Endpoint.__call__, Database.write

    async def watched(self: Endpoint, request: Request) -> Answer:
        units: list[str] = []
        token = counted.set(units)
        try:
            return await answer(self, request)
        finally:
            counted.reset(token)
            if len(units) > 1:
                fault = fault_of(f"{self.operation.method} {self.operation.path}", units)
                if fault is not None and fault not in faults:
                    faults.append(fault)

    async def seen(
        self: Database,
        unit: Callable[[sqlite3.Connection], Any],
        then: Callable[[Any], None] | None = None,
        **named: Any,
    ) -> Any:
        units = counted.get()
        if units is None:
            return await write(self, unit, then, **named)
        changes = 0

        def whole(connection: sqlite3.Connection) -> Any:
            nonlocal changes
            before = connection.total_changes
            result = unit(connection)
            changes = connection.total_changes - before
            return result

        result = await write(self, whole, then, **named)
        if changes:
            units.append(name_of(unit))
        return result

    monkeypatch.setattr(Endpoint, "__call__", watched)
    monkeypatch.setattr(Database, "write", seen)
    yield faults
    assert faults == []
