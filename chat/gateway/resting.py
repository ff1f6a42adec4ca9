"""Sessions without a socket: what they hear waits once for all of them, and is numbered for each in runs.

Such a session sends nothing, so its numbers are due only when it is resumed, written down or looked at. Until then the
deliveries wait here in a batch, however many sessions rest. A session that is looked at is numbered alone. A full batch
is numbered for all while the next one fills: first its sessions are sorted by what they heard, then some are numbered
with each delivery that comes. What that takes is counted as work, and the caller lets other tasks have a turn when it
was enough (`Resting.keep_pace`).

Sessions that heard the same of a batch share one run of events. Where few heard the same, each block of a batch is
shared as far as they heard the same of that.
"""

from __future__ import annotations

import collections
import functools
import itertools
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
"""A batch with this many deliveries is full: a session retains no more."""

DELIVERIES_BYTES: Final = 4_194_304
"""A batch is full when its events have this many bytes together."""

LISTED: Final = 262_144
"""A batch whose lists of receivers have this many entries together is full; that is about 16 MiB. While thousands of
sessions rest, some come and go all the time, and each change makes new lists."""

OWN_RECEIVERS: Final = 64
"""A receiver list of this length or more is dropped from a kept delivery, unless the previous delivery used the same
list."""

BLOCK: Final = 256
"""How many deliveries make a block."""

SHARED_FROM: Final = 64
"""When this many sessions or more heard the same of a batch, they share one run over the whole batch. For fewer, runs
of its blocks are less work, because other sessions share those blocks."""

NUMBERED_WITHIN: Final = 1 / 8
"""A full batch must be numbered for all sessions before the next one is this full, so two full ones are rarely in
memory."""

WORK_PER_TURN: Final = 16_384
"""Units of work that are done before other tasks get a turn; one to two milliseconds. A unit is one session searched
for in a list, or one event added to a run."""

RUN_WORK: Final = 32
"""What numbering a run for one session counts, in units of work."""

EVENT_WORK: Final = 8
"""What numbering a single event for one session counts, in units of work."""

SPLITS: Final = 256
"""For how many lists of receivers the split into awake and resting is remembered."""

logger = structlog.get_logger(__name__)


@frozen
class AwakeSplit:
    """The receivers of an event, split into awake and resting sessions. It holds `receivers` so that no other list gets
    the same identity."""

    receivers: Sequence[GatewaySession]
    awake: Sequence[GatewaySession]
    resting: frozenset[GatewaySession]


