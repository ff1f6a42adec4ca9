"""Avatars of accounts without one: a head and shoulders in six colours, drawn here rather than shipped."""

from __future__ import annotations

import struct
import zlib
from typing import Final

SIDE: Final = 256

COLOURS: Final = (
    (0x58, 0x65, 0xC8),
    (0x4B, 0x8F, 0x8C),
    (0x5E, 0x8C, 0x4A),
    (0xB8, 0x86, 0x3B),
    (0xB0, 0x55, 0x55),
    (0x8A, 0x5B, 0xA8),
)
"""Of the ground; the figure is white. An account has the one with the number of its id modulo six (media.md, Media
addresses)."""

_FIGURE: Final = (255, 255, 255)


def default_avatars() -> tuple[bytes, ...]:
    """The six pictures, as PNG."""
    rows = b"".join(_row(y) for y in range(SIDE))
    return tuple(_png(colour, rows) for colour in COLOURS)


def _row(y: int) -> bytes:
    """A row of pixels, eight to a byte, one where the figure is; no filter in front."""
    bits = 0
    for x in range(SIDE):
        bits = bits << 1 | _is_figure(x + 0.5 - SIDE / 2, y + 0.5)
    return b"\0" + bits.to_bytes(SIDE // 8, "big")


def _is_figure(x: float, y: float) -> bool:
    head = x**2 + (y - 0.39 * SIDE) ** 2 <= (0.17 * SIDE) ** 2
    shoulders = (x / (0.31 * SIDE)) ** 2 + ((y - 0.93 * SIDE) / (0.30 * SIDE)) ** 2 <= 1
    return head or shoulders


def _png(ground: tuple[int, int, int], rows: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 1, 3, 0, 0, 0)
    palette = bytes((*ground, *_FIGURE))
    chunks = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
