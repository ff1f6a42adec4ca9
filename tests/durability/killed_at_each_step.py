"""A program of its own: runs commands of `chat` that are killed at each step that they take.

A step is what changes files (making, renaming, linking, deleting, opening for writing) and, where that is asked for, a
statement of SQLite. The process that a command runs in is forked, and killed as by `kill -9` right before step N.

It reads a line of JSON for each attempt, `{"arguments": [...], "step": N, "statements": true}`, and answers with
`{"status": N}`: the exit status, negative for a signal.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from typing import Any

import trio  # noqa: F401

import chat.backup.attempts
import chat.backup.before_migrating
import chat.backup.restoring
import chat.cli.administration
import chat.cli.backups
import chat.cli.restore
import chat.cli.user  # noqa: F401 - forked from, once everything is imported
from chat.cli.main import main
from chat.store import connections

EVENTS = frozenset({"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"})


class Steps:
    """Counts the steps of this process, and ends it before the last that it may take."""

    def __init__(self, last: int) -> None:
        self._last = last
        self._count = 0

    def take(self) -> None:
        """One more step."""
        self._count += 1
        if self._count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook."""
        if event in EVENTS or (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        ):
            self.take()

    def watch_statements(self) -> None:
        """Take each statement of SQLite for a step as well."""
        opened = sqlite3.connect

        def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection = opened(*arguments, **options)
            connection.set_trace_callback(lambda _: self.take())
            return connection

        connections.sqlite3.connect = connect


def attempt(arguments: list[str], step: int, *, statements: bool) -> dict[str, int]:
    """Run one command that ends before this step; to its end for step 0."""
    child = os.fork()
    if child == 0:
        steps = Steps(step)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        if step:
            os.dup2(1, 2)
            if statements:
                steps.watch_statements()
            sys.addaudithook(steps.audit)
        status = 0
        try:
            main(arguments)
        except SystemExit as ending:
            status = int(ending.code or 0)
        os._exit(status)
    _, status = os.waitpid(child, 0)
    return {"status": os.waitstatus_to_exitcode(status)}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(attempt(asked["arguments"], asked["step"], statements=asked["statements"])), flush=True)
