"""At the core: sessions whose sockets and numbers are at a node, and how events reach them.

Audiences are settled as for every session. A list of receivers is turned once into slots for each node, and from then
on an event costs the core nothing for each of them. The session object stays the same wherever the session lives: what
changes are its numbering, its receiver and its `place`.
"""

from __future__ import annotations

import collections
import heapq
import itertools
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs
import structlog
import trio

from chat.classes import define, frozen
from chat.gateway.fanout import Delivery
from chat.gateway.numbering import Numbering, ResumeVerdict
from chat.gateway.session import GatewaySession, KeptPlace
from chat.nodes.codec import encode, encode_delivery
from chat.nodes.link import Link
from chat.nodes.messages import AskCounts, CountsAnswer, Ended, Figures, NodeMessage, Payload, Strike, WhenDrained
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries import close_codes
from chat.registries.close_codes import Close
from chat.registries.limits import NODE_SESSIONS, REPLAY_DISPATCHES
from chat.supervision import lasting

SPLITS: Final = 64
"""For how many lists of receivers the nodes of the receivers are remembered."""

DRAIN_SECONDS: Final = 10.0
"""How long the core waits for a node to report that a peer reads again."""

logger = structlog.get_logger(__name__)


class NodeGone(Exception):
    """The node that was asked is dead."""


@define(eq=False)
class Line:
    """What the core knows of one node, and the link on which it sends to it."""

    id: str
    link: Link
    name: str = ""
    version: str = ""
    welcome: bool = False
    """Whether it has said Hello in this life of the core."""
    is_dead: bool = False
    has_ended: bool = False
    """Whether the node is dead because it ended itself."""
    is_refused: bool = False
    """Whether its version is too far from this one, so that its messages are ignored."""
    draining: bool = False
    figures: Figures | None = None
    seen_at: float = attrs.field(factory=trio.current_time)
    """Trio time at which the node came, last sent something, or was found dead."""
    sessions: dict[int, GatewaySession] = attrs.field(factory=dict)
    stop: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _free: list[int] = attrs.field(factory=list)
    _next_slot: int = 0
    _questions: dict[int, trio.MemorySendChannel[NodeMessage | None]] = attrs.field(factory=dict)
    _numbers: Iterator[int] = attrs.field(factory=lambda: itertools.count(1))

    def send(self, message: NodeMessage) -> int:
        """Send a message to the node; returns its number."""
        return self.link.send(encode(message))

    # Slots

    def seat(self, session: GatewaySession) -> int:
        """Give the session the lowest free slot. Check `has_room` before."""
        if self._free:
            slot = heapq.heappop(self._free)
        else:
            slot, self._next_slot = self._next_slot, self._next_slot + 1
        self.sessions[slot] = session
        return slot

    def take_seat(self, session: GatewaySession, slot: int) -> None:
        """Give the session the slot that it had before the core restarted. Call it before `seat`."""
        self._free += range(self._next_slot, slot)
        self._next_slot = max(self._next_slot, slot + 1)
        if slot in self._free:
            self._free.remove(slot)
        heapq.heapify(self._free)
        self.sessions[slot] = session

    def at(self, slot: int) -> GatewaySession | None:
        """The session in this slot; None for a session that has ended or moved away."""
        session = self.sessions.get(slot)
        place = None if session is None else session.place
        return session if isinstance(place, RemotePlace) and place.line is self and place.slot == slot else None

    @property
    def has_room(self) -> bool:
        """Whether a slot is free."""
        return len(self.sessions) < NODE_SESSIONS

    async def run(self) -> None:
        """Append messages until `stop` is cancelled."""
        with self.stop:
            await lasting(self.link.run)

    def leave(self, slot: int) -> None:
        """Free the slot."""
        if self.sessions.pop(slot, None) is not None:
            heapq.heappush(self._free, slot)

    # Questions

    async def ask(self, question: Callable[[int], NodeMessage]) -> NodeMessage:
        """Ask the node, and wait for its answer. `question` makes the message from the number of the question. Raises
        NodeGone."""
        if self.is_dead:
            raise NodeGone
        number = next(self._numbers)
        sending, receiving = trio.open_memory_channel[NodeMessage | None](1)
        self._questions[number] = sending
        try:
            self.send(question(number))
            answer = await receiving.receive()
        finally:
            del self._questions[number]
        if answer is None:
            raise NodeGone
        return answer

    def answered(self, question: int, answer: NodeMessage) -> None:
        """Hand an answer to whoever asked."""
        if question in self._questions:
            self._questions[question].send_nowait(answer)

    @property
    def has_to_hear(self) -> bool:
        """Whether messages are left that the node has not confirmed. For a dead node: that those who take over its
        sessions have not."""
        lives = not self.is_dead or not all(session.ended for session in self.sessions.values())
        return lives and self.link.unconfirmed > 0

    def bury(self) -> None:
        """The node is dead. Further messages are for the nodes that take over its sessions."""
        self.is_dead = True
        self.link.bury()
        for asked in list(self._questions.values()):
            asked.send_nowait(None)


