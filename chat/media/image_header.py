"""Size and kind of an image from its header alone.

Pixels are never unpacked, so a bomb costs what its header costs: a bounded look at bytes that are in memory anyway
(media.md, Image intake). Each reader returns None for what it cannot make sense of; none loops without moving on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from chat.media.content_types import content_type
from chat.media.heif_header import heif_header
from chat.media.jxl_header import jxl_header

HEADER_BYTES: Final = 262_144
"""How much of a file may be looked at: a camera's JPEG can carry a preview and a colour profile before its size."""

PIXELS_MAXIMUM: Final = 32_000_000
"""Images with more pixels are not taken for images (Synapse's number)."""


@attrs.frozen
class ImageHeader:
    """What an image says of itself."""

    content_type: str
    width: int
    height: int
    animated: bool = False

    @property
    def is_bearable(self) -> bool:
        """Whether those who show it need not fear its size."""
        return self.width > 0 and self.height > 0 and self.width * self.height <= PIXELS_MAXIMUM


def image_header(data: bytes, *, whole: bool = False) -> ImageHeader | None:
    """The header of the image that begins with these bytes; None if it is none.

    HEADER_BYTES of them count; `whole` says that they are all of the image and are all to be looked through.
    """
    kind = content_type(data)
    reader = _READERS.get(kind)
    if reader is None:
        return None
    try:
        found = reader(data if whole else data[:HEADER_BYTES])
    except (struct.error, IndexError):  # it ends before its header does
        return None
    return None if found is None else ImageHeader(kind, *found)


_Found = tuple[int, int, bool] | None
"""Width, height, and whether there is more than one frame."""


def _png(data: bytes) -> _Found:
    """A chunk `acTL` in front of the pixels makes it an APNG, if there are several frames."""
    if data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", data, 16)
    position = 8
    while position + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        if kind == b"IDAT":
            break
        if kind == b"acTL":
            (frames,) = struct.unpack_from(">I", data, position + 8)
            return width, height, frames > 1
        position += 12 + length
    return width, height, False


def _gif(data: bytes) -> _Found:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height, _has_second_frame(data)


def _has_second_frame(data: bytes) -> bool:
    """Whether a second image descriptor is within sight (GIF89a, section 20)."""
    position = 13 + _colour_table_bytes(data[10])
    frames = 0
    while position < len(data):
        marker = data[position]
        if marker == 0x2C:
            frames += 1
            if frames == 2 or position + 10 > len(data):
                return frames == 2
            position += 11 + _colour_table_bytes(data[position + 9])
        elif marker == 0x21:
            position += 2
        else:
            return False
        while position < len(data) and data[position]:
            position += 1 + data[position]
        position += 1
    return False


def _colour_table_bytes(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def _jpeg(data: bytes) -> _Found:
    position = 2
    while position + 4 <= len(data):
        if data[position] != 0xFF:
            return None
        marker = data[position + 1]
        if marker == 0xFF:  # padding
            position += 1
        elif marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, position + 5)
            return width, height, False
        elif marker == 0xDA:  # pixels begin
            return None
        else:
            (length,) = struct.unpack_from(">H", data, position + 2)
            position += 2 + max(length, 2)
    return None


def _webp(data: bytes) -> _Found:
    kind = data[12:16]
    if kind == b"VP8X":
        width = 1 + int.from_bytes(data[24:27], "little")
        height = 1 + int.from_bytes(data[27:30], "little")
        return (width, height, bool(data[20] & 2)) if len(data) >= 30 else None
    if kind == b"VP8L" and data[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", data, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF), False
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF, False
    return None


_READERS: Final[Mapping[str, Callable[[bytes], _Found]]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/jpeg": _jpeg,
    "image/webp": _webp,
    "image/avif": heif_header,
    "image/heic": heif_header,
    "image/heif": heif_header,
    "image/jxl": jxl_header,
}