@define(eq=False, weakref_slot=False)
class Resting:
    """The sessions without a socket, and the deliveries that they are owed and that are not numbered yet."""

    sessions: dict[GatewaySession, int] = attrs.field(factory=dict, init=False)
    """Each resting session, with the place in the open batch at which its numbering stopped."""
    _open: DeliveryBatch = attrs.field(factory=lambda: DeliveryBatch(), init=False)
    _full: DeliveryBatch = attrs.field(factory=lambda: DeliveryBatch(), init=False)
    _due: dict[GatewaySession, int] = attrs.field(factory=dict, init=False)
    """The sessions for which the full batch has yet to be numbered, each with its place in that batch."""
    _due_at_first: int = attrs.field(default=0, init=False)
    _work: int = attrs.field(default=0, init=False)
    """Units of work done since other tasks had a turn."""
    _splits: dict[int, AwakeSplit] = attrs.field(factory=dict, init=False)

    def add(self, session: GatewaySession) -> None:
        """A session has lost its socket. If the socket was at a node, the numbers stay at that node."""
        if session.place is not None or session in self.sessions:
            return
        self.sessions[session] = len(self._open)
        session.settle = self._settle_one
        self._splits.clear()

    def remove(self, session: GatewaySession) -> None:
        """A session has a socket again, or has ended."""
        if session in self.sessions:
            self._settle_one(session)
            session.settle = None
            del self.sessions[session]
            self._splits.clear()

    def most_awake(self, lists: Sequence[Sequence[GatewaySession]], *, enough: int) -> int:
        """How many do not rest, of the list of which most do not. Where it is clear whether they are `enough`, or other
        tasks are to have a turn, less may be said."""
        long = {id(receivers): receivers for receivers in lists if len(receivers) >= enough}
        most = max(map(len, long.values()), default=0) - len(self.sessions)
        for receivers in long.values():
            if most >= enough or self._work >= WORK_PER_TURN:
                break
            most = max(most, len(self._split(receivers).awake))
        return max(most, 0)

    def take(self, delivery: Delivery) -> Sequence[GatewaySession]:
        """Keep the delivery for those of its receivers that rest, and return the others. Call `keep_pace` soon
        afterwards."""
        split = self._split(delivery.receivers)
        if split.resting:
            self._open.take(delivery, split.resting)
        return split.awake

    def keep_pace(self) -> bool:
        """Number the full batch for some sessions, or close the open batch if it is full. Returns True when other tasks
        should have a turn and it has to be called again."""
        fullness = self._open.fullness()
        left = max(0, self._due_at_first * (1 - fullness / NUMBERED_WITHIN))
        while len(self._due) > left and self._work < WORK_PER_TURN:
            self._work += self._go_on()
        if not self._due:
            self._let_go()
            if fullness >= 1 and self._work < WORK_PER_TURN:
                self._close()
        if self._work < WORK_PER_TURN:
            return False
        self._work = 0
        return True

    def settle(self) -> None:
        """Number all waiting deliveries for all resting sessions."""
        for _ in range(2):  # of the full batch, and then of the open one
            while self._due:
                self._go_on()
            self._let_go()
            self._close()

    def _close(self) -> None:
        """Make the open batch the full one, and begin another."""
        if len(self._open):
            self._full, self._open = self._open, DeliveryBatch()
            self._due, self.sessions = self.sessions, dict.fromkeys(self.sessions, 0)
            self._due_at_first = len(self._due)
            self._work += len(self._due)

    def _let_go(self) -> None:
        """Drop the full batch: it is numbered for all sessions."""
        if len(self._full):
            self._full = DeliveryBatch()

    def _go_on(self) -> int:
        """Do one step: sort the full batch, or number it for one session. Returns the units of work."""
        if not self._full.is_sorted:
            return self._full.sort(self._due)
        session, start = self._due.popitem()
        return _number(session, self._full, self._full.part_of(session, start))

    def _settle_one(self, session: GatewaySession) -> None:
        due, start = self._due.pop(session, None), self.sessions[session]
        self.sessions[session] = len(self._open)
        if due is not None:
            _number(session, self._full, self._full.heard_by(session, due))
        if start < len(self._open):
            _number(session, self._open, self._open.heard_by(session, start))

    def _split(self, receivers: Sequence[GatewaySession]) -> AwakeSplit:
        split = self._splits.get(id(receivers))
        if split is None:
            resting = frozenset(filter(self.sessions.__contains__, receivers))
            awake = tuple(itertools.filterfalse(resting.__contains__, receivers)) if resting else receivers
            if len(self._splits) >= SPLITS:
                self._splits.clear()
            split = self._splits[id(receivers)] = AwakeSplit(receivers, awake, resting)
            self._work += len(receivers)
        return split


@define(eq=False, weakref_slot=False)
class HeardPart:
    """Which deliveries of a batch some sessions received: a set of bits, one for each place in the batch."""

    places: int
    is_shared: bool = False
    """Whether many sessions received exactly these deliveries."""
    heard: Sequence[HeardRun] | None = None
    """The same deliveries in order; made when first needed."""


NOTHING: Final = HeardPart(0, heard=())