@frozen(eq=False, weakref_slot=False)
class RemotePlace:
    """Where a session lives that is at a node. It is also the session's receiver and stands for the socket at that
    node."""

    line: Line
    slot: int

    def kept(self) -> KeptPlace:
        """The record of the place for a restart of the core."""
        link = self.line.link
        return KeptPlace(self.line.id, self.slot, link.epoch, link.number)

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        """Does nothing: the session's `RelayedNumbering` has sent the event to the node."""

    def deliver_run(self, first: int, run: EventRun) -> None:
        """Does nothing: the session's `RelayedNumbering` has sent the events to the node."""

    def send_payload(self, payload: bytes) -> None:
        """Send a payload that is no Dispatch."""
        self.line.send(Payload(self.slot, (payload,)))

    def session_ended(self) -> None:
        """Does nothing: `Relay.ended` tells the node."""

    def displaced(self) -> None:
        """Does nothing: the message Export tells the node."""

    def failed(self) -> None:
        """A command of the session's client failed through a defect of ours: close the socket, as it would be closed
        here."""
        logger.exception("a command of a session at a node failed", node=self.line.name)
        self.close(close_codes.SESSION_UNAVAILABLE)

    async def drained(self, below_bytes: int) -> None:
        """Return once the node says that at most `below_bytes` wait to be sent to the peer, or the node is gone."""
        with trio.move_on_after(DRAIN_SECONDS):
            try:
                await self.line.ask(lambda number: WhenDrained(number, self.slot, below_bytes))
            except NodeGone:
                return

    def close(self, close: Close) -> None:
        """Have the node close the session's socket like this."""
        self.strike("close", close)

    def strike(self, action: str, close: Close | None, milliseconds: int = 0) -> None:
        """Have the node act on the session's socket (`Strike`)."""
        code, reason = (0, "") if close is None else (close.code, close.reason)
        self.line.send(Strike(self.slot, action, code, reason, milliseconds))

    async def standing(self) -> CountsAnswer | None:
        """Ask the node how far the session has counted; None if the node is dead."""
        try:
            answer = await self.line.ask(lambda number: AskCounts(number, self.slot))
        except NodeGone:
            return None
        return answer if isinstance(answer, CountsAnswer) else None


_NOTHING: Final[collections.deque[OutgoingEvent | EventRun | int]] = collections.deque(maxlen=0)


class RelayedNumbering(Numbering):
    """Takes the place of a session's numbering at the core while the session is at a node: it sends the node each event
    that is to be numbered."""

    __slots__ = ("_place",)

    def __init__(self, place: RemotePlace) -> None:
        # Without a buffer of its own: a core has as many of these as its nodes have sessions.
        self.sequence = self.acknowledged = self.replay_floor = 0
        self._gone = self._trimmed = self._bytes = 0
        self._room, self._entries = REPLAY_DISPATCHES, _NOTHING
        self._place = place

    def number(self, event: OutgoingEvent) -> int:
        self._place.line.link.send(encode_delivery(Delivery(event, ())) + self._place.slot.to_bytes(2, "little"))
        return 0

    def number_run(self, run: EventRun) -> int:
        for event in run.events:
            self.number(event)
        return 0

    def judge_resume(self, seq: int) -> ResumeVerdict:
        raise TypeError("the node judges")


class HeldNumbering(Numbering):
    """Takes the place of a numbering that has yet to arrive: events wait in it."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[OutgoingEvent] = []

    def number(self, event: OutgoingEvent) -> int:
        self.waiting.append(event)
        return 0

    def number_run(self, run: EventRun) -> int:
        self.waiting += run.events
        return 0

    def give_to(self, session: GatewaySession, numbering: Numbering) -> None:
        """The session's numbering has arrived: number the events that waited, and give it to the session."""
        for event in self.waiting:
            numbering.number(event)
        self.waiting.clear()
        session.replace_numbering(numbering)


@frozen
class ReceiversByNode:
    """The receivers of an event, grouped by where they live. It holds `receivers` so that no other list gets the same
    identity."""

    receivers: Sequence[GatewaySession]
    local: Sequence[GatewaySession]
    starting: tuple[GatewaySession, ...]
    """Sessions at nodes whose Ready is still being made."""
    mounted: tuple[GatewaySession, ...]
    """Sessions at nodes for which a mount words the event."""
    lines: tuple[tuple[Line, bytes], ...]


