"""Processes of `chat` that start in a moment.

Most of the time that a server takes to start it imports. So each run of the suite starts one process that imports
everything and does nothing else (`preparer.py`), and every server is forked from it: a process of its own, with its own
environment, files and threads, which can be killed as any other. That `chat serve` and `chat dev` start from nothing is
what `tests/cli` and the README's tests see to.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import trio

STANDARD_ERROR = 2
PREPARER = Path(__file__).with_name("preparer.py")


class PreparedProcess:
    """What the tests need of `trio.Process`."""

    def __init__(self, stdout: int, life: int) -> None:
        self.stdout: trio.abc.ReceiveStream = trio.lowlevel.FdStream(stdout)
        self.returncode: int | None = None
        self.pid = 0
        self._life = trio.lowlevel.FdStream(life)
        self._told = b""
        self._handle = -1

    async def begin(self) -> None:
        """Wait until it is there."""
        self.pid = await self._line()
        try:
            self._handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            await self.wait()  # it is over already

    def send_signal(self, number: int) -> None:
        """Send a signal; to a process that is over, nothing."""
        if self.returncode is None and self._handle >= 0:
            try:
                signal.pidfd_send_signal(self._handle, number)
            except ProcessLookupError:
                return

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for its end; the exit status, negative for a signal."""
        if self.returncode is None:
            self.returncode = await self._line()
            await self._life.aclose()
            if self._handle >= 0:
                os.close(self._handle)
        return self.returncode

    async def _line(self) -> int:
        while b"\n" not in self._told:
            piece = await self._life.receive_some()
            assert piece, "the process from which servers are forked is gone"
            self._told += piece
        line, _, self._told = self._told.partition(b"\n")
        return int(line)


async def started(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    log: int | IO[bytes] = subprocess.DEVNULL,
    prepared: bool = True,
) -> PreparedProcess | trio.Process:
    """A process of `chat` with these arguments, its standard output read by us, its log going to `log`."""
    if sys.platform != "linux" or not prepared:
        command = [sys.executable, "-m", "chat", *arguments]
        return await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, stderr=log, env=environment)
    process = PreparedProcess(*_ordered(arguments, environment, log))
    await process.begin()
    return process


@contextlib.contextmanager
def started_and_killed(
    arguments: Sequence[str], environment: Mapping[str, str], log: int | IO[bytes] | None = None
) -> Iterator[IO[bytes]]:
    """The standard output of such a process, for tests that block; it is killed when the block ends. `log` is where its
    standard error goes, if not where ours does."""
    if sys.platform != "linux":
        command = [sys.executable, "-m", "chat", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment) as process:
            assert process.stdout is not None
            try:
                yield process.stdout
            finally:
                process.kill()
        return
    stdout, life = _ordered(arguments, environment, STANDARD_ERROR if log is None else log)
    with open(stdout, "rb") as output, open(life, "rb") as told:
        handle = os.pidfd_open(int(told.readline()))
        try:
            yield output
        finally:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
            told.readline()  # it is over


def _ordered(arguments: Sequence[str], environment: Mapping[str, str], log: int | IO[bytes]) -> tuple[int, int]:
    """Have a process forked: what it prints, and what the preparer tells of it."""
    stdout, theirs = os.pipe()
    life, told = os.pipe()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    errors = log.fileno() if not isinstance(log, int) else nowhere if log == subprocess.DEVNULL else log
    order = {"arguments": list(arguments), "environment": dict(environment), "directory": str(Path.cwd())}
    try:
        socket.send_fds(_preparer(), [json.dumps(order).encode()], [theirs, errors, told])
    finally:
        for descriptor in (theirs, told, nowhere):
            os.close(descriptor)
    return stdout, life


@functools.cache
def _preparer() -> socket.socket:
    """The line to the process from which servers are forked; it ends with this process, and so do they."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, str(PREPARER), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
