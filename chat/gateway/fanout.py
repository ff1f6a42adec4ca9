"""Delivery: a queue of events with their receivers, worked off in order, a few hundred deliveries a turn of the loop.

Events that wait together are delivered together: each is numbered for all its sessions first, and every socket that got
something is then written once: as soon as it has the last of them. A lone event goes out in the same turn.
"""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import attrs
import structlog
import trio

from chat.bus.audience import Mentions
from chat.classes import define, frozen
from chat.gateway.resting import Resting
from chat.gateway.session import GatewaySession
from chat.protocol.frames import EventRun, OutgoingEvent

SESSIONS_PER_TURN: Final = 128
"""Sessions that get a batch, or sockets that are written, before other tasks get a turn: one to two milliseconds."""

SESSIONS_PER_STEP: Final = 32
"""Sessions that are numbered before their sockets are written: few enough that all of it stays in the cache."""

EVENTS_PER_BATCH: Final = 32
"""Events delivered together at most, so that the first of them does not wait long for the last."""

SESSION_SECONDS: Final = 30e-6
"""How long an event waits for others, for each session that it goes to: a few times the cost of a delivery, because the
requests that bring the other events compete for the processor. A busy machine adds to it."""

GATHERED_FROM_SESSIONS: Final = 200
"""A delivery to fewer sessions does not wait for others, because gathering would save little."""

GATHERING_SECONDS: Final = 40e-3
"""How long the first event of a batch waits for the others at most."""

PROBE_INTERVAL_MAXIMUM: Final = 64
"""At most this many batches pass between two attempts to wait for one more event."""

logger = structlog.get_logger(__name__)


class Flushable(Protocol):
    """A socket with something to send."""

    def flush(self) -> None:
        """Send what was delivered, without waiting."""
        ...

    def failed(self) -> None:
        """The receiver raised something unforeseen. Call it in the `except` block."""
        ...


@frozen(eq=False)
class Delivery:
    """An event on its way to sessions; `thread_event` replaces it for sessions that know threads."""

    event: OutgoingEvent
    receivers: Sequence[GatewaySession]
    mentions: Mentions | None = None
    thread_event: OutgoingEvent | None = None
    ignoring_session: str | None = None

    @property
    def is_uniform(self) -> bool:
        """Whether all receivers that ignore nothing get the same event."""
        return self.thread_event is None and self.ignoring_session is None

    def event_for(self, session: GatewaySession) -> OutgoingEvent | None:
        """The event that this receiver gets; None if it gets none."""
        if session.id == self.ignoring_session:
            return None
        if session.ignored_events and not session.wants(self.event, self.mentions):
            return None
        return self.thread_event if session.threads and self.thread_event is not None else self.event


@define(eq=False, weakref_slot=False)
class Expectation:
    """How many events, at most `maximum`, are worth waiting for before a costly delivery.

    Under load events come in answer to each other: about as many will be there soon as were just delivered and have
    arrived in the meantime. How far that can be relied on is learned from how waiting went: kept is how many came
    together, and now and then one more is tried, ever more rarely while that fails.
    """

    _maximum: int
    _together: int = attrs.field(default=1, init=False)
    _probe_interval: int = attrs.field(default=1, init=False)
    _batches_to_probe: int = attrs.field(default=0, init=False)
    events: int = attrs.field(default=0, init=False)
    """How many events are expected to arrive soon."""

    def delivered(self, count: int, queued: int) -> None:
        """A batch of `count` is delivered, and meanwhile `queued` events arrived: expect the next."""
        likely = min(count + queued, self._maximum)
        if likely <= self._together:
            self.events = likely
            return
        self._batches_to_probe -= 1
        self.events = self._together + (self._batches_to_probe <= 0)

    def came(self, count: int, *, in_time: bool) -> None:
        """The wait for more events ended, in time or not; `count` events wait now."""
        if count > self._together:
            self._together = min(count, self._maximum)
            self._probe_interval = 1
        elif not in_time and self.events > self._together:
            self._probe_interval = min(2 * self._probe_interval, PROBE_INTERVAL_MAXIMUM)
            self._batches_to_probe = self._probe_interval
        elif not in_time:
            # Half of the way down: one late event says little.
            self._together -= (self._together - count + 1) // 2


