"""Operations on calls in conversations (people.md, Calls).

Whoever speaks connects over the gateway (Voice State Update, opcode 4), which begins a call as well.
"""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api.fields import OMITTED, Items, Length, Maybe, Omitted, Snowflake
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.people.calls import CALL_ELIGIBILITY
from chat.api.schemas.shapes import NOTHING
from chat.domain.people.assemble import PeopleArea
from chat.protocol.values import ABSENT

routes = Routes()

RECIPIENTS_MAXIMUM: Final = 100
"""Accounts that one request may name."""

ELIGIBILITY: Final = Bucket("channel:call:get::channel_id", limit=60, window_ms=60_000)
CHANGE: Final = Bucket("channel:call:update::channel_id", limit=10, window_ms=10_000)
RING: Final = Bucket("channel:call:ring::channel_id", limit=5, window_ms=10_000)
STOP_RINGING: Final = Bucket("channel:call:stop_ringing::channel_id", limit=20, window_ms=10_000)
END: Final = Bucket("channel:call:end::channel_id", limit=10, window_ms=10_000)


@attrs.frozen(kw_only=True)
class ChangeCall:
    """The body of PATCH /v1/channels/{channel_id}/call; null lets the server choose the region."""

    region: Maybe[Annotated[str, Length(1, 64)] | None] = OMITTED


@attrs.frozen(kw_only=True)
class RingRecipients:
    """The body of both ways to ring: accounts of the conversation, or all."""

    recipients: Annotated[list[Snowflake], Items(0, RECIPIENTS_MAXIMUM)] | None = None


@routes.operation(
    "GET", "/v1/channels/{channel_id}/call", policy=Policy.USER_ONLY, bucket=ELIGIBILITY, answers=CALL_ELIGIBILITY
)
async def get_call_eligibility(request: Request, people: PeopleArea, channel_id: int) -> object:
    """Whether a call by the caller makes anybody ring."""
    return people.calls.eligibility(request.principal, channel_id)


@routes.operation(
    "PATCH",
    "/v1/channels/{channel_id}/call",
    policy=Policy.USER_ONLY,
    bucket=CHANGE,
    body=ChangeCall,
    answers=NOTHING,
)
async def change_call(request: Request, people: PeopleArea, channel_id: int, body: ChangeCall) -> None:
    """Have the call in another region."""
    region = ABSENT if isinstance(body.region, Omitted) else body.region
    people.calls.change_region(request.principal, channel_id, region)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/call/ring",
    policy=Policy.USER_ONLY,
    bucket=RING,
    body=RingRecipients,
    answers=NOTHING,
)
async def ring_call(request: Request, people: PeopleArea, channel_id: int, body: RingRecipients) -> None:
    """Ring people of a conversation, and begin the call where there is none."""
    await people.calls.ring(request.principal, channel_id, body.recipients)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/call/stop-ringing",
    policy=Policy.USER_ONLY,
    bucket=STOP_RINGING,
    body=RingRecipients,
    answers=NOTHING,
)
async def stop_ringing_call(request: Request, people: PeopleArea, channel_id: int, body: RingRecipients) -> None:
    """Ring people no more; without any named, the caller: so a call is declined."""
    people.calls.stop_ringing(request.principal, channel_id, body.recipients)


@routes.operation("POST", "/v1/channels/{channel_id}/call/end", policy=Policy.USER_ONLY, bucket=END, answers=NOTHING)
async def end_call(request: Request, people: PeopleArea, channel_id: int) -> None:
    """End the call for everybody."""
    await people.calls.end(request.principal, channel_id)
