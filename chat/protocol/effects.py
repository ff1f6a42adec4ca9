"""What the machine wants done, in order. The runtime does it and reports back with inputs."""

from __future__ import annotations

import attrs

from chat.protocol.commands import Identify, Resume, SessionCommand
from chat.registries.close_codes import Close


class Effect:
    """What the machine wants done."""

    __slots__ = ()


@attrs.frozen
class SendHello(Effect):
    """Hello, with the heartbeat interval that the machine was made with."""


@attrs.frozen
class SendHeartbeatAck(Effect):
    """Opcode 11."""


@attrs.frozen
class SendHeartbeatRequest(Effect):
    """The server's own opcode 1."""


@attrs.frozen
class SendInvalidSession(Effect):
    """Opcode 9 with false."""


@attrs.frozen
class SendReconnect(Effect):
    """Opcode 7; `CloseSocket` follows."""


@attrs.frozen
class SendResumed(Effect):
    """Resumed, with the session's current sequence, which it does not advance."""


@attrs.frozen
class CloseSocket(Effect):
    """The close frame, and the end of this connection."""

    close: Close


@attrs.frozen
class BeginStart(Effect):
    """Create a session; answer with one of SessionStarted, StartRefused, StartPostponed, StartDiscarded.

    A `retried` Identify was held before and does not count against the Identify budget again.
    """

    identify: Identify
    retried: bool = False


@attrs.frozen
class BeginResume(Effect):
    """Find and attach a session; answer with one of ResumeAccepted, ResumeRefused, ResumeUnknown."""

    resume: Resume


@attrs.frozen
class Replay(Effect):
    """Send every retained Dispatch above the sequence of the Resume; answer with ReplayFinished."""


@attrs.frozen
class DetachSession(Effect):
    """The session leaves this socket and is retained; the socket goes on."""


@attrs.frozen
class RetainSession(Effect):
    """The socket is done for; its session is retained for 60,000 ms."""


@attrs.frozen
class HoldIdentify(Effect):
    """Start a timer of 1,000 to 1,999 ms, in place of one that runs; answer with HeldRetried."""

    identify: Identify


@attrs.frozen
class DropHeldIdentify(Effect):
    """Stop that timer."""


@attrs.frozen
class ConfirmSequence(Effect):
    """Record the sequence as acknowledged; answer with SequenceAccepted or SequenceRefused, in order of asking."""

    sequence: int


@attrs.frozen
class Process(Effect):
    """Do what the client asks of its session."""

    command: SessionCommand
