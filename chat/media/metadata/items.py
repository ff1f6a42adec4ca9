"""The items of a HEIF picture (ISO/IEC 23008-12, ISO/IEC 14496-12, 8.11) without EXIF, XMP and thumbnails.

The box of the items is written anew in the room that it had, and what those items held is made empty; so nothing else
moves. How the picture is turned, and its colours, are properties, which stay.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Final

from chat.classes import frozen
from chat.media.boxes import FULL_BOX_BYTES, Box, Content, boxes
from chat.media.metadata.plan import Edits, Spans, Unreadable, joined

ITEMS_MAXIMUM: Final = 20_000
"""A photograph of 100 megapixels has a thousand tiles."""

_KEPT: Final = frozenset(b"hdlr pitm iloc iinf iref iprp idat dinf grpl ipro".split())
_PROPERTIES_OF_MAKERS: Final = frozenset({b"udes", b"crtt", b"mdft", b"altt"})


@frozen
class _ItemEntry:
    """One item in a table: its number, and its bytes in the table."""

    item: int
    start: int
    stop: int


@frozen
class _ItemPlace:
    """Where an item lies: within the file, or within the box `idat`."""

    entry: _ItemEntry
    in_file: tuple[tuple[int, int], ...] = ()
    in_box: tuple[tuple[int, int], ...] = ()


@frozen
class _Reference:
    kind: bytes
    source: int
    targets: tuple[int, ...]


def clean(data: Content, meta: Box, media: Sequence[Box], edits: Edits) -> None:
    """Note what is to change. Raises Unreadable for what makes no sense."""
    inside = list(boxes(data, meta.content + FULL_BOX_BYTES, meta.stop))
    parts = {box.kind: box for box in inside}
    if sum(box.kind in _KEPT for box in inside) > len(_KEPT.intersection(parts)):  # each of them is there once
        raise Unreadable
    primary = _number(data, parts[b"pitm"], parts[b"pitm"].content + FULL_BOX_BYTES)[0] if b"pitm" in parts else -1
    references = _references(data, parts[b"iref"]) if b"iref" in parts else []
    kinds = _kinds(data, parts[b"iinf"]) if b"iinf" in parts else []
    places = _places(data, parts[b"iloc"]) if b"iloc" in parts else []
    gone = {entry.item for entry, is_note in kinds if is_note}
    gone |= {entry.source for entry in references if entry.kind == b"thmb"}
    gone |= {entry.source for entry in references if entry.kind == b"auxl" and gone.issuperset(entry.targets)}
    gone.discard(primary)
    _blank(places, gone, meta, media, edits)
    content = bytearray(data[meta.content : meta.content + FULL_BOX_BYTES])
    for box in inside:
        match box.kind:
            case b"iinf":
                content += _without(data, box, [entry for entry, _ in kinds], gone)
            case b"iloc":
                content += _without(data, box, [place.entry for place in places], gone)
            case b"iref":
                content += _references_without(data, box, references, gone)
            case b"iprp":
                content += _properties_without(data, box, gone)
            case b"idat":
                content += _shelf_without(data, box, places, gone)
            case kind if kind in _KEPT:
                content += _box(kind, data[box.content : box.stop])  # with the length that it has room for
    room = meta.stop - meta.content - len(content)
    if 0 < room < 8:
        raise Unreadable
    if room:
        content += struct.pack(">I4s", room, b"free") + bytes(room - 8)
    edits.put(meta.content, bytes(content))


def _shelf_without(data: Content, shelf: Box, places: Sequence[_ItemPlace], gone: set[int]) -> bytes:
    """The box `idat` with nothing in place of what goes. Raises Unreadable where other items hold that too."""
    content = bytearray(data[shelf.content : shelf.stop])
    kept = _kept([lies for place in places if place.entry.item not in gone for lies in place.in_box])
    for start, stop in _spans([lies for place in places if place.entry.item in gone for lies in place.in_box]):
        if stop > len(content) or kept.touch(start, stop):
            raise Unreadable
        content[start:stop] = bytes(stop - start)
    return _box(b"idat", content)


def _number(data: Content, box: Box, place: int) -> tuple[int, int]:
    """An item's number, and where it ends: of four bytes in later versions of a box."""
    wide = bool(data[box.content])
    (found,) = struct.unpack_from(">I" if wide else ">H", data, place)
    return found, place + (4 if wide else 2)


def _kinds(data: Content, box: Box) -> list[tuple[_ItemEntry, bool]]:
    """Each item, and whether it tells of the picture's maker."""
    _, place = _number(data, box, box.content + FULL_BOX_BYTES)
    found: list[tuple[_ItemEntry, bool]] = []
    for entry in boxes(data, place, box.stop):
        version = data[entry.content]
        if entry.kind != b"infe" or version < 2 or len(found) >= ITEMS_MAXIMUM:
            raise Unreadable
        start = entry.content + FULL_BOX_BYTES
        (item,) = struct.unpack_from(">I" if version > 2 else ">H", data, start)
        start += 6 if version > 2 else 4
        kind, words = data[start : start + 4], data[start + 4 : entry.stop].split(b"\0")
        is_text = kind == b"mime" and not (len(words) > 1 and words[1].startswith(b"image/"))
        found.append((_ItemEntry(item, entry.start, entry.stop), is_text or kind in (b"Exif", b"uri ")))
    return found


