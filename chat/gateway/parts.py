"""What the sockets of a gateway share while it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

from chat.classes import frozen
from chat.gateway.admission import Admission, NodeState
from chat.gateway.fanout import Fanout
from chat.gateway.numbering import ResumeVerdict
from chat.gateway.outbox import OutboxSum
from chat.gateway.session import BeginSession, GatewaySession, MakeSession
from chat.gateway.session_table import SessionTable
from chat.gateway.tap import SocketTap
from chat.protocol import machine
from chat.protocol.commands import Identify, Resume, SessionCommand
from chat.registries import close_codes
from chat.registries.close_codes import Close

StartFailure = machine.StartPostponed | machine.StartDiscarded | machine.StartRefused
ResumeFailure = machine.ResumeUnknown | machine.ResumeRefused


@frozen
class Elsewhere:
    """A session that lives in another process; `fetch` brings it here, or says why it cannot."""

    fetch: Callable[[], Awaitable[GatewaySession | ResumeFailure]]


class Starts(Protocol):
    """Makes sessions for Identifies and finds those of Resumes: here (`chat.gateway.starts`), or at the core of a node
    (`chat.nodes.remote`)."""

    async def start(
        self, identify: Identify, address: str, make: MakeSession, begin: BeginSession, *, retried: bool
    ) -> StartFailure | None:
        """Create the session that an Identify asks for, and hand it to `begin` while it is still `starting`; returns
        why there is none."""
        ...

    def find(self, resume: Resume, address: str, mount: str) -> GatewaySession | ResumeFailure | Elsewhere:
        """The session that a Resume names."""
        ...

    async def introduce_guilds(self, session: GatewaySession) -> None:
        """After a bot's Ready: one event for each of its guilds."""
        ...


class Commands(Protocol):
    """Carries out client commands: here (`chat.gateway.commands`), or at the core if this is a node."""

    def handle(self, session: GatewaySession, command: SessionCommand) -> Close | None:
        """Carry out a command, or start to; returns how it closes the socket."""
        ...

    def socket_closed(self, session: GatewaySession) -> None:
        """The socket no longer holds the session."""
        ...

    def session_resumed(self, session: GatewaySession) -> None:
        """A socket took the session up again."""
        ...


@frozen(kw_only=True)
class GatewayParts:
    admission: Admission
    node: NodeState
    table: SessionTable
    starts: Starts
    fanout: Fanout
    commands: Commands
    randint: Callable[[int, int], int]
    """A random whole number between two bounds, both included."""
    heartbeat_interval_ms: int
    outboxes: OutboxSum
    background: trio.Nursery
    """A nursery for tasks that belong to sessions and outlive their sockets."""
    tap: Callable[[str], SocketTap] | None = None
    """Makes the tap that sees the frames of a socket from this address; None if nobody looks (`chat serve`)."""


def judged(session: GatewaySession, seq: int) -> GatewaySession | ResumeFailure:
    """The session if it accepts a Resume from this sequence, else why it does not."""
    return verdict_on(session.numbering.judge_resume(seq)) or session


def verdict_on(verdict: ResumeVerdict) -> ResumeFailure | None:
    """What the machine is told of a Resume that is refused."""
    match verdict:
        case ResumeVerdict.OUT_OF_BOUNDS:
            return machine.ResumeRefused(close_codes.INVALID_SEQUENCE)
        case ResumeVerdict.BELOW_FLOOR:
            return machine.ResumeUnknown()
        case _:
            return None
