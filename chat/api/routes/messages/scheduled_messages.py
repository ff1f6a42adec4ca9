"""Operations on messages that are sent later (messages.md, Scheduled messages)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

import attrs

from chat import wire
from chat.api import buckets
from chat.api.answers import Answer
from chat.api.embed_bodies import EmbedBodies
from chat.api.fields import OMITTED, Items, Length, Maybe, Range, Snowflake
from chat.api.message_bodies import (
    FLAGS_MAXIMUM,
    STICKERS,
    AllowedMentionsBody,
    Attachments,
    CreateMessage,
    MessageReferenceBody,
    Nonce,
    kept_attachments,
    message_draft,
    received_change,
    received_message,
)
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.poll_bodies import PollBody
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_drafts import AttachmentDraft
from chat.domain.messages.scheduled_messages import Moment, ScheduleChange
from chat.registries.limits import SCHEDULED_MESSAGES

routes = Routes(policy=Policy.USER_ONLY)

CREATED: Final = 201
LOCAL_AT_CHARACTERS: Final = 64
TIMEZONE_CHARACTERS: Final = 128

LocalAt = Annotated[str, Length(1, LOCAL_AT_CHARACTERS)]
Timezone = Annotated[str, Length(1, TIMEZONE_CHARACTERS)]

DRAFT_FIELDS: Final = {
    "content": ("content",),
    "nonce": ("nonce",),
    "tts": ("tts",),
    "flags": ("flags",),
    "message_reference": ("reply_to", "forward"),
    "allowed_mentions": ("allowed_mentions",),
    "embeds": ("embeds",),
    "sticker_ids": ("sticker_ids",),
    "poll": ("poll",),
}
"""Which fields of a draft a member of the body stands for."""


@frozen(kw_only=True)
class ScheduleMessage(CreateMessage):
    """A message, and when to send it: a moment in a time zone (IANA), or one that names its own offset."""

    scheduled_local_at: LocalAt
    timezone: Timezone = "UTC"


@frozen(kw_only=True)
class EditScheduledMessage:
    """Changes to a scheduled message; what is absent stays. `attachments` names those that stay, and new ones."""

    content: Maybe[str | None] = OMITTED
    nonce: Maybe[Annotated[str, Nonce()] | None] = OMITTED
    tts: Maybe[bool] = OMITTED
    flags: Maybe[Annotated[int, Range(0, FLAGS_MAXIMUM)]] = OMITTED
    message_reference: Maybe[MessageReferenceBody | None] = OMITTED
    allowed_mentions: Maybe[AllowedMentionsBody | None] = OMITTED
    embeds: Maybe[EmbedBodies | None] = OMITTED
    attachments: Attachments | None = None
    sticker_ids: Maybe[Annotated[list[Snowflake], Items(0, STICKERS)] | None] = OMITTED
    favorite_meme_id: Snowflake | None = None
    poll: Maybe[PollBody | None] = OMITTED
    scheduled_local_at: LocalAt | None = None
    timezone: Timezone | None = None


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages/schedule",
    bucket=Bucket("channel:message:schedule::channel_id", limit=10, window_ms=10_000),
    body=ScheduleMessage,
    multipart=True,
    empty_strings_are_null=False,
    answers=lambda: {201: wire.ScheduledMessage},
)
async def schedule_message(
    request: Request, messages: MessagesArea, channel_id: int, body: ScheduleMessage | None
) -> Answer[wire.ScheduledMessage]:
    """Have a message sent later, up to 30 days ahead."""
    if body is not None and not body.attachments:
        return await _scheduled(request, messages, channel_id, body, ())
    owner = messages.uploads.owner(request.principal, channel_id)
    async with received_message(request, owner, ScheduleMessage, body, messages.uploads) as (message, attachments):
        return await _scheduled(request, messages, channel_id, message, attachments)


@routes.operation(
    "GET",
    "/v1/users/@me/scheduled-messages",
    bucket=buckets.SCHEDULED_MESSAGES,
)
async def list_scheduled_messages(
    request: Request, messages: MessagesArea
) -> Annotated[list[wire.ScheduledMessage], wire.items(SCHEDULED_MESSAGES)]:
    """What the caller has scheduled, the next one first; also what could not be sent, for 31 days."""
    return messages.scheduled_messages.of_user(request.principal)


@routes.operation(
    "GET",
    "/v1/users/@me/scheduled-messages/{scheduled_message_id}",
    bucket=buckets.SCHEDULED_MESSAGES,
)
async def get_scheduled_message(
    request: Request, messages: MessagesArea, scheduled_message_id: int
) -> wire.ScheduledMessage:
    """One scheduled message."""
    return messages.scheduled_messages.get(request.principal, scheduled_message_id)


@routes.operation(
    "PATCH",
    "/v1/users/@me/scheduled-messages/{scheduled_message_id}",
    bucket=buckets.SCHEDULED_MESSAGES_CHANGE,
    body=EditScheduledMessage,
    multipart=True,
    empty_strings_are_null=False,
)
async def edit_scheduled_message(
    request: Request, messages: MessagesArea, scheduled_message_id: int, body: EditScheduledMessage | None
) -> wire.ScheduledMessage:
    """Change what is sent, or when; what could not be sent is tried again then."""
    principal, uploads, scheduled = request.principal, messages.uploads, messages.scheduled_messages
    channel_id = scheduled.channel_of(principal, scheduled_message_id)

    async with received_change(
        request, lambda: uploads.owner(principal, channel_id), EditScheduledMessage, body, uploads
    ) as (edit, attachments):
        change = _change(request, messages, channel_id, edit, attachments)
        return await scheduled.change(principal, scheduled_message_id, change)


@routes.operation(
    "DELETE",
    "/v1/users/@me/scheduled-messages/{scheduled_message_id}",
    bucket=buckets.SCHEDULED_MESSAGES_CHANGE,
)
async def delete_scheduled_message(request: Request, messages: MessagesArea, scheduled_message_id: int) -> None:
    """Send a scheduled message never."""
    await messages.scheduled_messages.delete(request.principal, scheduled_message_id)


@routes.operation(
    "POST",
    "/v1/users/@me/scheduled-messages/{scheduled_message_id}/send",
    bucket=buckets.SCHEDULED_MESSAGES_CHANGE,
)
async def send_scheduled_message(request: Request, messages: MessagesArea, scheduled_message_id: int) -> wire.Message:
    """Send a scheduled message at once."""
    return await messages.scheduled_messages.send_now(request.principal, scheduled_message_id)


async def _scheduled(
    request: Request,
    messages: MessagesArea,
    channel_id: int,
    body: ScheduleMessage,
    attachments: Sequence[AttachmentDraft],
) -> Answer[wire.ScheduledMessage]:
    meme = _meme(request, messages, channel_id, body.favorite_meme_id, len(attachments))
    moment = Moment(body.scheduled_local_at, body.timezone)
    draft = message_draft(body, attachments, meme)
    return Answer(CREATED, await messages.scheduled_messages.schedule(request.principal, channel_id, draft, moment))


def _change(
    request: Request,
    messages: MessagesArea,
    channel_id: int,
    body: EditScheduledMessage,
    attachments: Sequence[AttachmentDraft],
) -> ScheduleChange:
    kept = kept_attachments(body.attachments)
    meme = _meme(request, messages, channel_id, body.favorite_meme_id, len(kept or ()) + len(attachments))
    given = {name: getattr(body, name) for name in DRAFT_FIELDS if getattr(body, name) is not OMITTED}
    # Null is as if the message had never had it.
    message = CreateMessage(**{name: value for name, value in given.items() if value is not None})
    draft = message_draft(attrs.evolve(message, favorite_meme_id=body.favorite_meme_id), attachments, meme)
    return ScheduleChange(
        draft,
        frozenset(field for name in given for field in DRAFT_FIELDS[name]),
        kept,
        body.scheduled_local_at,
        body.timezone,
    )


def _meme(
    request: Request, messages: MessagesArea, channel_id: int, meme_id: int | None, position: int
) -> AttachmentDraft | None:
    """The file of the favourite meme that a message names, at this position."""
    if meme_id is None:
        return None
    return messages.favorite_memes.as_attachment(request.principal, channel_id, meme_id, position)
