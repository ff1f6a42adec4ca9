"""A message's body with its files, whichever way they come: as JSON that names earlier uploads, or as a form."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, TypeVar

from chat.api.bodies import BODY_LIMIT, BodyChunks
from chat.api.message_bodies import (
    CreateMessage,
    EditMessage,
    attachment_wishes,
    message_edit,
    new_attachment_wishes,
)
from chat.api.operation import Request
from chat.api.parsing import parse_json
from chat.api.structuring import Structure, body_structure
from chat.domain.core import Core
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_drafts import AttachmentDraft, MessageEdit
from chat.domain.messages.uploads import AttachmentWish, Owner
from chat.errors import InvalidFormBody

PAYLOAD: Final = "payload_json"
"""The field of a form that holds the message (messages.md, Sending messages)."""

B = TypeVar("B", bound=CreateMessage)
T = TypeVar("T")
P = TypeVar("P", bound="PostBody")

Received = tuple[B, Sequence[AttachmentDraft]]


@asynccontextmanager
async def received_message(
    request: Request, owner: Owner, declared: type[B], body: B | None, *, core: Core, messages: MessagesArea
) -> AsyncIterator[Received[B]]:
    """The body and the attachments of a message that is sent in the block; what the message did not take is gone after.

    `body` is what came as JSON; None where a form is still to be read, into `declared`.

    :raises ApiError: PAYLOAD_TOO_LARGE, FILE_SIZE_TOO_LARGE.
    :raises InvalidFormBody: for a malformed form or body, and for attachments that are not there.
    """
    if body is not None:
        yield body, messages.uploads.promised(owner, attachment_wishes(body.attachments))
        return
    async with _in_parts(
        request, owner, declared, lambda message: attachment_wishes(message.attachments), core=core, messages=messages
    ) as received:
        yield received


class PostBody(Protocol):
    """The body of a post."""

    @property
    def message(self) -> CreateMessage | None:
        """Its first message."""
        ...


@asynccontextmanager
async def received_post(
    request: Request, owner: Owner, declared: type[P], body: P | None, *, core: Core, messages: MessagesArea
) -> AsyncIterator[tuple[P, CreateMessage, Sequence[AttachmentDraft]]]:
    """The body, the first message and the attachments of a post that is made in the block; as `received_message`.

    :raises ApiError: as `received_message`.
    :raises InvalidFormBody: as `received_message`; INVALID_FORMAT at `message` without one.
    """
    if body is not None:
        message = _message_of(body)
        yield body, message, messages.uploads.promised(owner, attachment_wishes(message.attachments))
        return
    async with _in_parts(
        request,
        owner,
        declared,
        lambda post: attachment_wishes(_message_of(post).attachments),
        core=core,
        messages=messages,
    ) as received:
        post, attachments = received
        yield post, _message_of(post), attachments


def _message_of(post: PostBody) -> CreateMessage:
    if post.message is None:
        raise InvalidFormBody.at("message", "INVALID_FORMAT")
    return post.message


@asynccontextmanager
async def received_edit(
    request: Request, owner: Callable[[], Owner], body: EditMessage | None, *, core: Core, messages: MessagesArea
) -> AsyncIterator[MessageEdit]:
    """The change to a message that is made in the block, with new files; what the message did not take is gone after.

    `owner` is asked only where there are new files, and may refuse them.

    :raises ApiError: as `received_message`.
    :raises InvalidFormBody: as `received_message`.
    """
    if body is not None:
        wishes = new_attachment_wishes(body)
        yield message_edit(body, messages.uploads.promised(owner(), wishes) if wishes else ())
        return
    async with _in_parts(request, owner(), EditMessage, new_attachment_wishes, core=core, messages=messages) as (
        edit,
        attachments,
    ):
        yield message_edit(edit, attachments)


@asynccontextmanager
async def _in_parts(
    request: Request,
    owner: Owner,
    declared: type[T],
    wishes_of: Callable[[T], Sequence[AttachmentWish]],
    *,
    core: Core,
    messages: MessagesArea,
) -> AsyncIterator[tuple[T, Sequence[AttachmentDraft]]]:
    """A form: the body in it, and its files."""
    from chat.media.multipart import boundary_of  # a server without uploads starts sooner

    uploads = messages.uploads
    boundary = boundary_of(request.headers.get("content-type"))
    if boundary is None:
        raise InvalidFormBody.at("body", "INVALID_FORMAT")
    most = core.settings.limits.max_attachments_per_message * owner.file_bytes + 2 * BODY_LIMIT
    chunks = BodyChunks(request.receive, request.headers.get("content-length"), most)
    async with uploads.form(owner, chunks, boundary) as form:
        value = parse_json(form.fields.get(PAYLOAD, b""), empty_strings_are_null=False)
        message: T = _structure(declared)(value)
        async with uploads.of_form(owner, form, wishes_of(message)) as attachments:
            yield message, attachments


_STRUCTURES: Final[dict[type[Any], Structure]] = {}


def _structure(declared: type[Any]) -> Structure:
    structure = _STRUCTURES.get(declared)
    if structure is None:
        structure = _STRUCTURES[declared] = body_structure(declared)
    return structure
