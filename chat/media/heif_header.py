"""Images in the ISO base media file format: AVIF, HEIC and HEIF (ISO/IEC 23008-12)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from chat.media.content_types import brands

SEQUENCE_BRANDS: Final = frozenset({b"avis", b"msf1", b"hevc", b"hevx", b"hevm", b"hevs"})
"""Of files that may hold a sequence of images, in their `moov` box."""


def heif_header(data: bytes) -> tuple[int, int, bool] | None:
    """Width, height, and whether it moves. The largest spatial extent that is named: thumbnails, tiles and alpha planes
    have extents as well."""
    largest: tuple[int, int] | None = None
    has_sequence = False
    for kind, start, stop in _boxes(data):
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
    """The boxes of the file: their kinds, and where their content begins and ends. Ends where a size makes no sense."""
    position = 0
    while position + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, position)
        start = position + 8
        if size == 1 and position + 16 <= len(data):
            (size,) = struct.unpack_from(">Q", data, start)
            start += 8
        elif size == 0:
            size = len(data) - position
        if position + size < start:
            return
        yield kind, start, min(position + size, len(data))
        position += size
