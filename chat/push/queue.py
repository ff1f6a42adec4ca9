"""What waits to be sent to devices: a line for each subscription, and everything bounded.

At most one request is under way for a subscription, so a push service that hangs holds up nobody but those who chose
it. What fails for now is tried again after ever longer pauses. Nothing outlives the process: a notification that is
late is worth little.
"""

from __future__ import annotations

import collections
import heapq
import itertools
import math
import random
from collections.abc import Awaitable, Callable
from typing import Final, Generic, Protocol, TypeVar

import attrs
import structlog
import trio

from chat.push.sending import Outcome, Result, Urgency

AT_A_TIME: Final = 16
"""Requests under way, of all subscriptions."""

LINE_NOTICES: Final = 16
"""What may wait for one subscription; one more, and the oldest is dropped."""

NOTICES: Final = 8_192
"""What may wait for all together; beyond it nothing more is taken."""

ATTEMPTS: Final = 5
FIRST_PAUSE_SECONDS: Final = 5.0
LONGEST_PAUSE_SECONDS: Final = 600.0
JITTER: Final = 0.25

log: Final = structlog.get_logger("chat.push")


@attrs.frozen
class Notice:
    """What a device is told: JSON, and how. A later one with the same `topic` takes its place."""

    plain: bytes = attrs.field(repr=False)
    urgency: Urgency
    topic: str
    ttl_seconds: int


class Recipient(Protocol):
    """Where notices go to; the line is found by `id`."""

    @property
    def id(self) -> str: ...


To = TypeVar("To", bound=Recipient)


@attrs.define(eq=False)
class _Line(Generic[To]):
    """The notices of one subscription, and how often the first one was tried."""

    recipient: To
    notices: collections.OrderedDict[str, Notice] = attrs.Factory(collections.OrderedDict)
    attempts: int = 0


class PushQueue(Generic[To]):
    """Sends notices while `run` runs.

    `send` makes one request. `over` hears what finally became of it: ACCEPTED, GONE, REFUSED, or LATER when it was
    given up.
    """

    def __init__(
        self,
        send: Callable[[To, Notice], Awaitable[Outcome]],
        over: Callable[[To, Result], Awaitable[None]],
        chance: random.Random,
    ) -> None:
        self._send = send
        self._over = over
        self._chance = chance
        self._lines: dict[str, _Line[To]] = {}
        self._ready: collections.deque[_Line[To]] = collections.deque()
        self._resting: list[tuple[float, int, _Line[To]]] = []
        self._order = itertools.count()
        self._wake = trio.Event()
        self._places = trio.CapacityLimiter(AT_A_TIME)
        self._waiting = 0
        self._dropped = 0

    def __len__(self) -> int:
        """How many notices wait, those under way included."""
        return self._waiting

    def put(self, recipient: To, notice: Notice) -> bool:
        """Send soon; False when too much waits already."""
        line = self._lines.get(recipient.id)
        if line is not None:
            if line.notices.pop(notice.topic, None) is not None:
                self._waiting -= 1
            elif len(line.notices) >= LINE_NOTICES:
                line.notices.popitem(last=False)
                self._waiting -= 1
        if self._waiting >= NOTICES:
            self._dropped += 1
            return False
        if line is None:
            line = self._lines[recipient.id] = _Line(recipient)
            self._ready.append(line)
            self._wake.set()
        line.recipient = recipient
        line.notices[notice.topic] = notice
        self._waiting += 1
        return True

    async def run(self) -> None:
        """Send until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                self._wake = trio.Event()
                self._wake_rested()
                while self._ready:
                    await self._places.acquire_on_behalf_of(line := self._ready.popleft())
                    nursery.start_soon(self._work_off, line)
                if self._dropped:
                    log.warning("notifications dropped: too many wait", count=self._dropped)
                    self._dropped = 0
                with trio.move_on_at(self._resting[0][0] if self._resting else math.inf):
                    await self._wake.wait()

    def _wake_rested(self) -> None:
        while self._resting and self._resting[0][0] <= trio.current_time():
            self._ready.append(heapq.heappop(self._resting)[2])

    async def _work_off(self, line: _Line[To]) -> None:
        """Send the first notice of a line, and see what comes after."""
        pause = 0.0
        try:
            pause = await self._try_first(line)
        except Exception:  # one notice that we cannot make, or write down, is no reason to stop the others
            log.exception("a notification was abandoned")
            self._drop_all(line)
        finally:
            self._places.release_on_behalf_of(line)
        if not line.notices:
            del self._lines[line.recipient.id]
        elif pause:
            heapq.heappush(self._resting, (trio.current_time() + pause, next(self._order), line))
        else:
            self._ready.append(line)
        self._wake.set()

    async def _try_first(self, line: _Line[To]) -> float:
        """Returns for how many seconds the line rests."""
        topic, notice = next(iter(line.notices.items()))
        outcome = await self._send(line.recipient, notice)
        line.attempts += 1
        if outcome.result is Result.LATER and line.attempts < ATTEMPTS:
            if outcome.pause_seconds is not None:
                return max(outcome.pause_seconds, 1.0)
            pause = min(FIRST_PAUSE_SECONDS * 4.0 ** (line.attempts - 1), LONGEST_PAUSE_SECONDS)
            return pause * self._chance.uniform(1 - JITTER, 1 + JITTER)
        line.attempts = 0
        if outcome.result is Result.GONE:
            self._drop_all(line)
        elif line.notices.get(topic) is notice:  # another one may have taken its place meanwhile
            del line.notices[topic]
            self._waiting -= 1
        await self._over(line.recipient, outcome.result)
        return 0.0

    def _drop_all(self, line: _Line[To]) -> None:
        self._waiting -= len(line.notices)
        line.notices.clear()
        line.attempts = 0
