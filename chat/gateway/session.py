"""A gateway session: what Identify creates and what outlives its socket.

`GatewaySession.dispatch` is the hottest line of the program: it runs once per event and session with a socket.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Protocol, Self, runtime_checkable

import attrs

from chat.auth.principal import Principal
from chat.bus.audience import Mentions
from chat.classes import define, frozen
from chat.domain.presence.account_presence import SessionPresence
from chat.gateway.numbering import Numbering
from chat.protocol.commands import Identify, Shard, shard_of
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries import close_codes
from chat.registries.close_codes import Close
from chat.registries.events import EventName
from chat.registries.limits import PRESENCE_HOLD_ENTRIES, REPLAY_DISPATCHES
from chat.registries.opcodes import IdentifyFlag
from chat.registries.user_flags import UserFlag

NONE: Final[frozenset[int]] = frozenset()
"""One empty set for all sessions: an empty set takes as much memory as a set of four."""


class Receiver(Protocol):
    """The socket that presently holds a session."""

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        """Take a numbered Dispatch for sending; must not wait."""
        ...

    def deliver_run(self, first: int, run: EventRun) -> None:
        """Take Dispatches with consecutive numbers from `first` on; must not wait."""
        ...

    def send_payload(self, payload: bytes) -> None:
        """Send a payload that is no Dispatch."""
        ...

    def session_ended(self) -> None:
        """The session is over while this socket holds it."""
        ...

    def displaced(self) -> None:
        """Another socket took the session over."""
        ...

    def failed(self) -> None:
        """Something unforeseen was raised while sending to it. Call it in the `except` block."""
        ...

    async def drained(self, below_bytes: int) -> None:
        """Return once at most `below_bytes` wait to be sent to the peer, or the socket is gone."""
        ...


@define(eq=False, weakref_slot=False)
class GatewaySession:
    """One session of an account (gateway.md, Sequences).

    While `starting` is a list, events wait in it unnumbered, so that Ready comes first; see `begin`.
    """

    mount: ClassVar[str] = ""
    """The mount at which it was begun, and only there it can be resumed; empty for the documented gateway."""

    id: str
    user_id: int = attrs.field(kw_only=True)
    bot: bool = attrs.field(kw_only=True)
    is_staff: bool = attrs.field(kw_only=True)
    session_id_hash: str | None = attrs.field(kw_only=True)
    shard: Shard | None = attrs.field(kw_only=True)
    hears_account_events: bool = attrs.field(init=False)
    """Whether events that name no guild reach the session: only on shard 0 (gateway.md, Shards)."""
    threads: bool = attrs.field(kw_only=True)
    e2ee_capable: bool = attrs.field(default=False, kw_only=True)
    debounces_reactions: bool = attrs.field(kw_only=True)
    ignored_events: frozenset[str] = attrs.field(kw_only=True)
    presence: SessionPresence = attrs.field(kw_only=True)
    """What the client last selected; survives the socket, so a Resume can restore it."""
    _numbering: Numbering = attrs.field(factory=Numbering, kw_only=True)
    place: Placed | None = attrs.field(default=None, init=False)
    """Where its socket and its numbers are if that is a gateway node (`chat.nodes.relay`); else None."""
    settle: Callable[[GatewaySession], None] | None = attrs.field(default=None, init=False)
    """Numbers the events that have waited since the session rests (`chat.gateway.resting`); None while it does not
    rest."""
    address: str = attrs.field(default="", init=False)
    receiver: Receiver | None = attrs.field(default=None, init=False)
    ended: bool = attrs.field(default=False, init=False)
    detached_at: float | None = attrs.field(default=None, init=False)
    """Trio time at which the socket went; None while one is attached."""
    offline_at: float | None = attrs.field(default=None, init=False)
    """Trio time from which the session counts as offline; None while it counts with its selected status."""
    ends_at: float | None = attrs.field(default=None, init=False)
    """Trio time until which the session is retained; None while a socket is attached."""
    guild_ids: set[int] = attrs.field(factory=set, init=False)
    """Guilds the session is connected to."""
    joining_guild_ids: frozenset[int] = attrs.field(default=NONE, init=False)
    """Guilds of a bot's Ready whose Guild Create has yet to follow."""
    active_guilds: frozenset[int] = attrs.field(default=NONE, init=False)
    """Guilds that a Lazy Request made active (only matters in large ones; bots are always active)."""
    starting: list[OutgoingEvent] | None = attrs.field(factory=list, init=False)
    ready: OutgoingEvent | None = attrs.field(default=None, init=False)
    """Ready, between the session's making and its first Dispatch."""
    _presences_held: int = attrs.field(default=0, init=False)

    @hears_account_events.default
    def _is_on_first_shard(self) -> bool:
        return self.shard is None or self.shard.id == 0

    @classmethod
    def identified(
        cls,
        session_id: str,
        principal: Principal,
        identify: Identify,
        presence: SessionPresence,
        **besides: Any,
    ) -> Self:
        """Make the session that an Identify of this account asks for; `besides` are further arguments of a mount's
        class."""
        return cls(
            session_id,
            **besides,
            user_id=principal.user_id,
            bot=principal.is_bot,
            is_staff=bool(principal.account.flags & UserFlag.STAFF.value),
            session_id_hash=principal.session_id_hash,
            shard=identify.shard,
            threads=principal.is_bot or bool(identify.flags & IdentifyFlag.CHANNEL_THREADS),
            e2ee_capable=identify.properties.e2ee_capable,
            debounces_reactions=bool(identify.flags & IdentifyFlag.DEBOUNCE_MESSAGE_REACTIONS),
            ignored_events=identify.ignored_events,
            presence=presence,
        )

    @property
    def numbering(self) -> Numbering:
        """The session's sequences, with all its events numbered."""
        if self.settle is not None:
            self.settle(self)
        return self._numbering

    def replace_numbering(self, numbering: Numbering) -> None:
        """Use this numbering from now on; it includes earlier events."""
        if self.settle is not None:
            self.settle(self)
        self._numbering = numbering

    def kept_besides(self) -> Mapping[str, Any]:
        """What a mount's session keeps over a restart beyond the usual, as JSON."""
        return {}

    def dispatch(self, event: OutgoingEvent) -> None:
        """Number the event, retain it for replay, and hand it to the socket if there is one."""
        if self.starting is not None:
            self._hold_back(self.starting, event)
        elif self.receiver is not None:
            self.receiver.deliver(self._numbering.number(event), event)
        else:
            self.numbering.number(event)

    def dispatch_run(self, run: EventRun) -> None:
        """The same for events that come together."""
        if self.starting is not None:
            for event in run.events:
                self._hold_back(self.starting, event)
        elif self.receiver is not None:
            self.receiver.deliver_run(self._numbering.number_run(run), run)
        else:
            self.numbering.number_run(run)

    def _hold_back(self, waiting: list[OutgoingEvent], event: OutgoingEvent) -> None:
        """Let an event wait for Ready; of presences only the last PRESENCE_HOLD_ENTRIES wait. Ready is made later than
        those that are dropped, and includes them."""
        if event.name == EventName.PRESENCE_UPDATE:
            if self._presences_held < PRESENCE_HOLD_ENTRIES:
                self._presences_held += 1
            else:
                del waiting[next(at for at, other in enumerate(waiting) if other.name == EventName.PRESENCE_UPDATE)]
        waiting.append(event)

    def take_ready(self) -> OutgoingEvent:
        """Take Ready out of the session; it is sent once."""
        if self.ready is None:
            raise AssertionError("a session begins with its Ready")
        ready, self.ready = self.ready, None
        return ready

    def told(self, event: OutgoingEvent) -> Sequence[OutgoingEvent]:
        """The event as this session is sent it, which a mount may word differently."""
        return (event,)

    def begin(self) -> None:
        """Dispatch Ready as sequence 1, then what arrived while it was being made."""
        ready = self.take_ready()
        waiting, self.starting = self.starting or [], None
        self.dispatch(ready)
        for event in waiting:
            self.dispatch(event)

    def wants(self, event: OutgoingEvent, mentions: Mentions | None) -> bool:
        """Whether the session's ignored_events let the event through; if not, it takes no number (gateway.md,
        Sequences)."""
        if event.name not in self.ignored_events:
            return True
        return (
            event.name == EventName.MESSAGE_CREATE
            and mentions is not None
            and (mentions.everyone or mentions.here or self.user_id in mentions.user_ids)
        )

    def is_on_shard(self, guild_id: int) -> bool:
        """Whether a guild of the account is one of the session's."""
        return self.shard is None or shard_of(guild_id, self.shard.count) == self.shard.id