def _references(data: Content, box: Box) -> list[_Reference]:
    found = []
    for entry in boxes(data, box.content + FULL_BOX_BYTES, box.stop):
        source, place = _number(data, box, entry.content)
        (count,) = struct.unpack_from(">H", data, place)
        letter = "I" if data[box.content] else "H"
        if place + 2 + count * struct.calcsize(f">{letter}") > entry.stop:
            raise Unreadable
        targets = struct.unpack_from(f">{count}{letter}", data, place + 2)
        found.append(_Reference(entry.kind, source, targets))
    return found


def _references_without(data: Content, box: Box, references: Sequence[_Reference], gone: set[int]) -> bytes:
    letter, content = "I" if data[box.content] else "H", bytearray()
    for entry in references:
        left = [item for item in entry.targets if item not in gone]
        if entry.source not in gone and left:
            inside = struct.pack(f">{letter}H{len(left)}{letter}", entry.source, len(left), *left)
            content += struct.pack(">I4s", 8 + len(inside), entry.kind) + inside
    if not content:
        return b""
    return _box(b"iref", data[box.content : box.content + FULL_BOX_BYTES] + content)


def _properties_without(data: Content, properties: Box, gone: set[int]) -> bytes:
    content = bytearray()
    for box in boxes(data, properties.content, properties.stop):
        if box.kind == b"ipma":
            content += _without(data, box, _associations(data, box), gone)
        elif box.kind == b"ipco":
            content += _box(b"ipco", b"".join(_property(data, inner) for inner in boxes(data, box.content, box.stop)))
    return _box(b"iprp", content)


def _property(data: Content, box: Box) -> bytes:
    """A property, which keeps its place among the others."""
    if box.kind in _PROPERTIES_OF_MAKERS:
        return _box(b"free", bytes(box.stop - box.start - 8))
    return data[box.start : box.stop]


def _associations(data: Content, box: Box) -> list[_ItemEntry]:
    (count,) = struct.unpack_from(">I", data, box.content + FULL_BOX_BYTES)
    place, found = box.content + FULL_BOX_BYTES + 4, []
    for _ in range(_bearable(count)):
        item, end = _number(data, box, place)
        end += 1 + data[end] * (2 if data[box.content + 3] & 1 else 1)
        if end > box.stop:
            raise Unreadable
        found.append(_ItemEntry(item, place, end))
        place = end
    return found


def _places(data: Content, box: Box) -> list[_ItemPlace]:
    version, sizes, more = data[box.content], data[box.content + 4], data[box.content + 5]
    offset_size, length_size, base_size, index_size = sizes >> 4, sizes & 15, more >> 4, more & 15 if version else 0
    place = box.content + FULL_BOX_BYTES + 2
    letter = ">I" if version > 1 else ">H"
    (count,) = struct.unpack_from(letter, data, place)
    place += struct.calcsize(letter)
    found, pieces = [], 0
    for _ in range(_bearable(count)):
        start, method = place, 0
        (item,) = struct.unpack_from(letter, data, place)
        place += struct.calcsize(letter)
        if version:
            method, place = data[place + 1] & 15, place + 2
        (elsewhere,) = struct.unpack_from(">H", data, place)
        base = int.from_bytes(data[place + 2 : place + 2 + base_size], "big")
        place += 2 + base_size
        (extents,) = struct.unpack_from(">H", data, place)
        place += 2
        pieces = _bearable(pieces + extents)
        ranges = []
        for _ in range(extents):
            place += index_size
            offset = int.from_bytes(data[place : place + offset_size], "big")
            place += offset_size
            ranges.append((base + offset, int.from_bytes(data[place : place + length_size], "big")))
            place += length_size
        entry, lies = _ItemEntry(item, start, place), tuple(ranges)
        is_here = not elsewhere
        in_file, in_box = lies if method == 0 and is_here else (), lies if method == 1 and is_here else ()
        found.append(_ItemPlace(entry, in_file, in_box))
    return found


def _blank(places: Sequence[_ItemPlace], gone: set[int], meta: Box, media: Sequence[Box], edits: Edits) -> None:
    """Make empty what the items hold that go. Raises Unreadable where others hold it too, or it is no item's place."""
    kept = [lies for place in places if place.entry.item not in gone for lies in place.in_file]
    if _kept([(start, length) for start, length in kept if length]).touch(meta.start, meta.stop):
        raise Unreadable
    others, room = _kept(kept), Spans((box.content, box.stop) for box in media)
    for start, stop in _spans([lies for place in places if place.entry.item in gone for lies in place.in_file]):
        if not room.hold(start, stop) or others.touch(start, stop):
            raise Unreadable
        edits.blank(start, stop)


def _spans(lies: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return joined((start, start + length) for start, length in lies)


def _kept(lies: Sequence[tuple[int, int]]) -> Spans:
    """What stays; a length of zero goes on to the end of the file."""
    return Spans((start, start + length if length else math.inf) for start, length in lies)


def _without(data: Content, box: Box, entries: Sequence[_ItemEntry], gone: set[int]) -> bytes:
    """A table of items without some, whose number is named in front of the first."""
    left = [entry for entry in entries if entry.item not in gone]
    if len(left) == len(entries):
        return _box(box.kind, data[box.content : box.stop])
    first = entries[0].start
    width = 4 if box.kind == b"ipma" or data[box.content] > (1 if box.kind == b"iloc" else 0) else 2
    count = len(left).to_bytes(width, "big")
    content = data[box.content : first - width] + count + b"".join(data[entry.start : entry.stop] for entry in left)
    return _box(box.kind, content)


def _box(kind: bytes, content: bytes | bytearray) -> bytes:
    return struct.pack(">I4s", 8 + len(content), kind) + content


def _bearable(count: int) -> int:
    if count > ITEMS_MAXIMUM:
        raise Unreadable
    return count
