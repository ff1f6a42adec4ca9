"""What can happen to a gateway connection, as the machine is told it.

An input that exists is already valid. Answers (`SessionStarted`, `ResumeAccepted`, `SequenceAccepted`, ...) belong to
the latest effect that asked for them; news that comes after its question is settled changes nothing.
"""

from __future__ import annotations

import attrs

from chat.protocol.payload import Payload
from chat.registries.close_codes import Close


@attrs.frozen
class Opened:
    """The WebSocket is accepted, and this is what was found out about it; judged in the order of the fields."""

    version_accepted: bool
    capacity_available: bool
    compression_available: bool
    """False only where compression was asked for and cannot be loaded."""


@attrs.frozen
class Received:
    """A client message, decompressed and decoded."""

    payload: Payload


@attrs.frozen
class Faulted:
    """A client message that fails before or after the machine: size, compression, JSON, or the members of a command."""

    close: Close


@attrs.frozen
class CommandBudgetExceeded:
    """The client sends more payloads than a socket, a session or an address may."""


@attrs.frozen
class DeadlineReached:
    """The moment that `next_deadline` named may have come; too early does no harm."""


@attrs.frozen
class SessionStarted:
    """The session of the latest `BeginStart` exists; Ready is sent."""


@attrs.frozen
class StartRefused:
    """The start failed for good."""

    close: Close


@attrs.frozen
class StartPostponed:
    """The start failed for now: draining, at capacity, paused, outside the rollout, RPC failure, timeout."""


@attrs.frozen
class StartDiscarded:
    """The address has used up its Identify budget: as if nothing had been sent."""


@attrs.frozen
class HeldRetried:
    """The timer of the latest `HoldIdentify` fired."""


@attrs.frozen
class ResumeAccepted:
    """The session of the latest `BeginResume` is attached to this socket."""


@attrs.frozen
class ResumeRefused:
    """Wrong token, sequence out of bounds, or a session that cannot be reached."""

    close: Close


@attrs.frozen
class ResumeUnknown:
    """No such session, or no longer, or too much of it is evicted."""


@attrs.frozen
class ReplayFinished:
    """All retained Dispatches are sent."""


@attrs.frozen
class SequenceAccepted:
    """The session knows the sequence of the oldest unanswered `ConfirmSequence`."""


@attrs.frozen
class SequenceRefused:
    """The session does not: it is above the current one."""


@attrs.frozen
class SequenceUnconfirmed:
    """The session could not be asked. The machine waits 5,000 ms by itself; this is for who knows sooner."""


@attrs.frozen
class SessionEnded:
    """The session's process ended, or its credential is revoked: there is nothing to resume."""


@attrs.frozen
class Displaced:
    """Another socket attached the session with Resume."""


@attrs.frozen
class DrainRequested:
    """The node drains, or transfers the session."""


@attrs.frozen
class ProcessEnding:
    """The process is about to end: no socket can stay."""


@attrs.frozen
class TransportEnded:
    """The socket is gone, however it went."""


Input = (
    Opened
    | Received
    | Faulted
    | CommandBudgetExceeded
    | DeadlineReached
    | SessionStarted
    | StartRefused
    | StartPostponed
    | StartDiscarded
    | HeldRetried
    | ResumeAccepted
    | ResumeRefused
    | ResumeUnknown
    | ReplayFinished
    | SequenceAccepted
    | SequenceRefused
    | SequenceUnconfirmed
    | SessionEnded
    | Displaced
    | DrainRequested
    | ProcessEnding
    | TransportEnded
)
