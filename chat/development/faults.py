"""Faults of the gateway on demand: sockets that break, close or stall, sessions that end (development.md, Development
routes)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final

import attrs

from chat.gateway.connection import Connection
from chat.gateway.gateway import Gateway
from chat.gateway.session import GatewaySession
from chat.registries.close_codes import Close


class FaultAction(enum.StrEnum):
    """What is done to a socket or to a session."""

    DROP = "drop"
    """The transport breaks without a close frame."""

    CLOSE = "close"
    """The socket closes with a chosen code and reason."""

    RECONNECT = "reconnect"
    """Opcode 7, then a close with 4000."""

    INVALID_SESSION = "invalid_session"
    """Opcode 9; the session is over."""

    END_SESSION = "end_session"
    """The session is over; a socket that holds it is told so by opcode 9 (gateway.md, States)."""

    STALL = "stall"
    """No frame leaves for some time."""


SESSION_ACTIONS: Final = frozenset({FaultAction.INVALID_SESSION, FaultAction.END_SESSION})
"""Actions that reach sessions without a socket too."""


@attrs.frozen
class Target:
    """Whom a fault strikes: one session, the sessions of one account, or, where neither is named, everything."""

    session_id: str | None = None
    user_id: int | None = None

    @property
    def is_everything(self) -> bool:
        """Whether sockets without a session are struck as well."""
        return self.session_id is None and self.user_id is None

    def includes(self, session: GatewaySession | None) -> bool:
        """Whether the session, or a socket that holds none, is struck."""
        if session is None:
            return self.is_everything
        return self.session_id in (None, session.id) and self.user_id in (None, session.user_id)


@attrs.frozen
class SocketFault:
    """A fault and whom it strikes. `close` goes with CLOSE, `stall_ms` with STALL."""

    action: FaultAction
    target: Target
    close: Close | None = None
    stall_ms: int = 0


def strike(gateway: Gateway, fault: SocketFault) -> int:
    """Carry the fault out; returns how many sockets or sessions it struck."""
    if fault.action in SESSION_ACTIONS:
        sessions = [session for session in gateway.table if fault.target.includes(session)]
        for session in sessions:
            gateway.table.end(session)
        return len(sessions)
    struck = [connection for connection in gateway.connections if fault.target.includes(connection.session)]
    if fault.action is FaultAction.RECONNECT:
        # A socket without a session is not asked to reconnect (gateway.md, States).
        struck = [connection for connection in struck if connection.session is not None]
    _strike_sockets(struck, fault)
    return len(struck)


def _strike_sockets(connections: Iterable[Connection], fault: SocketFault) -> None:
    for connection in connections:
        match fault.action:
            case FaultAction.DROP:
                connection.cut()
            case FaultAction.RECONNECT:
                connection.drain()
            case FaultAction.STALL:
                connection.stall(fault.stall_ms)
            case FaultAction.CLOSE if fault.close is not None:
                connection.close(fault.close)
