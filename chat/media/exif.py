"""How a picture is turned, out of its EXIF data (CIPA DC-008, a TIFF file of its own); EXIF that tells nothing else."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from typing import Final

from chat.media.boxes import Content

UPRIGHT: Final = 1
"""The orientation of a picture that is stored as it is seen."""

SIDES_EXCHANGED: Final = 5
"""From this orientation to the last the stored rows are columns to a person."""

LAST: Final = 8

_MARK: Final = b"Exif\0\0"
_WIDTH: Final = 0x100
_HEIGHT: Final = 0x101
_ORIENTATION: Final = 0x112
_NUMBERS: Final = {1: "B", 3: "H", 4: "I"}
"""The types that an orientation may have."""

ENTRIES_MAXIMUM: Final = 1_000


def orientation_of(exif: bytes) -> int:
    """The orientation from 1 to 8; UPRIGHT where none is told, or none that makes sense."""
    return _orientation(_numbers(exif.removeprefix(_MARK), {_ORIENTATION}))


def tiff_size(data: Content) -> tuple[int, int] | None:
    """Width and height to a person of the first picture in a TIFF file; None where it does not tell them."""
    found = _numbers(data, {_WIDTH, _HEIGHT, _ORIENTATION})
    if not {_WIDTH, _HEIGHT} <= found.keys():
        return None
    return seen(found[_WIDTH], found[_HEIGHT], _orientation(found))


def _orientation(found: Mapping[int, int]) -> int:
    orientation = found.get(_ORIENTATION, UPRIGHT)
    return orientation if UPRIGHT <= orientation <= LAST else UPRIGHT


def _numbers(data: Content, wanted: Collection[int]) -> dict[int, int]:
    """The numbers under these tags in the first directory of a TIFF file."""
    found: dict[int, int] = {}
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    try:
        if order is None or struct.unpack_from(f"{order}H", data, 2)[0] != 42:
            return found
        (place,) = struct.unpack_from(f"{order}I", data, 4)
        (entries,) = struct.unpack_from(f"{order}H", data, place)
        for entry in range(place + 2, place + 2 + 12 * min(entries, ENTRIES_MAXIMUM), 12):
            tag, kind = struct.unpack_from(f"{order}HH", data, entry)
            if tag in wanted and kind in _NUMBERS:
                found.setdefault(tag, struct.unpack_from(order + _NUMBERS[kind], data, entry + 8)[0])
    except struct.error:  # it ends before that
        pass
    return found


def exif_of(orientation: int) -> bytes:
    """EXIF data that tells this orientation alone, without a mark in front."""
    return struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, _ORIENTATION, 3, 1, orientation, 0, 0)


def seen(width: int, height: int, orientation: int) -> tuple[int, int]:
    """Width and height to a person, of a picture that is stored with these."""
    return (height, width) if orientation >= SIDES_EXCHANGED else (width, height)
