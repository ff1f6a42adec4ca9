"""Operations on messages (messages.md, Message object)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.api.fields import Range, Snowflake
from chat.api.message_bodies import CreateMessage, EditMessage, message_draft
from chat.api.message_forms import received_edit, received_message
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.messages.messages import MESSAGE
from chat.api.schemas.shapes import NOTHING, listed
from chat.domain.core import Core
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_drafts import AttachmentDraft
from chat.domain.messages.message_reading import Page
from chat.errors import InvalidFormBody

routes = Routes()


@attrs.frozen
class ListMessages:
    """The query of the message list."""

    before: Snowflake | None = None
    after: Snowflake | None = None
    around: Snowflake | None = None
    limit: Annotated[int, Range(1, 100)] = 50


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/messages",
    policy=Policy.USER,
    bucket=Bucket("channel:message:list::channel_id", limit=100, window_ms=10_000),
    query=ListMessages,
    answers=listed(MESSAGE),
)
async def list_messages(request: Request, messages: MessagesArea, channel_id: int, query: ListMessages) -> object:
    """Messages of a channel, newest first."""
    if query.before is not None and query.after is not None:
        raise InvalidFormBody.at("before", "CANNOT_SPECIFY_BOTH_BEFORE_AND_AFTER")
    page = Page(query.limit, query.before, query.after, query.around)
    return await messages.messages.of_channel(request.principal, channel_id, page)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages",
    policy=Policy.USER,
    bucket=Bucket("channel:message:create::channel_id", limit=10, window_ms=10_000),
    body=CreateMessage,
    multipart=True,
    empty_strings_are_null=False,
    answers=MESSAGE,
)
async def create_message(
    request: Request, core: Core, messages: MessagesArea, channel_id: int, body: CreateMessage | None
) -> object:
    """Send a message."""
    principal = request.principal
    if body is not None and not body.attachments:
        return await messages.messages.create(
            principal, channel_id, message_draft(body, (), _meme(request, channel_id, body, 0, messages=messages))
        )
    owner = messages.uploads.owner(principal, channel_id)
    async with received_message(request, owner, CreateMessage, body, core=core, messages=messages) as (
        message,
        attachments,
    ):
        meme = _meme(request, channel_id, message, len(attachments), messages=messages)
        return await messages.messages.create(principal, channel_id, message_draft(message, attachments, meme))


def _meme(
    request: Request, channel_id: int, message: CreateMessage, position: int, *, messages: MessagesArea
) -> AttachmentDraft | None:
    """The file of the favourite meme that a message names, behind so many others."""
    if message.favorite_meme_id is None:
        return None
    memes = messages.favorite_memes
    return memes.as_attachment(request.principal, channel_id, message.favorite_meme_id, position)


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/messages/{message_id}",
    policy=Policy.USER,
    bucket=Bucket("channel:message:read::channel_id", limit=100, window_ms=10_000),
    answers=MESSAGE,
)
async def get_message(request: Request, messages: MessagesArea, channel_id: int, message_id: int) -> object:
    """One message."""
    return await messages.messages.get(request.principal, channel_id, message_id)


@routes.operation(
    "PATCH",
    "/v1/channels/{channel_id}/messages/{message_id}",
    policy=Policy.USER,
    bucket=Bucket("channel:message:update::channel_id", limit=20, window_ms=10_000),
    body=EditMessage,
    multipart=True,
    empty_strings_are_null=False,
    answers=MESSAGE,
)
async def edit_message(
    request: Request, core: Core, messages: MessagesArea, channel_id: int, message_id: int, body: EditMessage | None
) -> object:
    """Change one's own message; or hide and show the embeds of anybody's."""
    principal = request.principal
    async with received_edit(
        request, lambda: messages.uploads.owner(principal, channel_id), body, core=core, messages=messages
    ) as edit:
        return await messages.messages.edit(principal, channel_id, message_id, edit)


@routes.operation(
    "DELETE",
    "/v1/channels/{channel_id}/messages/{message_id}",
    policy=Policy.USER,
    bucket=Bucket("channel:message:delete::channel_id", limit=20, window_ms=10_000),
    answers=NOTHING,
)
async def delete_message(request: Request, messages: MessagesArea, channel_id: int, message_id: int) -> None:
    """Delete a message."""
    await messages.messages.delete(request.principal, channel_id, message_id, request.audit_log_reason)


@routes.operation(
    "DELETE",
    "/v1/channels/{channel_id}/messages/{message_id}/attachments/{attachment_id}",
    policy=Policy.USER,
    bucket=Bucket("channel:message:update::channel_id", limit=20, window_ms=10_000),
    answers=NOTHING,
)
async def remove_attachment(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, attachment_id: int
) -> None:
    """Take one file off a message (a convention of the field); with the last thing in it the message goes."""
    await messages.messages.remove_attachment(
        request.principal, channel_id, message_id, attachment_id, request.audit_log_reason
    )
