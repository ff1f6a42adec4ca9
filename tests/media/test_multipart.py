"""Forms taken apart: the same however they are cut, and nothing but a whole form is a form."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from chat.errors import ApiError, InvalidFormBody
from chat.media.multipart import Form, boundary_of, read_form
from chat.media.storage import MediaStorage
from tests.webhooks.surfaces import BOUNDARY, form

BODY = form(
    [("files[0]", "a.png", b"\x89PNG\r\n--" + BOUNDARY.encode()[:-1]), ("files[1]", "", b"\r\n--\r\n")],
    b'{"content": "\\r\\n--"}',
)


async def cut(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


def read(body: bytes, size: int, folder: Path, *, files: int = 5, file_bytes: int = 1_000) -> list[object]:
    """The fields and the files of a form that comes in pieces of this size."""

    async def main() -> list[object]:
        storage = MediaStorage(folder, in_threads=False)
        async with AsyncExitStack() as stack:
            found: Form = await read_form(
                cut(body, size),
                BOUNDARY.encode(),
                files_maximum=files,
                file_bytes=file_bytes,
                new_file=lambda: stack.enter_async_context(storage.receiving()),
            )
            return [found.fields, *[(part.name, part.filename, await file.content()) for part, file in found.files]]

    return trio.run(main)


@given(st.integers(1, len(BODY)))
def test_a_form_is_the_same_however_it_is_cut(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    assert read(BODY, size, tmp_path_factory.mktemp("form")) == [
        [("payload_json", b'{"content": "\\r\\n--"}')],
        ("files[0]", "a.png", b"\x89PNG\r\n--" + BOUNDARY.encode()[:-1]),
        ("files[1]", "", b"\r\n--\r\n"),
    ]


@given(st.integers(0, len(BODY) - 3))
def test_part_of_a_form_is_no_form_and_leaves_nothing(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    folder = tmp_path_factory.mktemp("form")
    with pytest.raises(InvalidFormBody):
        read(BODY[:length], 7, folder)
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@given(st.binary(max_size=300), st.integers(1, 50))
def test_no_bytes_are_an_error_of_ours(tmp_path_factory: pytest.TempPathFactory, tail: bytes, size: int) -> None:
    folder = tmp_path_factory.mktemp("form")
    for body in (tail, f"--{BOUNDARY}\r\n".encode() + tail, BODY[:60] + tail + BODY[60:]):
        with suppress(ApiError):
            read(body, size, folder)
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_bounds(tmp_path: Path) -> None:
    with pytest.raises(InvalidFormBody):
        read(BODY, 100, tmp_path, files=1)
    with pytest.raises(ApiError, match="FILE_SIZE_TOO_LARGE"):
        read(BODY, 100, tmp_path, file_bytes=10)
    other = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n'.encode()
    with pytest.raises(InvalidFormBody):
        read(other * 17 + f"--{BOUNDARY}--\r\n".encode(), 100, tmp_path)
    nameless = f"--{BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode()
    with pytest.raises(InvalidFormBody):
        read(nameless, 100, tmp_path)


@pytest.mark.parametrize(
    ("content_type", "boundary"),
    [
        (None, None),
        ("application/json", None),
        ("multipart/form-data", None),
        ("multipart/mixed; boundary=x", None),
        ("multipart/form-data; boundary=x", b"x"),
        ('multipart/form-data; charset=utf-8; boundary="x y"', b"x y"),
    ],
)
def test_boundaries(content_type: str | None, boundary: bytes | None) -> None:
    assert boundary_of(content_type) == boundary
