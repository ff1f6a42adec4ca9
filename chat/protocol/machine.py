"""One gateway connection without I/O: inputs in, effects out (gateway.md, States).

The table of `chat.protocol.transitions` decides; the machine keeps what the table's steps speak of: the deadlines, the
Identify that is held, and the commands that wait while a session starts.

Answers (`SessionStarted`, `ResumeAccepted`, `SequenceAccepted`, ...) belong to the latest effect that asked for them;
news that comes after its question is settled changes nothing. `settle` gives an input its kind: the conditions of the
state table that lie in the input itself. The machine looks at its deadlines and at what is pending.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from chat.classes import frozen
from chat.protocol.commands import Heartbeat, Identify, Resume, SessionCommand, parse_identify, parse_resume
from chat.protocol.payload import Payload
from chat.protocol.transitions import (
    TRANSITIONS,
    BeginResume,
    BeginStart,
    CloseSocket,
    ConfirmSequence,
    DropHeldIdentify,
    Effect,
    HoldIdentify,
    Kind,
    Process,
    SendHeartbeatAck,
    SendHeartbeatRequest,
    State,
    Step,
)
from chat.registries.close_codes import ALREADY_AUTHENTICATED, RATE_LIMITED, UNKNOWN_OPCODE, Close
from chat.registries.limits import (
    COMMANDS_WAITING_WHILE_STARTING,
    HEARTBEAT_DEADLINE_MS,
    HEARTBEAT_INTERVAL_MS,
    SEQUENCE_CONFIRMATION_MS,
    SERVER_HEARTBEAT_AFTER_MS,
)
from chat.registries.opcodes import SESSION_COMMANDS, Opcode

REQUEST_PART: Final = SERVER_HEARTBEAT_AFTER_MS / HEARTBEAT_INTERVAL_MS
"""The part of the interval after which the server asks (gateway.md, Heartbeat)."""


class Deadlines:
    """When a connection wants to be looked at again, from Hello on: exact deadlines in seconds, no ticks (gateway.md,
    Heartbeat).

    Since the last acknowledgement: after 90 per cent of the interval the server asks for a Heartbeat, once; when more
    than 45,000 ms have passed the socket closes. At 45,000 ms sharp it is still open, so the deadline lies one
    millisecond later. A sequence that waits for its session is given up after 5,000 ms.
    """

    __slots__ = ("_acknowledged_at", "_interval", "_requested", "_unconfirmed")

    def __init__(self, heartbeat_interval_ms: int, now: float) -> None:
        self._interval = heartbeat_interval_ms / 1000
        self._acknowledged_at = now
        self._requested = False
        self._unconfirmed: deque[float] = deque()

    def acknowledge(self, now: float) -> None:
        """A Heartbeat is acknowledged at this moment."""
        self._acknowledged_at = now
        self._requested = False

    def request(self) -> None:
        """The server's Heartbeat is sent."""
        self._requested = True

    @property
    def requested(self) -> bool:
        """Whether the server's Heartbeat waits for an answer."""
        return self._requested

    @property
    def unconfirmed(self) -> int:
        """How many sequences wait for their session's word."""
        return len(self._unconfirmed)

    def await_confirmation(self, now: float) -> None:
        """One sequence more waits."""
        self._unconfirmed.append(now + SEQUENCE_CONFIRMATION_MS / 1000)

    def confirm(self) -> None:
        """The oldest of those is confirmed."""
        self._unconfirmed.popleft()

    def next(self) -> float:
        """The earliest moment at which `due` has something to say."""
        heartbeat = self._overdue_at if self._requested else min(self._requested_at, self._overdue_at)
        return min(heartbeat, self._unconfirmed[0]) if self._unconfirmed else heartbeat

    def due(self, now: float) -> Kind:
        """What has fallen due by now, the gravest first."""
        if now >= self._overdue_at:
            return Kind.HEARTBEAT_OVERDUE
        if self._unconfirmed and now >= self._unconfirmed[0]:
            return Kind.SEQUENCE_REFUSED
        if not self._requested and now >= self._requested_at:
            return Kind.HEARTBEAT_DUE
        return Kind.NO_NEWS

    @property
    def _requested_at(self) -> float:
        return self._acknowledged_at + self._interval * REQUEST_PART

    @property
    def _overdue_at(self) -> float:
        return self._acknowledged_at + (HEARTBEAT_DEADLINE_MS + 1) / 1000


