"""Faults of the gateway on demand: sockets that break, close or stall, sessions that end (development.md, Development
routes)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Annotated, Any, Final

import attrs

from chat.api.app import HttpFault
from chat.api.fields import SNOWFLAKE, Length, Range, Refusal
from chat.errors import InvalidFormBody
from chat.gateway.connection import Connection
from chat.gateway.gateway import Gateway
from chat.gateway.session import GatewaySession
from chat.protocol.frames import PEER_CLOSE_CODES, REASON_BYTES
from chat.registries.close_codes import Close
from chat.registries.error_codes import FieldCode


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


# What the route reads: one body for faults of sockets, of sessions and of HTTP answers

STALL_MAXIMUM_MS: Final = 3_600_000
TIMES_MAXIMUM: Final = 1_000_000
EVERYTHING: Final = "all"


class Action(enum.StrEnum):
    """Every `action` that the route knows."""

    DROP = FaultAction.DROP
    CLOSE = FaultAction.CLOSE
    RECONNECT = FaultAction.RECONNECT
    INVALID_SESSION = FaultAction.INVALID_SESSION
    END_SESSION = FaultAction.END_SESSION
    STALL = FaultAction.STALL
    HTTP = "http"


class _TargetForm:
    """`"all"`, or an object with exactly one of `session_id` and `user_id`."""

    def read(self, value: object) -> Target:
        if value == EVERYTHING:
            return Target()
        match value:
            case {"session_id": str(session_id), **others} if not others:
                return Target(session_id=session_id)
            case {"user_id": user_id, **others} if not others:
                return Target(user_id=SNOWFLAKE.read(user_id))
            case _:
                raise Refusal


class _CodeForm:
    """A close code (a number) or an error code (text); which of them is asked for depends on the action."""

    def read(self, value: object) -> int | str:
        if type(value) is int or type(value) is str:
            return value
        raise Refusal


@attrs.frozen
class FaultRequest:
    """The body. Which members matter depends on `action`."""

    action: Action
    target: Annotated[Target, _TargetForm()] | None = None
    code: Annotated[Any, _CodeForm()] | None = None
    reason: Annotated[str, Length(0, REASON_BYTES)] = ""
    ms: Annotated[int, Range(0, STALL_MAXIMUM_MS)] | None = None
    method: Annotated[str, Length(1, 32)] | None = None
    path: Annotated[str, Length(1, 2_048)] | None = None
    status: Annotated[int, Range(400, 599)] | None = None
    times: Annotated[int, Range(1, TIMES_MAXIMUM)] = 1
    retry_after: float | None = None

    @property
    def is_http(self) -> bool:
        """Whether it asks for an answer over HTTP, and not for something of the gateway."""
        return self.action is Action.HTTP

    def as_http_fault(self) -> HttpFault:
        """:raises InvalidFormBody: without a status, for a code that is no text, and for a negative `retry_after`."""
        if self.status is None:
            raise InvalidFormBody.at("status", FieldCode.INVALID_FORMAT)
        if self.code is not None and not isinstance(self.code, str):
            raise InvalidFormBody.at("code", FieldCode.INVALID_FORMAT)
        if self.retry_after is not None and not self.retry_after >= 0:
            raise InvalidFormBody.at("retry_after", FieldCode.INVALID_FORMAT)
        return HttpFault(
            status=self.status,
            times=self.times,
            method=None if self.method is None else self.method.upper(),
            path=self.path,
            code=self.code,
            retry_after=self.retry_after,
        )

    def as_socket_fault(self) -> SocketFault:
        """:raises InvalidFormBody: without a target, and where the action's own members are missing or impossible."""
        if self.target is None:
            raise InvalidFormBody.at("target", FieldCode.INVALID_FORMAT)
        action = FaultAction(self.action.value)
        if action is FaultAction.STALL and self.ms is None:
            raise InvalidFormBody.at("ms", FieldCode.INVALID_FORMAT)
        close = self._close() if action is FaultAction.CLOSE else None
        return SocketFault(action, self.target, close, self.ms or 0)

    def _close(self) -> Close:
        if not isinstance(self.code, int) or self.code not in PEER_CLOSE_CODES:
            raise InvalidFormBody.at("code", FieldCode.INVALID_FORMAT)
        if len(self.reason.encode()) > REASON_BYTES:
            raise InvalidFormBody.at("reason", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
        return Close(self.code, self.reason)
