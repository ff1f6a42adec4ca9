"""The development routes (development.md, Development routes): mounted only under `chat dev` and in the test kit.

They ask for no credential, so no page that a developer happens to open may reach them. Here too are the faults of the
gateway on demand: sockets that break, close or stall, sessions that end.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Annotated, Any, Final

import attrs
import trio

from chat.api.app import HttpFault
from chat.api.fields import SNOWFLAKE, Items, Length, Range, Refusal, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.development.node import OFFSET_MAXIMUM_MS, ClockMover, Development, NodeChange, node_of, reset
from chat.development.world_state import (
    GUILDS_MAXIMUM,
    AccountChange,
    GuildChange,
    change_account,
    change_guild,
    make_guilds,
)
from chat.domain.signing_in.mail_sink import MailSink
from chat.domain.standing.relationships import RelationshipType
from chat.errors import ApiError, InvalidFormBody
from chat.gateway.connection import Connection
from chat.gateway.gateway import Gateway
from chat.gateway.session import GatewaySession
from chat.protocol.commands import Shard, parse_shard
from chat.protocol.frames import PEER_CLOSE_CODES, REASON_BYTES
from chat.registries.close_codes import Close
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.statuses import Status
from chat.store.accounts import accounts


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


# The routes

routes = Routes(policy=Policy.NONE, same_origin=True)


@routes.operation("GET", "/v1/_dev/mail")
async def list_mail(request: Request, development: Development) -> list[dict[str, Any]]:
    """The mail kept so far, oldest first."""
    return await MailSink(database=development.core.database).kept()


@routes.operation("DELETE", "/v1/_dev/mail")
async def clear_mail(request: Request, development: Development) -> None:
    """Forget the mail kept so far."""
    await MailSink(database=development.core.database).clear()


@routes.operation("GET", "/v1/_dev/sessions")
async def list_sessions(request: Request, development: Development) -> list[dict[str, Any]]:
    """The live gateway sessions, attached and retained."""
    return [_session_object(session) for session in development.gateway.table]


def _session_object(session: GatewaySession) -> dict[str, Any]:
    """One live session, attached or retained.

    `status` is the one the session selected, or offline since it counts as such.
    """
    numbering = session.numbering
    offline = session.offline_at is not None and session.offline_at <= trio.current_time()
    return {
        "id": session.id,
        "user_id": str(session.user_id),
        "bot": session.bot,
        "shard": None if session.shard is None else session.shard.as_pair(),
        "sequence": numbering.sequence,
        "acknowledged": numbering.acknowledged,
        "replay_floor": numbering.replay_floor,
        "retained_dispatches": numbering.retained_count,
        "attached": session.receiver is not None,
        "address": session.address,
        "status": Status.OFFLINE if offline else session.presence.status,
    }


@routes.operation("POST", "/v1/_dev/faults")
async def cause_fault(request: Request, development: Development, body: FaultRequest) -> dict[str, int]:
    """Strike sockets and sessions now, or HTTP requests to come."""
    if not body.is_http:
        return {"affected": strike(development.gateway, body.as_socket_fault())}
    fault = body.as_http_fault()
    development.http_faults.add(fault)
    return {"affected": fault.times}


@attrs.frozen
class ClockAdvance:
    """How far to move the clock."""

    advance_ms: Annotated[int, Range(0, OFFSET_MAXIMUM_MS)]


@routes.operation("GET", "/v1/_dev/clock")
async def read_clock(request: Request, development: Development) -> dict[str, Any]:
    """The server's time."""
    return _clock_mover(development).reading()


@routes.operation("POST", "/v1/_dev/clock")
async def advance_clock(request: Request, development: Development, body: ClockAdvance) -> dict[str, Any]:
    """Move the server's clock forward; answers after the timers that fell due have run."""
    mover = _clock_mover(development)
    async with development.turn:
        if development.clock.skipped_ms + body.advance_ms > OFFSET_MAXIMUM_MS:
            raise InvalidFormBody.at("advance_ms", FieldCode.INVALID_FORMAT)
        await mover.advance(body.advance_ms)
        return mover.reading()


def _clock_mover(development: Development) -> ClockMover:
    return ClockMover(development.clock, development.core.database, lambda: development.gateway.connections)


@routes.operation("POST", "/v1/_dev/gateway")
async def change_node(request: Request, development: Development, body: NodeChange) -> dict[str, Any]:
    """Set the node's state."""
    node = node_of(development)
    node.change(body)
    return node.state()


@routes.operation("POST", "/v1/_dev/users/{user_id}")
async def set_account_state(
    request: Request, development: Development, user_id: int, body: AccountChange
) -> dict[str, Any]:
    """Set account state directly."""
    return await change_account(development, user_id, body)


# An empty object is a member without anything of its own here, so it may not become null.
@routes.operation("POST", "/v1/_dev/guilds/{guild_id}", empty_strings_are_null=False)
async def set_guild_state(
    request: Request, development: Development, guild_id: int, body: GuildChange
) -> dict[str, Any]:
    """Set guild state directly."""
    return await change_guild(development, guild_id, body)


@attrs.frozen
class GuildsInBulk:
    """How many guilds, with whom, and on which shard."""

    user_id: Snowflake
    count: Annotated[int, Range(1, GUILDS_MAXIMUM)]
    shard: Annotated[list[int], Items(2, 2)] | None = None

    def parsed_shard(self) -> Shard | None:
        """:raises InvalidFormBody: for a pair that Identify would not take either."""
        shard = parse_shard(self.shard)
        if shard is None or isinstance(shard, Shard):
            return shard
        raise InvalidFormBody.at("shard", FieldCode.INVALID_FORMAT)


@routes.operation("POST", "/v1/_dev/guilds/bulk")
async def make_guilds_in_bulk(request: Request, development: Development, body: GuildsInBulk) -> dict[str, list[str]]:
    """Make many guilds quickly."""
    guild_ids = await make_guilds(development, body.user_id, body.count, body.parsed_shard())
    return {"guild_ids": [str(guild_id) for guild_id in guild_ids]}


@attrs.frozen
class RelationshipOfTwo:
    """What `user_id` is to have with `target_user_id`."""

    user_id: Snowflake
    target_user_id: Snowflake
    type: RelationshipType


@routes.operation("POST", "/v1/_dev/relationships")
async def set_relationship(request: Request, development: Development, body: RelationshipOfTwo) -> None:
    """Write both sides of a relationship."""
    if body.user_id == body.target_user_id:
        raise InvalidFormBody.at("target_user_id", FieldCode.INVALID_FORMAT)
    for user_id in (body.user_id, body.target_user_id):
        if accounts.by_id(development.core.database.reader, user_id) is None:
            raise ApiError(ErrorCode.UNKNOWN_USER)
    await development.areas.standing.relationships.set_both(body.user_id, body.target_user_id, body.type, request.guard)


@routes.operation("POST", "/v1/_dev/reset")
async def reset_world(request: Request, development: Development) -> None:
    """Return to the seeded world."""
    await reset(development)
