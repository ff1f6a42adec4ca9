"""The state table of a gateway connection (gateway.md, States).

What happens is first given a kind: `chat.protocol.machine` looks into the input, the machine at its deadlines and at
what is pending. What remains is flat: a state and a kind lead by a few steps to the next state. A step is an effect as
it stands, or a `Step` that the machine completes with what it holds.

Four thoughts run through the table.

A session is attached in Replaying and Ready only. There Identify is too late, commands are processed, and every way of
closing retains the session, save being displaced, when the session already lives on another socket.

Without a session (Unauthenticated and Starting) a Heartbeat is acknowledged with any sequence, and a command cannot be
processed.

While Starting it is open which of the two it will be: commands wait, and are judged in the state that the start
reaches. Drain and the end of the session are heard as in Ready.

News from the past (an answer that is no longer awaited, a timer that was stopped) changes nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from chat.classes import frozen
from chat.protocol.commands import Identify, Resume, SessionCommand
from chat.registries.close_codes import (
    ALREADY_AUTHENTICATED,
    COMPRESSION_FAILED,
    DRAIN_REQUESTED,
    HEARTBEAT_TIMEOUT,
    INVALID_API_VERSION,
    INVALID_SEQUENCE,
    NOT_AUTHENTICATED,
    RATE_LIMITED,
    TOO_MANY_CONNECTIONS,
    UNKNOWN_OPCODE,
    Close,
)


class Effect:
    __slots__ = ()


@frozen
class SendHello(Effect):
    """Hello, with the heartbeat interval that the machine was made with."""


@frozen
class SendHeartbeatAck(Effect):
    """Opcode 11."""


@frozen
class SendHeartbeatRequest(Effect):
    """The server's own opcode 1."""


@frozen
class SendInvalidSession(Effect):
    """Opcode 9 with false."""


@frozen
class SendReconnect(Effect):
    """Opcode 7; `CloseSocket` follows."""


@frozen
class SendResumed(Effect):
    """Resumed, with the session's current sequence, which it does not advance."""


@frozen
class CloseSocket(Effect):
    """The close frame, and the end of this connection."""

    close: Close


@frozen
class BeginStart(Effect):
    """Create a session; answer with one of SessionStarted, StartRefused, StartPostponed, StartDiscarded.

    A `retried` Identify was held before and does not count against the Identify budget again.
    """

    identify: Identify
    retried: bool = False


@frozen
class BeginResume(Effect):
    """Find and attach a session; answer with one of ResumeAccepted, ResumeRefused, ResumeUnknown."""

    resume: Resume


@frozen
class Replay(Effect):
    """Send every retained Dispatch above the sequence of the Resume; answer with ReplayFinished."""


@frozen
class DetachSession(Effect):
    """The session leaves this socket and is retained; the socket goes on."""


@frozen
class RetainSession(Effect):
    """The socket is done for; its session is retained for 60,000 ms."""


@frozen
class HoldIdentify(Effect):
    """Start a timer of 1,000 to 1,999 ms, in place of one that runs; answer with HeldRetried."""

    identify: Identify


@frozen
class DropHeldIdentify(Effect):
    """Stop that timer."""


@frozen
class ConfirmSequence(Effect):
    """Record the sequence as acknowledged; answer with SequenceAccepted or SequenceRefused, in order of asking."""

    sequence: int


@frozen
class Process(Effect):
    """Do what the client asks of its session."""

    command: SessionCommand


class State(enum.Enum):
    """Where a connection stands (gateway.md, States)."""

    OPENING = "Opening"
    UNAUTHENTICATED = "Unauthenticated"
    STARTING = "Starting"
    REPLAYING = "Replaying"
    READY = "Ready"
    CLOSED = "Closed"


