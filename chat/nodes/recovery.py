"""What a node leaves behind, and how a session's numbering follows from it.

A numbering is a pure fold of what the core said to the node: the same messages give the same numbers, whoever folds
them. So a node that dies without a word loses nothing: whoever takes a session over begins with a checkpoint (how far
each session had counted at a place of the log) and folds the rest. A node that ends in good order leaves its sessions
whole.
"""

from __future__ import annotations

import collections
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs
import orjson
import trio

from chat.classes import define, frozen
from chat.domain.presence.account_presence import NO_SESSION
from chat.gateway.numbering import Numbering
from chat.gateway.retention import EventLine, SharedRuns
from chat.gateway.session import GatewaySession
from chat.nodes.broker import Broker
from chat.nodes.codec import decode
from chat.nodes.entries import decode_entry
from chat.nodes.messages import (
    Arrive,
    ArriveFromDead,
    Began,
    Deliver,
    Ended,
    Follows,
    NodeMessage,
    Position,
    Seat,
    SessionFacts,
)
from chat.nodes.relay import HeldNumbering
from chat.protocol.commands import NO_EVENTS
from chat.protocol.frames import OutgoingEvent
from chat.registries.events import EventName
from chat.store.retained_sessions import RetainedEvent

READY: Final = OutgoingEvent(EventName.READY, b"{}", retained=False)
"""Takes the place of a session's Ready when events are only counted."""

LOOK_SECONDS: Final = 0.05
LOOKS: Final = 40
"""After this many reads without anything new, a log counts as incomplete, although the core says it is longer. Reads
count and not time: if the broker does not answer for a while, the core cannot append either."""

MESSAGES_PER_TURN: Final = 512

_HEAD: Final = struct.Struct("<QQ")
_STANDING: Final = struct.Struct("<HIII")


class Lost(Exception):
    """The numbering cannot be worked out any more: the client has to identify again."""


def to_node(node: str) -> str:
    """The name of the stream on which the core sends to a node."""
    return f"to:{node}"


def checkpoints_of(node: str) -> str:
    """The name of the stream of a node's checkpoints."""
    return f"checkpoints:{node}"


def rest_of(node: str) -> str:
    """The key at which a node that ends in good order leaves its sessions."""
    return f"rest:{node}"


def session_of(facts: SessionFacts) -> GatewaySession:
    """Make a session as a node has it: with everything that decides what it is sent, and without its account."""
    return GatewaySession(
        facts.session_id,
        user_id=facts.user_id,
        bot=facts.bot,
        is_staff=False,
        session_id_hash=None,
        shard=None,
        threads=facts.threads,
        debounces_reactions=False,
        ignored_events=frozenset(facts.ignored_events) if facts.ignored_events else NO_EVENTS,
        presence=NO_SESSION,
    )


@frozen
class RecoveredCounts:
    """How far a session had counted."""

    sequence: int
    acknowledged: int
    replay_floor: int


@frozen
class Checkpoint:
    """How far each session had counted, by slot, when the node had numbered everything up to `position`."""

    position: Position
    standings: Mapping[int, RecoveredCounts]

    def encoded(self) -> bytes:
        """The checkpoint as bytes: 14 for each session."""
        rows = [_STANDING.pack(slot, *attrs.astuple(standing)) for slot, standing in self.standings.items()]
        return _HEAD.pack(self.position.epoch, self.position.number) + b"".join(rows)

    @classmethod
    def decoded(cls, data: bytes) -> Checkpoint:
        epoch, number = _HEAD.unpack_from(data)
        rows = _STANDING.iter_unpack(data[_HEAD.size :])
        return cls(Position(epoch, number), {slot: RecoveredCounts(*standing) for slot, *standing in rows})


def encode_state(position: Position, numberings: Mapping[int, Numbering]) -> bytes:
    """Whole sessions as bytes, by slot; an event that several of them retain is written once."""
    line = EventLine()
    sessions = {
        str(slot): [numbering.sequence, numbering.acknowledged, numbering.replay_floor, line.ranges(numbering)]
        for slot, numbering in numberings.items()
    }
    events = [(event.name, len(event.data)) for event in line.events]
    head = {"position": attrs.astuple(position), "sessions": sessions, "events": events}
    return b"\n".join((orjson.dumps(head), b"".join([event.data for event in line.events])))


