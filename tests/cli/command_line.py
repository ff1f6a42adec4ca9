"""What a command that ran in this process left behind."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

from chat.store.connections import connect
from chat.store.data_directory import DataDirectory

ALICE = 3_000_000_000_000
GUILD = 4_000_000_000_000
CATEGORY, CHANNEL = GUILD + 1, GUILD + 2
PASSWORD = "correct horse battery"


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
    def table(self) -> list[list[str]]:
        """Standard output as the rows of a table on a terminal; empty cells are left out."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.out)
        return [re.split(r" {2,}", line.strip()) for line in plain.splitlines()]

    @property
    def rows(self) -> list[list[str]]:
        """Standard output as tab-separated lines."""
        return [line.split("\t") for line in self.out.splitlines()]


Run = Callable[..., Outcome]
"""Runs a command with these arguments."""


@contextlib.contextmanager
def stored(data: Path) -> Iterator[sqlite3.Connection]:
    """What the data directory holds."""
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        yield connection