class Machine:
    """The protocol side of one socket; `now` is monotonic time in seconds, always from the same clock."""

    __slots__ = ("_deadlines", "_held", "_starting", "_state", "_waiting")

    def __init__(self, heartbeat_interval_ms: int, now: float) -> None:
        self._deadlines = Deadlines(heartbeat_interval_ms, now)
        self._state = State.OPENING
        self._starting: Identify | None = None
        self._held: Identify | None = None
        self._waiting: deque[Settled] = deque()

    @property
    def state(self) -> State:
        """Where the connection stands."""
        return self._state

    @property
    def awaits_heartbeat(self) -> bool:
        """Whether the client was asked for a Heartbeat and has not sent one."""
        return self._deadlines.requested and self.next_deadline() is not None

    def next_deadline(self) -> float | None:
        """When `DeadlineReached` is to be handled; None before Hello and after the end."""
        return None if self._state in (State.OPENING, State.CLOSED) else self._deadlines.next()

    def handle(self, event: Input, now: float) -> list[Effect]:
        """What is to be done because of `event`, in order; no input raises in any state."""
        return self._follow(
            Settled(self._deadlines.due(now)) if isinstance(event, DeadlineReached) else settle(event), now
        )

    def handle_waiting(self, now: float) -> list[Effect]:
        """What is to be done because of the next command that waited for a start; empty when none is left to judge.

        Call it after each `handle`, again and again until it is empty. One command at a time, because what comes
        of it (a command that its session refuses closes the socket) decides in which state the next one is judged.
        """
        effects: list[Effect] = []
        while self._waiting and not effects and self._state is not State.STARTING:
            effects = self._follow(self._waiting.popleft(), now)
        return effects

    def _follow(self, settled: Settled, now: float) -> list[Effect]:
        effects: list[Effect] = []
        rule = TRANSITIONS[self._state, self._kind(settled.kind)]
        for step in rule.steps:
            if isinstance(step, Step):
                effects.extend(self._take(step, settled, now))
            else:
                effects.append(step)
        if self._state is State.OPENING:
            self._deadlines.acknowledge(now)  # the deadlines run from Hello
        self._state = rule.next_state
        if self._state is not State.STARTING:
            self._starting = None  # only a start that is postponed needs it again
        return effects

    def _kind(self, kind: Kind) -> Kind:
        """The kind in the light of what is pending."""
        match kind:
            case Kind.SEQUENCE_ACCEPTED | Kind.SEQUENCE_REFUSED if not self._deadlines.unconfirmed:
                return Kind.NO_NEWS
            case Kind.HELD_RETRIED if self._held is None:
                return Kind.NO_NEWS
            case _ if self._state is State.STARTING and self._overflows(kind):
                return Kind.WAITING_FULL
            case _:
                return kind

    def _overflows(self, kind: Kind) -> bool:
        """Whether one more command waits than may; a retry that is due is no command."""
        waits = Step.WAIT in TRANSITIONS[State.STARTING, kind].steps and kind is not Kind.HELD_RETRIED
        return waits and len(self._waiting) >= COMMANDS_WAITING_WHILE_STARTING

    def _take(self, step: Step, settled: Settled, now: float) -> list[Effect]:
        """Complete a step with what it speaks of."""
        match step, settled.subject:
            case Step.ACKNOWLEDGE, _:
                return self._acknowledge(now)
            case Step.CONFIRM, Heartbeat(sequence):
                self._deadlines.await_confirmation(now)
                return [ConfirmSequence(sequence)]
            case Step.ACKNOWLEDGE_CONFIRMED, _:
                self._deadlines.confirm()
                return self._acknowledge(now)
            case Step.ACKNOWLEDGE_UNCONFIRMED, _:
                return self._acknowledge_unconfirmed(now)
            case Step.REQUEST_HEARTBEAT, _:
                self._deadlines.request()
                return [SendHeartbeatRequest()]
            case Step.BEGIN_START, Identify() as identify:
                return self._begin(identify, retried=False)
            case Step.RETRY_START, _ if self._held is not None:
                return self._begin_held(self._held)
            case Step.BEGIN_RESUME, Resume() as resume:
                return [BeginResume(resume)]
            case Step.HOLD, _ if self._starting is not None:
                return self._hold(self._starting)
            case Step.DROP_HELD, _ if self._held is not None:
                self._held = None
                return [DropHeldIdentify()]
            case Step.WAIT, _:
                self._waiting.append(settled)
            case Step.PROCESS, SessionCommand() as command:
                return [Process(command)]
            case Step.REFUSE, Close() as close:
                return [CloseSocket(close)]
        return []

    def _acknowledge(self, now: float) -> list[Effect]:
        self._deadlines.acknowledge(now)
        return [SendHeartbeatAck()]

    def _acknowledge_unconfirmed(self, now: float) -> list[Effect]:
        effects: list[Effect] = []
        while self._deadlines.unconfirmed:
            self._deadlines.confirm()
            effects += self._acknowledge(now)
        return effects

    def _begin(self, identify: Identify, *, retried: bool) -> list[Effect]:
        self._starting = identify
        return [BeginStart(identify, retried)]

    def _begin_held(self, held: Identify) -> list[Effect]:
        self._held = None
        return self._begin(held, retried=True)

    def _hold(self, identify: Identify) -> list[Effect]:
        self._held = identify
        retry_due = Settled(Kind.HELD_RETRIED)  # meant the one that is replaced now
        self._waiting = deque(settled for settled in self._waiting if settled != retry_due)
        return [HoldIdentify(identify)]


