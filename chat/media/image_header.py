"""Size and kind of an image from its header alone.

Pixels are never unpacked, so a bomb costs what its header costs: a bounded look at bytes that are in memory anyway
(media.md, Image intake). Each reader returns None for what it cannot make sense of; none loops without moving on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from chat.classes import frozen
from chat.media.content_types import brands, content_type

HEADER_BYTES: Final = 262_144
"""How much of a file may be looked at: a camera's JPEG can carry a preview and a colour profile before its size."""

PIXELS_MAXIMUM: Final = 32_000_000
"""Images with more pixels are refused (Synapse's number)."""


@frozen
class ImageHeader:
    """What an image says of itself."""

    content_type: str
    width: int
    height: int
    animated: bool = False

    @property
    def is_bearable(self) -> bool:
        """Whether a client can show an image of this size."""
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


# The ISO base media file format: AVIF, HEIC and HEIF (ISO/IEC 23008-12)

SEQUENCE_BRANDS: Final = frozenset({b"avis", b"msf1", b"hevc", b"hevx", b"hevm", b"hevs"})
"""Of files that may hold a sequence of images, in their `moov` box."""


def _heif(data: bytes) -> _Found:
    """The largest spatial extent that is named: thumbnails, tiles and alpha planes have extents as well."""
    largest: tuple[int, int] | None = None
    has_sequence = False
    for kind, start, stop in _boxes(data):
        if stop < start:
            break
        has_sequence = has_sequence or kind == b"moov"
        if kind != b"meta":
            continue
        position = data.find(b"ispe", start, stop)
        while 0 <= position <= len(data) - 16:
            width, height = struct.unpack_from(">II", data, position + 8)
            if largest is None or width * height > largest[0] * largest[1]:
                largest = (width, height)
            position = data.find(b"ispe", position + 16, stop)
    if largest is None:
        return None
    named = brands(data)
    return *largest, named[0] == b"avis" or (has_sequence and not SEQUENCE_BRANDS.isdisjoint(named))


def _boxes(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The kinds of the file's boxes, and where their content begins and ends.

    A box whose size makes no sense is the last, and ends before it begins.
    """
    position = stop = start = 0
    while stop >= start and position + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, position)
        start = position + 8
        if size == 1 and position + 16 <= len(data):
            (size,) = struct.unpack_from(">Q", data, start)
            start += 8
        elif size == 0:
            size = len(data) - position
        stop = position + size
        yield kind, start, stop if stop < start else min(stop, len(data))
        position = stop


# JPEG XL: the first bits of the codestream (ISO/IEC 18181-1, annex D; 18181-2 for boxes)

CODESTREAM: Final = b"\xff\x0a"

_JXL_RATIOS: Final = ((1, 1), (6, 5), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))
"""Width to height, for the ratios 1 to 7."""

_JXL_SIZE: Final = ((9, 1), (13, 1), (18, 1), (30, 1))
_JXL_PREVIEW_IN_EIGHTS: Final = ((0, 16), (0, 32), (5, 1), (9, 33))
_JXL_PREVIEW: Final = ((6, 1), (8, 65), (10, 321), (12, 1_345))

_Choices = tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]


class _Bits:
    """Reads numbers of so many bits, the lowest first. IndexError where there are no more."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def number(self, count: int) -> int:
        value = 0
        for place in range(count):
            byte, bit = divmod(self._position, 8)
            value |= (self._data[byte] >> bit & 1) << place
            self._position += 1
        return value

    def chosen(self, choices: _Choices) -> int:
        count, offset = choices[self.number(2)]
        return offset + self.number(count)


def _jxl(data: bytes) -> _Found:
    codestream = data[2:64] if data.startswith(CODESTREAM) else _codestream_in_boxes(data)
    if codestream is None:
        return None
    bits = _Bits(codestream)
    width, height = _jxl_size(bits)
    return width, height, _jxl_moves(bits)


def _jxl_size(bits: _Bits) -> tuple[int, int]:
    in_eights = bits.number(1)
    height = 8 * (bits.number(5) + 1) if in_eights else bits.chosen(_JXL_SIZE)
    ratio = bits.number(3)
    if ratio:
        across, down = _JXL_RATIOS[ratio - 1]
        return height * across // down, height
    return 8 * (bits.number(5) + 1) if in_eights else bits.chosen(_JXL_SIZE), height


def _jxl_moves(bits: _Bits) -> bool:
    """The metadata: all of it by default, or orientation, intrinsic size, preview and then what is asked for."""
    if bits.number(1) or not bits.number(1):
        return False
    bits.number(3)
    if bits.number(1):
        _jxl_size(bits)
    if bits.number(1):
        _skip_jxl_preview(bits)
    return bool(bits.number(1))


def _skip_jxl_preview(bits: _Bits) -> None:
    choices = _JXL_PREVIEW_IN_EIGHTS if bits.number(1) else _JXL_PREVIEW
    bits.chosen(choices)
    if not bits.number(3):
        bits.chosen(choices)


def _codestream_in_boxes(data: bytes) -> bytes | None:
    """The beginning of the codestream in a container: in a `jxlc` box, or in the first `jxlp` box after its number."""
    for kind, start, _ in _boxes(data):
        if kind in (b"jxlc", b"jxlp"):
            start += 4 if kind == b"jxlp" else 0
            found = data[start : start + 64]
            return found[2:] if found.startswith(CODESTREAM) else None
    return None


_READERS: Final[Mapping[str, Callable[[bytes], _Found]]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/jpeg": _jpeg,
    "image/webp": _webp,
    "image/avif": _heif,
    "image/heic": _heif,
    "image/heif": _heif,
    "image/jxl": _jxl,
}
