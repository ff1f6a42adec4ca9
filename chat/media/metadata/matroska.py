"""WebM and Matroska (RFC 9559) without tags, titles, times and names of files; these become empty space (Void)."""

from __future__ import annotations

from typing import Final

from chat.classes import frozen
from chat.media.boxes import Content
from chat.media.metadata.plan import Edits, RewritePlan, Unreadable, steps

_HEAD, _SEGMENT, _INFO, _CLUSTER, _TAGS, _VOID, _CHECKSUM = (
    0x1A45DFA3,
    0x18538067,
    0x1549A966,
    0x1F43B675,
    0x1254C367,
    0xEC,
    0xBF,
)
_TRACKS, _SEEK_HEAD, _CUES, _CHAPTERS, _ATTACHMENTS = 0x1654AE6B, 0x114D9B74, 0x1C53BB6B, 0x1043A770, 0x1941A469
_PARTS: Final = frozenset({_SEEK_HEAD, _INFO, _TRACKS, _CUES, _CHAPTERS, _CLUSTER, _TAGS, _ATTACHMENTS})
_OF_CLUSTER: Final = frozenset({0xE7, 0xA7, 0xAB, 0xA3, 0xA0, 0xAF, 0x5854, _VOID, _CHECKSUM})
_NOTES: Final = frozenset({0x4461, 0x7BA9, 0x7384, 0x3C83AB, 0x3E83BB})
"""In the segment's information: when it was made, its title, the names of its file and of the ones before and after."""


@frozen
class _Element:
    """Where an element begins, where its content begins, and where it ends; None for one that does not say."""

    name: int
    start: int
    content: int
    stop: int | None


def film(data: Content) -> RewritePlan:
    """A film or a sound; up to the end of its last segment."""
    edits, position, end, has_pictures = Edits(data), 0, 0, False
    for _ in steps():
        element = _element(data, position)
        if element is None or element.name not in {_HEAD, _SEGMENT, _VOID}:
            break
        stop = len(data) if element.stop is None else min(element.stop, len(data))
        if element.name == _SEGMENT:
            last, found = _clean_segment(data, element.content, stop, edits)
            stop, has_pictures = last if element.stop is None else stop, has_pictures or found
        elif element.name == _VOID:
            edits.blank(element.content, stop)
        position = end = stop
    if not has_pictures:
        raise Unreadable
    return edits.plan(end)


def _clean_segment(data: Content, position: int, stop: int, edits: Edits) -> tuple[int, bool]:
    """Note what is to change in a segment; where its last part ends, and whether it has pictures or sounds."""
    checksum, changes, has_pictures = None, False, False
    for _ in steps():
        element = _element(data, position) if position < stop else None
        if element is None or element.name not in _PARTS | {_VOID, _CHECKSUM}:
            break
        end = _end_of_cluster(data, element.content, stop) if element.stop is None else min(element.stop, stop)
        if element.name == _CHECKSUM:
            checksum = element
        elif element.name == _VOID:
            edits.blank(element.content, end)
        elif element.name == _TAGS:
            _make_void(edits, element.start, end)
            changes = True
        elif element.name == _INFO:
            changes = _clean_information(data, element.content, end, edits) or changes
        has_pictures = has_pictures or element.name == _CLUSTER
        position = end
    if changes and checksum is not None and checksum.stop is not None:
        _make_void(edits, checksum.start, checksum.stop)
    return position, has_pictures


def _clean_information(data: Content, position: int, stop: int, edits: Edits) -> bool:
    """Note what is to change in the information; a checksum over it would not hold any more, so it goes as well."""
    checksum, changes = None, False
    for _ in steps():
        element = _element(data, position) if position < stop else None
        if element is None or element.stop is None or element.stop > stop:
            break
        if element.name in _NOTES:
            _make_void(edits, element.start, element.stop)
            changes = True
        elif element.name == _CHECKSUM:
            checksum = element
        position = element.stop
    if changes and checksum is not None and checksum.stop is not None:
        _make_void(edits, checksum.start, checksum.stop)
    return changes


def _make_void(edits: Edits, start: int, stop: int) -> None:
    length = stop - start
    if length >= 9:
        edits.put(start, b"\xec\x01" + (length - 9).to_bytes(7, "big"))
        edits.blank(start + 9, stop)
    else:
        edits.put(start, bytes([0xEC, 0x80 | length - 2]) + bytes(length - 2))


def _end_of_cluster(data: Content, position: int, stop: int) -> int:
    """Where an element without a size ends: behind the last of what a cluster has."""
    for _ in steps():
        element = _element(data, position) if position < stop else None
        if element is None:
            return stop
        if element.name not in _OF_CLUSTER:
            return position
        if element.stop is None:
            return stop
        position = min(element.stop, stop)
    return stop


def _element(data: Content, position: int) -> _Element | None:
    """The element that begins at `position`; None where no element begins."""
    name = _variable(data, position, 4)
    size = None if name is None else _variable(data, position + name[1], 8)
    if name is None or size is None:
        return None
    content = position + name[1] + size[1]
    value = size[0] & ((1 << 7 * size[1]) - 1)
    is_unknown = value == (1 << 7 * size[1]) - 1
    return _Element(name[0], position, content, None if is_unknown else content + value)


def _variable(data: Content, position: int, longest: int) -> tuple[int, int] | None:
    """A number of variable length with its marker, and how many bytes it takes."""
    if position >= len(data):
        return None
    length = 9 - data[position].bit_length()
    if length > longest or position + length > len(data):
        return None
    return int.from_bytes(data[position : position + length], "big"), length