def decode_state(data: bytes) -> tuple[Position, dict[int, Numbering]]:
    """The sessions in the bytes of `encode_state`."""
    head, _, body = data.partition(b"\n")
    values = orjson.loads(head)
    events, at = [], 0
    for number, (name, length) in enumerate(values["events"]):
        events.append(RetainedEvent(number, name, body[at : at + length]))
        at += length
    runs = SharedRuns(events)
    numberings = {
        int(slot): Numbering.restored(sequence, acknowledged, floor, runs.entries([tuple(each) for each in held]))
        for slot, (sequence, acknowledged, floor, held) in values["sessions"].items()
    }
    return Position(*values["position"]), numberings


@define
class Log:
    """The messages of a core to a node, each once, although the core may have sent it twice."""

    messages: list[tuple[Position, NodeMessage]] = attrs.field(factory=list)
    begins: Position | None = None
    ends: Position | None = None

    def add(self, data: bytes) -> None:
        """Take the next entry of the stream."""
        entry = decode_entry(data)
        if not entry.messages:
            return
        if self.ends is None:
            self.begins = Position(entry.epoch, entry.first)
            self.ends = Position(entry.epoch, entry.first - 1)
        if entry.epoch < self.ends.epoch:
            return
        heard = self.ends.number if entry.epoch == self.ends.epoch else 0
        if entry.first > heard + 1:
            return  # what is missing comes again, and this after it
        for number, written in enumerate(entry.messages[heard + 1 - entry.first :], heard + 1):
            message = decode(written)
            if isinstance(message, Follows) and message.said != self.ends:  # the end of the life before is missing
                self.messages.clear()
                self.begins = Position(entry.epoch, number)
            self.ends = Position(entry.epoch, number)
            if message is not None:
                self.messages.append((self.ends, message))

    def reaches_back_to(self, position: Position) -> bool:
        """Whether the log has everything after the position."""
        return self.begins is not None and self.begins <= Position(position.epoch, position.number + 1)


