"""Messages of several channels at once (messages.md, Message object; conventions of the field)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api import buckets
from chat.api.fields import Items, Range, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.messages.reading import CHANNELS_MESSAGES, NEWEST_MESSAGES
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_reading import Page
from chat.errors import InvalidFormBody

routes = Routes()

WINDOWS: Final = 25
"""Channels of one request for pages of messages."""

WINDOW_MESSAGES: Final = 50
PRELOADED_CHANNELS: Final = 100


@attrs.frozen(kw_only=True)
class MessageWindow:
    """Which messages of one channel."""

    channel_id: Snowflake
    limit: Annotated[int, Range(1, WINDOW_MESSAGES)]
    before: Snowflake | None = None
    after: Snowflake | None = None
    around: Snowflake | None = None


@attrs.frozen
class BulkListMessages:
    """The body of POST /v1/channels/messages/bulk."""

    requests: Annotated[list[MessageWindow], Items(1, WINDOWS)]


@attrs.frozen
class PreloadMessages:
    """The body of the two operations that preload."""

    channels: Annotated[list[Snowflake], Items(0, PRELOADED_CHANNELS)]


@routes.operation(
    "POST",
    "/v1/channels/messages/bulk",
    policy=Policy.USER,
    bucket=buckets.MESSAGES_BULK,
    body=BulkListMessages,
    answers=CHANNELS_MESSAGES,
)
async def bulk_list_messages(request: Request, messages: MessagesArea, body: BulkListMessages) -> object:
    """A page of messages of each of several channels, in the order in which they are asked for."""
    for index, window in enumerate(body.requests):
        if window.before is not None and window.after is not None:
            raise InvalidFormBody.at(f"requests.{index}.before", "CANNOT_SPECIFY_BOTH_BEFORE_AND_AFTER")
    windows = [
        (window.channel_id, Page(window.limit, window.before, window.after, window.around)) for window in body.requests
    ]
    pages = await messages.message_lists.pages(request.principal, windows)
    return {"channels": [{"channel_id": str(channel_id), "messages": page} for channel_id, page in pages]}


@routes.operation(
    "POST",
    "/v1/users/@me/preload-messages",
    policy=Policy.USER,
    bucket=buckets.MESSAGES_PRELOAD,
    body=PreloadMessages,
    answers=NEWEST_MESSAGES,
)
async def preload_messages(request: Request, messages: MessagesArea, body: PreloadMessages) -> object:
    """The newest message of each of several channels, by the channel's id."""
    return await messages.message_lists.newest(request.principal, body.channels)


@routes.operation(
    "POST",
    "/v1/users/@me/channels/messages/preload",
    policy=Policy.USER,
    bucket=buckets.MESSAGES_PRELOAD,
    body=PreloadMessages,
    answers=NEWEST_MESSAGES,
)
async def preload_channel_messages(request: Request, messages: MessagesArea, body: PreloadMessages) -> object:
    """The same under the other address that clients know."""
    return await messages.message_lists.newest(request.principal, body.channels)