class Kind(enum.Enum):
    """What happened, with all conditions settled."""

    OPENED = enum.auto()
    VERSION_REFUSED = enum.auto()
    CAPACITY_EXHAUSTED = enum.auto()
    COMPRESSION_UNAVAILABLE = enum.auto()

    HEARTBEAT = enum.auto()
    """Opcode 1 with null."""
    SEQUENCE_HEARTBEAT = enum.auto()
    """Opcode 1 with an integer that a session may know."""
    INVALID_HEARTBEAT = enum.auto()
    """Opcode 1 with what no session ever accepts."""
    IDENTIFY = enum.auto()
    MALFORMED_IDENTIFY = enum.auto()
    RESUME = enum.auto()
    MALFORMED_RESUME = enum.auto()
    COMMAND = enum.auto()
    """Any of the commands to a session."""
    UNKNOWN_OPCODE = enum.auto()
    """An opcode outside the registry, or one of the server's."""
    WAITING_FULL = enum.auto()
    """One command more than may wait while a session starts."""
    FAULT = enum.auto()
    """A message that closes the socket in every state."""

    HEARTBEAT_DUE = enum.auto()
    """90 per cent of the interval passed since the last acknowledgement."""
    HEARTBEAT_OVERDUE = enum.auto()
    """More than 45,000 ms passed since the last acknowledgement."""

    SESSION_STARTED = enum.auto()
    START_REFUSED = enum.auto()
    START_POSTPONED = enum.auto()
    START_DISCARDED = enum.auto()
    HELD_RETRIED = enum.auto()
    RESUME_ACCEPTED = enum.auto()
    RESUME_REFUSED = enum.auto()
    RESUME_UNKNOWN = enum.auto()
    REPLAY_FINISHED = enum.auto()
    SEQUENCE_ACCEPTED = enum.auto()
    SEQUENCE_REFUSED = enum.auto()
    """The session does not accept a sequence, or could not confirm it in time."""
    SESSION_ENDED = enum.auto()
    DISPLACED = enum.auto()
    DRAIN_REQUESTED = enum.auto()
    PROCESS_ENDING = enum.auto()
    TRANSPORT_ENDED = enum.auto()
    NO_NEWS = enum.auto()
    """A deadline that has not come, an answer that is not awaited."""


class Step(enum.Enum):
    """An effect, or a change of what the machine holds, that depends on what happened."""

    ACKNOWLEDGE = enum.auto()
    """Heartbeat ACK; both heartbeat deadlines begin anew."""
    CONFIRM = enum.auto()
    """Ask the session about the sequence; the ACK waits for its answer."""
    ACKNOWLEDGE_CONFIRMED = enum.auto()
    """The oldest of those waiting ACKs."""
    ACKNOWLEDGE_UNCONFIRMED = enum.auto()
    """All of them: the session they asked is gone, and without one every Heartbeat is acknowledged."""
    REQUEST_HEARTBEAT = enum.auto()
    """The server's own Heartbeat, once until the next acknowledgement."""
    BEGIN_START = enum.auto()
    RETRY_START = enum.auto()
    """The same with the held Identify, which is held no longer."""
    BEGIN_RESUME = enum.auto()
    HOLD = enum.auto()
    """Hold the Identify whose start was tried, in place of any other."""
    DROP_HELD = enum.auto()
    WAIT = enum.auto()
    """To be judged in the state that the start reaches."""
    PROCESS = enum.auto()
    REFUSE = enum.auto()
    """Close with what the input carries."""


@frozen
class Rule:
    """What a kind of event does in a state: the steps in order, then the next state."""

    next_state: State
    steps: tuple[Effect | Step, ...] = ()


def go(next_state: State, *steps: Effect | Step) -> Rule:
    """A rule, written as it is read."""
    return Rule(next_state, steps)


def shut(close: Close) -> Rule:
    """Close, with no session to think of."""
    return Rule(State.CLOSED, (CloseSocket(close),))


def leave(close: Close) -> Rule:
    """Close, and retain the session."""
    return Rule(State.CLOSED, (CloseSocket(close), RetainSession()))


def stays(state: State, *kinds: Kind) -> dict[tuple[State, Kind], Rule]:
    """Rules of a state for the kinds that change nothing there."""
    return {(state, kind): Rule(state) for kind in kinds}


ABOUT_OPENING: Final = (Kind.OPENED, Kind.VERSION_REFUSED, Kind.CAPACITY_EXHAUSTED, Kind.COMPRESSION_UNAVAILABLE)
ABOUT_START: Final = (Kind.START_REFUSED, Kind.START_POSTPONED, Kind.START_DISCARDED)
ABOUT_RESUME: Final = (Kind.RESUME_REFUSED, Kind.RESUME_UNKNOWN)
ABOUT_SEQUENCE: Final = (Kind.SEQUENCE_ACCEPTED, Kind.SEQUENCE_REFUSED)

OPENING, UNAUTHENTICATED, STARTING, REPLAYING, READY, CLOSED = State
HELLO, RECONNECT, INVALID_SESSION, RESUMED = SendHello(), SendReconnect(), SendInvalidSession(), SendResumed()
DETACH, RETAIN, REPLAY, DRAIN = DetachSession(), RetainSession(), Replay(), CloseSocket(DRAIN_REQUESTED)


