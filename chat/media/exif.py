"""How a picture is turned, out of its EXIF data (CIPA DC-008, a TIFF file of its own); EXIF that tells nothing else."""

from __future__ import annotations

import struct
from typing import Final

UPRIGHT: Final = 1
"""The orientation of a picture that is stored as it is seen."""

SIDES_EXCHANGED: Final = 5
"""From this orientation to the last the stored rows are columns to a person."""

LAST: Final = 8

_MARK: Final = b"Exif\0\0"
_ORIENTATION: Final = 0x112
_NUMBERS: Final = {1: "B", 3: "H", 4: "I"}
"""The types that an orientation may have."""

ENTRIES_MAXIMUM: Final = 1_000


def orientation_of(exif: bytes) -> int:
    """The orientation from 1 to 8; UPRIGHT where none is told, or none that makes sense."""
    data = exif.removeprefix(_MARK)
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    try:
        if order is None or struct.unpack_from(f"{order}H", data, 2)[0] != 42:
            return UPRIGHT
        (place,) = struct.unpack_from(f"{order}I", data, 4)
        (entries,) = struct.unpack_from(f"{order}H", data, place)
        for entry in range(place + 2, place + 2 + 12 * min(entries, ENTRIES_MAXIMUM), 12):
            tag, kind = struct.unpack_from(f"{order}HH", data, entry)
            if tag == _ORIENTATION and kind in _NUMBERS:
                (found,) = struct.unpack_from(order + _NUMBERS[kind], data, entry + 8)
                return found if UPRIGHT <= found <= LAST else UPRIGHT
    except struct.error:  # it ends before that
        pass
    return UPRIGHT


def exif_of(orientation: int) -> bytes:
    """EXIF data that tells this orientation alone, without a mark in front."""
    return struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, _ORIENTATION, 3, 1, orientation, 0, 0)


def seen(width: int, height: int, orientation: int) -> tuple[int, int]:
    """Width and height to a person, of a picture that is stored with these."""
    return (height, width) if orientation >= SIDES_EXCHANGED else (width, height)
