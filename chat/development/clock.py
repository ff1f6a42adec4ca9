"""Moving the server's clock, so that its timers run in their order (development.md, Development routes).

One big jump would let everything fall due at once, in any order: the deadline of a heartbeat before the request for it.
So time moves from one of Trio's deadlines to the next, and what is due runs before time moves on. Clients live in real
time: a client that was asked for a heartbeat gets a moment to answer before the clock goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import attrs
import trio
import trio.testing

from chat.clock import MovableClock, SkippingClock, iso_timestamp
from chat.gateway.connection import Connection
from chat.store.database import Database

OFFSET_MAXIMUM_MS: Final = 3_155_760_000_000
"""A hundred years: as far as snowflakes and time stamps are sure to reach."""

EXACT_STEPS: Final = 20_000
"""Steps from deadline to deadline; what is left after them is gone through in COARSE_STEPS equal steps."""

COARSE_STEPS: Final = 200

SETTLING_SECONDS: Final = 1.0
"""How long what is due at a moment may keep the loop busy; then the clock moves on all the same."""

SETTLING_SECONDS_IN_ALL: Final = 10.0
"""The same for one advance."""

ANSWER_SECONDS: Final = 0.25
"""How long a client that was asked for a heartbeat is waited for."""

ANSWER_SECONDS_IN_ALL: Final = 3.0
"""How long clients are waited for in one advance."""

POLL_SECONDS: Final = 0.001


@attrs.define
class Patience:
    """Real time that one advance may still spend on waiting."""

    settling: float
    answers: float
    silent: set[Connection] = attrs.Factory(set)
    """Who was waited for in vain, and is not waited for again."""


@attrs.frozen
class ClockMover:
    """Advances a server's clock. `connections` are the gateway's sockets."""

    clock: MovableClock
    database: Database
    connections: Callable[[], Iterable[Connection]]

    async def advance(self, milliseconds: int) -> None:
        """Move the clock forward; returns after the timers that fell due have run."""
        # On a virtual clock the clients' timers move as well, and a client that answers does so while things settle.
        patience = Patience(SETTLING_SECONDS_IN_ALL, ANSWER_SECONDS_IN_ALL if self._is_real else 0.0)
        end = self.clock.skipped_ms + milliseconds
        await self._settle(patience)
        for _ in range(EXACT_STEPS):
            left = end - self.clock.skipped_ms
            if left <= 0:
                return
            await self._step(min(left, self._milliseconds_to_next_deadline()), patience)
        left = end - self.clock.skipped_ms
        for step in range(COARSE_STEPS):
            await self._step(left * (step + 1) // COARSE_STEPS - left * step // COARSE_STEPS, patience)

    def reading(self) -> dict[str, Any]:
        return {"now": iso_timestamp(self.clock.now_ms()), "offset_ms": self.clock.skipped_ms}

    @property
    def _is_real(self) -> bool:
        return isinstance(self.clock, SkippingClock)

    def _milliseconds_to_next_deadline(self) -> int:
        """At least 1: a deadline within the present millisecond is passed."""
        seconds = self.clock.seconds_to_next_deadline()
        return OFFSET_MAXIMUM_MS if math.isinf(seconds) else max(1, math.ceil(seconds * 1000))

    async def _step(self, milliseconds: int, patience: Patience) -> None:
        self.clock.skip(milliseconds)
        await self._settle(patience)
        asked = {connection for connection in self.connections() if connection.awaits_heartbeat} - patience.silent
        if asked and patience.answers > 0:
            await self._await_answers(asked, patience)

    async def _settle(self, patience: Patience) -> None:
        """Let everything that is due run, with what it reads and writes."""
        began = trio.current_time()
        with trio.move_on_after(min(SETTLING_SECONDS, patience.settling)):
            await trio.testing.wait_all_tasks_blocked()
            while self.database.is_busy:
                await trio.sleep(POLL_SECONDS)
                await trio.testing.wait_all_tasks_blocked()
        patience.settling = max(POLL_SECONDS, patience.settling - (trio.current_time() - began))

    async def _await_answers(self, asked: set[Connection], patience: Patience) -> None:
        began = trio.current_time()
        with trio.move_on_after(min(ANSWER_SECONDS, patience.answers)):
            while any(connection.awaits_heartbeat for connection in asked):  # noqa: ASYNC110 - a set of sockets
                await trio.sleep(POLL_SECONDS)
        patience.answers -= trio.current_time() - began
        patience.silent |= {connection for connection in asked if connection.awaits_heartbeat}