def attached(state: State) -> dict[tuple[State, Kind], Rule]:
    """The rules that hold where a session is attached, in Replaying as in Ready."""
    return {
        (state, Kind.HEARTBEAT): go(state, Step.ACKNOWLEDGE),
        (state, Kind.SEQUENCE_HEARTBEAT): go(state, Step.CONFIRM),
        (state, Kind.INVALID_HEARTBEAT): leave(INVALID_SEQUENCE),
        (state, Kind.IDENTIFY): leave(ALREADY_AUTHENTICATED),
        (state, Kind.MALFORMED_IDENTIFY): leave(ALREADY_AUTHENTICATED),
        (state, Kind.RESUME): go(STARTING, Step.ACKNOWLEDGE_UNCONFIRMED, DETACH, Step.BEGIN_RESUME),
        (state, Kind.MALFORMED_RESUME): go(CLOSED, Step.REFUSE, RETAIN),
        (state, Kind.COMMAND): go(state, Step.PROCESS),
        (state, Kind.UNKNOWN_OPCODE): leave(UNKNOWN_OPCODE),
        (state, Kind.FAULT): go(CLOSED, Step.REFUSE, RETAIN),
        (state, Kind.HEARTBEAT_DUE): go(state, Step.REQUEST_HEARTBEAT),
        (state, Kind.HEARTBEAT_OVERDUE): leave(HEARTBEAT_TIMEOUT),
        (state, Kind.SEQUENCE_ACCEPTED): go(state, Step.ACKNOWLEDGE_CONFIRMED),
        (state, Kind.SEQUENCE_REFUSED): leave(INVALID_SEQUENCE),
        (state, Kind.SESSION_ENDED): go(UNAUTHENTICATED, INVALID_SESSION, Step.ACKNOWLEDGE_UNCONFIRMED),
        (state, Kind.DISPLACED): go(CLOSED, RECONNECT, DRAIN),
        (state, Kind.DRAIN_REQUESTED): go(CLOSED, RECONNECT, DRAIN, RETAIN),
        (state, Kind.PROCESS_ENDING): go(CLOSED, RECONNECT, DRAIN, RETAIN),
        (state, Kind.TRANSPORT_ENDED): go(CLOSED, RETAIN),
        **stays(state, *ABOUT_OPENING, Kind.SESSION_STARTED, *ABOUT_START, Kind.HELD_RETRIED),
        **stays(state, Kind.RESUME_ACCEPTED, *ABOUT_RESUME, Kind.WAITING_FULL, Kind.NO_NEWS),
    }


