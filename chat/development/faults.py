"""Faults on demand (development.md, Faults): sockets that break, close, stall or lag, sessions that end, requests that
are answered with an error."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

from chat.api.fields import SNOWFLAKE, Length, Range, Refusal
from chat.api.http_faults import HttpFault
from chat.api.operation import Policy, Request, Routes
from chat.api.structuring import body_structure
from chat.classes import frozen
from chat.development.node import Development
from chat.errors import FieldError, InvalidFormBody
from chat.gateway.connection import Connection
from chat.gateway.delay import Delay, DelayRule
from chat.gateway.gateway import Gateway
from chat.gateway.session import GatewaySession, ReachablePlace
from chat.protocol.frames import PEER_CLOSE_CODES, REASON_BYTES
from chat.protocol.whole_numbers import whole
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

    DELAY = "delay"
    """Every frame leaves late, in its order, until another delay is set; sockets that come later are struck as well."""


SESSION_ACTIONS: Final = frozenset({FaultAction.INVALID_SESSION, FaultAction.END_SESSION})
"""Actions that reach sessions without a socket too."""


@frozen
class FaultTarget:
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


@frozen
class SocketFault:
    """A fault and whom it strikes. `close` goes with CLOSE, `stall_ms` with STALL, `delay` with DELAY."""

    action: FaultAction
    target: FaultTarget
    close: Close | None = None
    stall_ms: int = 0
    delay: Delay | None = None


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
    if fault.delay is not None:
        gateway.node.delays.add(DelayRule(fault.delay, fault.target.session_id, fault.target.user_id))
    _strike_sockets(struck, fault)
    return len(struck) + _strike_at_nodes(gateway, fault)


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
            case FaultAction.DELAY if fault.delay is not None:
                connection.delay(fault.delay)


def _strike_at_nodes(gateway: Gateway, fault: SocketFault) -> int:
    """Nodes are reached through their sessions: their sockets without one, and delays, are left alone."""
    if fault.action is FaultAction.DELAY:
        return 0
    struck = 0
    for session in gateway.table:
        if isinstance(session.place, ReachablePlace) and session.receiver and fault.target.includes(session):
            session.place.strike(fault.action, fault.close, fault.stall_ms)
            struck += 1
    return struck


# What the route reads: one body for faults of sockets, of sessions and of HTTP answers

STALL_MAXIMUM_MS: Final = 3_600_000
DELAY_MAXIMUM_MS: Final = 60_000
TIMES_MAXIMUM: Final = 1_000_000
EVERYTHING: Final = "all"


class FaultName(enum.StrEnum):
    """Every `action` that the route knows."""

    DROP = FaultAction.DROP
    CLOSE = FaultAction.CLOSE
    RECONNECT = FaultAction.RECONNECT
    INVALID_SESSION = FaultAction.INVALID_SESSION
    END_SESSION = FaultAction.END_SESSION
    STALL = FaultAction.STALL
    DELAY = FaultAction.DELAY
    HTTP = "http"


_SOCKET: Final = "target"
TAKEN: Final[Mapping[FaultName, tuple[str, ...]]] = {
    FaultName.DROP: (_SOCKET,),
    FaultName.CLOSE: (_SOCKET, "code", "reason"),
    FaultName.RECONNECT: (_SOCKET,),
    FaultName.INVALID_SESSION: (_SOCKET,),
    FaultName.END_SESSION: (_SOCKET,),
    FaultName.STALL: (_SOCKET, "ms"),
    FaultName.DELAY: (_SOCKET, "ms", "jitter_ms"),
    FaultName.HTTP: ("status", "method", "path", "code", "times", "retry_after"),
}
"""What each action takes besides `action`."""

EVERY_MEMBER: Final = frozenset({"action"}.union(*TAKEN.values()))
TARGETS: Final = '`target` is "all", {"session_id": "..."} or {"user_id": "..."}.'
ACTIONS: Final = f"`action` is one of {', '.join(TAKEN)}."


def _refused(path: str, message: str) -> InvalidFormBody:
    return InvalidFormBody([FieldError(path, FieldCode.INVALID_FORMAT, message)])


class _ActionForm:
    """One of the actions; another name is answered with all of them."""

    def read(self, value: object) -> FaultName:
        if not isinstance(value, str) or value not in TAKEN:
            raise _refused("root", ACTIONS)
        return FaultName(value)


class _TargetForm:
    """`"all"`, or an object with exactly one of `session_id` and `user_id`."""

    def read(self, value: object) -> FaultTarget:
        if value == EVERYTHING:
            return FaultTarget()
        match value:
            case {"session_id": str(session_id), **others} if not others:
                return FaultTarget(session_id=session_id)
            case {"user_id": user_id, **others} if not others:
                return FaultTarget(user_id=SNOWFLAKE.read(user_id))
            case _:
                raise _refused("root", TARGETS)


class _CodeForm:
    """A close code (a number) or an error code (text); which of them is asked for depends on the action."""

    def read(self, value: object) -> int | str:
        told = whole(value)
        if type(told) is int or type(told) is str:
            return told
        raise Refusal


@frozen
class FaultRequest:
    """The body. Which members matter depends on `action`."""

    action: Annotated[FaultName, _ActionForm()]
    target: Annotated[FaultTarget, _TargetForm()] | None = None
    code: Annotated[Any, _CodeForm()] | None = None
    reason: Annotated[str, Length(0, REASON_BYTES)] = ""
    ms: Annotated[int, Range(0, STALL_MAXIMUM_MS)] | None = None
    jitter_ms: Annotated[int, Range(0, DELAY_MAXIMUM_MS)] = 0
    method: Annotated[str, Length(1, 32)] | None = None
    path: Annotated[str, Length(1, 2_048)] | None = None
    status: Annotated[int, Range(400, 599)] | None = None
    times: Annotated[int, Range(1, TIMES_MAXIMUM)] = 1
    retry_after: float | None = None

    @property
    def is_http(self) -> bool:
        """Whether it asks for an answer over HTTP, and not for something of the gateway."""
        return self.action is FaultName.HTTP

    def as_http_fault(self) -> HttpFault:
        """:raises InvalidFormBody: without a status, for a code that is no text, and for a negative `retry_after`."""
        if self.status is None:
            raise _refused("status", self._takes("a status from 400 to 599"))
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
            raise _refused("target", f"{self._takes('a target')} {TARGETS}")
        action = FaultAction(self.action.value)
        if action in {FaultAction.STALL, FaultAction.DELAY} and self.ms is None:
            raise _refused("ms", self._takes("milliseconds"))
        if action is FaultAction.DELAY and self.ms is not None:
            if self.ms > DELAY_MAXIMUM_MS:
                raise _refused("ms", f"A delay has at most {DELAY_MAXIMUM_MS} ms.")
            return SocketFault(action, self.target, delay=Delay(self.ms, self.jitter_ms))
        close = self._close() if action is FaultAction.CLOSE else None
        return SocketFault(action, self.target, close, self.ms or 0)

    def _takes(self, missing: str) -> str:
        return f"`{self.action}` needs {missing}. It takes {', '.join(TAKEN[self.action])}."

    def _close(self) -> Close:
        if not isinstance(self.code, int) or self.code not in PEER_CLOSE_CODES:
            raise _refused("code", self._takes("a close code (1000 to 1014, 3000 to 4999) that may be sent"))
        if len(self.reason.encode()) > REASON_BYTES:
            raise InvalidFormBody.at("reason", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
        return Close(self.code, self.reason)


def read_fault(body: Mapping[str, Any]) -> FaultRequest:
    """:raises InvalidFormBody: also at a member that no action takes: a misspelt name means another fault."""
    fault: FaultRequest = _structure(body)
    unknown = sorted(set(body) - EVERY_MEMBER)
    if unknown:
        message = f"`{fault.action}` takes {', '.join(TAKEN[fault.action])}."
        raise InvalidFormBody([FieldError(name, FieldCode.INVALID_FORMAT, message) for name in unknown])
    return fault


_structure: Final = body_structure(FaultRequest)

routes = Routes(policy=Policy.NONE, same_origin=True)


@routes.operation("POST", "/v1/_dev/faults")
async def cause_fault(
    request: Request,
    development: Development,
    body: dict[str, Any],  # read_fault gives it a type
) -> dict[str, int]:
    """Strike sockets and sessions now, or HTTP requests to come."""
    read = read_fault(body)
    if not read.is_http:
        return {"affected": strike(development.gateway, read.as_socket_fault())}
    fault = read.as_http_fault()
    development.http_faults.add(fault)
    return {"affected": fault.times}