class Input:
    """What the machine is told. An input that exists is already valid."""

    __slots__ = ()


@frozen
class Opened(Input):
    """The WebSocket is accepted, and this is what was found out about it; judged in the order of the fields."""

    version_accepted: bool
    capacity_available: bool
    compression_available: bool
    """False only where compression was asked for and cannot be loaded."""


@frozen
class Received(Input):
    """A client message, decompressed and decoded."""

    payload: Payload


@frozen
class Faulted(Input):
    """A client message that fails before or after the machine: size, compression, JSON, or the members of a command."""

    close: Close


@frozen
class CommandBudgetExceeded(Input):
    """The client sends more payloads than a socket, a session or an address may."""


@frozen
class DeadlineReached(Input):
    """The moment that `next_deadline` named may have come; too early does no harm."""


@frozen
class SessionStarted(Input):
    """The session of the latest `BeginStart` exists; Ready is sent."""


@frozen
class StartRefused(Input):
    """The start failed for good."""

    close: Close


@frozen
class StartPostponed(Input):
    """The start failed for now: draining, at capacity, paused, outside the rollout, RPC failure, timeout."""


@frozen
class StartDiscarded(Input):
    """The address has used up its Identify budget: as if nothing had been sent."""


@frozen
class HeldRetried(Input):
    """The timer of the latest `HoldIdentify` fired."""


@frozen
class ResumeAccepted(Input):
    """The session of the latest `BeginResume` is attached to this socket."""


@frozen
class ResumeRefused(Input):
    """Wrong token, sequence out of bounds, or a session that cannot be reached."""

    close: Close


@frozen
class ResumeUnknown(Input):
    """No such session, or no longer, or too much of it is evicted."""


@frozen
class ReplayFinished(Input):
    """All retained Dispatches are sent."""


@frozen
class SequenceAccepted(Input):
    """The session knows the sequence of the oldest unanswered `ConfirmSequence`."""


@frozen
class SequenceRefused(Input):
    """The session does not: it is above the current one."""


@frozen
class SequenceUnconfirmed(Input):
    """The session could not be asked. The machine waits 5,000 ms by itself; this is for who knows sooner."""


@frozen
class SessionEnded(Input):
    """The session's process ended, or its credential is revoked: there is nothing to resume."""