@define(eq=False)
class Relay:
    """Sends the deliveries for sessions of nodes to those nodes."""

    sessions: int = attrs.field(default=0, init=False)
    """How many sessions live at nodes."""
    _splits: dict[int, ReceiversByNode] = attrs.field(factory=dict, init=False)

    def take(self, delivery: Delivery) -> Delivery | None:
        """Send the delivery to the nodes of its receivers; returns what is left for receivers of this process."""
        if not self.sessions:
            return delivery
        split = self._split(delivery.receivers)
        if split.lines:
            written = encode_delivery(delivery)
            for line, slots in split.lines:
                line.link.send(written + slots)
        for session in split.starting:
            event = delivery.event_for(session)
            if event is not None and not session.ended:
                session.dispatch(event)
        if split.mounted:
            _tell_mounted(delivery, split.mounted)
        if split.local is delivery.receivers:
            return delivery
        return attrs.evolve(delivery, receivers=split.local) if split.local else None

    def changed(self) -> None:
        """A session moved, began or ended: forget the grouped lists."""
        self._splits.clear()

    def _split(self, receivers: Sequence[GatewaySession]) -> ReceiversByNode:
        split = self._splits.get(id(receivers))
        if split is None:
            if len(self._splits) >= SPLITS:
                self._splits.clear()
            split = self._splits[id(receivers)] = split_of(receivers)
        return split

    # Where a session lives

    def place(self, session: GatewaySession, line: Line, slot: int) -> RemotePlace:
        """Send the session's events to that node's slot from now on."""
        self.sessions += session.place is None
        place = session.place = RemotePlace(line, slot)
        session.replace_numbering(RelayedNumbering(place))
        self.changed()
        return place

    def bring_home(self, session: GatewaySession) -> HeldNumbering:
        """Keep the session's events in this process from now on; they wait until the numbering arrives."""
        self._leave(session)
        held = HeldNumbering()
        session.replace_numbering(held)
        return held

    def place_of(self, session: GatewaySession) -> RemotePlace:
        """The place of a session that is at a node."""
        if not isinstance(session.place, RemotePlace):
            raise TypeError("a session of a node has its place there")
        return session.place

    def ended(self, session: GatewaySession) -> None:
        """Tell the node that a session has ended."""
        place = session.place
        if isinstance(place, RemotePlace):
            self._leave(session)
            place.line.send(Ended(place.slot))
            place.line.leave(place.slot)

    def _leave(self, session: GatewaySession) -> None:
        if session.place is not None:
            session.place = None
            self.sessions -= 1
            self.changed()


def split_of(receivers: Iterable[GatewaySession]) -> ReceiversByNode:
    """Group the receivers by where they live."""
    receivers = receivers if isinstance(receivers, Sequence) else tuple(receivers)
    local: list[GatewaySession] = []
    starting: list[GatewaySession] = []
    mounted: list[GatewaySession] = []
    slots: dict[Line, array[int]] = {}
    for session in receivers:
        place = session.place
        if place is None:
            local.append(session)
        elif session.starting is not None:
            starting.append(session)
        elif session.mount:
            mounted.append(session)
        elif isinstance(place, RemotePlace):
            slots.setdefault(place.line, array("H")).append(place.slot)
    lines = tuple((line, in_little_endian(numbers)) for line, numbers in slots.items())
    own = receivers if len(local) == len(receivers) else local
    return ReceiversByNode(receivers, own, tuple(starting), tuple(mounted), lines)


def _tell_mounted(delivery: Delivery, sessions: Iterable[GatewaySession]) -> None:
    """Send the event as each session's mount words it; sessions of one node with the same wording share one message."""
    alike: dict[tuple[Line, Sequence[OutgoingEvent]], array[int]] = {}
    for session in sessions:
        place, event = session.place, delivery.event_for(session)
        if event is None or not isinstance(place, RemotePlace):
            continue
        try:
            told = session.told(event)
        except Exception:  # one session that cannot be told is no reason to tell no other
            logger.exception("a session was not told", user_id=session.user_id)
        else:
            alike.setdefault((place.line, told), array("H")).append(place.slot)
    for (line, told), slots in alike.items():
        for event in told:
            line.link.send(encode_delivery(Delivery(event, ())) + in_little_endian(array("H", slots)))


def in_little_endian(slots: array[int]) -> bytes:
    """Slots as 16-bit little-endian numbers."""
    if sys.byteorder == "big":
        slots.byteswap()
    return slots.tobytes()
