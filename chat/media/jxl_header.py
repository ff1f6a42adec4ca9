"""JPEG XL: size and animation from the first bits of the codestream (ISO/IEC 18181-1, annex D; 18181-2 for boxes)."""

from __future__ import annotations

import struct
from typing import Final

CODESTREAM: Final = b"\xff\x0a"

_RATIOS: Final = ((1, 1), (6, 5), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))
"""Width to height, for the ratios 1 to 7."""

_SIZE: Final = ((9, 1), (13, 1), (18, 1), (30, 1))
_PREVIEW_IN_EIGHTS: Final = ((0, 16), (0, 32), (5, 1), (9, 33))
_PREVIEW: Final = ((6, 1), (8, 65), (10, 321), (12, 1_345))

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


def jxl_header(data: bytes) -> tuple[int, int, bool] | None:
    """Width, height, and whether it moves."""
    codestream = data[2:64] if data.startswith(CODESTREAM) else _in_boxes(data)
    if codestream is None:
        return None
    bits = _Bits(codestream)
    width, height = _size(bits)
    return width, height, _moves(bits)


def _size(bits: _Bits) -> tuple[int, int]:
    in_eights = bits.number(1)
    height = 8 * (bits.number(5) + 1) if in_eights else bits.chosen(_SIZE)
    ratio = bits.number(3)
    if ratio:
        across, down = _RATIOS[ratio - 1]
        return height * across // down, height
    return 8 * (bits.number(5) + 1) if in_eights else bits.chosen(_SIZE), height


def _moves(bits: _Bits) -> bool:
    """The metadata: all of it by default, or orientation, intrinsic size, preview and then what is asked for."""
    if bits.number(1) or not bits.number(1):
        return False
    bits.number(3)
    if bits.number(1):
        _size(bits)
    if bits.number(1):
        _skip_preview(bits)
    return bool(bits.number(1))


def _skip_preview(bits: _Bits) -> None:
    choices = _PREVIEW_IN_EIGHTS if bits.number(1) else _PREVIEW
    bits.chosen(choices)
    if not bits.number(3):
        bits.chosen(choices)


def _in_boxes(data: bytes) -> bytes | None:
    """The beginning of the codestream in a container: in a `jxlc` box, or in the first `jxlp` box after its number."""
    position = 0
    while position + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, position)
        start = position + 8
        if size == 1 and position + 16 <= len(data):
            (size,) = struct.unpack_from(">Q", data, start)
            start += 8
        if kind in (b"jxlc", b"jxlp"):
            start += 4 if kind == b"jxlp" else 0
            found = data[start : start + 64]
            return found[2:] if found.startswith(CODESTREAM) else None
        if position + size < start:
            return None
        position += size
    return None
