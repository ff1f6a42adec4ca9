"""What the machine wants done, in order. The runtime does it and reports back with inputs."""

from __future__ import annotations

import attrs

from chat.protocol.commands import Identify, Resume, SessionCommand
from chat.registries.close_codes import Close


@attrs.frozen
class SendHello:
    """Hello, with the heartbeat interval that the machine was made with."""


@attrs.frozen
class SendHeartbeatAck:
    """Opcode 11."""


@attrs.frozen
class SendHeartbeatRequest:
    """The server's own opcode 1."""


@attrs.frozen
class SendInvalidSession:
    """Opcode 9 with false."""


@attrs.frozen
class SendReconnect:
    """Opcode 7; `CloseSocket` follows."""


@attrs.frozen
class SendResumed:
    """Resumed, with the session's current sequence, which it does not advance."""


@attrs.frozen
class CloseSocket:
    """The close frame, and the end of this connection."""

    close: Close


@attrs.frozen
class BeginStart:
    """Create a session; answer with one of SessionStarted, StartRefused, StartPostponed, StartDiscarded.

    A `retried` Identify was held before and does not count against the Identify budget again.
    """

    identify: Identify
    retried: bool = False


@attrs.frozen
class BeginResume:
    """Find and attach a session; answer with one of ResumeAccepted, ResumeRefused, ResumeUnknown."""

    resume: Resume


@attrs.frozen
class Replay:
    """Send every retained Dispatch above the sequence of the Resume; answer with ReplayFinished."""


@attrs.frozen
class DetachSession:
    """The session leaves this socket and is retained; the socket goes on."""


@attrs.frozen
class RetainSession:
    """The socket is done for; its session is retained for 60,000 ms."""


@attrs.frozen
class HoldIdentify:
    """Start a timer of 1,000 to 1,999 ms, in place of one that runs; answer with HeldRetried."""

    identify: Identify


@attrs.frozen
class DropHeldIdentify:
    """Stop that timer."""


@attrs.frozen
class ConfirmSequence:
    """Record the sequence as acknowledged; answer with SequenceAccepted or SequenceRefused, in order of asking."""

    sequence: int


@attrs.frozen
class Process:
    """Do what the client asks of its session."""

    command: SessionCommand


Effect = (
    SendHello
    | SendHeartbeatAck
    | SendHeartbeatRequest
    | SendInvalidSession
    | SendReconnect
    | SendResumed
    | CloseSocket
    | BeginStart
    | BeginResume
    | Replay
    | DetachSession
    | RetainSession
    | HoldIdentify
    | DropHeldIdentify
    | ConfirmSequence
    | Process
)
