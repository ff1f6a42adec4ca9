"""The rows of `figures`: added up, bounded, whatever the clock does."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.store.administration import figures
from chat.store.administration.figures import KEPT, MINUTE, QUARTER, Figures, bucket_of
from chat.store.connections import connect
from chat.store.migrations import prepare

NOON = 1_700_000_000_000 - 1_700_000_000_000 % 900_000
EVER = 1 << 62


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    file = tmp_path_factory.mktemp("figures") / "chat.sqlite3"
    prepare(file)
    connection = connect(file)
    yield connection
    connection.close()


def rows(connection: sqlite3.Connection, seconds: int) -> list[Figures]:
    return list(figures.of_span(connection, seconds, 0, EVER))


@pytest.fixture
def empty(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("DELETE FROM figures")
    return connection


def minute(at: int, **values: int) -> Figures:
    return Figures(at=at, requests=1, latencies={bucket_of(3.0): 1}, **values)


def test_what_belongs_together_is_added(empty: sqlite3.Connection) -> None:
    for at, messages, online in ((NOON, 2, 5), (NOON + 59_000, 3, 4), (NOON + 60_000, 1, 9), (NOON + 900_000, 7, 1)):
        figures.take_in(empty, minute(at, messages=messages, online=online), at)
    found = rows(empty, MINUTE)
    assert [(row.at - NOON, row.messages, row.online, row.requests) for row in found] == [
        (0, 5, 5, 2),
        (60_000, 1, 9, 1),
        (900_000, 7, 1, 1),
    ]
    quarters = rows(empty, QUARTER)
    assert [(row.at - NOON, row.messages, row.online, row.requests) for row in quarters] == [
        (0, 6, 9, 3),
        (900_000, 7, 1, 1),
    ]
    assert quarters[0].latencies == {bucket_of(3.0): 3}


@pytest.mark.long
def test_a_week_of_minutes_leaves_a_day_and_a_week(empty: sqlite3.Connection) -> None:
    empty.execute("BEGIN")
    for number in range(8 * 1_440):
        at = NOON + number * 60_000
        figures.take_in(empty, minute(at), at)
    empty.execute("COMMIT")
    last = NOON + (8 * 1_440 - 1) * 60_000
    minutes, quarters = rows(empty, MINUTE), rows(empty, QUARTER)
    assert (len(minutes), minutes[-1].at) == (KEPT[MINUTE], last)
    assert (len(quarters), quarters[0].requests, quarters[-1].requests) == (KEPT[QUARTER], 15, 15)


@settings(max_examples=20)
@given(moments=st.lists(st.integers(0, 2_000_000_000_000), min_size=1, max_size=40))
def test_a_clock_that_jumps_leaves_no_more_rows(connection: sqlite3.Connection, moments: list[int]) -> None:
    connection.execute("DELETE FROM figures")
    for at in moments:
        figures.take_in(connection, minute(at), at)
        for seconds, most in KEPT.items():
            found = rows(connection, seconds)
            assert len(found) <= most
            assert found[-1].at <= at
            assert found[0].at > at - most * seconds * 1_000
    assert rows(connection, MINUTE)[-1].requests >= 1


@given(times=st.lists(st.floats(0.2, 50_000), min_size=1, max_size=200), part=st.sampled_from([0.5, 0.99, 1.0]))
def test_percentiles_are_told_within_a_tenth(times: list[float], part: float) -> None:
    span = Figures(at=0, latencies=dict(Counter(map(bucket_of, times))))
    exact = sorted(times)[max(0, -int(-len(times) * part // 1) - 1)]
    told = span.percentile_ms(part)
    assert told is not None
    assert abs(told / exact - 1) < 0.11


def test_where_nothing_was_asked_there_is_no_percentile() -> None:
    assert Figures(at=0).percentile_ms(0.5) is None
    assert Figures(at=0, latencies={bucket_of(1e9): 1}).percentile_ms(0.5) is not None


def test_the_file_of_a_full_table_stays_small(tmp_path: Path) -> None:
    """Some hundred bytes for a row."""
    file = tmp_path / "chat.sqlite3"
    prepare(file)
    connection = connect(file)
    before = connection.execute("PRAGMA page_count").fetchone()[0]
    wide = dict.fromkeys(range(30), 1000)
    connection.execute("BEGIN")
    for number in range(1_500):
        at = NOON + number * 60_000
        figures.take_in(connection, Figures(at=at, latencies=wide, memory_bytes=1 << 30), at)
    connection.execute("COMMIT")
    pages = connection.execute("PRAGMA page_count").fetchone()[0] - before
    connection.close()
    assert pages * 4_096 < 1_000_000
