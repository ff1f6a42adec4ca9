"""What is to become of a file: pieces of it that stay, and bytes in place of others.

A plan is made from a file that lies in memory or is mapped into it, and carried out piece by piece: a film of any size
takes no more memory than a piece.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from chat.classes import define, frozen
from chat.media.boxes import Content

PIECE_BYTES: Final = 262_144
"""What is copied or compared at a time."""

STEPS_MAXIMUM: Final = 1_000_000
"""Segments, chunks or blocks of one file that are looked at: a second's work for a thread."""


class Unreadable(Exception):
    """The file is not what its first bytes say, or is made to be laborious: it is left as it is."""


@frozen
class Span:
    """Bytes of the file from `start` up to `stop` that stay."""

    start: int
    stop: int


@frozen
class Blank:
    """`count` zero bytes."""

    count: int


Piece = Span | Blank | bytes


def _new(piece: Blank | bytes) -> Iterator[bytes]:
    if isinstance(piece, bytes):
        yield piece
        return
    for place in range(0, piece.count, PIECE_BYTES):
        yield bytes(min(PIECE_BYTES, piece.count - place))


def _size(piece: Piece) -> int:
    match piece:
        case Span(start, stop):
            return stop - start
        case Blank(count):
            return count
        case _:
            return len(piece)


def joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same bytes, from a place up to another each, as spans that do not overlap, in order."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(span for span in spans if span[0] < span[1]):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return found


class Spans:
    """Spans of a file, from a place up to another each, that are asked often whether they have to do with others."""

    def __init__(self, spans: Iterable[tuple[int, float]]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._ends = list(itertools.accumulate((stop for _, stop in ordered), max, initial=-math.inf))

    def touch(self, start: int, stop: int) -> bool:
        """Whether one of them lies there as well."""
        return self._ends[bisect.bisect_left(self._starts, stop)] > start

    def hold(self, start: int, stop: int) -> bool:
        """Whether one of them, none of which overlap, has all of these bytes."""
        return self._ends[bisect.bisect_right(self._starts, start)] >= stop


def steps() -> Iterator[int]:
    """Counts the steps of a reader. Raises Unreadable after STEPS_MAXIMUM."""
    yield from range(STEPS_MAXIMUM)
    raise Unreadable


@define(eq=False)
class RewritePlan:
    """Grows from the beginning of the file to its end; what is not named is left out."""

    _data: Content
    pieces: list[Piece] = attrs.field(factory=list, init=False)

    def keep(self, start: int, stop: int) -> None:
        """These bytes stay."""
        last = self.pieces[-1] if self.pieces else None
        if isinstance(last, Span) and last.stop == start:
            self.pieces[-1] = Span(last.start, stop)
        elif start < stop:
            self.pieces.append(Span(start, stop))

    def put(self, new: bytes, start: int, stop: int) -> None:
        """New bytes in place of others; where they are the same ones those stay."""
        if len(new) == stop - start and self._data[start:stop] == new:
            self.keep(start, stop)
        else:
            self.pieces.append(new)

    def extend(self, other: RewritePlan) -> None:
        """What another plan for the same file has, behind this."""
        for piece in other.pieces:
            if isinstance(piece, Span):
                self.keep(piece.start, piece.stop)
            else:
                self.pieces.append(piece)

    @property
    def size(self) -> int:
        """Bytes of the new file."""
        return sum(_size(piece) for piece in self.pieces)

    @property
    def moves_nothing(self) -> bool:
        """Whether all that stays stays in its place, and the file as long as it is."""
        place = 0
        for piece in self.pieces:
            if isinstance(piece, Span) and piece.start != place:
                return False
            place += _size(piece)
        return place == len(self._data)

    @property
    def changes(self) -> bool:
        """Whether anything of the file is to change."""
        return self.pieces != [Span(0, len(self._data))]

    def content(self) -> Iterator[bytes]:
        """The new file, in pieces."""
        for piece in self.pieces:
            if isinstance(piece, Span):
                for place in range(piece.start, piece.stop, PIECE_BYTES):
                    yield self._data[place : min(place + PIECE_BYTES, piece.stop)]
            else:
                yield from _new(piece)

    def patches(self) -> Iterator[tuple[int, bytes]]:
        """Where which bytes are to be written into the old file, for a plan of which all that stays stays in its
        place."""
        place = 0
        for piece in self.pieces:
            if isinstance(piece, Span):
                place = piece.stop
                continue
            for new in _new(piece):
                yield place, new
                place += len(new)


@define(eq=False)
class Edits:
    """Changes in place, for formats whose parts know where in the file other parts lie."""

    _data: Content
    _edits: dict[int, Blank | bytes] = attrs.field(factory=dict, init=False)

    def put(self, start: int, new: bytes) -> None:
        """New bytes from `start` on."""
        if self._data[start : start + len(new)] != new:
            self._edits[start] = new

    def blank(self, start: int, stop: int) -> None:
        """Nothing in place of these bytes."""
        if not self.is_blank(start, stop):
            self._edits[start] = Blank(stop - start)

    def is_blank(self, start: int, stop: int) -> bool:
        """Whether there is nothing but zeros."""
        places = range(start, stop, PIECE_BYTES)
        return all(not self._data[place : min(place + PIECE_BYTES, stop)].strip(b"\0") for place in places)

    def plan(self, stop: int) -> RewritePlan:
        """All of the file up to `stop` with these changes. Raises Unreadable where they overlap."""
        plan, place = RewritePlan(self._data), 0
        for start, new in sorted(self._edits.items()):
            if start >= stop:
                break
            if start < place:
                raise Unreadable
            plan.keep(place, start)
            plan.pieces.append(new)
            place = start + _size(new)
        if place > stop:
            raise Unreadable
        plan.keep(place, stop)
        return plan
