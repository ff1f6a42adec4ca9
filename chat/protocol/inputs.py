"""What can happen to a gateway connection, as the machine is told it, and what kind of thing that is.

Answers (`SessionStarted`, `ResumeAccepted`, `SequenceAccepted`, ...) belong to the latest effect that asked for them;
news that comes after its question is settled changes nothing.

`settle` gives an input its kind: the conditions of the state table that lie in the input itself. What depends on the
connection's past as well (deadlines, waiting commands, unanswered questions) is left to the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.protocol.commands import Heartbeat, Identify, Resume, SessionCommand, parse_identify, parse_resume
from chat.protocol.payload import Payload
from chat.protocol.transitions import Kind
from chat.registries.close_codes import ALREADY_AUTHENTICATED, RATE_LIMITED, UNKNOWN_OPCODE, Close
from chat.registries.opcodes import SESSION_COMMANDS, Opcode


class Input:
    """What the machine is told. An input that exists is already valid."""

    __slots__ = ()


@attrs.frozen
class Opened(Input):
    """The WebSocket is accepted, and this is what was found out about it; judged in the order of the fields."""

    version_accepted: bool
    capacity_available: bool
    compression_available: bool
    """False only where compression was asked for and cannot be loaded."""


@attrs.frozen
class Received(Input):
    """A client message, decompressed and decoded."""

    payload: Payload


@attrs.frozen
class Faulted(Input):
    """A client message that fails before or after the machine: size, compression, JSON, or the members of a command."""

    close: Close


@attrs.frozen
class CommandBudgetExceeded(Input):
    """The client sends more payloads than a socket, a session or an address may."""


@attrs.frozen
class DeadlineReached(Input):
    """The moment that `next_deadline` named may have come; too early does no harm."""


@attrs.frozen
class SessionStarted(Input):
    """The session of the latest `BeginStart` exists; Ready is sent."""


@attrs.frozen
class StartRefused(Input):
    """The start failed for good."""

    close: Close


@attrs.frozen
class StartPostponed(Input):
    """The start failed for now: draining, at capacity, paused, outside the rollout, RPC failure, timeout."""


@attrs.frozen
class StartDiscarded(Input):
    """The address has used up its Identify budget: as if nothing had been sent."""


@attrs.frozen
class HeldRetried(Input):
    """The timer of the latest `HoldIdentify` fired."""


@attrs.frozen
class ResumeAccepted(Input):
    """The session of the latest `BeginResume` is attached to this socket."""


@attrs.frozen
class ResumeRefused(Input):
    """Wrong token, sequence out of bounds, or a session that cannot be reached."""

    close: Close


@attrs.frozen
class ResumeUnknown(Input):
    """No such session, or no longer, or too much of it is evicted."""


@attrs.frozen
class ReplayFinished(Input):
    """All retained Dispatches are sent."""


@attrs.frozen
class SequenceAccepted(Input):
    """The session knows the sequence of the oldest unanswered `ConfirmSequence`."""


@attrs.frozen
class SequenceRefused(Input):
    """The session does not: it is above the current one."""


@attrs.frozen
class SequenceUnconfirmed(Input):
    """The session could not be asked. The machine waits 5,000 ms by itself; this is for who knows sooner."""


@attrs.frozen
class SessionEnded(Input):
    """The session's process ended, or its credential is revoked: there is nothing to resume."""


@attrs.frozen
class Displaced(Input):
    """Another socket attached the session with Resume."""


@attrs.frozen
class DrainRequested(Input):
    """The node drains, or transfers the session."""


@attrs.frozen
class ProcessEnding(Input):
    """The process is about to end: no socket can stay."""


@attrs.frozen
class TransportEnded(Input):
    """The socket is gone, however it went."""


Subject = Heartbeat | Identify | Resume | SessionCommand | Close | None


@attrs.frozen
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
