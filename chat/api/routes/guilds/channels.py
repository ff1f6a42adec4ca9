"""Operations on channels (guilds.md, Channels)."""

from __future__ import annotations

from chat.api import buckets
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.guilds.channels import CHANNEL
from chat.api.schemas.messages.messages import SLOWMODE
from chat.api.schemas.shapes import NOTHING
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.messages.assemble import MessagesArea

routes = Routes()


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}",
    policy=Policy.USER,
    bucket=Bucket("channel:read::channel_id", limit=100, window_ms=10_000),
    answers=CHANNEL,
)
async def get_channel(request: Request, guilds: GuildsArea, channel_id: int) -> object:
    """One channel."""
    return await guilds.channels.get(request.principal, channel_id)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/typing",
    policy=Policy.USER,
    bucket=Bucket("channel:typing::channel_id", limit=20, window_ms=10_000),
    answers=NOTHING,
)
async def start_typing(request: Request, messages: MessagesArea, channel_id: int) -> None:
    """Tell the channel that the caller writes."""
    await messages.typing.start(request.principal, channel_id)


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/slowmode",
    policy=Policy.USER,
    bucket=buckets.SLOWMODE,
    answers=SLOWMODE,
)
async def get_slowmode(request: Request, messages: MessagesArea, channel_id: int) -> object:
    """How long the caller waits before the next message."""
    return messages.sending.slowmode(request.principal, channel_id)
