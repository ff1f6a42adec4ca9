"""Has processes of their own do what is to be done with exports that people brought along in the browser.

Dry runs and imports wait in two lines, one of each is done at a time: a long import keeps nobody from looking at what
an export holds. What is to be done stands in rows (`brought_exports`), so a server that ends at any moment leaves
nothing undone: the next one starts the process again, which goes on where the last one was. A process outlives a server
that is killed by some moments at most; imports have a lock between them.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs
import structlog
import trio

from chat.backup.schedule import own_command
from chat.classes import define
from chat.clock import Clock
from chat.domain.imports.brought_exports import BroughtExports
from chat.errors import StorageUnavailable
from chat.registries.imports import WITH_FILE, BroughtState
from chat.store.imports.brought_exports import BroughtExport

ATTEMPTS: Final = 3
"""As often may the work on an export break off before it is given up."""

PAUSE_SECONDS: Final = 2.0
"""After one that broke off, and while the store cannot be written."""

READING_SECONDS: Final = 3_600.0
"""A dry run takes no longer: five million messages take a third of it, and others wait in the same line."""

TIDY_SECONDS: Final = 3_600.0
END_SECONDS: Final = 5.0
ERROR_BYTES: Final = 65_536

LINES: Final = (frozenset({BroughtState.READING}), frozenset({BroughtState.IMPORTING, BroughtState.UNDOING}))

log: Final = structlog.get_logger("chat.imports")


@define(eq=False, kw_only=True)
class ImportProcesses:
    """Starts the processes for as long as the server runs."""

    exports: BroughtExports
    data: Path
    settings_file: Path | None
    clock: Clock
    command: Sequence[str] = attrs.field(factory=own_command)
    reading_seconds: float = READING_SECONDS

    async def run(self) -> None:
        """Do whatever is to be done, for ever."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._tidy)
            for states in LINES:
                nursery.start_soon(self._work, states)

    async def _tidy(self) -> None:
        started = self.clock.now_ms()
        while True:
            try:
                await self.exports.tidy(started)
            except StorageUnavailable:
                log.warning("exports that nobody needs are kept until the store can be written")
            await trio.sleep(TIDY_SECONDS)

    async def _work(self, states: frozenset[BroughtState]) -> None:
        while True:
            try:
                brought = self.exports.next_in(states)
                if brought is None:
                    await self.exports.wait()
                    continue
                await self._do(brought)
            except StorageUnavailable:
                await trio.sleep(PAUSE_SECONDS)

    async def _do(self, brought: BroughtExport) -> None:
        status, errors = await self._run_process(brought)
        if self.exports.is_in(brought.id, brought.state):
            reason = errors.rpartition("\n")[2]  # a log that shortens long values would lose it
            log.warning(
                "the work on an export broke off", brought_id=brought.id, status=status, reason=reason, errors=errors
            )
            await self.exports.note_break(brought, ATTEMPTS)
            await trio.sleep(PAUSE_SECONDS)
        if not any(self.exports.is_in(brought.id, state) for state in WITH_FILE):
            await self.exports.drop_file(brought)

    async def _run_process(self, brought: BroughtExport) -> tuple[int | None, str]:
        """Run the process to its end; its exit status and the end of what it said of errors. A dry run that its owner
        no longer wants, or that takes too long, is killed; an import ends by itself."""
        arguments = ["import", "brought", str(brought.id), "--data", str(self.data)]
        if self.settings_file is not None:
            arguments += ["--config", str(self.settings_file)]
        process = await trio.lowlevel.open_process(
            [*self.command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a terminal's interrupt is for the server, which ends it in good order
            env={**os.environ},
        )
        said = bytearray()
        try:
            async with trio.open_nursery() as nursery:
                if brought.state is BroughtState.READING:
                    nursery.start_soon(self._watch, brought, process)
                await _collect(process.stderr, said)
                await process.wait()
                nursery.cancel_scope.cancel()
        finally:
            await _end(process)
        return process.returncode, said.decode("utf-8", "replace").strip()

    async def _watch(self, brought: BroughtExport, process: trio.Process) -> None:
        with trio.move_on_after(self.reading_seconds):
            while self.exports.is_in(brought.id, BroughtState.READING):
                await self.exports.wait()
        process.send_signal(signal.SIGKILL)


async def _collect(stream: trio.abc.ReceiveStream | None, said: bytearray) -> None:
    if stream is not None:
        async for piece in stream:
            said += piece
            del said[:-ERROR_BYTES]


async def _end(process: trio.Process) -> None:
    """Kill a process that is not over; the next one goes on with what it did."""
    with trio.move_on_after(END_SECONDS, shield=True):
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        if process.stderr is not None:
            await trio.aclose_forcefully(process.stderr)
        await process.wait()
