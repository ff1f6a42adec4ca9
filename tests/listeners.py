"""No listener of the bus fails in a test, unless the test says so: the bus logs it and goes on, unseen by the test.

A pytest plugin beside `tests.answers`. So an event whose audience is not the one of its row fails the test that causes
it (`chat.gateway.hub.WrongAudience`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from chat.bus import bus


@pytest.fixture(autouse=True)
def failed_listeners(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What listeners raised; a test that makes them fail clears the list."""
    failed: list[str] = []
    told = bus.logger

    class Noting:
        """The bus's own logger, and a note of each failure."""

        def exception(self, event: str, *, signal: object, listener: str) -> None:
            failed.append(f"{listener} raised {sys.exc_info()[1]!r} at {signal!r}"[:2_000])
            told.exception(event, signal=signal, listener=listener)

    monkeypatch.setattr(bus, "logger", Noting())
    yield failed
    assert failed == []
