"""Films, sounds and pictures in boxes (ISO/IEC 14496-12, 23008-12, 18181-2) without what tells of their makers.

Films and HEIF pictures name places in the file, so what goes is made `free` space of the same length, and nothing
moves. A film loses what was noted beside its pictures and sounds: places, makers, titles, times, and tracks that record
where a camera was. A sound keeps title, artist and cover.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from typing import Final

from chat.media.boxes import BOXES_MAXIMUM, FULL_BOX_BYTES, Box, Content, boxes, first_box
from chat.media.image_header import CODESTREAM
from chat.media.metadata import items
from chat.media.metadata.plan import Edits, RewritePlan, Spans, Unreadable, joined

_TOP: Final = frozenset(b"ftyp styp moov mdat moof mfra sidx ssix wide pdin prft".split())
_SPACE: Final = frozenset({b"free", b"skip"})
_NOTES: Final = frozenset({b"udta", b"meta", b"uuid"})
_PLACES: Final = frozenset({b"\xa9xyz", b"loci"})
_SPHERICAL: Final = bytes.fromhex("ffcc8263f8554a938814587a02521fdd")
"""The `uuid` of a film that is looked at all around (Spherical Video V1): how it is shown."""

_CAMERA_RAW: Final = b"crx "
"""The brand of photographs that a camera has not developed yet: whoever does needs its notes."""


def film(data: Content) -> RewritePlan:
    """A film; up to its last box."""
    return _boxed(data, is_sound=False)


def sound(data: Content) -> RewritePlan:
    """A sound, with title, artist and cover; up to its last box."""
    return _boxed(data, is_sound=True)


def picture(data: Content) -> RewritePlan:
    """A HEIC, HEIF or AVIF; up to its last box. Its thumbnails go."""
    edits, end, media = Edits(data), 0, []
    found: Box | None = None
    for box in _top(data):
        if box.kind == b"meta" and found is None:
            found = box
        elif box.kind == b"moov":
            _clean_movie(data, box, edits, is_sound=False)
        elif box.kind == b"mdat":
            media.append(box)
        elif box.kind not in _TOP:
            free(edits, box)
            continue
        end = box.stop
    if found is None:
        raise Unreadable
    items.clean(data, found, media, edits)
    return edits.plan(end)


def jpeg_xl(data: Content) -> RewritePlan:
    """A JPEG XL in a container; without one it has nothing beside its pixels."""
    plan = RewritePlan(data)
    if data[:2] == CODESTREAM:
        plan.keep(0, len(data))
        return plan
    has_pixels = False
    for box in _top(data):
        if box.kind in _JPEG_XL:
            plan.keep(box.start, box.stop)
            has_pixels = has_pixels or box.kind in (b"jxlc", b"jxlp")
    if not has_pixels:
        raise Unreadable
    return plan


_JPEG_XL: Final = frozenset({b"JXL ", b"ftyp", b"jxll", b"jxlc", b"jxlp", b"jxli"})


def _top(data: Content) -> Iterator[Box]:
    """The boxes of the file. Raises Unreadable for more than are looked at: what lies behind them is not to be lost."""
    for number, box in enumerate(boxes(data, 0, len(data)), start=1):
        if number >= BOXES_MAXIMUM:
            raise Unreadable
        yield box


def free(edits: Edits, box: Box) -> None:
    """Empty space in place of a box."""
    edits.put(box.start + 4, b"free")
    edits.blank(box.content, box.stop)


def _boxed(data: Content, *, is_sound: bool) -> RewritePlan:
    edits, end, has_movie = Edits(data), 0, False
    if data[8:12] == _CAMERA_RAW:
        raise Unreadable
    for box in _top(data):
        if box.kind in _SPACE:
            edits.blank(box.content, box.stop)
        elif box.kind not in _TOP:
            free(edits, box)
            continue  # at the end it is cut off
        elif box.kind == b"moov":
            _clean_movie(data, box, edits, is_sound=is_sound)
            has_movie = True
        end = box.stop
    if not has_movie:
        raise Unreadable
    return edits.plan(end)


def _clean_movie(data: Content, movie: Box, edits: Edits, *, is_sound: bool) -> None:
    samples = _Samples(data)
    for box in boxes(data, movie.content, movie.stop):
        if box.kind == b"cmov":  # packed
            raise Unreadable
        if box.kind == b"mvhd":
            _forget_times(data, box, edits)
        elif box.kind == b"trak":
            _clean_track(data, box, edits, samples)
        elif box.kind == b"udta" and is_sound:
            _clean_notes(data, box, edits)
        elif box.kind in _NOTES:
            free(edits, box)
        elif box.kind in _SPACE:
            edits.blank(box.content, box.stop)
    for start, stop in joined(samples.found):
        edits.blank(start, stop)


def _clean_track(data: Content, track: Box, edits: Edits, samples: _Samples) -> None:
    media = first_box(data, b"mdia", track.content, track.stop)
    handler = None if media is None else first_box(data, b"hdlr", media.content, media.stop)
    if media is not None and handler is not None and data[handler.content + 8 : handler.content + 12] == b"meta":
        samples.find(media)
        free(edits, track)
        return
    for box in boxes(data, track.content, track.stop):
        if box.kind == b"tkhd":
            _forget_times(data, box, edits)
        elif box.kind in _NOTES and data[box.content : box.content + 16] != _SPHERICAL:
            free(edits, box)
    header = None if media is None else first_box(data, b"mdhd", media.content, media.stop)
    if header is not None:
        _forget_times(data, header, edits)


def _forget_times(data: Content, box: Box, edits: Edits) -> None:
    """When it was made and changed, with which each of these headers begins."""
    start = box.content + FULL_BOX_BYTES
    stop = start + (16 if data[box.content] == 1 else 8)
    if stop > box.stop:
        raise Unreadable
    edits.blank(start, stop)


def _clean_notes(data: Content, notes: Box, edits: Edits) -> None:
    """Keep the list of title, artist and cover, without places."""
    for box in boxes(data, notes.content, notes.stop):
        handler = first_box(data, b"hdlr", box.content + FULL_BOX_BYTES, box.stop) if box.kind == b"meta" else None
        if handler is None or data[handler.content + 8 : handler.content + 12] != b"mdir":
            free(edits, box)
            continue
        shelf = first_box(data, b"ilst", box.content + FULL_BOX_BYTES, box.stop)
        for note in () if shelf is None else boxes(data, shelf.content, shelf.stop):
            if note.kind in _PLACES:
                free(edits, note)


# Where the samples of a track lie (ISO/IEC 14496-12, 8.6 to 8.7)

SAMPLES_MAXIMUM: Final = 200_000
"""How many samples all tracks together may have, if their places have to be found."""


class _Samples:
    """Where the chunks of tracks lie, from a place up to another each."""

    def __init__(self, data: Content) -> None:
        self._data = data
        self._media: Spans | None = None
        self._looked_at = 0
        self.found: list[tuple[int, int]] = []

    def find(self, media: Box) -> None:
        """Note the chunks of a track. Raises Unreadable where that makes no sense, or one lies outside."""
        data, parts = self._data, self._tables(media)
        places = parts.get(b"stco") or parts.get(b"co64")
        sizes, runs = parts.get(b"stsz"), parts.get(b"stsc")
        if places is None or sizes is None or runs is None:
            raise Unreadable
        (chunks,) = struct.unpack_from(">I", data, places.content + 4)
        each, samples = struct.unpack_from(">II", data, sizes.content + 4)
        (count,) = struct.unpack_from(">I", data, runs.content + 4)
        self._looked_at += 1 + max(chunks, samples, count)
        if self._looked_at > SAMPLES_MAXIMUM or (chunks and not count):
            raise Unreadable
        starts = struct.unpack_from(f">{chunks}{'I' if places.kind == b'stco' else 'Q'}", data, places.content + 8)
        lengths = (each,) * samples if each else struct.unpack_from(f">{samples}I", data, sizes.content + 12)
        numbers = struct.unpack_from(f">{3 * count}I", data, runs.content + 8)
        firsts, sample = numbers[::3], 0
        if any(first >= following for first, following in itertools.pairwise((0, *firsts))):
            raise Unreadable
        runs_of_chunks = itertools.pairwise((*firsts, chunks + 1))
        for (first, following), in_chunk in zip(runs_of_chunks, numbers[1::3], strict=True):
            for chunk in range(first - 1, min(following - 1, chunks)):
                self._note(starts[chunk], sum(lengths[sample : sample + in_chunk]))
                sample += in_chunk

    def _tables(self, media: Box) -> dict[bytes, Box]:
        table = media
        for kind in (b"minf", b"stbl"):
            found = first_box(self._data, kind, table.content, table.stop)
            if found is None:
                raise Unreadable
            table = found
        return {box.kind: box for box in boxes(self._data, table.content, table.stop)}

    def _note(self, start: int, length: int) -> None:
        if self._media is None:
            self._media = Spans((box.content, box.stop) for box in _top(self._data) if box.kind == b"mdat")
        if not self._media.hold(start, start + length):
            raise Unreadable
        self.found.append((start, start + length))
