"""Processes under measurement: started on a core of their own, and what the kernel says about them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import chat
from chat.errors import OperatorError

MEASURED_CORE: Final = 0
"""Where servers and floors run; they take turns."""

LOAD_CORE: Final = 1
"""Where load is made."""

STOP_SECONDS: Final = 20.0


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process that are alive, to the nanosecond."""
    nanoseconds = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            nanoseconds += int((task / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def resident_bytes(pid: int) -> int:
    """Memory of a process that is in use (VmRSS)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(f"process {pid} is gone")


class Process:
    """A Python program of this package, or `chat` itself, that talks in lines of JSON or text."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def line(self) -> str:
        """The next line that it prints. Raises OperatorError when it ends instead."""
        assert self._process.stdout is not None  # noqa: S101 -- `started` made it a pipe
        line = self._process.stdout.readline()
        if not line:
            raise OperatorError(f"a process of the measurement ended early: {self._process.args!r}")
        return line.rstrip("\n")

    def answer(self) -> Any:
        return json.loads(self.line())

    def ask(self, **request: object) -> Any:
        """Send a request as a line of JSON, and wait for the answer."""
        assert self._process.stdin is not None  # noqa: S101 -- `started` made it a pipe
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self.answer()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)


@contextlib.contextmanager
def started(*arguments: object, core: int, environment: Mapping[str, str] | None = None) -> Iterator[Process]:
    """Run `python -m` with these arguments on one core while the block lasts; SIGTERM ends it then."""
    # The package that measures is the one that is measured, wherever the command was called.
    found = {"PYTHONPATH": os.pathsep.join(filter(None, (str(Path(chat.__file__).parents[1]), *_python_path())))}
    with subprocess.Popen(  # noqa: S603 -- our own interpreter and modules
        [sys.executable, "-m", *map(str, arguments)],
        env=os.environ | found | dict(environment or {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        # Threads inherit it, and none has been started so early.
        os.sched_setaffinity(process.pid, {core} & os.sched_getaffinity(0) or os.sched_getaffinity(0))
        try:
            yield Process(process)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _python_path() -> list[str]:
    present = os.environ.get("PYTHONPATH")
    return [] if present is None else [present]
