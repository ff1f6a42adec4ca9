"""The bodies of messages, and what they mean to the domain (wire facts 5.3).

They are those of members' messages and of webhooks' messages alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import attrs

from chat.api.fields import Items, Length, Pattern, Range, Refusal, Schema, Snowflake
from chat.domain.message_drafts import (
    ALL_MENTIONS,
    AllowedMentions,
    AttachmentDraft,
    MessageDraft,
    MessageEdit,
    ReplyTo,
)
from chat.domain.uploads import AttachmentWish
from chat.errors import FieldError, InvalidFormBody

NONCE_CHARACTERS: Final = 32
ALLOWED_MENTION_IDS: Final = 100
FLAGS_MAXIMUM: Final = (1 << 53) - 1
FILE_NAME_CHARACTERS: Final = 1_024
"""A longer name is refused; a shorter one is made harmless."""

TITLE_CHARACTERS: Final = 1_024
DESCRIPTION_CHARACTERS: Final = 4_096
UPLOAD_NAME_CHARACTERS: Final = 512
DURATION_SECONDS: Final = 86_400
WAVEFORM_CHARACTERS: Final = 400
"""Of base64; clients send the loudness of a recording in up to 256 steps of a byte each."""

WAVEFORM: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", re.ASCII)
ATTACHMENT_BODIES: Final = 100
"""More are refused before they are looked at; the domain knows the limit."""


class _Nonce:
    """Text of up to 32 characters, or an integer, which counts as its decimal digits."""

    schema: Final[Schema] = {"type": ["string", "integer"], "maxLength": NONCE_CHARACTERS}

    def read(self, value: object) -> str:
        if type(value) is int:
            return str(value)
        if type(value) is not str:
            raise Refusal
        if len(value) > NONCE_CHARACTERS:
            raise Refusal("CONTENT_EXCEEDS_MAX_LENGTH")
        return value


Ids = Annotated[list[Snowflake], Items(0, ALLOWED_MENTION_IDS)]


@attrs.frozen
class AllowedMentionsBody:
    """Which mentions shall count."""

    parse: list[Literal["users", "roles", "everyone"]] = attrs.field(factory=list)
    users: Ids = attrs.field(factory=list)
    roles: Ids = attrs.field(factory=list)
    replied_user: bool = False


@attrs.frozen
class MessageReferenceBody:
    """The message that is answered. Forwarding (type 1) is not taken yet."""

    message_id: Snowflake
    channel_id: Snowflake | None = None
    guild_id: Snowflake | None = None
    type: Literal[0] = 0
    fail_if_not_exists: bool = True


@attrs.frozen
class AttachmentBody:
    """What a message says of a file: `id` is its number in the form, or the id of an attachment that is there already;
    `uploaded_filename` names an earlier upload."""

    id: Snowflake = 0
    filename: Annotated[str, Length(0, FILE_NAME_CHARACTERS)] | None = None
    title: Annotated[str, Length(0, TITLE_CHARACTERS)] | None = None
    description: Annotated[str, Length(0, DESCRIPTION_CHARACTERS)] | None = None
    flags: Annotated[int, Range(0, FLAGS_MAXIMUM)] = 0
    uploaded_filename: Annotated[str, Length(1, UPLOAD_NAME_CHARACTERS)] | None = None
    upload_filename: Annotated[str, Length(1, UPLOAD_NAME_CHARACTERS)] | None = None
    duration: Annotated[int, Range(0, DURATION_SECONDS)] | None = None
    duration_secs: Annotated[float, Range(0, DURATION_SECONDS)] | None = None
    waveform: Annotated[str, Length(0, WAVEFORM_CHARACTERS), Pattern(WAVEFORM)] | None = None


Attachments = Annotated[list[AttachmentBody], Items(0, ATTACHMENT_BODIES, "TOO_MANY_FILES")]


@attrs.frozen
class CreateMessage:
    """The body of a message to be. Embeds and stickers are not taken yet: their lists must be empty."""

    content: str = ""
    nonce: Annotated[str, _Nonce()] | None = None
    tts: bool = False
    flags: Annotated[int, Range(0, FLAGS_MAXIMUM)] = 0
    message_reference: MessageReferenceBody | None = None
    allowed_mentions: AllowedMentionsBody | None = None
    embeds: list[Any] = attrs.field(factory=list)
    attachments: Attachments = attrs.field(factory=list)
    sticker_ids: list[Any] = attrs.field(factory=list)
    favorite_meme_id: Snowflake | None = None


@attrs.frozen
class EditMessage:
    """Changes to a message; what is absent or null stays. `attachments` names those that stay."""

    content: str | None = None
    flags: Annotated[int, Range(0, FLAGS_MAXIMUM)] | None = None
    allowed_mentions: AllowedMentionsBody | None = None
    embeds: list[Any] = attrs.field(factory=list)
    attachments: Attachments | None = None


def message_draft(body: CreateMessage, attachments: Sequence[AttachmentDraft]) -> MessageDraft:
    """The message that a body asks for.

    :raises InvalidFormBody: for parts that would be lost.
    """
    if body.embeds or body.sticker_ids or body.favorite_meme_id is not None:
        _refuse(embeds=body.embeds, sticker_ids=body.sticker_ids, favorite_meme_id=body.favorite_meme_id is not None)
    reference = body.message_reference
    return MessageDraft(
        content=body.content,
        nonce=body.nonce or None,
        tts=body.tts,
        flags=body.flags,
        reply_to=None
        if reference is None
        else ReplyTo(reference.message_id, reference.channel_id, reference.fail_if_not_exists),
        allowed_mentions=_allowed_mentions(body.allowed_mentions),
        attachments=tuple(attachments),
    )


def message_edit(body: EditMessage) -> MessageEdit:
    """The change that a body asks for.

    :raises InvalidFormBody: for parts that would be lost.
    """
    new = body.attachments is not None and any(wish.upload is not None for wish in attachment_wishes(body.attachments))
    if body.embeds or new:
        _refuse(embeds=body.embeds, attachments=new)
    kept = None if body.attachments is None else frozenset(attachment.id for attachment in body.attachments)
    return MessageEdit(body.content, body.flags, _allowed_mentions(body.allowed_mentions), kept)


def attachment_wishes(bodies: Sequence[AttachmentBody]) -> list[AttachmentWish]:
    """What a body says of its files."""
    return [
        AttachmentWish(
            body.id,
            body.uploaded_filename or body.upload_filename,
            body.filename or None,
            body.title or None,
            body.description or None,
            body.flags,
            body.duration if body.duration_secs is None else math.ceil(body.duration_secs),
            body.waveform or None,
        )
        for body in bodies
    ]


def _allowed_mentions(body: AllowedMentionsBody | None) -> AllowedMentions:
    if body is None:
        return ALL_MENTIONS
    return AllowedMentions(frozenset(body.parse), frozenset(body.users), frozenset(body.roles), body.replied_user)


def _refuse(**parts: object) -> None:
    """Raise InvalidFormBody for those parts of a message that are there."""
    raise InvalidFormBody([FieldError(name, "INVALID_FORMAT") for name, part in parts.items() if part])
