"""Delivery: a queue of events with their receivers, worked off in order, a few hundred deliveries a turn of the loop.

Events that wait together are delivered together: each is numbered for all its sessions first, and every socket that got
something is then written once. A lone event goes out in the same turn.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import attrs
import trio

from chat.bus.audience import Mentions
from chat.gateway.session import GatewaySession
from chat.protocol.payload import EventRun, OutgoingEvent

DELIVERIES_PER_TURN: Final = 512
"""Sessions numbered before other tasks get a turn: about a millisecond."""

FLUSHES_PER_TURN: Final = 256
"""Sockets written before other tasks get a turn: about two milliseconds."""

EVENTS_PER_BATCH: Final = 32
"""Events delivered together at most, so that the first of them does not wait long for the last."""

DELIVERY_SECONDS: Final = 6e-6
"""About what a delivery costs, the system's send included."""

GATHERED_FROM_SECONDS: Final = 1e-3
"""A delivery that costs less than this does not wait for others."""

GATHERING_SECONDS: Final = 10e-3
"""How long the first event of a batch waits for the others at most."""

LOOK_SECONDS: Final = 5e-4
"""How often it looks whether they came."""


class Flushable(Protocol):
    """A socket with something to send."""

    def flush(self) -> None:
        """Send what was delivered; must not wait."""
        ...


@attrs.frozen(eq=False)
class Delivery:
    """An event on its way to sessions; `thread_event` replaces it for sessions that know threads."""

    event: OutgoingEvent
    receivers: Sequence[GatewaySession]
    mentions: Mentions | None = None
    thread_event: OutgoingEvent | None = None
    ignoring_session: str | None = None

    @property
    def is_uniform(self) -> bool:
        """Whether every receiver that ignores nothing gets the same event."""
        return self.thread_event is None and self.ignoring_session is None


class Fanout:
    """Carries events to sessions, in the order in which they were queued.

    `causes` tells how many requests are under way that will queue more.
    """

    def __init__(self, causes: Callable[[], int] = lambda: 0) -> None:
        self._causes = causes
        self._queue: collections.deque[Delivery] = collections.deque()
        self._unflushed: list[Flushable] = []
        self._wake = trio.Event()

    def queue(self, delivery: Delivery) -> None:
        """Deliver soon; never waits."""
        self._queue.append(delivery)
        self._wake.set()

    def backlog(self) -> int:
        """Events that are not delivered yet."""
        return len(self._queue)

    def flush_later(self, socket: Flushable) -> None:
        """Have this socket written at the end of the present batch."""
        self._unflushed.append(socket)
        self._wake.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            while self._queue or self._unflushed:
                await self._gather()
                waiting = min(EVENTS_PER_BATCH, len(self._queue))
                while waiting:
                    run = self._next_run(waiting)
                    await self._deliver(run)
                    # Taken off only now, so that backlog() counts what is being delivered.
                    for _ in run:
                        self._queue.popleft()
                    waiting -= len(run)
                await self._flush()
                await trio.lowlevel.checkpoint()

    async def _gather(self) -> None:
        """Before a costly delivery, wait for events that are about to come, no longer than the delivery takes."""
        cost = DELIVERY_SECONDS * sum(len(delivery.receivers) for delivery in self._queue)
        if cost < GATHERED_FROM_SECONDS or not self._causes():
            return
        for _ in range(int(min(cost, GATHERING_SECONDS) / LOOK_SECONDS)):
            if not self._causes() or len(self._queue) >= EVENTS_PER_BATCH:
                return
            await trio.sleep(LOOK_SECONDS)

    def _next_run(self, most: int) -> list[Delivery]:
        """The deliveries at the head of the queue that have the same receivers and differ in nothing else."""
        first = self._queue[0]
        run = [first]
        if first.is_uniform:
            for delivery in itertools.islice(self._queue, 1, most):
                if delivery.receivers is not first.receivers or not delivery.is_uniform:
                    break
                run.append(delivery)
        return run

    async def _deliver(self, run: Sequence[Delivery]) -> None:
        receivers = run[0].receivers
        together = EventRun([delivery.event for delivery in run]) if len(run) > 1 else None
        per_turn = max(1, DELIVERIES_PER_TURN // len(run))
        for start in range(0, len(receivers), per_turn):
            if start:
                await trio.lowlevel.checkpoint()
            some = receivers[start : start + per_turn]
            if together is None:
                self._deliver_one(run[0], some)
            else:
                self._deliver_together(run, together, some)

    def _deliver_one(self, delivery: Delivery, receivers: Sequence[GatewaySession]) -> None:
        event, mentions, is_uniform = delivery.event, delivery.mentions, delivery.is_uniform
        for session in receivers:
            if session.ended or (session.ignored_events and not session.wants(event, mentions)):
                continue
            if is_uniform:
                session.dispatch(event)
            elif session.id != delivery.ignoring_session:
                session.dispatch(delivery.thread_event if session.threads and delivery.thread_event else event)

    def _deliver_together(
        self, run: Sequence[Delivery], together: EventRun, receivers: Sequence[GatewaySession]
    ) -> None:
        for session in receivers:
            if session.ended:
                continue
            if not session.ignored_events:
                session.dispatch_run(together)
                continue
            for delivery in run:
                if session.wants(delivery.event, delivery.mentions):
                    session.dispatch(delivery.event)

    async def _flush(self) -> None:
        sockets, self._unflushed = self._unflushed, []
        for start in range(0, len(sockets), FLUSHES_PER_TURN):
            if start:
                await trio.lowlevel.checkpoint()
            for socket in sockets[start : start + FLUSHES_PER_TURN]:
                socket.flush()