class Remains:
    """What a dead node left. It is read once for all sessions that are taken over."""

    def __init__(self, broker: Broker, node: str) -> None:
        self._broker = broker
        self._node = node
        self._log = Log()
        self._read_at = "0"
        self._checkpoints: list[Checkpoint] | None = None
        self._rest: tuple[Position, dict[int, Numbering]] | None = None
        self._reading = trio.Lock()
        self._slots: collections.OrderedDict[bytes, frozenset[int]] = collections.OrderedDict()

    async def numbering(self, slot: int, facts: SessionFacts, until: Position, seq: int) -> Numbering:
        """The session's numbering once it has counted every entry up to `until`, with the events after `seq` where the
        broker still has them. Raises Lost, BrokerUnavailable.

        A client may send a wrong `seq`. That Resume fails; the numbering then starts at what the client confirmed,
        so that a later Resume succeeds.
        """
        async with self._reading:
            await self._read_bases()
            await self._read_log(until)
        if self._rest is not None and self._rest[0] <= until and slot in self._rest[1]:
            position, numberings = self._rest
            return await self._folded(slot, facts, position, numberings.pop(slot), until, seq)
        numbering = await self._from_checkpoint(slot, facts, until, seq)
        if not numbering.acknowledged <= seq <= numbering.sequence:
            return await self._from_checkpoint(slot, facts, until, numbering.acknowledged)
        return numbering

    async def _from_checkpoint(self, slot: int, facts: SessionFacts, until: Position, seq: int) -> Numbering:
        """Fold from the newest checkpoint that is not above the client's sequence. Without one, begin with the
        session's beginning or with the oldest checkpoint."""
        oldest: Checkpoint | None = None
        for checkpoint in reversed(self._checkpoints or ()):
            if slot not in checkpoint.standings or not checkpoint.position <= until:
                continue
            if oldest is not None and not self._reaches_back_to(checkpoint.position, until):
                break
            oldest = checkpoint
            if checkpoint.standings[slot].sequence <= seq:
                return await self._folded(slot, facts, *_base(checkpoint, slot), until, seq)
        try:
            return await self._folded(slot, facts, None, None, until, seq)
        except Lost:
            if oldest is None:
                raise
            return await self._folded(slot, facts, *_base(oldest, slot), until, seq)

    async def _folded(
        self,
        slot: int,
        facts: SessionFacts,
        position: Position | None,
        numbering: Numbering | None,
        until: Position,
        seq: int,
    ) -> Numbering:
        if position is not None and not self._reaches_back_to(position, until):
            raise Lost("the log does not reach back to the checkpoint")
        folded = await self._fold(slot, facts, position, numbering, until, seq)
        if folded is None or isinstance(folded, HeldNumbering):
            raise Lost("nothing is known of the session")
        return folded

    def _reaches_back_to(self, position: Position, until: Position) -> bool:
        """Whether the log has everything after the position and up to `until`."""
        return self._log.reaches_back_to(position) or not position < until

    async def _read_bases(self) -> None:
        if self._checkpoints is None:
            (rest,) = await self._broker.get(rest_of(self._node))
            self._rest = None if rest is None else decode_state(rest)
            stored = await self._broker.read(checkpoints_of(self._node), "0", wait_seconds=0)
            self._checkpoints = [Checkpoint.decoded(data) for _, data in stored]

    async def _read_log(self, until: Position) -> None:
        looks = 0
        while (self._log.ends is None or self._log.ends < until) and looks < LOOKS:
            entries = await self._broker.read(to_node(self._node), self._read_at, wait_seconds=LOOK_SECONDS)
            looks += not entries
            for self._read_at, data in entries:
                self._log.add(data)
            await trio.lowlevel.checkpoint()
        if until.number and (self._log.ends is None or self._log.ends < until):
            raise Lost("the log is not whole")

    async def _fold(
        self,
        slot: int,
        facts: SessionFacts,
        position: Position | None,
        numbering: Numbering | None,
        until: Position,
        seq: int,
    ) -> Numbering | None:
        session = session_of(facts)
        for count, message in enumerate(self._between(position, until), 1):
            if count % MESSAGES_PER_TURN == 0:
                await trio.lowlevel.checkpoint()
            if isinstance(message, Deliver):
                if numbering is not None and slot in self._in(message.slots):
                    event = message.to(()).event_for(session)
                    if event is not None:
                        numbering.number(event)
            elif getattr(message, "slot", None) == slot:
                numbering = await self._next(message, numbering, facts, seq)
        return numbering

    def _between(self, position: Position | None, until: Position) -> Iterator[NodeMessage]:
        for at, message in self._log.messages:
            if until < at:
                return
            if position is None or position < at:
                yield message

    async def _next(
        self, message: NodeMessage, numbering: Numbering | None, facts: SessionFacts, seq: int
    ) -> Numbering | None:
        """Apply a message that is about the session itself to the numbering."""
        match message:
            case Began():
                return begun(message)
            case Seat():
                return HeldNumbering()
            case Ended():
                return None
            case Arrive(_, key) if isinstance(numbering, HeldNumbering):
                return _followed(await arrived(self._broker, key), numbering)
            case ArriveFromDead() if isinstance(numbering, HeldNumbering):
                before = Remains(self._broker, message.dead)
                return _followed(
                    await before.numbering(message.dead_slot, facts, message.until, min(seq, message.seq)), numbering
                )
            case _:
                return numbering

    def _in(self, slots: bytes) -> frozenset[int]:
        found = self._slots.get(slots)
        if found is None:
            if len(self._slots) >= 1024:
                self._slots.popitem(last=False)
            found = self._slots[slots] = frozenset(slot_numbers(slots))
        return found


def _base(checkpoint: Checkpoint, slot: int) -> tuple[Position, Numbering]:
    """The numbering from which a fold begins at a checkpoint. It lacks what the session retained before."""
    standing = checkpoint.standings[slot]
    return checkpoint.position, Numbering.restored(standing.sequence, standing.acknowledged, standing.sequence, ())


def slot_numbers(slots: bytes) -> Iterable[int]:
    """The slots of a Deliver."""
    return struct.unpack(f"<{len(slots) // 2}H", slots)


def begun(message: Began) -> Numbering:
    """The numbering of a session right after Ready and the events that waited for it."""
    numbering = Numbering()
    numbering.number(READY)
    for event in waiting_events(message):
        numbering.number(event)
    return numbering


def waiting_events(message: Began) -> list[OutgoingEvent]:
    """The events that follow a session's Ready at once."""
    return [
        OutgoingEvent(name, data, retained=retained)
        for (name, retained), data in zip(message.waiting, message.data, strict=False)
    ]


async def arrived(broker: Broker, key: str) -> Numbering:
    """The one numbering that lies at a key. Raises Lost, BrokerUnavailable."""
    (state,) = await broker.get(key)
    if state is None:
        raise Lost("a session got lost on its way")
    _, numberings = decode_state(state)
    return numberings[0]


def _followed(numbering: Numbering, held: HeldNumbering) -> Numbering:
    for event in held.waiting:
        numbering.number(event)
    return numbering
