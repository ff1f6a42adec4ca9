"""TIFF (revision 6.0) without what tells of its maker.

A directory is written anew in the room that it had, and what its entries held is made empty; so pixels stay in their
place. A raw file of a camera is a TIFF whose notes are needed to develop it: it stays as it is.
"""

from __future__ import annotations

import struct
from typing import Final

import attrs

from chat.classes import define, frozen
from chat.media.boxes import Content
from chat.media.metadata.plan import Edits, RewritePlan, Unreadable, joined

_BYTES_OF_TYPES: Final = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
KEPT: Final = frozenset(
    {*range(254, 260), *range(262, 267), *range(277, 285), *range(288, 294), *range(317, 326), *range(338, 348)}
    | {273, 274, 296, 297, 301, *range(512, 522), *range(529, 533), 34_675}
)
"""What a decoder needs, the orientation, the resolution and the colour profile."""

_OF_RAW_FILES: Final = frozenset({330, 33_421, 46_275, 50_706})
"""Directories within, a pattern of colours, Kodak's notes, the version of DNG."""

_POINTERS: Final = frozenset({34_665, 34_853, 40_965})
"""To directories of EXIF, of a place and of interoperability."""

_PIXELS: Final = ((273, 279), (324, 325), (513, 514))
"""Where strips, tiles and a JPEG lie, and how long they are."""

DIRECTORIES_MAXIMUM: Final = 100
ENTRIES_MAXIMUM: Final = 1_000
STRIPS_MAXIMUM: Final = 200_000
"""Of all pages together."""

FORGOTTEN_MAXIMUM: Final = 3 * DIRECTORIES_MAXIMUM
"""Directories of EXIF, of places and of interoperability of all pages together."""


@frozen
class _DirectoryEntry:
    """One entry of a directory: where it is, and where its values lie if it has no room for them."""

    tag: int
    kind: int
    count: int
    place: int
    start: int
    stop: int


@define(eq=False)
class _Cleaning:
    data: Content
    order: str
    edits: Edits
    kept: list[tuple[int, int]] = attrs.field(factory=list, init=False)
    gone: list[tuple[int, int]] = attrs.field(factory=list, init=False)
    strips: int = attrs.field(default=0, init=False)
    forgotten: set[int] = attrs.field(factory=set, init=False)

    def entries(self, place: int) -> list[_DirectoryEntry]:
        """The entries of a directory. Raises Unreadable where values lie outside the file."""
        (count,) = struct.unpack_from(f"{self.order}H", self.data, place)
        if count > ENTRIES_MAXIMUM:
            raise Unreadable
        found = []
        for at in range(place + 2, place + 2 + 12 * count, 12):
            tag, kind, values, start = struct.unpack_from(f"{self.order}HHII", self.data, at)
            length = _BYTES_OF_TYPES.get(kind, 1) * values
            if length <= 4:
                start, length = at + 8, 0
            if start + length > len(self.data):
                raise Unreadable
            found.append(_DirectoryEntry(tag, kind, values, at, start, start + length))
        return found

    def directory(self, place: int) -> int:
        """Note what is to change in a directory of pixels; where the next one is."""
        entries = self.entries(place)
        if any(entry.tag in _OF_RAW_FILES for entry in entries):
            raise Unreadable
        end = place + 2 + 12 * len(entries)
        (following,) = struct.unpack_from(f"{self.order}I", self.data, end)
        left = [entry for entry in entries if entry.tag in KEPT]
        new = struct.pack(f"{self.order}H", len(left))
        new += b"".join(self.data[entry.place : entry.place + 12] for entry in left)
        new += struct.pack(f"{self.order}I", following)
        self.edits.put(place, new + bytes(end + 4 - place - len(new)))
        self.kept += [(place, end + 4), *((entry.start, entry.stop) for entry in left)]
        self.kept += self._pixels({entry.tag: entry for entry in left})
        for entry in entries:
            if entry.tag not in KEPT:
                self._forget(entry, depth=0)
        return int(following)

    def _pixels(self, entries: dict[int, _DirectoryEntry]) -> list[tuple[int, int]]:
        found = []
        for places, lengths in _PIXELS:
            if places in entries and lengths in entries:
                numbers = zip(self._numbers(entries[places]), self._numbers(entries[lengths]), strict=False)
                found += [(start, start + length) for start, length in numbers]
        return found

    def _numbers(self, entry: _DirectoryEntry) -> tuple[int, ...]:
        letter = {3: "H", 4: "I"}.get(entry.kind)
        self.strips += entry.count
        if letter is None or self.strips > 2 * STRIPS_MAXIMUM:  # of each a place and a length
            raise Unreadable
        return struct.unpack_from(f"{self.order}{entry.count}{letter}", self.data, entry.start)

    def _forget(self, entry: _DirectoryEntry, depth: int) -> None:
        """What an entry holds goes, with the directory that it leads to."""
        if entry.tag not in _POINTERS or depth > 2:
            self.gone.append((entry.start, entry.stop))
            return
        (place,) = struct.unpack_from(f"{self.order}I", self.data, entry.place + 8)
        if place in self.forgotten:
            return
        self.forgotten.add(place)
        if len(self.forgotten) > FORGOTTEN_MAXIMUM:
            raise Unreadable
        inside = self.entries(place)
        self.gone.append((place, place + 2 + 12 * len(inside) + 4))
        for inner in inside:
            self._forget(inner, depth + 1)


def picture(data: Content) -> RewritePlan:
    """All pages of it."""
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if order is None or data[8:10] == b"CR":  # Canon's raw files
        raise Unreadable
    cleaning = _Cleaning(data, order, Edits(data))
    (place,) = struct.unpack_from(f"{order}I", data, 4)
    seen: set[int] = set()
    while place:
        if place in seen or len(seen) >= DIRECTORIES_MAXIMUM:
            raise Unreadable
        seen.add(place)
        place = cleaning.directory(place)
    kept, reached = sorted(span for span in cleaning.kept if span[0] < span[1]), 0
    for start, stop in joined(cleaning.gone):
        while reached < len(kept) and kept[reached][1] <= start:
            reached += 1
        if any(first < stop and start < last for first, last in kept[reached : reached + 1]):
            raise Unreadable
        cleaning.edits.blank(start, stop)
    return cleaning.edits.plan(len(data))
