"""What a command that ran in this process left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs


@attrs.frozen
class Outcome:
    """Exit status, standard output and standard error."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[list[str]]:
        """Standard output as tab-separated lines."""
        return [line.split("\t") for line in self.out.splitlines()]


Run = Callable[..., Outcome]
"""Runs a command with these arguments."""
