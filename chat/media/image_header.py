"""Size and kind of an image from its header alone. Width and height are those that a person sees: a picture that is
marked to be turned by a quarter is as wide as its stored rows are high.

Pixels are never unpacked, so a bomb costs what its header costs: a bounded look at bytes that are in memory anyway
(media.md, Image intake). Each reader returns None for what it cannot make sense of; none loops without moving on.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from chat.classes import frozen
from chat.media.boxes import FULL_BOX_BYTES, Box, Content, boxes, first_box
from chat.media.content_types import IMAGE_TYPES, SNIFFED_BYTES, brands, content_type
from chat.media.exif import UPRIGHT, orientation_of, seen, tiff_size

HEADER_BYTES: Final = 262_144
"""How much of a file may be looked at: a camera's JPEG can carry a preview and a colour profile before its size."""

EXIF_BYTES: Final = 65_536
"""How much of EXIF data is looked at: more does not fit into a JPEG."""

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


def stored_image_header(path: Path) -> ImageHeader | None:
    """The header of a stored image, all of which is looked through; None if it is none. For a thread."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return image_header(data, whole=True)
    except (OSError, ValueError):  # it is gone, or empty
        return None


def is_turned_webp(path: Path) -> bool:
    """Whether a stored WebP is turned by its EXIF, which browsers do not mind. For a thread."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data[8:16] == b"WEBPVP8X" and _webp_orientation(data) != UPRIGHT
    except (OSError, ValueError, struct.error):  # it is gone, or ends too early
        return False


def size_seen(path: Path, content_type: str) -> tuple[int, int] | None:
    """Width and height of a stored picture of this type to a person; None for what cannot be shown. For a thread."""
    header = stored_image_header(path) if content_type in IMAGE_TYPES else None
    return (header.width, header.height) if header is not None and header.is_bearable else None


def image_header(data: Content, *, whole: bool = False) -> ImageHeader | None:
    """The header of the image that begins with these bytes; None if it is none.

    HEADER_BYTES of them count; `whole` says that they are all of the image and are all to be looked through.
    """
    kind = content_type(data[:SNIFFED_BYTES])
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


def _png(data: Content) -> _Found:
    """A chunk `acTL` in front of the pixels makes it an APNG, if there are several frames."""
    if data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", data, 16)
    position, frames, behind_pixels = 8, 1, False
    while position + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        if kind == b"eXIf":
            orientation = orientation_of(data[position + 8 : position + 8 + min(length, EXIF_BYTES)])
            return *seen(width, height, orientation), frames > 1
        if kind == b"IEND":
            break
        behind_pixels = behind_pixels or kind == b"IDAT"
        if kind == b"acTL" and not behind_pixels:
            (frames,) = struct.unpack_from(">I", data, position + 8)
        position += 12 + length
    return width, height, frames > 1


def _tiff(data: Content) -> _Found:
    size = tiff_size(data)
    return None if size is None else (*size, False)


def _gif(data: Content) -> _Found:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height, _has_second_frame(data)


def _has_second_frame(data: Content) -> bool:
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


def _jpeg(data: Content) -> _Found:
    position, size, orientation = 2, None, None
    while position + 4 <= len(data):
        marker = data[position + 1]
        if data[position] != 0xFF or marker == 0xDA:  # no segment; or pixels begin
            break
        if marker == 0xFF:  # padding
            position += 1
            continue
        (length,) = struct.unpack_from(">H", data, position + 2)
        if marker in _JPEG_FRAMES and size is None:
            height, width = struct.unpack_from(">HH", data, position + 5)
            size = (width, height)
        elif marker == 0xE1 and orientation is None and data[position + 4 : position + 10] == b"Exif\0\0":
            orientation = orientation_of(data[position + 4 : position + 2 + length])
        position += 2 + max(length, 2)
    return None if size is None else (*seen(*size, orientation or UPRIGHT), False)


def _webp(data: Content) -> _Found:
    kind = data[12:16]
    if kind == b"VP8X":
        width = 1 + int.from_bytes(data[24:27], "little")
        height = 1 + int.from_bytes(data[27:30], "little")
        if len(data) < 30:
            return None
        return *seen(width, height, _webp_orientation(data)), bool(data[20] & 2)
    if kind == b"VP8L" and data[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", data, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF), False
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF, False
    return None


def _webp_orientation(data: Content) -> int:
    """What its EXIF says, which comes behind the pixels."""
    position = 12
    while position + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, position)
        if kind == b"EXIF":
            return orientation_of(data[position + 8 : position + 8 + min(length, EXIF_BYTES)])
        position += 8 + length + length % 2
    return UPRIGHT


# The ISO base media file format: AVIF, HEIC and HEIF (ISO/IEC 23008-12). Their EXIF does not turn them: properties do.

SEQUENCE_BRANDS: Final = frozenset({b"avis", b"msf1", b"hevc", b"hevx", b"hevm", b"hevs"})
"""Of files that may hold a sequence of images, in their `moov` box."""


def _heif(data: Content) -> _Found:
    has_sequence = False
    size: tuple[int, int] | None = None
    for box in boxes(data, 0, len(data)):
        has_sequence = has_sequence or box.kind == b"moov"
        if box.kind == b"meta" and size is None:
            size = _of_items(data, box)
    if size is None:
        return None
    named = brands(data[:SNIFFED_BYTES])
    return *size, named[0] == b"avis" or (has_sequence and not SEQUENCE_BRANDS.isdisjoint(named))


