"""Gives what happened its kind: the conditions of the state table that lie in the input itself.

What depends on the connection's past as well (deadlines, waiting commands, unanswered questions) is left to the
machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.protocol.commands import Heartbeat, Identify, Resume, SessionCommand, parse_identify, parse_resume
from chat.protocol.inputs import (
    CommandBudgetExceeded,
    DeadlineReached,
    Displaced,
    DrainRequested,
    Faulted,
    HeldRetried,
    Input,
    Opened,
    ProcessEnding,
    Received,
    ReplayFinished,
    ResumeAccepted,
    ResumeRefused,
    ResumeUnknown,
    SequenceAccepted,
    SequenceRefused,
    SequenceUnconfirmed,
    SessionEnded,
    SessionStarted,
    StartDiscarded,
    StartPostponed,
    StartRefused,
    TransportEnded,
)
from chat.protocol.payload import Payload
from chat.protocol.transitions import Kind
from chat.registries.close_codes import ALREADY_AUTHENTICATED, RATE_LIMITED, UNKNOWN_OPCODE, Close
from chat.registries.opcodes import SESSION_COMMANDS, Opcode

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
