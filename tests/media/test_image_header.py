"""Headers of images: what Pillow says of whole images is what the bounded look says, and no bytes make it fail."""

from __future__ import annotations

import io

import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.media.content_types import content_type
from chat.media.image_header import HEADER_BYTES, PIXELS_MAXIMUM, ImageHeader, image_header

BEGINNINGS = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    b"GIF89a",
    b"\xff\xd8\xff\xe0",
    b"RIFF\0\0\0\0WEBPVP8X",
    b"RIFF\0\0\0\0WEBPVP8L",
    b"RIFF\0\0\0\0WEBPVP8 ",
    b"\0\0\0\x1cftypavif",
)


def written(form: str, size: tuple[int, int], frames: int = 1, **options: object) -> bytes:
    stream = io.BytesIO()
    images = [PIL.Image.new("RGB", size, (40 * number, 20, 30)) for number in range(frames)]
    more = {"save_all": True, "append_images": images[1:]} if frames > 1 else {}
    images[0].save(stream, form, **more, **options)  # type: ignore[arg-type]
    return stream.getvalue()


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (640, 480)])
@pytest.mark.parametrize(
    ("form", "kind", "frames", "options"),
    [
        ("PNG", "image/png", 1, {}),
        ("PNG", "image/png", 3, {}),
        ("GIF", "image/gif", 1, {}),
        ("GIF", "image/gif", 4, {}),
        ("JPEG", "image/jpeg", 1, {}),
        ("JPEG", "image/jpeg", 1, {"progressive": True}),
        ("WEBP", "image/webp", 1, {}),
        ("WEBP", "image/webp", 1, {"lossless": True}),
        ("WEBP", "image/webp", 3, {}),
        ("AVIF", "image/avif", 1, {}),
    ],
)
def test_an_image_is_read_as_it_was_written(
    form: str, kind: str, frames: int, options: dict[str, object], size: tuple[int, int]
) -> None:
    if form == "AVIF" and size == (1, 1):
        size = (2, 2)
    assert image_header(written(form, size, frames, **options)) == ImageHeader(kind, *size, frames > 1)


def test_a_long_preamble_is_looked_through_up_to_the_limit() -> None:
    image = written("JPEG", (30, 20))
    segment = b"\xff\xe1\xff\xfe" + bytes(0xFFFC)
    assert image_header(image[:2] + segment * 3 + image[2:]) == ImageHeader("image/jpeg", 30, 20)
    assert image_header(image[:2] + segment * (HEADER_BYTES // 65_536 + 1) + image[2:]) is None


def test_what_has_more_pixels_than_anybody_bears() -> None:
    assert ImageHeader("image/png", PIXELS_MAXIMUM, 1).is_bearable
    assert not ImageHeader("image/png", PIXELS_MAXIMUM + 1, 1).is_bearable
    assert not ImageHeader("image/png", 65_535, 65_535).is_bearable
    assert not ImageHeader("image/png", 0, 10).is_bearable


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "text/plain; charset=utf-8"),
        (b"plain words\r\n", "text/plain; charset=utf-8"),
        ("ü".encode() * 3_000, "text/plain; charset=utf-8"),
        (b"x" + "ü".encode() * 3_000, "text/plain; charset=utf-8"),
        (b"\xfc", "application/octet-stream"),
        (b"<!DOCTYPE html><script>", "text/plain; charset=utf-8"),
        (b"<?xml version='1.0'?><svg>", "text/plain; charset=utf-8"),
        (b"\xff\xfb\x90\x00", "audio/mpeg"),
        (b"ID3\x04", "audio/mpeg"),
        (b"RIFF\0\0\0\0WAVE", "audio/wav"),
        (b"RIFF\0\0\0\0AVI ", "application/octet-stream"),
        (b"\0\0\0\x20ftypqt  ", "video/quicktime"),
        (b"\0\0\0\x20ftypisom", "video/mp4"),
        (b"\x7fELF", "application/octet-stream"),
        (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    ],
)
def test_kinds_by_content(data: bytes, kind: str) -> None:
    assert content_type(data) == kind


@given(st.sampled_from(BEGINNINGS), st.binary(max_size=400), st.integers(0, 400))
def test_no_bytes_make_it_fail_or_loop(beginning: bytes, rest: bytes, cut: int) -> None:
    found = image_header((beginning + rest)[:cut])
    assert found is None or (found.width >= 0 and found.height >= 0)
