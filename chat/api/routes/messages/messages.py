"""Operations on messages, and what a link leads to (messages.md, Message object; Links in messages)."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api import buckets
from chat.api.fields import Items, Length, Range, Snowflake
from chat.api.message_bodies import CreateMessage, EditMessage, message_draft, received_edit, received_message
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_drafts import AttachmentDraft
from chat.domain.messages.message_reading import MessagePage
from chat.domain.policy.assemble import PolicyArea
from chat.domain.policy.embeds import embed_objects
from chat.errors import ApiError, InvalidFormBody
from chat.media.outside_addresses import as_asked_for
from chat.registries.error_codes import ErrorCode, FieldCode

routes = Routes(policy=Policy.USER)

WINDOWS: Final = 25
"""Channels of one request for pages of messages."""

WINDOW_MESSAGES: Final = 50
PRELOADED_CHANNELS: Final = 100
URL_CHARACTERS: Final = 2_048


@frozen
class ListMessages:
    """The query of the message list."""

    before: Snowflake | None = None
    after: Snowflake | None = None
    around: Snowflake | None = None
    limit: Annotated[int, Range(1, 100)] = 50


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/messages",
    bucket=Bucket("channel:message:list::channel_id", limit=100, window_ms=10_000),
)
async def list_messages(
    request: Request, messages: MessagesArea, channel_id: int, query: ListMessages
) -> list[wire.Message]:
    """Messages of a channel, newest first."""
    if query.before is not None and query.after is not None:
        raise InvalidFormBody.at("before", FieldCode.CANNOT_SPECIFY_BOTH_BEFORE_AND_AFTER)
    page = MessagePage(query.limit, query.before, query.after, query.around)
    return await messages.messages.of_channel(request.principal, channel_id, page)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages",
    bucket=Bucket("channel:message:create::channel_id", limit=10, window_ms=10_000),
    body=CreateMessage,
    multipart=True,
    empty_strings_are_null=False,
)
async def create_message(
    request: Request, messages: MessagesArea, channel_id: int, body: CreateMessage | None
) -> wire.Message:
    """Send a message."""
    principal = request.principal
    if body is not None and not body.attachments:
        meme = _meme(request, channel_id, body, 0, messages=messages)
        return await messages.sending.create(principal, channel_id, message_draft(body, (), meme))
    owner = messages.uploads.owner(principal, channel_id)
    async with received_message(request, owner, CreateMessage, body, messages.uploads) as (message, attachments):
        meme = _meme(request, channel_id, message, len(attachments), messages=messages)
        return await messages.sending.create(principal, channel_id, message_draft(message, attachments, meme))


def _meme(
    request: Request, channel_id: int, message: CreateMessage, position: int, *, messages: MessagesArea
) -> AttachmentDraft | None:
    """The file of the favourite meme that a message names, at this position."""
    if message.favorite_meme_id is None:
        return None
    return messages.favorite_memes.as_attachment(request.principal, channel_id, message.favorite_meme_id, position)


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/messages/{message_id}",
    bucket=Bucket("channel:message:read::channel_id", limit=100, window_ms=10_000),
)
async def get_message(request: Request, messages: MessagesArea, channel_id: int, message_id: int) -> wire.Message:
    """One message."""
    return await messages.messages.get(request.principal, channel_id, message_id)


@routes.operation(
    "PATCH",
    "/v1/channels/{channel_id}/messages/{message_id}",
    bucket=Bucket("channel:message:update::channel_id", limit=20, window_ms=10_000),
    body=EditMessage,
    multipart=True,
    empty_strings_are_null=False,
)
async def edit_message(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, body: EditMessage | None
) -> wire.Message:
    """Change one's own message; or hide and show the embeds of any message."""
    principal = request.principal
    uploads = messages.uploads
    async with received_edit(request, lambda: uploads.owner(principal, channel_id), body, uploads) as edit:
        return await messages.editing.edit(principal, channel_id, message_id, edit)


