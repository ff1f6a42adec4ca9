"""Operations on conversations outside of guilds (wire facts 6.5, appendices A and D)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.api import buckets
from chat.api.fields import Items, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.channels import PRIVATE_CHANNEL
from chat.api.schemas.shapes import listed
from chat.errors import InvalidFormBody

routes = Routes()


@attrs.frozen(kw_only=True)
class OpenPrivateChannel:
    """The body of POST /v1/users/@me/channels: one recipient, by either name."""

    recipient_id: Snowflake | None = None
    recipients: Annotated[list[Snowflake], Items(1, 1)] | None = None


@routes.operation(
    "GET",
    "/v1/users/@me/channels",
    policy=Policy.USER,
    bucket=buckets.PRIVATE_CHANNELS,
    answers=listed(PRIVATE_CHANNEL),
)
async def list_private_channels(request: Request) -> object:
    """The caller's conversations, the one with the newest message first."""
    return request.services.private_channels.of_account(request.principal.user_id)


@routes.operation(
    "POST",
    "/v1/users/@me/channels",
    policy=Policy.USER,
    bucket=buckets.PRIVATE_CHANNEL_OPEN,
    body=OpenPrivateChannel,
    answers=PRIVATE_CHANNEL,
)
async def open_private_channel(request: Request, body: OpenPrivateChannel) -> object:
    """The conversation with an account."""
    recipient_id = body.recipient_id
    if recipient_id is None:
        if not body.recipients:
            raise InvalidFormBody.at("recipient_id", "INVALID_FORMAT")
        recipient_id = body.recipients[0]
    return await request.services.private_channels.open(request.principal, recipient_id)