class DeliveryBatch:
    """Deliveries in the order in which they came, kept once for all resting sessions."""

    def __init__(self) -> None:
        self._deliveries: list[Delivery] = []
        self._bytes = 0
        self._listed = 0
        self._latest: Sequence[GatewaySession] = ()
        """The receivers of the latest delivery."""
        self._latest_resting: frozenset[GatewaySession] = frozenset()
        """The resting sessions among them."""
        self._differing = 0
        """Bits of the deliveries whose event differs between receivers."""
        self._places: dict[frozenset[GatewaySession], int] = {}
        """The places of the deliveries, by the set of sessions that received them; lists with the same members count as
        one."""
        self._parts: dict[GatewaySession, HeardPart] = {}
        self._to_sort: Iterator[tuple[frozenset[GatewaySession], int]] | None = None
        self.is_sorted = False
        """Whether `part_of` can be used."""
        self._ends: dict[tuple[HeardPart, int], HeardPart] = {}
        self._blocks: dict[tuple[int, int], Sequence[HeardRun]] = {}
        self._made = 0

    def __len__(self) -> int:
        return len(self._deliveries)

    def fullness(self) -> float:
        """How full the batch is: 0 to 1, or above 1 if it grew beyond its limits."""
        return max(len(self._deliveries) / DELIVERIES, self._bytes / DELIVERIES_BYTES, self._listed / LISTED)

    def take(self, delivery: Delivery, resting: frozenset[GatewaySession]) -> None:
        """Add a delivery for these resting sessions."""
        place = 1 << len(self._deliveries)
        if resting is self._latest_resting:
            places = self._places[resting]
        else:
            # Taken out, so that this very set is the key: an equal one would be compared session by session each time.
            self._latest_resting = resting
            places = self._places.pop(resting, 0)
        self._places[resting] = places | place
        if not places:
            self._listed += len(resting)
        if not delivery.is_uniform:
            self._differing |= place
        if delivery.receivers is not self._latest:
            self._latest = delivery.receivers
            if len(delivery.receivers) >= OWN_RECEIVERS:
                delivery = attrs.evolve(delivery, receivers=())
        self._deliveries.append(delivery)
        self._bytes += delivery.event.size

    # What a session heard

    def heard_by(self, session: GatewaySession, start: int) -> HeardPart:
        """What the session received of the batch from this place on."""
        heard = 0
        for resting, places in self._places.items():
            if session in resting:
                heard |= places
        return HeardPart(heard >> start << start)

    def sort(self, starts: Mapping[GatewaySession, int]) -> int:
        """Do one step of sorting the sessions by what they received: take one more list of receivers, and at the end
        count who received the same. The batch takes no more deliveries from now on. Returns the units of work."""
        if self._to_sort is None:
            self._to_sort = iter(self._places.items())
        following = next(self._to_sort, None)
        if following is None:
            for part, count in collections.Counter(map(self.part_of, starts, starts.values())).items():
                part.is_shared = count >= SHARED_FROM
            self.is_sorted = True
            return len(starts)
        resting, places = following
        finer: dict[HeardPart, HeardPart] = {}
        for session in resting:
            part = self._parts.get(session, NOTHING)
            both = finer.get(part)
            if both is None:
                both = finer[part] = HeardPart(part.places | places)
            self._parts[session] = both
        return len(resting)

    def part_of(self, session: GatewaySession, start: int) -> HeardPart:
        """As `heard_by`, for a sorted batch; all sessions that received the same get the same object."""
        part = self._parts.get(session, NOTHING)
        if not start:
            return part
        end = self._ends.get((part, start))
        if end is None:
            end = self._ends[part, start] = HeardPart(part.places >> start << start)
        return end

    # Runs

    def runs(self, part: HeardPart) -> tuple[Sequence[HeardRun], int]:
        """The part's deliveries in order, and the units of work."""
        if part.heard is not None:
            return part.heard, 0
        before = self._made
        if part.is_shared:
            part.heard = self._heard(part.places, 0)
        else:
            part.heard = [
                heard
                for start in range(0, len(self._deliveries), BLOCK)
                if (places := part.places >> start & (1 << BLOCK) - 1)
                for heard in self._block(places, start)
            ]
        return part.heard, self._made - before

    def _block(self, places: int, start: int) -> Sequence[HeardRun]:
        heard = self._blocks.get((start, places))
        if heard is None:
            heard = self._heard(places, start)
            # A block that is not over yet has another run with each delivery.
            if start + BLOCK <= len(self._deliveries):
                self._blocks[start, places] = heard
        return heard

    def _heard(self, places: int, start: int) -> Sequence[HeardRun]:
        bits = bin(places)[:1:-1].encode().replace(b"0", b"\0")
        deliveries = list(itertools.compress(itertools.islice(self._deliveries, start, None), bits))
        self._made += len(deliveries)
        if not places & self._differing >> start:
            return (HeardRun(deliveries, uniform=True),)
        return [
            HeardRun(list(alike), uniform=uniform)
            for uniform, alike in itertools.groupby(deliveries, lambda delivery: delivery.is_uniform)
        ]


class HeardRun:
    """A row of deliveries that the same sessions received. `uniform`: each session gets the same event of each
    delivery."""

    def __init__(self, deliveries: Sequence[Delivery], *, uniform: bool) -> None:
        self._deliveries = deliveries
        self._run = EventRun([delivery.event for delivery in deliveries]) if uniform else None

    @functools.cached_property
    def _names(self) -> frozenset[str]:
        return frozenset([delivery.event.name for delivery in self._deliveries])

    def number(self, session: GatewaySession) -> int:
        """Number these deliveries for a session that rests or has just ended; returns the units of work."""
        run, ignored = self._run, session.ignored_events
        if run is not None and (not ignored or self._names.isdisjoint(ignored)):
            session.dispatch_run(run)
            return RUN_WORK
        for delivery in self._deliveries:
            event = delivery.event_for(session)
            if event is not None:
                session.dispatch(event)
        return EVENT_WORK * len(self._deliveries)


def _number(session: GatewaySession, batch: DeliveryBatch, part: HeardPart) -> int:
    """Give the row's events their numbers in the session; returns the units of work."""
    # A session that is told asks for what it has heard before: that is this.
    settle, session.settle = session.settle, None
    work = 1
    try:
        runs, made = batch.runs(part)
        work += made
        for heard in runs:
            work += heard.number(session)
    except Exception:  # one session that cannot be told is no reason to tell no other
        logger.exception("a session was not told", user_id=session.user_id)
    finally:
        session.settle = settle
    return work
