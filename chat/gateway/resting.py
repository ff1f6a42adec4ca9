"""Sessions without a socket: what they hear waits once for all of them, and is numbered for each in runs.

Such a session sends nothing, so its numbers are due only when it is resumed, written down or looked at. Until then the
deliveries wait here in a batch, however many sessions rest. A session that is looked at is numbered alone. A full batch
is numbered for all, a few sessions with each delivery that comes after, so no turn of the loop has much to do.

Sessions that heard the same of a batch share one run of events. Of those that differ, because one of them was looked at
meanwhile or heard more, each block of a batch is shared as far as they heard the same of that.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import attrs
import structlog

from chat.classes import define, frozen
from chat.gateway.session import GatewaySession
from chat.protocol.frames import EventRun

if TYPE_CHECKING:
    from chat.gateway.fanout import Delivery

DELIVERIES: Final = 4_096
"""So many are a full batch: as many as a session retains. To number a batch for a session takes ten microseconds."""

DELIVERIES_BYTES: Final = 4_194_304
"""How large a batch is at most, but for its last delivery."""

BLOCK: Final = 256
"""Deliveries of a block."""

SHARED_FROM: Final = 16
"""Sessions from which on a run of the whole batch is made for what they heard."""

NUMBERED_WITHIN: Final = 512
"""Deliveries within which a full batch is numbered for all sessions."""

SPLITS: Final = 256
"""Lists of receivers of which is remembered who of them rests."""

logger = structlog.get_logger(__name__)


@frozen
class Split:
    """Receivers of an event; `receivers` is held so that its identity stays its own."""

    receivers: Sequence[GatewaySession]
    awake: Sequence[GatewaySession]
    resting: frozenset[GatewaySession]


@define(eq=False, weakref_slot=False)
class Resting:
    """The sessions without a socket, and what they have heard and not numbered yet."""

    sessions: dict[GatewaySession, int] = attrs.field(factory=dict, init=False)
    """Each with the place in the open batch from which on it is not numbered."""
    _open: Batch = attrs.field(factory=lambda: Batch(), init=False)
    _full: Batch = attrs.field(factory=lambda: Batch(), init=False)
    _due: dict[GatewaySession, int] = attrs.field(factory=dict, init=False)
    """The sessions for which the full batch is to be numbered, with what they heard of it."""
    _at_once: int = attrs.field(default=0, init=False)
    """For so many of them it is numbered with each delivery."""
    _splits: dict[int, Split] = attrs.field(factory=dict, init=False)

    def add(self, session: GatewaySession) -> None:
        """The session's socket is gone. Where it was at a node, its numbers stay there."""
        if session.place is not None or session in self.sessions:
            return
        self.sessions[session] = len(self._open)
        session.settle = self._settle_one
        self._splits.clear()

    def remove(self, session: GatewaySession) -> None:
        """The session has a socket again, or is over."""
        if session in self.sessions:
            self._settle_one(session)
            session.settle = None
            del self.sessions[session]
            self._splits.clear()

    def most_awake(self, lists: Sequence[Sequence[GatewaySession]], *, enough: int) -> int:
        """How many do not rest, of the list of which most do not. Where it is clear whether they are `enough`, less may
        be said: while thousands lose their sockets at once, nothing looks at each session of each list."""
        long = {id(receivers): receivers for receivers in lists if len(receivers) >= enough}
        least = max(map(len, long.values()), default=0) - len(self.sessions)
        if least >= enough:
            return least
        return max((len(self._split(receivers).awake) for receivers in long.values()), default=0)

    def take(self, delivery: Delivery) -> Sequence[GatewaySession]:
        """Keep the delivery for those of its receivers that rest; returns the others."""
        split = self._split(delivery.receivers)
        if split.resting:
            self._open.take(delivery, split.resting)
            if self._due:
                self._settle_due(self._at_once)
            if len(self._open) >= DELIVERIES or self._open.size >= DELIVERIES_BYTES:
                self._close()
        return split.awake

    def settle(self) -> None:
        """Number what waits, for all."""
        self._close()
        self._settle_due(len(self._due))

    def _close(self) -> None:
        """Let the open batch be the full one, and begin another."""
        self._settle_due(len(self._due))
        if not len(self._open):
            return
        self._full, self._open = self._open, Batch()
        self._due = self._full.heard_by(self.sessions)
        self._full.expect(self._due)
        self._at_once = -(-len(self._due) // NUMBERED_WITHIN)
        self.sessions = dict.fromkeys(self.sessions, 0)

    def _settle_due(self, count: int) -> None:
        for _ in range(min(count, len(self._due))):
            session, heard = self._due.popitem()
            _number(session, self._full, heard)

    def _settle_one(self, session: GatewaySession) -> None:
        due, start = self._due.pop(session, 0), self.sessions[session]
        self.sessions[session] = len(self._open)
        if due:
            _number(session, self._full, due)
        if start < len(self._open):
            _number(session, self._open, self._open.heard_by_one(session, start))

    def _split(self, receivers: Sequence[GatewaySession]) -> Split:
        split = self._splits.get(id(receivers))
        if split is None:
            resting = frozenset([session for session in receivers if session in self.sessions])
            awake = receivers if not resting else [session for session in receivers if session not in resting]
            if len(self._splits) >= SPLITS:
                self._splits.clear()
            split = self._splits[id(receivers)] = Split(receivers, awake, resting)
        return split


class Batch:
    """Deliveries that came one after the other. What a session heard of them is a number: the bit of each place."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes of the events."""
        self._deliveries: list[Delivery] = []
        self._places: dict[frozenset[GatewaySession], int] = {}
        """By those who heard what stands there: lists of receivers with the same members count as one."""
        self._shared: frozenset[int] = frozenset()
        self._whole: dict[int, _Heard] = {}
        self._blocks: dict[tuple[int, int], _Heard] = {}

    def __len__(self) -> int:
        return len(self._deliveries)

    def take(self, delivery: Delivery, resting: frozenset[GatewaySession]) -> None:
        """One more, for these sessions."""
        self._places[resting] = self._places.get(resting, 0) | 1 << len(self._deliveries)
        self._deliveries.append(delivery)
        self.size += delivery.event.size

    def heard_by_one(self, session: GatewaySession, start: int) -> int:
        """What the session heard from this place on."""
        heard = 0
        for resting, places in self._places.items():
            if session in resting:
                heard |= places
        return heard >> start << start

    def heard_by(self, starts: Mapping[GatewaySession, int]) -> dict[GatewaySession, int]:
        """What each of these sessions heard from its place on; without those that heard nothing."""
        heard: dict[GatewaySession, int] = {}
        for resting, places in self._places.items():
            for session in resting:
                heard[session] = heard.get(session, 0) | places
        for session, start in starts.items():
            if start and session in heard:
                heard[session] = heard[session] >> start << start
        return {session: places for session, places in heard.items() if places and session in starts}

    def expect(self, heard: Mapping[GatewaySession, int]) -> None:
        """It is going to be numbered for these sessions: what many of them heard shall be one run."""
        counts = collections.Counter(heard.values())
        self._shared = frozenset([places for places, count in counts.items() if count >= SHARED_FROM])

    def runs(self, heard: int) -> Iterator[_Heard]:
        """What a session heard, in order."""
        if heard in self._shared:
            whole = self._whole.get(heard)
            if whole is None:
                whole = self._whole[heard] = self._run(heard, 0)
            yield whole
            return
        for start in range(0, len(self._deliveries), BLOCK):
            places = heard >> start & (1 << BLOCK) - 1
            if places:
                run = self._blocks.get((start, places))
                if run is None:
                    run = self._run(places, start)
                    # A block that is not over yet has another run with each delivery.
                    if start + BLOCK <= len(self._deliveries):
                        self._blocks[start, places] = run
                yield run

    def _run(self, places: int, start: int) -> _Heard:
        bits = bin(places)[:1:-1]
        return _Heard([self._deliveries[start + place] for place, bit in enumerate(bits) if bit == "1"])


class _Heard:
    """Deliveries that the same sessions heard, in order."""

    def __init__(self, deliveries: Sequence[Delivery]) -> None:
        self._deliveries = deliveries
        self._run = EventRun([delivery.event for delivery in deliveries])
        self._uniform = all(delivery.is_uniform for delivery in deliveries)

    def number(self, session: GatewaySession) -> None:
        """Number them for a session that rests, or has just ended."""
        if self._uniform and not session.ignored_events:
            session.dispatch_run(self._run)
            return
        for delivery in self._deliveries:
            event = delivery.event_for(session)
            if event is not None:
                session.dispatch(event)


def _number(session: GatewaySession, batch: Batch, heard: int) -> None:
    # A session that is told asks for what it has heard before: that is this.
    settle, session.settle = session.settle, None
    try:
        for run in batch.runs(heard):
            run.number(session)
    except Exception:  # one session that cannot be told is no reason to tell no other
        logger.exception("a session was not told", user_id=session.user_id)
    finally:
        session.settle = settle