@define(eq=False, weakref_slot=False)
class Fanout:
    """Carries events to sessions, in the order in which they were queued."""

    _causes: Callable[[], int] = lambda: 0
    """How many requests are under way that will queue more."""
    _resting: Resting = attrs.field(factory=Resting)
    relay: Callable[[Delivery], Delivery | None] | None = attrs.field(default=None, init=False)
    """Takes what is for sessions that live at gateway nodes, and returns the rest; None where there are no nodes."""
    on_batch: Callable[[int], None] = attrs.field(default=lambda _: None, init=False)
    """Called with the number of deliveries of a batch once all their receivers are numbered, at a moment when no
    delivery is half done."""
    _queue: collections.deque[Delivery] = attrs.field(factory=collections.deque, init=False)
    has_no_more: bool = attrs.field(default=False, init=False)
    """True while a session is given its last Dispatch of the batch, so that its socket need not wait for more."""
    backlog: Callable[[], int] = attrs.field(init=False)
    """How many events are not delivered yet."""
    _unflushed: list[Flushable] = attrs.field(factory=list, init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)
    _expectation: Expectation = attrs.field(factory=lambda: Expectation(EVENTS_PER_BATCH), init=False)
    _session_seconds: float = attrs.field(default=SESSION_SECONDS, init=False)

    @backlog.default
    def _length(self) -> Callable[[], int]:
        return functools.partial(len, self._queue)

    def queue(self, delivery: Delivery) -> None:
        """Deliver soon; never waits."""
        if self.relay is not None:
            rest = self.relay(delivery)
            if rest is None:
                return
            delivery = rest
        self._queue.append(delivery)
        self._wake.set()

    def flush_later(self, socket: Flushable) -> None:
        """Write this socket at the end of the present batch."""
        if not self._unflushed:
            self._wake.set()
        self._unflushed.append(socket)

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            if self._queue or self._unflushed:
                await trio.lowlevel.checkpoint()
            else:
                self._wake = trio.Event()  # only now: the batch itself asks for flushes
                await self._wake.wait()
            await self._flush_all()  # what came another way does not wait for the batch
            await self._deliver_batch(await self._gather())

    async def _gather(self) -> int:
        """Before a costly delivery, wait for events that are about to come, but no longer than the delivery will take.
        Those are the events of requests that are under way, and as many as recent batches let expect. Returns how many
        to deliver now."""
        lists = [delivery.receivers for delivery in itertools.islice(self._queue, EVENTS_PER_BATCH)]
        sessions = self._resting.most_awake(lists, enough=GATHERED_FROM_SESSIONS)
        if sessions >= GATHERED_FROM_SESSIONS:
            expected = self._expectation.events
            with trio.move_on_after(min(sessions * self._session_seconds, GATHERING_SECONDS)) as waiting:
                # A request whose event is here still counts as under way until its task has had a turn.
                await trio.lowlevel.checkpoint()
                while len(self._queue) < expected or (self._causes() and len(self._queue) < EVENTS_PER_BATCH):
                    self._wake = trio.Event()
                    await self._wake.wait()
                    await trio.lowlevel.checkpoint()
            self._expectation.came(len(self._queue), in_time=not waiting.cancelled_caught)
        return min(EVENTS_PER_BATCH, len(self._queue))

    async def _deliver_batch(self, count: int) -> None:
        began, sessions, waiting = trio.current_time(), 0, count
        while waiting:
            run = self._next_run(waiting)
            waiting -= len(run)
            sessions += await self._deliver(run, last=not waiting)
            # Taken off only now, so that backlog() counts what is being delivered.
            for _ in run:
                self._queue.popleft()
        self.on_batch(count)
        await self._flush_all()
        self._expectation.delivered(count, len(self._queue))
        if sessions >= GATHERED_FROM_SESSIONS:
            self._session_seconds = max(SESSION_SECONDS, (trio.current_time() - began) / sessions)

    def _next_run(self, most: int) -> list[Delivery]:
        """The deliveries at the head of the queue that share their receivers and differ only in the event."""
        first = self._queue[0]
        run = [first]
        if first.is_uniform:
            for delivery in itertools.islice(self._queue, 1, most):
                if delivery.receivers is not first.receivers or not delivery.is_uniform:
                    break
                run.append(delivery)
        return run

    async def _deliver(self, run: Sequence[Delivery], *, last: bool) -> int:
        """Deliver a run; with the last of a batch each socket is written while it is still in the processor's cache.

        Returns how many sessions it was delivered to at once.
        """
        receivers = run[0].receivers
        if self._resting.sessions:
            for delivery in run:
                receivers = self._resting.take(delivery)
        together = EventRun([delivery.event for delivery in run]) if len(run) > 1 and receivers else None
        for start in range(0, len(receivers), SESSIONS_PER_STEP):
            if start % SESSIONS_PER_TURN == 0 and start:
                await trio.lowlevel.checkpoint()
            some = receivers[start : start + SESSIONS_PER_STEP]
            self.has_no_more = last
            if together is None:
                self._deliver_one(run[0], some)
            else:
                self._deliver_together(run, together, some)
            self.has_no_more = False
            if last and len(self._unflushed) <= SESSIONS_PER_TURN:
                self._flush(self._unflushed)
                self._unflushed.clear()
        while self._resting.sessions and self._resting.keep_pace():
            await trio.lowlevel.checkpoint()
        return len(receivers)

    def _deliver_one(self, delivery: Delivery, receivers: Sequence[GatewaySession]) -> None:
        is_uniform = delivery.is_uniform
        for session in receivers:
            if session.ended:
                continue
            event = delivery.event if is_uniform and not session.ignored_events else delivery.event_for(session)
            if event is None:
                continue
            try:
                session.dispatch(event)
            except Exception:  # noqa: BLE001 - logged there
                _failed(session)

    def _deliver_together(
        self, run: Sequence[Delivery], together: EventRun, receivers: Sequence[GatewaySession]
    ) -> None:
        for session in receivers:
            if session.ended:
                continue
            try:
                if not session.ignored_events:
                    session.dispatch_run(together)
                    continue
                has_no_more, self.has_no_more = self.has_no_more, False
                for delivery in run:
                    if session.wants(delivery.event, delivery.mentions):
                        session.dispatch(delivery.event)
                self.has_no_more = has_no_more
            except Exception:  # noqa: BLE001 - logged there
                _failed(session)

    async def _flush_all(self) -> None:
        sockets, self._unflushed = self._unflushed, []
        for start in range(0, len(sockets), SESSIONS_PER_TURN):
            if start:
                await trio.lowlevel.checkpoint()
            self._flush(sockets[start : start + SESSIONS_PER_TURN])

    def _flush(self, sockets: Sequence[Flushable]) -> None:
        for socket in sockets:
            try:
                socket.flush()
            except Exception:  # noqa: BLE001 - logged there; the others are written all the same
                socket.failed()


def _failed(session: GatewaySession) -> None:
    """One session could not be sent an event; the others are. Call it in the `except` block."""
    if session.receiver is None:
        logger.exception("a session was not told", user_id=session.user_id)
    else:
        session.receiver.failed()