def _of_items(data: Content, meta: Box) -> tuple[int, int] | None:
    """The size of the primary item, by its properties; else the largest extent that is named: thumbnails, tiles and
    alpha planes have extents as well."""
    inside = list(boxes(data, meta.content + FULL_BOX_BYTES, meta.stop))
    of_kind = {box.kind: box for box in reversed(inside)}
    properties = of_kind.get(b"iprp")
    shelf = None if properties is None else first_box(data, b"ipco", properties.content, properties.stop)
    if properties is None or shelf is None:
        return None
    shelved = list(boxes(data, shelf.content, shelf.stop))
    sizes = [_extent(data, box) for box in shelved if box.kind == b"ispe"]
    primary = None if b"pitm" not in of_kind else _primary(data, of_kind[b"pitm"])
    size: tuple[int, int] | None = None
    for index in _associated(data, properties, primary):
        if not 1 <= index <= len(shelved):
            continue
        box = shelved[index - 1]
        if box.kind == b"ispe":
            size = _extent(data, box)
        elif box.kind == b"clap" and size is not None:
            size = _clean_aperture(data, box, size)
        elif box.kind == b"irot" and size is not None and data[box.content] & 1:
            size = size[::-1]
    return size or max(sizes, key=lambda extent: extent[0] * extent[1], default=None)


def _extent(data: Content, box: Box) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, box.content + FULL_BOX_BYTES)
    return width, height


def _clean_aperture(data: Content, box: Box, size: tuple[int, int]) -> tuple[int, int]:
    """What is left of the size behind a cut; all of it where the cut makes no sense."""
    width, width_parts, height, height_parts = struct.unpack_from(">IIII", data, box.content)
    if not width_parts or not height_parts:
        return size
    cut = (width // width_parts, height // height_parts)
    return cut if 0 < cut[0] <= size[0] and 0 < cut[1] <= size[1] else size


def _primary(data: Content, box: Box) -> int:
    """The number of the item that the file is about."""
    found: int = struct.unpack_from(">I" if data[box.content] else ">H", data, box.content + FULL_BOX_BYTES)[0]
    return found


def _associated(data: Content, properties: Box, item: int | None) -> list[int]:
    """The places, from 1 on, of an item's properties, in their order."""
    for box in boxes(data, properties.content, properties.stop):
        if box.kind != b"ipma":
            continue
        version, wide = data[box.content], data[box.content + 3] & 1
        (entries,) = struct.unpack_from(">I", data, box.content + FULL_BOX_BYTES)
        position = box.content + FULL_BOX_BYTES + 4
        for _ in range(min(entries, box.stop - position)):
            number = struct.unpack_from(">I" if version else ">H", data, position)[0]
            position += 4 if version else 2
            count, position = data[position], position + 1
            stop = position + count * (2 if wide else 1)
            if number == item:
                found = struct.unpack_from(f">{count}{'H' if wide else 'B'}", data, position)
                return [index & (0x7FFF if wide else 0x7F) for index in found]
            position = stop
    return []


# JPEG XL: the first bits of the codestream (ISO/IEC 18181-1, annex D; 18181-2 for boxes)

CODESTREAM: Final = b"\xff\x0a"

_JXL_RATIOS: Final = ((1, 1), (6, 5), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))
"""Width to height, for the ratios 1 to 7."""

_JXL_SIZE: Final = ((9, 1), (13, 1), (18, 1), (30, 1))
_JXL_PREVIEW_IN_EIGHTS: Final = ((0, 16), (0, 32), (5, 1), (9, 33))
_JXL_PREVIEW: Final = ((6, 1), (8, 65), (10, 321), (12, 1_345))

_Choices = tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]


class _Bits:
    """Reads numbers of a given width in bits, lowest bit first. IndexError at the end of the data."""

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


def _jxl(data: Content) -> _Found:
    codestream = data[2:64] if data[:2] == CODESTREAM else _codestream_in_boxes(data)
    if codestream is None:
        return None
    bits = _Bits(codestream)
    width, height = _jxl_size(bits)
    orientation, moves = _jxl_metadata(bits)
    return *seen(width, height, orientation), moves


def _jxl_size(bits: _Bits) -> tuple[int, int]:
    in_eights = bits.number(1)
    height = 8 * (bits.number(5) + 1) if in_eights else bits.chosen(_JXL_SIZE)
    ratio = bits.number(3)
    if ratio:
        across, down = _JXL_RATIOS[ratio - 1]
        return height * across // down, height
    return 8 * (bits.number(5) + 1) if in_eights else bits.chosen(_JXL_SIZE), height


def _jxl_metadata(bits: _Bits) -> tuple[int, bool]:
    """Orientation, and whether it moves. All by default, or orientation, intrinsic size, preview and then what is asked
    for."""
    if bits.number(1) or not bits.number(1):
        return UPRIGHT, False
    orientation = 1 + bits.number(3)
    if bits.number(1):
        _jxl_size(bits)
    if bits.number(1):
        _skip_jxl_preview(bits)
    return orientation, bool(bits.number(1))


def _skip_jxl_preview(bits: _Bits) -> None:
    choices = _JXL_PREVIEW_IN_EIGHTS if bits.number(1) else _JXL_PREVIEW
    bits.chosen(choices)
    if not bits.number(3):
        bits.chosen(choices)


def _codestream_in_boxes(data: Content) -> bytes | None:
    """The beginning of the codestream in a container: in a `jxlc` box, or in the first `jxlp` box after its number."""
    for box in boxes(data, 0, len(data)):
        if box.kind in (b"jxlc", b"jxlp"):
            start = box.content + (4 if box.kind == b"jxlp" else 0)
            found = data[start : start + 64]
            return found[2:] if found.startswith(CODESTREAM) else None
    return None


_READERS: Final[Mapping[str, Callable[[Content], _Found]]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/jpeg": _jpeg,
    "image/webp": _webp,
    "image/avif": _heif,
    "image/heic": _heif,
    "image/heif": _heif,
    "image/jxl": _jxl,
    "image/tiff": _tiff,
}
