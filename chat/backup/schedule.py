"""Backups that a running server makes by itself.

Each is made by a process of its own (`chat backups make`): it may take all the time it needs, and a disk that hangs
holds up that process alone. What became of it the process notes in the store (`chat.backup.attempts`); one that says
nothing for long is ended, and the server notes that.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import structlog
import trio

from chat.backup.place import BUSY, directory_of
from chat.classes import define
from chat.clock import Clock
from chat.config import Settings
from chat.errors import StorageUnavailable
from chat.store.administration import backups
from chat.store.administration.backups import BackupRecord
from chat.store.database import Database
from chat.store.guard import UNGUARDED

BEGIN_SECONDS: Final = 15.0
"""How long a start goes on undisturbed."""

LOOK_SECONDS: Final = 300.0
"""How often the clock is asked whether a backup is due: it may jump."""

HOUR_MS: Final = 3_600_000

RETRY_MS: Final = HOUR_MS
"""After an attempt that failed, unless backups are made more often than that."""

STALLED_SECONDS: Final = 900.0
"""A backup process that has said nothing for this long is stuck: its disk is gone or hangs."""

PATIENCE_SECONDS: Final = 10.0
"""How often that is looked at."""

END_SECONDS: Final = 5.0
OUTPUT_BYTES: Final = 65_536
TOLD_CHARACTERS: Final = 500

log: Final = structlog.get_logger("chat.backup")


def own_command() -> list[str]:
    """The command line that starts this program anew."""
    return [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "chat"]


@define(eq=False)
class _Output:
    """What a process has said, as far as it is needed, and when it said something last, on the machine's own clock: the
    clock of a development server jumps."""

    heard_at: float = attrs.field(factory=time.monotonic)
    errors: bytes = b""
    last: bytes = b""
    is_stalled: bool = False


@define(eq=False, kw_only=True)
class BackupSchedule:
    """Makes backups when they are due."""

    settings: Settings
    data: Path
    settings_file: Path | None
    database: Database
    clock: Clock
    stalled_seconds: float = STALLED_SECONDS
    command: Sequence[str] = attrs.field(factory=own_command)

    async def run(self) -> None:
        """Make backups for as long as the server runs."""
        await trio.sleep(BEGIN_SECONDS)
        while True:
            wait = self.milliseconds_to_next()
            if wait > 0:
                await trio.sleep(min(LOOK_SECONDS, wait / 1_000))
                continue
            if await self.attempt():
                continue
            await trio.sleep(LOOK_SECONDS)

    def milliseconds_to_next(self) -> int:
        """How long until a backup is due, by what the store says of the last attempt. A clock that was set back makes
        nobody wait for longer than `backup.every`."""
        last = backups.record(self.database.reader)
        if last is None or last.directory != str(self._directory):
            return 0
        every = self.settings.backup.every * HOUR_MS
        pause = every if last.failure is None else min(every, RETRY_MS)
        return min(last.tried_at + pause - self.clock.now_ms(), pause)

    @property
    def _directory(self) -> Path | None:
        return directory_of(self.settings, self.data)

    async def attempt(self) -> bool:
        """Have a backup made; whether what became of it stands in the store, which it does not while somebody else
        makes one."""
        output = _Output()
        status = await self._run_process(output)
        if status == 0:
            made = json.loads(output.last)
            log.info("backed up", path=made["path"], size=made["size"], new_size=made["new_size"])
            for remark in made["remarks"]:
                log.warning("the backup says of the instance", remark=remark)
            return True
        reason = _reason(output.errors, status)
        if reason.startswith(BUSY):
            log.info("no backup now", reason=reason)
            return False
        log.error("no backup could be made", reason=reason, directory=str(self._directory))
        return await self._is_noted(reason)

    async def _is_noted(self, reason: str) -> bool:
        """Note the failure, unless the process has done so itself before it ended."""
        directory, now = str(self._directory), self.clock.now_ms()
        known = backups.record(self.database.reader)
        if known is None or known.directory != directory:
            known = BackupRecord(directory=directory, tried_at=now)
        failed = attrs.evolve(known, tried_at=now, failure=reason)
        try:
            await self.database.write(partial(backups.note, known=failed), guard=UNGUARDED)
        except StorageUnavailable:
            return False
        return True

    async def _run_process(self, output: _Output) -> int | None:
        """Run the process to its end; its exit status, None for one that did not get on."""
        arguments = ["backups", "make", "--report", "--data", str(self.data)]
        if self.settings_file is not None:
            arguments += ["--config", str(self.settings_file)]
        if self.settings.backup.directory is not None:
            arguments += ["--directory", str(self._directory), "--keep", str(self.settings.backup.keep)]
        process = await trio.lowlevel.open_process(
            [*self.command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a terminal's interrupt is for the server, which ends it in good order
            env={**os.environ},
        )
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._watch, output, nursery.cancel_scope)
                async with trio.open_nursery() as hearing:
                    hearing.start_soon(_hear, process.stdout, output)
                    hearing.start_soon(_collect, process.stderr, output)
                await process.wait()
                nursery.cancel_scope.cancel()
        finally:
            await _end(process)
        return None if output.is_stalled else process.returncode

    async def _watch(self, output: _Output, scope: trio.CancelScope) -> None:
        while time.monotonic() - output.heard_at < self.stalled_seconds:  # noqa: ASYNC110 - not the clock of Trio
            await trio.sleep(min(PATIENCE_SECONDS, self.stalled_seconds))
        output.is_stalled = True
        scope.cancel()


async def _hear(stream: trio.abc.ReceiveStream | None, output: _Output) -> None:
    """Keep the last line."""
    if stream is None:
        return
    rest = b""
    async for piece in stream:
        output.heard_at = time.monotonic()
        *lines, rest = (rest + piece[:OUTPUT_BYTES]).split(b"\n")
        if lines:
            output.last = lines[-1]


async def _collect(stream: trio.abc.ReceiveStream | None, output: _Output) -> None:
    """Keep the end of what goes to standard error."""
    if stream is not None:
        async for piece in stream:
            output.errors = (output.errors + piece)[-OUTPUT_BYTES:]


async def _end(process: trio.Process) -> None:
    """Kill a process that is not over; what it had begun the next one clears away."""
    with trio.move_on_after(END_SECONDS, shield=True):
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                await trio.aclose_forcefully(pipe)
        await process.wait()


def _reason(errors: bytes, status: int | None) -> str:
    """Why a process that ended so made no backup."""
    if status is None:
        return "it did not get on: is the disk of the backup directory gone, or slow?"
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    said = lines[-1].removeprefix("chat: ")[:TOLD_CHARACTERS] if lines else ""
    return said or (f"it was ended by signal {-status}" if status < 0 else f"it ended with status {status}")
