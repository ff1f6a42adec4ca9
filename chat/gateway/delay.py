"""Latency on demand (development.md, Faults): what a socket is sent waits for its time, in its order.

A socket without a delay has nothing of this. The first delay puts a DelayedOutbox in front of its outbox, where it
stays until the socket is gone.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Final

import attrs
import trio

from chat.classes import define, frozen
from chat.gateway.outbox import Outbox

DELAYED_BYTES: Final = 4 * 1_048_576
"""How many bytes may wait for their time; with more the outbox counts as full."""

RULES_MAXIMUM: Final = 1_000
"""Rules of one node; beyond them the oldest is forgotten."""


@frozen
class Delay:
    """Each frame leaves `ms` milliseconds late, by chance up to `jitter_ms` more or less, never before the one before
    it."""

    ms: int
    jitter_ms: int = 0

    def seconds(self, randint: Callable[[int, int], int]) -> float:
        """How late one frame is to leave."""
        return max(0, self.ms + randint(-self.jitter_ms, self.jitter_ms)) / 1000


NO_DELAY: Final = Delay(0)


@frozen
class DelayRule:
    """Whose sockets are late: those of a session, of an account, or all if it names neither."""

    delay: Delay
    session_id: str | None = None
    user_id: int | None = None

    def strikes_same(self, other: DelayRule) -> bool:
        """Whether both rules name the same sockets."""
        return (self.session_id, self.user_id) == (other.session_id, other.user_id)

    def includes(self, session_id: str | None, user_id: int | None) -> bool:
        """Whether the rule includes a socket with this session, or one without a session."""
        return self.session_id in (None, session_id) and self.user_id in (None, user_id)


@define(eq=False)
class DelayRules:
    """The rules of a node. If several include a socket, the latest applies."""

    _rules: list[DelayRule] = attrs.field(factory=list, init=False)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def add(self, rule: DelayRule) -> None:
        self._rules = [old for old in self._rules if not old.strikes_same(rule)][1 - RULES_MAXIMUM :]
        self._rules.append(rule)

    def clear(self) -> None:
        self._rules.clear()

    def of(self, session_id: str | None, user_id: int | None) -> Delay | None:
        """The delay of a socket; None if no rule includes it."""
        for rule in reversed(self._rules):
            if rule.includes(session_id, user_id):
                return rule.delay
        return None


@define(eq=False)
class DelayedOutbox:
    """Stands in front of an outbox and takes its frames; `run` passes each on when its time has come.

    `on_full` is called once when more than DELAYED_BYTES wait here.
    """

    outbox: Outbox
    _randint: Callable[[int, int], int]
    _on_full: Callable[[], None]
    delay: Delay = NO_DELAY
    _waiting: collections.deque[tuple[float, bytes]] = attrs.field(factory=collections.deque, init=False)
    _waiting_bytes: int = attrs.field(default=0, init=False)
    _last_due: float = attrs.field(default=0.0, init=False)
    _changed: trio.Event = attrs.field(factory=trio.Event, init=False)

    @property
    def pending_bytes(self) -> int:
        """How many bytes wait, here and in the outbox."""
        return self._waiting_bytes + self.outbox.pending_bytes

    def push(self, frame: bytes) -> None:
        """Take a frame; one that finds nothing waiting and no delay goes on at once."""
        if self.delay is NO_DELAY and not self._waiting:
            self.outbox.push(frame)
            return
        if not self.outbox.is_open:
            return
        self._last_due = max(self._last_due, trio.current_time() + self.delay.seconds(self._randint))
        self._waiting.append((self._last_due, frame))
        self._waiting_bytes += len(frame)
        self._tell()
        if self._waiting_bytes > DELAYED_BYTES:
            self._waiting.clear()
            self._waiting_bytes = 0
            self._on_full()

    def flush(self) -> None:
        """Flush the outbox: frames whose time has come are sent."""
        self.outbox.flush()

    def send(self, frame: bytes) -> None:
        """`push` and `flush` in one."""
        self.push(frame)
        self.flush()

    def hold(self) -> None:
        self.outbox.hold()

    def release(self) -> None:
        self.outbox.release()

    async def drained(self, below: int) -> None:
        """As `Outbox.drained`, with what waits here."""
        while self._waiting_bytes >= below and self.outbox.is_open:
            await self._changed.wait()
        await self.outbox.drained(below)

    async def emptied(self) -> None:
        """Return when every frame has gone on."""
        while self._waiting and self.outbox.is_open:
            await self._changed.wait()

    async def run(self) -> None:
        """Pass frames on until cancelled."""
        while True:
            while not self._waiting:
                await self._changed.wait()
            await trio.sleep_until(self._waiting[0][0])
            now = trio.current_time()
            while self._waiting and self._waiting[0][0] <= now:
                _, frame = self._waiting.popleft()
                self._waiting_bytes -= len(frame)
                self.outbox.push(frame)
            self.outbox.flush()
            self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
