"""What the server measured of itself: the rows of `figures`, one for each minute of a day and each quarter of an hour
of a week. The table is bounded by that, whatever the clock does.

Times of requests are counted in buckets, each a fifth wider than the one before, so that rows can be added up and
percentiles be told within a tenth.
"""

from __future__ import annotations

import bisect
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from chat.classes import frozen

MINUTE: Final = 60
QUARTER: Final = 900
"""Seconds that a row spans."""

KEPT: Final[Mapping[int, int]] = {MINUTE: 1_440, QUARTER: 672}
"""How many rows of each span there are at most: a day, and a week."""

GROWTH: Final = 1.2
SHORTEST_MS: Final = 0.1
BOUNDS_MS: Final = tuple(SHORTEST_MS * GROWTH**step for step in range(74))
"""Upper bounds of the buckets, up to a minute; whatever takes longer is in one more."""


@frozen(kw_only=True)
class Figures:
    """A span of time. `at` is Unix milliseconds; from `online` on it is the most at one time."""

    at: int
    messages: int = 0
    requests: int = 0
    failures: int = 0
    latencies: Mapping[int, int] = attrs.field(factory=dict)
    """Requests by the place of their bucket."""
    online: int = 0
    sessions: int = 0
    lag_us: int = 0
    memory_bytes: int = 0
    database_bytes: int = 0
    upload_bytes: int = 0

    def percentile_ms(self, part: float) -> float | None:
        """The time that this part of the requests took at most, in milliseconds; None where there was none."""
        total = sum(self.latencies.values())
        if not total:
            return None
        left = math.ceil(total * part)
        for bucket in sorted(self.latencies):
            left -= self.latencies[bucket]
            if left <= 0:
                break
        # Between its bounds, where the error is the same in both directions.
        return BOUNDS_MS[min(bucket, len(BOUNDS_MS) - 1)] / math.sqrt(GROWTH)


def bucket_of(milliseconds: float) -> int:
    """The place of the bucket that a time falls into."""
    return bisect.bisect_left(BOUNDS_MS, milliseconds)


_COUNTED: Final = ("messages", "requests", "failures")
_HIGHEST: Final = ("online", "sessions", "lag_us", "memory_bytes", "database_bytes", "upload_bytes")
_COLUMNS: Final = ("at", *_COUNTED, "latencies", *_HIGHEST)


def added(at: int, several: Iterable[Figures]) -> Figures:
    """Several spans as one that begins at `at`."""
    rows = list(several)
    latencies: Counter[int] = Counter()
    for row in rows:
        latencies.update(row.latencies)
    counted = {name: sum(getattr(row, name) for row in rows) for name in _COUNTED}
    highest = {name: max((getattr(row, name) for row in rows), default=0) for name in _HIGHEST}
    return Figures(at=at, latencies=dict(latencies), **counted, **highest)


def take_in(connection: sqlite3.Connection, minute: Figures, now: int) -> None:
    """Add to a minute (its `at` is any moment in it) and to its quarter, and forget what is older than is kept, or is
    in a future that a clock has left again."""
    for seconds in (MINUTE, QUARTER):
        at = _beginning(minute.at, seconds)
        _put(connection, seconds, added(at, [*of_span(connection, seconds, at, at + 1), minute]))
        oldest = _beginning(now, seconds) - (KEPT[seconds] - 1) * seconds * 1_000
        connection.execute(
            "DELETE FROM figures WHERE seconds = ? AND (at < ? OR at > ?)", (seconds, oldest, max(now, minute.at))
        )


def of_span(connection: sqlite3.Connection, seconds: int, since: int, until: int) -> Sequence[Figures]:
    """The rows of `seconds` each that begin from `since` up to `until`, oldest first."""
    rows = connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM figures WHERE seconds = ? AND at >= ? AND at < ? ORDER BY at",  # noqa: S608 - our own names
        (seconds, since, until),
    )
    return [_figures(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _beginning(at: int, seconds: int) -> int:
    return at - at % (seconds * 1_000)


def _put(connection: sqlite3.Connection, seconds: int, row: Figures) -> None:
    values = {**attrs.asdict(row, recurse=False), "latencies": json.dumps(row.latencies)}
    connection.execute(
        f"INSERT OR REPLACE INTO figures (seconds, {', '.join(_COLUMNS)}) "  # noqa: S608
        f"VALUES (?{', ?' * len(_COLUMNS)})",
        (seconds, *(values[name] for name in _COLUMNS)),
    )


# `dict[str, Any]`: columns that become fields.
def _figures(values: dict[str, Any]) -> Figures:
    found: dict[str, int] = json.loads(values.pop("latencies"))
    return Figures(latencies={int(bucket): count for bucket, count in found.items()}, **values)
