"""How a process that serves is ended: by signals, the second of which does not wait."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio


class Ending:
    """Hears the signals that end the process."""

    def __init__(self) -> None:
        self.asked = trio.Event()
        self._starting: trio.CancelScope | None = trio.CancelScope()

    @asynccontextmanager
    async def heard(self) -> AsyncIterator[None]:
        """Listen while the block lasts; a signal before `started` cancels the block."""
        numbers = [signal.SIGTERM, signal.SIGINT]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        assert self._starting is not None  # noqa: S101 - it is used once
        with trio.open_signal_receiver(*numbers) as signals, self._starting:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._listen, signals)
                yield
                nursery.cancel_scope.cancel()

    def started(self) -> None:
        """From now on a signal sets `asked`."""
        self._starting = None

    async def _listen(self, signals: AsyncIterator[int]) -> None:
        async for number in signals:
            # Shells repeat the SIGHUP of their terminal.
            if self.asked.is_set() and number != signal.SIGHUP:
                os._exit(1)
            self.asked.set()
            if self._starting is not None:
                self._starting.cancel()
