"""A message's body with its files, whichever way they come: as JSON that names earlier uploads, or as a form."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from chat.api.bodies import BODY_LIMIT, BodyChunks
from chat.api.message_bodies import CreateMessage, attachment_wishes
from chat.api.operation import Request
from chat.api.parsing import parse_json
from chat.api.structuring import Structure, body_structure
from chat.domain.message_drafts import AttachmentDraft
from chat.domain.uploads import Owner
from chat.errors import InvalidFormBody

PAYLOAD: Final = "payload_json"
"""The field of a form that holds the message (wire facts 5.3)."""

B = TypeVar("B", bound=CreateMessage)

Received = tuple[B, Sequence[AttachmentDraft]]


@asynccontextmanager
async def received_message(
    request: Request, owner: Owner, declared: type[B], body: B | None
) -> AsyncIterator[Received[B]]:
    """The body and the attachments of a message that is sent in the block; what the message did not take is gone after.

    `body` is what came as JSON; None where a form is still to be read, into `declared`.

    :raises ApiError: PAYLOAD_TOO_LARGE, FILE_SIZE_TOO_LARGE.
    :raises InvalidFormBody: for a malformed form or body, and for attachments that are not there.
    """
    uploads = request.services.uploads
    if body is not None:
        yield body, uploads.promised(owner, attachment_wishes(body.attachments))
        return
    from chat.media.multipart import boundary_of  # a server without uploads starts sooner

    boundary = boundary_of(request.headers.get("content-type"))
    if boundary is None:
        raise InvalidFormBody.at("body", "INVALID_FORMAT")
    most = request.services.settings.limits.max_attachments_per_message * owner.file_bytes + 2 * BODY_LIMIT
    chunks = BodyChunks(request.receive, request.headers.get("content-length"), most)
    async with uploads.form(owner, chunks, boundary) as form:
        value = parse_json(form.fields.get(PAYLOAD, b""), empty_strings_are_null=False)
        message: B = _structure(declared)(value)
        async with uploads.of_form(owner, form, attachment_wishes(message.attachments)) as attachments:
            yield message, attachments


_STRUCTURES: Final[dict[type[Any], Structure]] = {}


def _structure(declared: type[Any]) -> Structure:
    structure = _STRUCTURES.get(declared)
    if structure is None:
        structure = _STRUCTURES[declared] = body_structure(declared)
    return structure
