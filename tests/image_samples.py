"""Small images of every format that is taken: what Pillow writes, and by hand what it cannot."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Final

import PIL.Image
import pillow_heif
import pillow_jxl  # noqa: F401 - registers itself

pillow_heif.register_heif_opener(thumbnails=False)


def written(form: str, size: tuple[int, int] = (16, 8), frames: int = 1, **options: object) -> bytes:
    """An image as Pillow writes it."""
    stream = io.BytesIO()
    images = [PIL.Image.new("RGB", size, (40 * number, 20, 30)) for number in range(frames)]
    more = {"save_all": True, "append_images": images[1:]} if frames > 1 else {}
    images[0].save(stream, form, **more, **options)  # type: ignore[arg-type]
    return stream.getvalue()


def box(kind: bytes, *content: bytes) -> bytes:
    """A box of an ISO base media file."""
    data = b"".join(content)
    return struct.pack(">I4s", 8 + len(data), kind) + data


def heif(*brands: bytes, size: tuple[int, int] = (16, 8), sequence: bool = False) -> bytes:
    """As much of a HEIF file as tells what it is: brands, extents of the image and of a thumbnail, perhaps a track."""
    extents = [box(b"ispe", bytes(4), struct.pack(">II", *extent)) for extent in ((4, 2), size)]
    meta = box(b"meta", bytes(4), box(b"iprp", box(b"ipco", *extents)))
    moov = box(b"moov", box(b"mvhd", bytes(20))) if sequence else b""
    return box(b"ftyp", brands[0], bytes(4), *brands) + meta + moov + box(b"mdat", bytes(32))


class _Bits:
    """Writes numbers of a given width in bits, lowest bit first."""

    def __init__(self) -> None:
        self.value = 0
        self.count = 0

    def put(self, number: int, count: int) -> None:
        self.value |= number << self.count
        self.count += count

    def put_length(self, number: int) -> None:
        """One of four ways to say a length: selector, then as many bits."""
        for selector, bits in enumerate((9, 13, 18, 30)):
            if number <= 1 << bits:
                self.put(selector, 2)
                self.put(number - 1, bits)
                return

    def data(self) -> bytes:
        return self.value.to_bytes((self.count + 7) // 8, "little")


def jxl(
    size: tuple[int, int] = (16, 8),
    *,
    ratio: int = 0,
    in_eights: bool = False,
    moving: bool = False,
    orientation: int = 1,
    **has: bool,
) -> bytes:
    """The first bytes of a JPEG XL codestream; `has` may name `intrinsic_size` and `preview`."""
    bits = _Bits()
    width, height = size
    bits.put(in_eights, 1)
    if in_eights:
        bits.put(height // 8 - 1, 5)
    else:
        bits.put_length(height)
    bits.put(ratio, 3)
    if not ratio and in_eights:
        bits.put(width // 8 - 1, 5)
    elif not ratio:
        bits.put_length(width)
    extra = moving or orientation > 1 or bool(has)
    bits.put(not extra, 1)  # all by default
    if extra:
        bits.put(1, 1)  # extra fields
        bits.put(orientation - 1, 3)
        bits.put("intrinsic_size" in has, 1)
        if "intrinsic_size" in has:
            bits.put(0, 1)
            bits.put_length(700)
            bits.put(2, 3)
        bits.put("preview" in has, 1)
        if "preview" in has:
            bits.put(1, 1)
            bits.put(2, 2)
            bits.put(3, 5)
            bits.put(0, 3)
            bits.put(3, 2)
            bits.put(9, 9)
        bits.put(moving, 1)
    return b"\xff\x0a" + bits.data() + bytes(16)


def jxl_in_boxes(codestream: bytes, *, partial: bool = False) -> bytes:
    """A codestream in the container of JPEG XL."""
    held = box(b"jxlp", bytes(4), codestream) if partial else box(b"jxlc", codestream)
    return box(b"JXL ", b"\r\n\x87\n") + box(b"ftyp", b"jxl ", bytes(4), b"jxl ") + box(b"jxll", b"\x05") + held


def svg(attributes: str = 'width="16" height="8"', *, before: str = "", inside: str = "") -> bytes:
    """A drawing."""
    return f'{before}<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{inside}</svg>'.encode()


MOVING_JXL: Final = (
    "/wrBBU0AICYIBAEAUABLGIsVABQZY8yYB3BIIqYCoArFAQgEAQBEAEsYixVUvUXqfwCVQtMJAKsX"
    "CAQFAFwASxiLFQBUGWOMmXkAMWCyAGDTD4EGEQ4="
)
"""Three frames of 16 by 8 as libjxl writes them, which Pillow's plugin cannot."""

FORMATS: Final[Mapping[str, tuple[str, Callable[[], bytes]]]] = {
    "PNG": ("image/png", lambda: written("PNG")),
    "JPEG": ("image/jpeg", lambda: written("JPEG")),
    "WebP": ("image/webp", lambda: written("WEBP")),
    "GIF": ("image/gif", lambda: written("GIF")),
    "APNG": ("image/png", lambda: written("PNG", frames=3)),
    "AVIF": ("image/avif", lambda: written("AVIF")),
    "HEIC": ("image/heic", lambda: written("HEIF")),
    "HEIF": ("image/heif", lambda: written("HEIF").replace(b"heic", b"mif1")),
    "JXL": ("image/jxl", lambda: written("JXL")),
    "SVG": ("image/svg+xml", svg),
}
"""The ten formats (document 001, Icon rules), each with its media type; all images are 16 by 8."""

MOVING: Final[Mapping[str, Callable[[], bytes]]] = {
    "GIF": lambda: written("GIF", frames=3),
    "APNG": lambda: written("PNG", frames=3),
    "WebP": lambda: written("WEBP", frames=3),
    "HEIC": lambda: written("HEIF").replace(b"mif1heic", b"mif1hevc", 1) + box(b"moov", box(b"mvhd", bytes(100))),
    "JXL": lambda: base64.b64decode(MOVING_JXL),
}
"""Formats in which images may move."""


SHOWN_STILL: Final = frozenset({"HEIC", "JXL"})
"""Of MOVING, what no library here can play: the image process draws the first picture of it."""


def png_bomb(side: int = 30_000) -> bytes:
    """A whole PNG of few bytes and very many black pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    row, packer = bytes(1 + (side + 7) // 8), zlib.compressobj()
    rows = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