MakeSession = Callable[[str, Principal, Identify, SessionPresence], GatewaySession]
"""`GatewaySession.identified`, or what a mount makes in its place."""

BeginSession = Callable[[GatewaySession], None]
"""Dispatches a session's Ready at the moment of the call."""


@frozen
class KeptPlace:
    """Where a session lived when the core ended, and the number of the last message that the core had sent to that node
    in its life `epoch`."""

    node: str
    slot: int
    epoch: int
    number: int

    def kept(self) -> KeptPlace:
        """As `Placed.kept`."""
        return self


class SessionCounts(Protocol):
    """How far a session has counted."""

    @property
    def sequence(self) -> int: ...

    @property
    def acknowledged(self) -> int: ...

    @property
    def replay_floor(self) -> int: ...

    @property
    def retained_count(self) -> int: ...


class Placed(Protocol):
    """The place of a session at a gateway node."""

    def kept(self) -> KeptPlace:
        """The record of the place for a restart."""
        ...


@runtime_checkable
class ReachablePlace(Placed, Protocol):
    """Such a place while its node runs."""

    def strike(self, action: str, close: Close | None, milliseconds: int) -> None:
        """Do something to the socket that holds the session: `close`, `reconnect`, `drop` or `stall`."""
        ...

    async def standing(self) -> SessionCounts | None:
        """How far the session has counted; None if no node can say."""
        ...


