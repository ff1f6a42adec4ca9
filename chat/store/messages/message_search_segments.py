"""Merging the segments of the index of messages at rest, so that a search has few of them to look in.

FTS5 writes what comes with a transaction as a segment of its own, and a search looks for each of its terms in every
segment: with fourteen of them, one for a common word costs a quarter more than with one. A write makes FTS5 merge
segments too, and waits for that; to keep this rare, it takes four of one level at least, so there are ten to thirty in
all. Here two of a level are enough, and a few pages are written at a time (SQLite, FTS5, the merge command).

A merge can rest between two terms, not within the list of one, and there are terms that all messages have. So segments
that are large together stay apart: FTS5 merges them once there are four.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from chat.store.connections import merge_index

SEGMENTS_MAXIMUM: Final = 8
"""A search may have to look in this many segments: merging after every few messages would cost more than it saves."""

LEVEL_PAGES: Final = 4_096
"""Pages of 4 KiB that segments have together which are merged: those of some 120,000 messages. The longest list takes
some ten milliseconds then."""

PORTION_PAGES: Final = 64
"""Pages that are written at a time: some milliseconds, for which others wait to write."""

LEAST_SEGMENTS: Final = 2
"""A level with this many segments or more is merged."""

_STRUCTURE: Final = "SELECT block FROM message_search_data WHERE id = 10"
"""The query for FTS5's list of its segments ("Structure record" in the source of SQLite, fts5_index.c)."""

_LATER_FORM: Final = b"\xff"
"""How the record begins of indexes that may forget entries without their content; ours is none of these."""

_SET_LEAST: Final = """
    INSERT INTO message_search (message_search, rank) SELECT 'usermerge', :least
     WHERE NOT EXISTS (SELECT 1 FROM message_search_config WHERE k = 'usermerge' AND v = :least)
"""


def are_many(connection: sqlite3.Connection) -> bool:
    """Whether there are more than SEGMENTS_MAXIMUM, and `merge_some` has something to do. A point read."""
    levels = _levels(connection)
    return sum(map(len, levels)) > SEGMENTS_MAXIMUM and bool(_mergeable(levels))


def merge_some(connection: sqlite3.Connection) -> bool:
    """Merge a portion, and return whether there is more to merge. Part of a unit."""
    connection.execute(_SET_LEAST, {"least": LEAST_SEGMENTS})
    left = PORTION_PAGES
    while (segments := _mergeable(_levels(connection))) and left > 0:
        # What is merged has at least half as many pages afterwards as the largest part of it. With pages left to write
        # FTS5 would begin with another level, without asking how large that is.
        pages = min(left, max(1, max(segments) // 2))
        if not merge_index(connection, "message_search", pages):
            return False
        left -= pages
    return bool(segments)


_Level = tuple[int, ...]
"""Segments of about one size: the pages of each."""


def _mergeable(levels: Sequence[_Level]) -> _Level:
    """What FTS5 would merge next: the level with the most segments, the lowest of equals; it may be a smaller one where
    a merge has begun. Empty where there is nothing to merge, and where it is too large."""
    level = max(levels, key=len, default=())
    return level if len(level) >= LEAST_SEGMENTS and sum(level) <= LEVEL_PAGES else ()


def _levels(connection: sqlite3.Connection) -> list[_Level]:
    """The levels of segments, the lowest first."""
    (record,) = connection.execute(_STRUCTURE).fetchone()
    if record[4:].startswith(_LATER_FORM):
        return []
    numbers = _numbers(record[4:])  # what is before counts changes of the settings
    level_count, _segment_count, _written = next(numbers), next(numbers), next(numbers)
    levels = []
    for _ in range(level_count):
        _merging, segment_count = next(numbers), next(numbers)
        segments = [(next(numbers), next(numbers), next(numbers)) for _ in range(segment_count)]
        levels.append(tuple(last - first + 1 for _, first, last in segments))
    return levels


def _numbers(record: bytes) -> Iterator[int]:
    """The numbers that a record holds: seven bits in each byte, the highest first; the eighth says that more follow."""
    value = 0
    for byte in record:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value = 0
