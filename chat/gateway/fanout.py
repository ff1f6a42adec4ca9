"""Delivery: a queue of events with their receivers, worked off in order, a few hundred deliveries a turn of the loop.

Events that wait together are delivered together: each is numbered for all its sessions first, and every socket that got
something is then written once. A lone event goes out in the same turn.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Sequence
from typing import Final, Protocol

import attrs
import trio

from chat.bus.audience import Mentions
from chat.gateway.session import GatewaySession
from chat.protocol.payload import OutgoingEvent

DELIVERIES_PER_TURN: Final = 512
"""Sessions numbered before other tasks get a turn: about a millisecond."""

FLUSHES_PER_TURN: Final = 256
"""Sockets written before other tasks get a turn: about two milliseconds."""

EVENTS_PER_BATCH: Final = 32
"""Events delivered together at most, so that the first of them does not wait long for the last."""


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
    """Carries events to sessions, in the order in which they were queued."""

    def __init__(self) -> None:
        self._queue: collections.deque[Delivery] = collections.deque()
        self._unflushed: list[Flushable] = []
        self._wake = trio.Event()
        self.delivered = 0
        """Dispatches handed to sessions since the start."""

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
                for _ in range(min(EVENTS_PER_BATCH, len(self._queue))):
                    await self._deliver(self._queue[0])
                    # Taken off only now, so that backlog() counts the event that is being delivered.
                    self._queue.popleft()
                await self._flush()
                await trio.lowlevel.checkpoint()

    async def _deliver(self, delivery: Delivery) -> None:
        event, mentions = delivery.event, delivery.mentions
        receivers = delivery.receivers
        for start in range(0, len(receivers), DELIVERIES_PER_TURN):
            if start:
                await trio.lowlevel.checkpoint()
            for session in receivers[start : start + DELIVERIES_PER_TURN]:
                if session.ended or (session.ignored_events and not session.wants(event, mentions)):
                    continue
                if delivery.is_uniform:
                    session.dispatch(event)
                elif session.id != delivery.ignoring_session:
                    session.dispatch(delivery.thread_event if session.threads and delivery.thread_event else event)
        self.delivered += len(receivers)

    async def _flush(self) -> None:
        sockets, self._unflushed = self._unflushed, []
        for turn in itertools.count():
            some = sockets[turn * FLUSHES_PER_TURN : (turn + 1) * FLUSHES_PER_TURN]
            if not some:
                return
            if turn:
                await trio.lowlevel.checkpoint()
            for socket in some:
                socket.flush()
