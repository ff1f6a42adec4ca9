"""The shrinking of PersonMachine's findings (`python -m tests.web.person`). Area: the web client as a whole."""

from __future__ import annotations

from tests.web.person.acts import Act
from tests.web.person.shrinking import shrunk


def test_the_fewest_acts_that_fail_are_found() -> None:
    acts = [Act("key", detail=str(number)) for number in range(40)]
    assert [act.detail for act in shrunk(acts, lambda some: {acts[7], acts[30]} <= set(some), 60)] == ["7", "30"]