@routes.operation(
    "DELETE",
    "/v1/channels/{channel_id}/messages/{message_id}",
    bucket=Bucket("channel:message:delete::channel_id", limit=20, window_ms=10_000),
)
async def delete_message(request: Request, messages: MessagesArea, channel_id: int, message_id: int) -> None:
    """Delete a message."""
    await messages.deletion.delete(request.principal, channel_id, message_id, request.audit_log_reason)


@routes.operation(
    "DELETE",
    "/v1/channels/{channel_id}/messages/{message_id}/attachments/{attachment_id}",
    bucket=Bucket("channel:message:update::channel_id", limit=20, window_ms=10_000),
)
async def remove_attachment(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, attachment_id: int
) -> None:
    """Remove one file from a message; a message whose last file or embed goes, and that has no text, is deleted."""
    reason = request.audit_log_reason
    await messages.editing.remove_attachment(request.principal, channel_id, message_id, attachment_id, reason)


@frozen(kw_only=True)
class MessageWindow:
    """Which messages of one channel."""

    channel_id: Snowflake
    limit: Annotated[int, Range(1, WINDOW_MESSAGES)]
    before: Snowflake | None = None
    after: Snowflake | None = None
    around: Snowflake | None = None


@frozen
class BulkListMessages:
    """The body of POST /v1/channels/messages/bulk."""

    requests: Annotated[list[MessageWindow], Items(1, WINDOWS)]


@frozen
class PreloadMessages:
    """The body of the two operations that preload."""

    channels: Annotated[list[Snowflake], Items(0, PRELOADED_CHANNELS)]


@routes.operation("POST", "/v1/channels/messages/bulk", bucket=buckets.MESSAGES_BULK)
async def bulk_list_messages(request: Request, messages: MessagesArea, body: BulkListMessages) -> wire.ChannelsMessages:
    """A page of messages of each of several channels, in the order in which they are asked for."""
    for index, window in enumerate(body.requests):
        if window.before is not None and window.after is not None:
            raise InvalidFormBody.at(f"requests.{index}.before", FieldCode.CANNOT_SPECIFY_BOTH_BEFORE_AND_AFTER)
    windows = [
        (window.channel_id, MessagePage(window.limit, window.before, window.after, window.around))
        for window in body.requests
    ]
    pages = await messages.messages.pages(request.principal, windows)
    return {"channels": [{"channel_id": str(channel_id), "messages": page} for channel_id, page in pages]}


@routes.operation("POST", "/v1/users/@me/preload-messages", bucket=buckets.MESSAGES_PRELOAD)
async def preload_messages(request: Request, messages: MessagesArea, body: PreloadMessages) -> wire.NewestMessages:
    """The newest message of each of several channels, by the channel's id."""
    return await messages.messages.newest(request.principal, body.channels)


@routes.operation("POST", "/v1/users/@me/channels/messages/preload", bucket=buckets.MESSAGES_PRELOAD)
async def preload_channel_messages(
    request: Request, messages: MessagesArea, body: PreloadMessages
) -> wire.NewestMessages:
    """The newest message of several channels; another address of POST /v1/users/@me/preload-messages."""
    return await messages.messages.newest(request.principal, body.channels)


@frozen
class Unfurl:
    """The link to look at."""

    url: Annotated[str, Length(1, URL_CHARACTERS)]


@routes.operation("POST", "/v1/unfurl", bucket=Bucket("unfurl", 20, 10000))
async def unfurl(
    request: Request, core: Core, policy: PolicyArea, messages: MessagesArea, body: Unfurl
) -> list[wire.Embed]:
    """The embeds that a message with this link would show: none or one."""
    if not core.settings.media.link_embeds:
        raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
    url = as_asked_for(body.url.strip())
    if url is None:
        raise InvalidFormBody.at("url", FieldCode.INVALID_FORMAT)
    embed = await messages.unfurling.embed(url)
    return [] if embed is None else embed_objects([embed], (), policy.media.addresses)
