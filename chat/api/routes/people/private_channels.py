"""Operations on conversations outside of guilds (people.md, Private channels) and on calls in them (people.md, Calls).

Speaking goes over the gateway (Voice State Update, opcode 4), which begins a call as well.
"""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api import buckets
from chat.api.fields import OMITTED, Items, Length, Maybe, Omitted, Snowflake
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.people.assemble import PeopleArea
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.payload import ABSENT
from chat.registries.error_codes import ErrorCode, FieldCode

routes = Routes()


RECIPIENTS_MAXIMUM: Final = 1_000
"""More than any instance lets into a group."""


@frozen(kw_only=True)
class OpenPrivateChannel:
    """The body of POST /v1/users/@me/channels: `recipient_id` for a conversation of two, `recipients` for a group."""

    recipient_id: Snowflake | None = None
    recipients: Annotated[list[Snowflake], Items(0, RECIPIENTS_MAXIMUM)] | None = None


@frozen
class Removal:
    """The query of taking an account out of a group: `silent` leaves the system message out."""

    silent: bool = False


@routes.operation(
    "GET",
    "/v1/users/@me/channels",
    policy=Policy.USER,
    bucket=buckets.PRIVATE_CHANNELS,
)
async def list_private_channels(request: Request, people: PeopleArea) -> list[wire.PrivateChannel]:
    """The caller's conversations, the one with the newest message first."""
    return people.private_channels.of_account(request.principal.user_id)


@routes.operation("POST", "/v1/users/@me/channels", policy=Policy.USER, bucket=buckets.PRIVATE_CHANNEL_OPEN)
async def open_private_channel(request: Request, people: PeopleArea, body: OpenPrivateChannel) -> wire.PrivateChannel:
    """Open the conversation with an account, or make a group."""
    if (body.recipient_id is None) is (body.recipients is None):
        raise InvalidFormBody.at("recipient_id", FieldCode.INVALID_FORMAT)
    if body.recipients is not None:
        request.limit(buckets.GROUPS_MADE, request.principal.user_id)
        return await people.groups.create(request.principal, body.recipients)
    assert body.recipient_id is not None, "one of the two was sent"  # noqa: S101
    return await people.private_channels.open(request.principal, body.recipient_id)


@routes.operation(
    "PUT", "/v1/users/@me/channels/{channel_id}/pin", policy=Policy.USER, bucket=buckets.PRIVATE_CHANNEL_PIN
)
async def pin_private_channel(request: Request, core: Core, people: PeopleArea, channel_id: int) -> None:
    """Put a conversation at the end of those that the caller has pinned."""
    access = core.access.channel(request.principal, channel_id)
    await people.private_channels.pin(access, request.principal.guard, pinned=True)


@routes.operation(
    "DELETE", "/v1/users/@me/channels/{channel_id}/pin", policy=Policy.USER, bucket=buckets.PRIVATE_CHANNEL_PIN
)
async def unpin_private_channel(request: Request, core: Core, people: PeopleArea, channel_id: int) -> None:
    """Take a conversation away from those that the caller has pinned."""
    access = core.access.channel(request.principal, channel_id)
    await people.private_channels.pin(access, request.principal.guard, pinned=False)


@routes.operation(
    "PUT", "/v1/channels/{channel_id}/recipients/{user_id}", policy=Policy.USER, bucket=buckets.GROUP_RECIPIENTS
)
async def add_recipient(request: Request, core: Core, people: PeopleArea, channel_id: int, user_id: int) -> None:
    """Put an account into a group."""
    await people.groups.add(request.principal, _group(request, channel_id, core=core), user_id)


@routes.operation(
    "DELETE", "/v1/channels/{channel_id}/recipients/{user_id}", policy=Policy.USER, bucket=buckets.GROUP_RECIPIENTS
)
async def remove_recipient(
    request: Request, core: Core, people: PeopleArea, channel_id: int, user_id: int, query: Removal
) -> None:
    """Take an account out of a group: the caller itself, or, by the owner, another one."""
    group = _group(request, channel_id, core=core)
    await people.groups.remove(request.principal, group, user_id, silent=query.silent)


def _group(request: Request, channel_id: int, *, core: Core) -> PrivateChannelAccess:
    """A conversation of the caller; a channel of a guild, which has no recipients, is of the wrong type."""
    access = core.access.channel(request.principal, channel_id)
    if not isinstance(access, PrivateChannelAccess):
        raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
    return access


RUNG_MAXIMUM: Final = 100
"""Accounts that one request may name."""

CALL_READ: Final = Bucket("channel:call:get::channel_id", limit=60, window_ms=60_000)
CALL_CHANGE: Final = Bucket("channel:call:update::channel_id", limit=10, window_ms=10_000)
CALL_RING: Final = Bucket("channel:call:ring::channel_id", limit=5, window_ms=10_000)
CALL_STOP_RINGING: Final = Bucket("channel:call:stop_ringing::channel_id", limit=20, window_ms=10_000)
CALL_END: Final = Bucket("channel:call:end::channel_id", limit=10, window_ms=10_000)


@frozen(kw_only=True)
class ChangeCall:
    """The body of PATCH /v1/channels/{channel_id}/call; null lets the server choose the region."""

    region: Maybe[Annotated[str, Length(1, 64)] | None] = OMITTED


@frozen(kw_only=True)
class RingRecipients:
    """The body of both ways to ring: accounts of the conversation, or all."""

    recipients: Annotated[list[Snowflake], Items(0, RUNG_MAXIMUM)] | None = None


@routes.operation("GET", "/v1/channels/{channel_id}/call", policy=Policy.USER_ONLY, bucket=CALL_READ)
async def get_call_eligibility(request: Request, people: PeopleArea, channel_id: int) -> wire.CallEligibility:
    """Whether a call by the caller makes an account ring."""
    return people.calls.eligibility(request.principal, channel_id)


@routes.operation("PATCH", "/v1/channels/{channel_id}/call", policy=Policy.USER_ONLY, bucket=CALL_CHANGE)
async def change_call(request: Request, people: PeopleArea, channel_id: int, body: ChangeCall) -> None:
    """Have the call in another region."""
    region = ABSENT if isinstance(body.region, Omitted) else body.region
    people.calls.change_region(request.principal, channel_id, region)


@routes.operation("POST", "/v1/channels/{channel_id}/call/ring", policy=Policy.USER_ONLY, bucket=CALL_RING)
async def ring_call(request: Request, people: PeopleArea, channel_id: int, body: RingRecipients) -> None:
    """Ring people of a conversation, and begin the call where there is none."""
    await people.calls.ring(request.principal, channel_id, body.recipients)


@routes.operation(
    "POST", "/v1/channels/{channel_id}/call/stop-ringing", policy=Policy.USER_ONLY, bucket=CALL_STOP_RINGING
)
async def stop_ringing_call(request: Request, people: PeopleArea, channel_id: int, body: RingRecipients) -> None:
    """Ring people no more; without any named, the caller: so a call is declined."""
    people.calls.stop_ringing(request.principal, channel_id, body.recipients)


@routes.operation("POST", "/v1/channels/{channel_id}/call/end", policy=Policy.USER_ONLY, bucket=CALL_END)
async def end_call(request: Request, people: PeopleArea, channel_id: int) -> None:
    """End the call for all."""
    await people.calls.end(request.principal, channel_id)
