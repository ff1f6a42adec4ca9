"""Publishing and following announcement channels (guilds.md, Guild features; conventions of the field)."""

from __future__ import annotations

import attrs

from chat.api import buckets
from chat.api.fields import Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.guilds.channels import FOLLOWED_CHANNEL
from chat.api.schemas.messages.messages import MESSAGE
from chat.domain.webhooks.assemble import WebhooksArea

routes = Routes()


@attrs.frozen
class FollowChannel:
    """The channel that is to follow."""

    webhook_channel_id: Snowflake


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages/{message_id}/crosspost",
    policy=Policy.USER,
    bucket=buckets.CROSSPOST,
    answers=MESSAGE,
)
async def crosspost_message(request: Request, webhooks: WebhooksArea, channel_id: int, message_id: int) -> object:
    """Publish a message of an announcement channel."""
    return await webhooks.announcements.crosspost(request.principal, channel_id, message_id)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/followers",
    policy=Policy.USER,
    bucket=buckets.FOLLOW,
    closed_to_limited=True,
    body=FollowChannel,
    answers=FOLLOWED_CHANNEL,
)
async def follow_channel(request: Request, webhooks: WebhooksArea, channel_id: int, body: FollowChannel) -> object:
    """Have what is published in an announcement channel brought to another channel."""
    return await webhooks.announcements.follow(
        request.principal, channel_id, body.webhook_channel_id, request.audit_log_reason
    )