@frozen
class Displaced(Input):
    """Another socket attached the session with Resume."""


@frozen
class DrainRequested(Input):
    """The node drains, or transfers the session."""


@frozen
class ProcessEnding(Input):
    """The process is about to end: no socket can stay."""


@frozen
class TransportEnded(Input):
    """The socket is gone, however it went."""


Subject = Heartbeat | Identify | Resume | SessionCommand | Close | None


@frozen
class Settled:
    """What happened: its kind, and the command or the Close that the steps of the table speak of."""

    kind: Kind
    subject: Subject = None


def settle(event: Input) -> Settled:
    """The kind of an input."""
    match event:
        case Received(payload):
            return settle_payload(payload)
        case Opened():
            return Settled(_kind_of_opening(event))
        case Faulted(close):
            return Settled(Kind.FAULT, close)
        case CommandBudgetExceeded():
            return Settled(Kind.FAULT, RATE_LIMITED)
        case StartRefused(close):
            return Settled(Kind.START_REFUSED, close)
        case ResumeRefused(close):
            return Settled(Kind.RESUME_REFUSED, close)
        case _:
            return Settled(_KINDS[type(event)])


def _kind_of_opening(opened: Opened) -> Kind:
    if not opened.version_accepted:
        return Kind.VERSION_REFUSED
    if not opened.capacity_available:
        return Kind.CAPACITY_EXHAUSTED
    if not opened.compression_available:
        return Kind.COMPRESSION_UNAVAILABLE
    return Kind.OPENED


_KINDS: Final[Mapping[type[Any], Kind]] = {
    DeadlineReached: Kind.NO_NEWS,  # until the machine looks at its deadlines
    SessionStarted: Kind.SESSION_STARTED,
    StartPostponed: Kind.START_POSTPONED,
    StartDiscarded: Kind.START_DISCARDED,
    HeldRetried: Kind.HELD_RETRIED,
    ResumeAccepted: Kind.RESUME_ACCEPTED,
    ResumeUnknown: Kind.RESUME_UNKNOWN,
    ReplayFinished: Kind.REPLAY_FINISHED,
    SequenceAccepted: Kind.SEQUENCE_ACCEPTED,
    SequenceRefused: Kind.SEQUENCE_REFUSED,
    SequenceUnconfirmed: Kind.SEQUENCE_REFUSED,
    SessionEnded: Kind.SESSION_ENDED,
    Displaced: Kind.DISPLACED,
    DrainRequested: Kind.DRAIN_REQUESTED,
    ProcessEnding: Kind.PROCESS_ENDING,
    TransportEnded: Kind.TRANSPORT_ENDED,
}


def settle_payload(payload: Payload) -> Settled:
    """The kind of a client message (gateway.md, Order of inbound checks)."""
    if not payload.has_d:
        expects_object = payload.op in (Opcode.IDENTIFY, Opcode.RESUME)
        return Settled(Kind.FAULT, ALREADY_AUTHENTICATED if expects_object else UNKNOWN_OPCODE)
    if payload.op == Opcode.HEARTBEAT:
        return Settled(_kind_of_heartbeat(payload.d), Heartbeat(payload.d))
    if payload.op == Opcode.IDENTIFY:
        identify = parse_identify(payload.d)
        return Settled(Kind.MALFORMED_IDENTIFY if isinstance(identify, Close) else Kind.IDENTIFY, identify)
    if payload.op == Opcode.RESUME:
        resume = parse_resume(payload.d)
        return Settled(Kind.MALFORMED_RESUME if isinstance(resume, Close) else Kind.RESUME, resume)
    if payload.op in SESSION_COMMANDS:
        return Settled(Kind.COMMAND, SessionCommand(Opcode(payload.op), payload.d))
    return Settled(Kind.UNKNOWN_OPCODE)


def _kind_of_heartbeat(d: Any) -> Kind:
    if d is None:
        return Kind.HEARTBEAT
    if type(d) is int and d >= 0:
        return Kind.SEQUENCE_HEARTBEAT
    return Kind.INVALID_HEARTBEAT