class ReplayingSocket(Receiver, Protocol):
    """The socket that is being sent the replay."""

    def close(self, close: Close) -> None:
        """Close with this code and reason."""
        ...


@define(eq=False)
class ReplayQueue:
    """Stands in for the socket while a replay runs: live Dispatches wait here, in order, until it is through."""

    _connection: ReplayingSocket
    _retained: Sequence[tuple[int, OutgoingEvent]]
    _waiting: collections.deque[tuple[int, OutgoingEvent]] = attrs.field(factory=collections.deque, init=False)

    def entries(self) -> Iterator[tuple[int, OutgoingEvent]]:
        """The Dispatches to send before Resumed, in order; it grows while it is read."""
        yield from self._retained
        while self._waiting:
            yield self._waiting.popleft()

    def belongs_to(self, connection: ReplayingSocket) -> bool:
        """Whether it stands in for this socket."""
        return self._connection is connection

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        self._waiting.append((sequence, event))
        self._bound()

    def deliver_run(self, first: int, run: EventRun) -> None:
        self._waiting.extend(enumerate(run.events, first))
        self._bound()

    def _bound(self) -> None:
        if len(self._waiting) > REPLAY_DISPATCHES:
            # The peer does not keep up; the session stays retained.
            self._connection.close(close_codes.OUTBOX_FULL)

    def send_payload(self, data: bytes) -> None:
        self._connection.send_payload(data)

    def session_ended(self) -> None:
        self._connection.session_ended()

    def failed(self) -> None:
        self._connection.failed()

    def displaced(self) -> None:
        self._connection.displaced()

    async def drained(self, below_bytes: int) -> None:
        await self._connection.drained(below_bytes)


def is_held_by(session: GatewaySession, socket: ReplayingSocket) -> bool:
    """Whether this socket holds the session, or is being sent its replay."""
    receiver = session.receiver
    return receiver is socket or (isinstance(receiver, ReplayQueue) and receiver.belongs_to(socket))
