"""A `multipart/form-data` body taken apart as it arrives (RFC 7578): files go to the disk, fields stay small.

Nothing is trusted before it is counted: parts, bytes of each field, bytes of each file, headers (the parser's own
limits). A body that ends too early, or is malformed, is refused as a whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import attrs
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from chat.classes import define, frozen
from chat.errors import ApiError, InvalidFormBody
from chat.media.part_header import disposition_of
from chat.media.storage import Incoming
from chat.registries.error_codes import ErrorCode, FieldCode

FIELD_BYTES: Final = 1_048_576
"""The longest field that is not a file: `payload_json` is a JSON body (http.md, Body sizes)."""

OTHER_PARTS: Final = 16
"""Parts besides the files that a form may have."""


@frozen
class FormPart:
    """Where the bytes of a part go: `name` is the field's, `filename` None for what is no file."""

    name: str
    filename: str | None


@define
class Form:
    """What came: fields and files, each in the order of their parts."""

    fields: list[tuple[str, bytes]] = attrs.field(factory=list)
    files: list[tuple[FormPart, Incoming]] = attrs.field(factory=list)


def boundary_of(content_type: str | None) -> bytes | None:
    """The boundary of a multipart body; None for any other content type."""
    if content_type is None:
        return None
    kind, options = parse_options_header(content_type)
    return options.get(b"boundary") if kind == b"multipart/form-data" else None


async def read_form(
    chunks: AsyncIterator[bytes],
    boundary: bytes,
    *,
    files_maximum: int,
    file_bytes: int,
    new_file: Callable[[], Awaitable[Incoming]],
    never_a_file: str = "",
) -> Form:
    """Read a whole form; `new_file` makes a file to write into, `file_bytes` bounds each. A part named `never_a_file`
    is a field even where it has a file name: browsers give one to every Blob.

    :raises InvalidFormBody: TOO_MANY_FILES at `files`; INVALID_FORMAT at `body` for what is no such form.
    :raises ApiError: FILE_SIZE_TOO_LARGE, PAYLOAD_TOO_LARGE (a field).
    """
    form = Form()
    events: list[tuple[str, bytes]] = []
    reader = _Reader(form, files_maximum, file_bytes, new_file, never_a_file)
    try:
        parser = MultipartParser(boundary, _callbacks(events))
        async for chunk in chunks:
            parser.write(chunk)
            for kind, data in events:
                await reader.take(kind, data)
            events.clear()
        parser.finalize()
    except FormParserError:
        raise InvalidFormBody.at("body", FieldCode.INVALID_FORMAT) from None
    if not reader.complete:
        raise InvalidFormBody.at("body", FieldCode.INVALID_FORMAT)
    return form


def _callbacks(events: list[tuple[str, bytes]]) -> Any:
    """What the parser calls: everything is noted down and worked off after each chunk."""

    def plain(kind: str) -> Callable[[], None]:
        return lambda: events.append((kind, b""))

    def with_data(kind: str) -> Callable[[bytes, int, int], None]:
        return lambda data, start, end: events.append((kind, data[start:end]))

    return {
        "on_part_begin": plain("part"),
        "on_header_field": with_data("name"),
        "on_header_value": with_data("value"),
        "on_header_end": plain("header"),
        "on_headers_finished": plain("headers"),
        "on_part_data": with_data("data"),
        "on_part_end": plain("end"),
        "on_end": plain("form"),
    }


@define(eq=False)
class _Reader:
    """Follows the parser's events through one form."""

    _form: Form
    _files_maximum: int
    _file_bytes: int
    _new_file: Callable[[], Awaitable[Incoming]]
    _never_a_file: str
    _others: int = 0
    _header_name: bytes = b""
    _header_value: bytes = b""
    _disposition: bytes = b""
    _part: FormPart | None = None
    _field: bytearray = attrs.field(factory=bytearray)
    _file: Incoming | None = None
    complete: bool = False

    async def take(self, kind: str, data: bytes) -> None:
        match kind:
            case "data":
                await self._data(data)
            case "name":
                self._header_name += data
            case "value":
                self._header_value += data
            case "header":
                if self._header_name.lower() == b"content-disposition":
                    self._disposition = self._header_value
                self._header_name = self._header_value = b""
            case "part":
                self._disposition = b""
                self._field.clear()
                self._file = self._part = None
            case "headers":
                await self._headers()
            case "end":
                if self._part is not None and self._file is None:
                    self._form.fields.append((self._part.name, bytes(self._field)))
            case _:
                self.complete = True

    async def _headers(self) -> None:
        named = disposition_of(self._disposition)
        if named is None:
            raise InvalidFormBody.at("body", FieldCode.INVALID_FORMAT)
        self._part = FormPart(*named)
        if self._part.filename is None or self._part.name == self._never_a_file:
            self._others += 1
            if self._others > OTHER_PARTS:
                raise InvalidFormBody.at("body", FieldCode.INVALID_FORMAT)
            return
        if len(self._form.files) >= self._files_maximum:
            raise InvalidFormBody.at("files", FieldCode.TOO_MANY_FILES)
        self._file = await self._new_file()
        self._form.files.append((self._part, self._file))

    async def _data(self, data: bytes) -> None:
        if self._file is None:
            if len(self._field) + len(data) > FIELD_BYTES:
                raise ApiError(ErrorCode.PAYLOAD_TOO_LARGE, headers={"Connection": "close"})
            self._field += data
            return
        if self._file.size + len(data) > self._file_bytes:
            raise ApiError(ErrorCode.FILE_SIZE_TOO_LARGE, headers={"Connection": "close"})
        await self._file.write(data)
