"""What somebody else writes while a request is under way."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from chat.store.database import Database
from chat.store.writer import WriteRequest

Unit = Callable[[sqlite3.Connection], object]


class Meanwhile:
    """Runs a unit of writing in front of the next one, as when somebody else's stood before it in the queue."""

    def __init__(self, database: Database) -> None:
        self._writer = database._writer
        self._run = self._writer.run
        self._unit: Unit | None = None
        self._writer.run = self._interposed  # type: ignore[method-assign]

    def prepare(self, unit: Unit) -> None:
        """To be run before the next unit."""
        self._unit = unit

    @property
    def has_happened(self) -> bool:
        """Whether it was run; what was not is forgotten."""
        pending, self._unit = self._unit, None
        return pending is None

    def _interposed(self, group: Sequence[WriteRequest]) -> None:
        unit, self._unit = self._unit, None
        if unit is not None:
            other = WriteRequest(unit, None)
            self._run((other,))
            assert other.error is None, other.error
        self._run(group)
