"""Uploads before their message (messages.md, Uploads; `presigned_attachment_uploads`)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat import wire
from chat.api.fields import Items, Length, Range, Refusal, Schema
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.uploads import PromisedFile
from chat.errors import InvalidFormBody
from chat.protocol.visible_text import without_nul
from chat.protocol.whole_numbers import whole
from chat.registries.error_codes import FieldCode

routes = Routes()

FILES: Final = 100
"""More are refused before they are looked at; the domain knows the limit."""

FILE_BYTES: Final = (1 << 53) - 1
FILE_NAME_CHARACTERS: Final = 1_024
UPLOAD_NAME_CHARACTERS: Final = 512
CLIENT_ID_CHARACTERS: Final = 32


class _ClientFileId:
    """The client's own name for a file: short text, or an integer, which counts as its decimal digits."""

    schema: Final[Schema] = {"type": ["string", "integer"], "maxLength": CLIENT_ID_CHARACTERS}

    def read(self, value: object) -> str:
        number = whole(value)
        if type(number) is int:
            return str(number)
        if type(value) is not str or len(value) > CLIENT_ID_CHARACTERS:
            raise Refusal
        return without_nul(value)


@frozen
class FileBody:
    """A file to be uploaded; `file_size` is exact."""

    filename: Annotated[str, Length(1, FILE_NAME_CHARACTERS)]
    file_size: Annotated[int, Range(1, FILE_BYTES)]
    id: Annotated[str, _ClientFileId()] = "0"


Files = Annotated[list[FileBody], Items(0, FILES, FieldCode.TOO_MANY_FILES)]


@frozen
class PromiseUploads:
    """The files; clients call the list by either name."""

    files: Files = attrs.field(factory=list)
    attachments: Files = attrs.field(factory=list)


@frozen
class UploadBody:
    """An upload by its name."""

    upload_filename: Annotated[str, Length(1, UPLOAD_NAME_CHARACTERS)]


@frozen
class CompleteUploads:
    """Uploads that shall have arrived."""

    attachments: Annotated[list[UploadBody], Items(1, FILES, FieldCode.TOO_MANY_FILES)]


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/attachments",
    policy=Policy.USER,
    bucket=Bucket("channel:attachment:create::channel_id", 20, 10_000),
)
async def promise_uploads(
    request: Request, messages: MessagesArea, channel_id: int, body: PromiseUploads
) -> wire.PromiseUploadsAnswer:
    """Addresses that take these files."""
    wanted = body.files or body.attachments
    if not wanted:
        raise InvalidFormBody.at("files", FieldCode.INVALID_FORMAT)
    files = [PromisedFile(file.id, file.filename, file.file_size) for file in wanted]
    return {"attachments": await messages.uploads.promise(request.principal, channel_id, files)}


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/attachments/complete",
    policy=Policy.USER,
    bucket=Bucket("channel:attachment:complete::channel_id", 20, 10_000),
)
async def complete_uploads(
    request: Request, messages: MessagesArea, channel_id: int, body: CompleteUploads
) -> wire.CompleteUploadsAnswer:
    """What has arrived of these uploads."""
    names = [upload.upload_filename for upload in body.attachments]
    return {"attachments": messages.uploads.complete(request.principal, channel_id, names)}
