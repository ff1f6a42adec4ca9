"""The bodies of messages, and what they mean to the domain (messages.md, Sending messages): those of members and of
webhooks alike, as JSON that names earlier uploads, or as a form with files.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol, TypeVar

import attrs

from chat.api.bodies import BodyChunks
from chat.api.embed_bodies import EmbedBodies, stored_embeds
from chat.api.fields import OMITTED, Items, Length, Maybe, Pattern, Range, Refusal, Schema, Snowflake
from chat.api.form_bodies import FormBody
from chat.api.operation import PAYLOAD_JSON, Request
from chat.api.poll_bodies import PollBody, poll_draft
from chat.api.structuring import body_structure
from chat.classes import frozen
from chat.domain.messages.message_drafts import (
    ALL_MENTIONS,
    AllowedMentions,
    AttachmentDraft,
    Forward,
    KeptAttachment,
    MessageDraft,
    MessageEdit,
    ReplyTo,
    place_of_components,
)
from chat.domain.messages.uploads import AttachmentWish, Owner, Uploads
from chat.domain.policy.component_trees import StoredComponent, placed_components, read_components, require_own_files
from chat.domain.policy.embeds import with_own_files
from chat.errors import InvalidFormBody
from chat.protocol.visible_text import without_nul
from chat.protocol.whole_numbers import whole
from chat.registries.components import COMPONENTS_OF_MESSAGE
from chat.registries.error_codes import FieldCode
from chat.registries.limits import JSON_BODY_BYTES
from chat.registries.message_types import MessageReferenceType

if TYPE_CHECKING:
    from chat.media.multipart import Form

NONCE_CHARACTERS: Final = 32
ALLOWED_MENTION_IDS: Final = 100
FLAGS_MAXIMUM: Final = (1 << 53) - 1
FILE_NAME_CHARACTERS: Final = 1_024
"""A longer file name is refused; a shorter one is cleaned of dangerous characters."""

TITLE_CHARACTERS: Final = 1_024
DESCRIPTION_CHARACTERS: Final = 4_096
UPLOAD_NAME_CHARACTERS: Final = 512
DURATION_SECONDS: Final = 86_400
WAVEFORM_CHARACTERS: Final = 400
"""Characters of base64: clients send the loudness of a recording in up to 256 steps of one byte."""

WAVEFORM: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", re.ASCII)
ATTACHMENT_BODIES: Final = 100
"""More are refused before they are looked at; the domain knows the limit."""

FORWARD: Final = MessageReferenceType.FORWARD.value
LEAST_ATTACHMENT_ID: Final = 1 << 22
"""A lower id cannot be a snowflake; it is the number of a file in the form."""

STICKERS: Final = 3


class Nonce:
    """Text of up to 32 characters, or an integer, which counts as its decimal digits."""

    schema: Final[Schema] = {"type": ["string", "integer"], "maxLength": NONCE_CHARACTERS}

    def read(self, value: object) -> str:
        number = whole(value)
        if type(number) is int:
            return str(number)
        if type(value) is not str:
            raise Refusal
        if len(value) > NONCE_CHARACTERS:
            raise Refusal(FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
        return without_nul(value)


class ComponentList:
    """Components of a message or a form, judged one by one (interactions.md, Components)."""

    schema: Final[Schema] = {
        "type": "array",
        "maxItems": COMPONENTS_OF_MESSAGE,
        "items": {"type": "object", "properties": {"type": {"type": "integer"}}, "required": ["type"]},
    }

    def read(self, value: object) -> tuple[Mapping[str, Any], ...]:
        return read_components(value)


ComponentBodies = Annotated[tuple[StoredComponent, ...], ComponentList()]
Ids = Annotated[list[Snowflake], Items(0, ALLOWED_MENTION_IDS)]
EmbedIndex = Annotated[int, Range(0, ATTACHMENT_BODIES)]


@frozen
class AllowedMentionsBody:
    """Which mentions shall count."""

    parse: list[Literal["users", "roles", "everyone"]] = attrs.field(factory=list)
    users: Ids = attrs.field(factory=list)
    roles: Ids = attrs.field(factory=list)
    replied_user: bool = False


@frozen
class MessageReferenceBody:
    """The message that is answered (type 0), or carried on (type 1) with those files and embeds that are named, or all
    of them."""

    message_id: Snowflake
    channel_id: Snowflake | None = None
    guild_id: Snowflake | None = None
    type: Literal[0, 1] = 0
    fail_if_not_exists: bool = True
    attachment_ids: Annotated[list[Snowflake], Items(0, ATTACHMENT_BODIES)] | None = None
    embed_indices: Annotated[list[EmbedIndex], Items(0, ATTACHMENT_BODIES)] | None = None


@frozen
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


Attachments = Annotated[list[AttachmentBody], Items(0, ATTACHMENT_BODIES, FieldCode.TOO_MANY_FILES)]


@frozen
class CreateMessage:
    """The body of a message to be."""

    content: str = ""
    nonce: Annotated[str, Nonce()] | None = None
    tts: bool = False
    flags: Annotated[int, Range(0, FLAGS_MAXIMUM)] = 0
    message_reference: MessageReferenceBody | None = None
    allowed_mentions: AllowedMentionsBody | None = None
    embeds: EmbedBodies = attrs.field(factory=list)
    attachments: Attachments = attrs.field(factory=list)
    sticker_ids: Annotated[list[Snowflake], Items(0, STICKERS)] = attrs.field(factory=list)
    favorite_meme_id: Snowflake | None = None
    components: ComponentBodies = ()
    poll: PollBody | None = None


@frozen
class EditMessage:
    """Changes to a message; what is absent stays. Null removes the text, the embeds or the
    components, as it does at Discord.
    `attachments` names the files that stay, and new ones. A `poll` is refused: none is added later, or changed."""

    content: Maybe[str | None] = OMITTED
    flags: Annotated[int, Range(0, FLAGS_MAXIMUM)] | None = None
    allowed_mentions: AllowedMentionsBody | None = None
    embeds: Maybe[EmbedBodies | None] = OMITTED
    components: Maybe[ComponentBodies | None] = OMITTED
    attachments: Attachments | None = None
    poll: PollBody | None = None


def message_draft(
    body: CreateMessage, attachments: Sequence[AttachmentDraft], meme: AttachmentDraft | None = None
) -> MessageDraft:
    """The message that a body asks for. White space around the text does not belong to it. `meme` is the file of the
    favourite meme that the body names, where such may be sent.

    :raises InvalidFormBody: for parts that would be lost.
    """
    if body.favorite_meme_id is not None and meme is None:
        raise InvalidFormBody.at("favorite_meme_id", FieldCode.INVALID_FORMAT)
    files = tuple(attachments) if meme is None else (*attachments, meme)
    embeds = with_own_files(stored_embeds(body.embeds), [file.attachment for file in files]) if body.embeds else ()
    components = placed_components(body.components, place_of_components(body.flags)) if body.components else ()
    require_own_files(components, (file.attachment for file in files))
    reference = body.message_reference
    forwards = reference is not None and reference.type == FORWARD
    return MessageDraft(
        content=body.content.strip(),
        nonce=body.nonce or None,
        tts=body.tts,
        flags=body.flags,
        reply_to=None if reference is None or forwards else _reply_to(reference),
        allowed_mentions=_allowed_mentions(body.allowed_mentions),
        attachments=files,
        embeds=embeds,
        sticker_ids=tuple(body.sticker_ids),
        components=components,
        poll=None if body.poll is None else poll_draft(body.poll),
        forward=None if reference is None or not forwards else _forward(reference),
    )


def message_edit(body: EditMessage, attachments: Sequence[AttachmentDraft] = ()) -> MessageEdit:
    """The change that a body asks for; `attachments` are the new ones.

    :raises InvalidFormBody: POLL_NOT_ALLOWED_HERE at `poll`.
    """
    if body.poll is not None:
        raise InvalidFormBody.at("poll", FieldCode.POLL_NOT_ALLOWED_HERE)
    return MessageEdit(
        content=None if body.content is OMITTED else (body.content or "").strip(),
        flags=body.flags,
        allowed_mentions=_allowed_mentions(body.allowed_mentions),
        kept_attachments=kept_attachments(body.attachments),
        attachments=tuple(attachments),
        attachment_order=tuple(entry.id if _is_kept(entry) else None for entry in body.attachments or ()),
        embeds=None if body.embeds is OMITTED else stored_embeds(body.embeds or ()),
        components=None if body.components is OMITTED else tuple(body.components or ()),
    )


def kept_attachments(bodies: Sequence[AttachmentBody] | None) -> dict[int, KeptAttachment] | None:
    """The changes to files that stay, by their ids; None if all files stay unchanged."""
    if bodies is None:
        return None
    return {entry.id: KeptAttachment(entry.title, entry.description) for entry in bodies if _is_kept(entry)}


def new_wishes(body: Change) -> list[AttachmentWish]:
    """The files that an edit adds to the message."""
    return attachment_wishes([entry for entry in body.attachments or () if not _is_kept(entry)])


def attachment_wishes(bodies: Sequence[AttachmentBody]) -> list[AttachmentWish]:
    """The files that a body names."""
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


def _is_kept(entry: AttachmentBody) -> bool:
    """Whether an entry of an edit is of a file that the message has already."""
    return entry.id >= LEAST_ATTACHMENT_ID and not (entry.uploaded_filename or entry.upload_filename)


def _reply_to(reference: MessageReferenceBody) -> ReplyTo:
    return ReplyTo(reference.message_id, reference.channel_id, reference.fail_if_not_exists)


def _forward(reference: MessageReferenceBody) -> Forward:
    attachment_ids, embed_indices = reference.attachment_ids, reference.embed_indices
    return Forward(
        reference.message_id,
        reference.channel_id,
        None if attachment_ids is None else tuple(attachment_ids),
        None if embed_indices is None else tuple(embed_indices),
    )


def _allowed_mentions(body: AllowedMentionsBody | None) -> AllowedMentions:
    """Which mentions count.

    :raises InvalidFormBody: at `allowed_mentions.parse` for a kind that is both let through as a whole and named one by
        one.
    """
    if body is None:
        return ALL_MENTIONS
    if (body.users and "users" in body.parse) or (body.roles and "roles" in body.parse):
        raise InvalidFormBody.at("allowed_mentions.parse", FieldCode.INVALID_FORMAT)
    return AllowedMentions(frozenset(body.parse), frozenset(body.users), frozenset(body.roles), body.replied_user)


B = TypeVar("B", bound=CreateMessage)
T = TypeVar("T")
P = TypeVar("P", bound="PostBody")
C = TypeVar("C", bound="Change")

Received = tuple[T, Sequence[AttachmentDraft]]
"""A body and its attachments."""


def received_message(
    request: Request, owner: Owner, declared: type[B], body: B | None, uploads: Uploads
) -> AbstractAsyncContextManager[Received[B]]:
    """The body and the attachments of a message that is sent in the block; what the message did not take is gone after.

    `body` is what came as JSON; None where a form is still to be read, into `declared`.

    :raises ApiError: PAYLOAD_TOO_LARGE, FILE_SIZE_TOO_LARGE.
    :raises InvalidFormBody: for a malformed form or body, and for attachments that are not there.
    """
    return received_body(
        request, owner, declared, body, lambda message: attachment_wishes(message.attachments), uploads
    )


async def received_fields(request: Request, declared: type[T]) -> T:
    """A body that came as a form in parts, where files have no place.

    :raises InvalidFormBody: TOO_MANY_FILES at `files`; for a malformed form or body.
    """
    body: T = body_structure(declared)(await FormBody(declared, PAYLOAD_JSON).received(request))
    return body


class PostBody(Protocol):
    """The body of a post."""

    @property
    def message(self) -> CreateMessage | None:
        """Its first message."""
        ...


@asynccontextmanager
async def received_post(
    request: Request, owner: Owner, declared: type[P], body: P | None, uploads: Uploads
) -> AsyncIterator[tuple[P, CreateMessage, Sequence[AttachmentDraft]]]:
    """The body, the first message and the attachments of a post that is made in the block; as `received_message`.

    :raises ApiError: as `received_message`.
    :raises InvalidFormBody: as `received_message`; INVALID_FORMAT at `message` without one.
    """

    def wishes_of(post: P) -> Sequence[AttachmentWish]:
        return attachment_wishes(_message_of(post).attachments)

    async with received_body(request, owner, declared, body, wishes_of, uploads) as (post, attachments):
        yield post, _message_of(post), attachments


def _message_of(post: PostBody) -> CreateMessage:
    if post.message is None:
        raise InvalidFormBody.at("message", FieldCode.INVALID_FORMAT)
    return post.message


@asynccontextmanager
async def received_edit(
    request: Request, owner: Callable[[], Owner], body: EditMessage | None, uploads: Uploads
) -> AsyncIterator[MessageEdit]:
    """The change to a message that is made in the block; as `received_change`.

    :raises ApiError: as `received_message`.
    :raises InvalidFormBody: as `received_message`.
    """
    async with received_change(request, owner, EditMessage, body, uploads) as (edit, attachments):
        yield message_edit(edit, attachments)


class Change(Protocol):
    """The body of a change to a message."""

    @property
    def attachments(self) -> Sequence[AttachmentBody] | None:
        """The files that it has then."""
        ...


@asynccontextmanager
async def received_change(
    request: Request, owner: Callable[[], Owner], declared: type[C], body: C | None, uploads: Uploads
) -> AsyncIterator[Received[C]]:
    """The body of a change that is made in the block, with new files; what the message did not take is gone after.

    `owner` is asked only where there are new files, and may refuse them.

    :raises ApiError: as `received_message`.
    :raises InvalidFormBody: as `received_message`.
    """
    if body is not None and not new_wishes(body):
        yield body, ()
        return
    async with received_body(request, owner(), declared, body, new_wishes, uploads) as received:
        yield received


@asynccontextmanager
async def received_body(
    request: Request,
    owner: Owner,
    declared: type[T],
    body: T | None,
    wishes_of: Callable[[T], Sequence[AttachmentWish]],
    uploads: Uploads,
) -> AsyncIterator[Received[T]]:
    """The body with earlier uploads; or, where there is none yet, a form: the body in it, and its files. `wishes_of`
    tells which files a body names.

    :raises ApiError: as `received_message`.
    :raises InvalidFormBody: as `received_message`, and as `wishes_of`.
    """
    if body is not None:
        yield body, uploads.promised(owner, wishes_of(body))
        return
    async with (
        received_form(request, owner, declared, uploads) as (message, form),
        uploads.of_form(owner, form, wishes_of(message)) as attachments,
    ):
        yield message, attachments


@asynccontextmanager
async def received_form(
    request: Request, owner: Owner, declared: type[T], uploads: Uploads
) -> AsyncIterator[tuple[T, Form]]:
    """A form, and the body in it. Of the owner it matters who it is, and how large a file may be.

    :raises ApiError: as `Uploads.form`.
    :raises InvalidFormBody: for what is no form, or has no such body.
    """
    from chat.media.multipart import boundary_of  # a server without uploads starts sooner

    boundary = boundary_of(request.headers.get("content-type"))
    if boundary is None:
        raise InvalidFormBody.at("body", FieldCode.INVALID_FORMAT)
    most = uploads.form_bytes(owner) + 2 * JSON_BODY_BYTES
    chunks = BodyChunks(request.receive, request.headers.get("content-length"), most)
    async with uploads.form(owner, chunks, boundary, PAYLOAD_JSON) as form:
        message: T = body_structure(declared)(FormBody(declared, PAYLOAD_JSON).of_fields(form.fields))
        yield message, form
