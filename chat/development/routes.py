"""The development routes (development.md, Development routes): mounted only under `chat dev` and in the test kit.

They ask for no credential, so no page that a developer happens to open may reach them.
"""

from __future__ import annotations

import os
from typing import Annotated, Final

import trio

from chat import wire
from chat.api.fields import OMITTED, Maybe, Omitted, Range, Snowflake, named_members
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.development import crowd, faults, limits, shown_interactions, snapshots, watching
from chat.development.answers import ClockReading, DescribedWorld, NodeState, ShownSession
from chat.development.node import OFFSET_MAXIMUM_MS, ClockMover, Development, NodeChange, node_of, reset
from chat.development.seeded_world import describe
from chat.development.world_state import (
    GuildChange,
    WorldAccountChange,
    change_account,
    change_guild,
)
from chat.domain.signing_in.mail_sink import MailSink, ShownMail
from chat.domain.standing.relationships import RelationshipType
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.gateway.session import GatewaySession, ReachablePlace, SessionCounts
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.statuses import Status
from chat.store.accounts import accounts

# The routes

routes = Routes(policy=Policy.NONE, same_origin=True)


@routes.operation("GET", "/v1/_dev/mail")
async def list_mail(request: Request, development: Development) -> list[ShownMail]:
    """The mail kept so far, oldest first."""
    return await MailSink(database=development.core.database).kept()


@routes.operation("DELETE", "/v1/_dev/mail")
async def clear_mail(request: Request, development: Development) -> None:
    """Forget the mail kept so far."""
    await MailSink(database=development.core.database).clear()


@routes.operation("GET", "/v1/_dev/world")
async def read_world(request: Request, development: Development) -> DescribedWorld:
    """The seeded world with its tokens and passwords, as `chat dev --json` prints it."""
    origin = development.core.origins.shared
    gateway_url = f"ws{origin.removeprefix('http')}/gateway"
    return describe(development.world, base_url=f"{origin}/v1", gateway_url=gateway_url, pid=os.getpid())


@routes.operation("GET", "/v1/_dev/sessions")
async def list_sessions(request: Request, development: Development) -> list[ShownSession]:
    """The live gateway sessions, attached and retained."""
    return [await _session_object(session) for session in list(development.gateway.table)]


async def _session_object(session: GatewaySession) -> ShownSession:
    """One live session, attached or retained.

    `status` is the one the session selected, or offline since it counts as such.
    """
    numbering: SessionCounts = session.numbering
    if isinstance(session.place, ReachablePlace):
        numbering = await session.place.standing() or numbering
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


TIMERS_MAXIMUM: Final = 1_000


@frozen
class ClockChange:
    """What is to become of time: stand still or go on, be moved by milliseconds, or by timers."""

    paused: Maybe[bool] = OMITTED
    advance_ms: Maybe[Annotated[int, Range(0, OFFSET_MAXIMUM_MS)]] = OMITTED
    timers: Maybe[Annotated[int, Range(1, TIMERS_MAXIMUM)]] = OMITTED


CLOCK_MEMBERS: Final = "It takes `advance_ms`, `timers` and `paused`, at least one of them."


@routes.operation("GET", "/v1/_dev/clock")
async def read_clock(request: Request, development: Development) -> ClockReading:
    """The server's time."""
    return _clock_mover(development).reading()


@routes.operation("POST", "/v1/_dev/clock")
async def change_clock(request: Request, development: Development, body: ClockChange) -> ClockReading:
    """Move the server's clock forward, stop it or let it go on; answers after the timers that fell due have run."""
    if not named_members(body):
        raise InvalidFormBody([FieldError("advance_ms", FieldCode.INVALID_FORMAT, CLOCK_MEMBERS)])
    mover, clock = _clock_mover(development), development.clock
    async with development.turn:
        advance_ms = 0 if isinstance(body.advance_ms, Omitted) else body.advance_ms
        if clock.skipped_ms + advance_ms > OFFSET_MAXIMUM_MS:
            raise InvalidFormBody.at("advance_ms", FieldCode.INVALID_FORMAT)
        if body.paused is True:
            clock.stop()
        if not isinstance(body.advance_ms, Omitted):
            await mover.advance(advance_ms)
        if not isinstance(body.timers, Omitted):
            await mover.step(body.timers)
        if body.paused is False:
            clock.go_on()
        return mover.reading()


def _clock_mover(development: Development) -> ClockMover:
    return ClockMover(development.clock, development.core.database, lambda: development.gateway.connections)


@routes.operation("POST", "/v1/_dev/gateway")
async def change_node(request: Request, development: Development, body: NodeChange) -> NodeState:
    """Set the node's state."""
    node = node_of(development)
    node.change(body)
    return node.state()


@routes.operation("POST", "/v1/_dev/users/{user_id}")
async def set_account_state(
    request: Request, development: Development, user_id: int, body: WorldAccountChange
) -> wire.AdminUser:
    """Set account state directly."""
    return await change_account(development, user_id, body)


# An empty object is a member without anything of its own here, so it may not become null.
@routes.operation("POST", "/v1/_dev/guilds/{guild_id}", empty_strings_are_null=False)
async def set_guild_state(request: Request, development: Development, guild_id: int, body: GuildChange) -> wire.Guild:
    """Set guild state directly."""
    return await change_guild(development, guild_id, body)


@frozen
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


ROUTES: Final = (
    routes,
    crowd.routes,
    faults.routes,
    limits.routes,
    shown_interactions.routes,
    snapshots.routes,
    watching.routes,
)
"""Every development route."""
