"""The boxes of ISO base media files (ISO/IEC 14496-12, 4.2): films, HEIC, AVIF, and the container of JPEG XL.

They are read where they lie, in bytes or in a file that is mapped into memory. Nothing here loops without moving on.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from typing import Final

from chat.classes import frozen

Content = bytes | mmap.mmap
"""A whole file."""

BOXES_MAXIMUM: Final = 200_000
"""Boxes on one level that are looked at: a film in pieces of a second each has two a second."""

FULL_BOX_BYTES: Final = 4
"""The version and the flags with which many boxes begin."""


@frozen
class Box:
    """Where a box begins, where its content begins, and where it ends."""

    kind: bytes
    start: int
    content: int
    stop: int


def boxes(data: Content, start: int, stop: int) -> Iterator[Box]:
    """The boxes one behind the other from `start` on; what makes no sense as a box is the end of them.

    A box that is longer than there is room for is the last one and has the room.
    """
    for _ in range(BOXES_MAXIMUM):
        if start + 8 > stop:
            return
        size, kind = struct.unpack(">I4s", data[start : start + 8])
        content = start + 8
        if size == 1 and start + 16 <= stop:
            (size,) = struct.unpack(">Q", data[start + 8 : start + 16])
            content += 8
        elif size == 0:
            size = stop - start
        if size < content - start:
            return
        end = min(start + size, stop)
        yield Box(kind, start, content, end)
        start = end


def first_box(data: Content, kind: bytes, start: int, stop: int) -> Box | None:
    """The first box of a kind on one level."""
    return next((box for box in boxes(data, start, stop) if box.kind == kind), None)