TRANSITIONS: Final[Mapping[tuple[State, Kind], Rule]] = MappingProxyType(
    {
        # Opening lasts from the handshake to Hello: before it, only refusals mean anything.
        **{(OPENING, kind): go(OPENING) for kind in Kind},
        (OPENING, Kind.OPENED): go(UNAUTHENTICATED, HELLO),
        (OPENING, Kind.VERSION_REFUSED): shut(INVALID_API_VERSION),
        (OPENING, Kind.CAPACITY_EXHAUSTED): shut(TOO_MANY_CONNECTIONS),
        (OPENING, Kind.COMPRESSION_UNAVAILABLE): shut(COMPRESSION_FAILED),
        (OPENING, Kind.FAULT): go(CLOSED, Step.REFUSE),
        (OPENING, Kind.PROCESS_ENDING): go(CLOSED, RECONNECT, DRAIN),
        (OPENING, Kind.TRANSPORT_ENDED): go(CLOSED),
        #
        (UNAUTHENTICATED, Kind.HEARTBEAT): go(UNAUTHENTICATED, Step.ACKNOWLEDGE),
        (UNAUTHENTICATED, Kind.SEQUENCE_HEARTBEAT): go(UNAUTHENTICATED, Step.ACKNOWLEDGE),
        (UNAUTHENTICATED, Kind.INVALID_HEARTBEAT): go(UNAUTHENTICATED, Step.ACKNOWLEDGE),
        (UNAUTHENTICATED, Kind.IDENTIFY): go(STARTING, Step.BEGIN_START),
        (UNAUTHENTICATED, Kind.MALFORMED_IDENTIFY): go(CLOSED, Step.REFUSE),
        (UNAUTHENTICATED, Kind.RESUME): go(STARTING, Step.DROP_HELD, Step.BEGIN_RESUME),
        (UNAUTHENTICATED, Kind.MALFORMED_RESUME): go(CLOSED, Step.REFUSE),
        (UNAUTHENTICATED, Kind.COMMAND): shut(NOT_AUTHENTICATED),
        (UNAUTHENTICATED, Kind.UNKNOWN_OPCODE): shut(NOT_AUTHENTICATED),
        (UNAUTHENTICATED, Kind.FAULT): go(CLOSED, Step.REFUSE),
        (UNAUTHENTICATED, Kind.HEARTBEAT_DUE): go(UNAUTHENTICATED, Step.REQUEST_HEARTBEAT),
        (UNAUTHENTICATED, Kind.HEARTBEAT_OVERDUE): shut(HEARTBEAT_TIMEOUT),
        (UNAUTHENTICATED, Kind.SESSION_STARTED): go(UNAUTHENTICATED, DETACH),
        (UNAUTHENTICATED, Kind.HELD_RETRIED): go(STARTING, Step.RETRY_START),
        (UNAUTHENTICATED, Kind.RESUME_ACCEPTED): go(UNAUTHENTICATED, DETACH),
        (UNAUTHENTICATED, Kind.PROCESS_ENDING): go(CLOSED, RECONNECT, DRAIN),
        (UNAUTHENTICATED, Kind.TRANSPORT_ENDED): go(CLOSED),
        **stays(UNAUTHENTICATED, *ABOUT_OPENING, *ABOUT_START, *ABOUT_RESUME, *ABOUT_SEQUENCE),
        **stays(UNAUTHENTICATED, Kind.WAITING_FULL, Kind.REPLAY_FINISHED, Kind.NO_NEWS),
        **stays(UNAUTHENTICATED, Kind.SESSION_ENDED, Kind.DISPLACED, Kind.DRAIN_REQUESTED),
        #
        (STARTING, Kind.HEARTBEAT): go(STARTING, Step.ACKNOWLEDGE),
        (STARTING, Kind.SEQUENCE_HEARTBEAT): go(STARTING, Step.ACKNOWLEDGE),
        (STARTING, Kind.INVALID_HEARTBEAT): go(STARTING, Step.ACKNOWLEDGE),
        (STARTING, Kind.IDENTIFY): go(STARTING, Step.WAIT),
        (STARTING, Kind.MALFORMED_IDENTIFY): go(STARTING, Step.WAIT),
        (STARTING, Kind.RESUME): go(STARTING, Step.WAIT),
        (STARTING, Kind.MALFORMED_RESUME): go(STARTING, Step.WAIT),
        (STARTING, Kind.COMMAND): go(STARTING, Step.WAIT),
        (STARTING, Kind.UNKNOWN_OPCODE): go(STARTING, Step.WAIT),
        (STARTING, Kind.WAITING_FULL): shut(RATE_LIMITED),
        (STARTING, Kind.FAULT): go(CLOSED, Step.REFUSE),
        (STARTING, Kind.HEARTBEAT_DUE): go(STARTING, Step.REQUEST_HEARTBEAT),
        (STARTING, Kind.HEARTBEAT_OVERDUE): shut(HEARTBEAT_TIMEOUT),
        (STARTING, Kind.SESSION_STARTED): go(READY, Step.DROP_HELD),
        (STARTING, Kind.START_REFUSED): go(CLOSED, Step.REFUSE),
        (STARTING, Kind.START_POSTPONED): go(UNAUTHENTICATED, Step.HOLD),
        (STARTING, Kind.START_DISCARDED): go(UNAUTHENTICATED),
        (STARTING, Kind.HELD_RETRIED): go(STARTING, Step.WAIT),
        (STARTING, Kind.RESUME_ACCEPTED): go(REPLAYING, REPLAY),
        (STARTING, Kind.RESUME_REFUSED): go(CLOSED, Step.REFUSE),
        (STARTING, Kind.RESUME_UNKNOWN): go(UNAUTHENTICATED, INVALID_SESSION),
        (STARTING, Kind.SESSION_ENDED): go(UNAUTHENTICATED, INVALID_SESSION),
        (STARTING, Kind.DRAIN_REQUESTED): go(CLOSED, RECONNECT, DRAIN),
        (STARTING, Kind.PROCESS_ENDING): go(CLOSED, RECONNECT, DRAIN),
        (STARTING, Kind.TRANSPORT_ENDED): go(CLOSED),
        **stays(STARTING, *ABOUT_OPENING, *ABOUT_SEQUENCE, Kind.REPLAY_FINISHED, Kind.DISPLACED, Kind.NO_NEWS),
        #
        **attached(REPLAYING),
        (REPLAYING, Kind.REPLAY_FINISHED): go(READY, RESUMED),
        #
        **attached(READY),
        (READY, Kind.REPLAY_FINISHED): go(READY),
        # Closed is the end; a session that comes too late is retained, for no socket holds it.
        **{(CLOSED, kind): go(CLOSED) for kind in Kind},
        (CLOSED, Kind.SESSION_STARTED): go(CLOSED, RETAIN),
        (CLOSED, Kind.RESUME_ACCEPTED): go(CLOSED, RETAIN),
    }
)
"""Every state with every kind."""
