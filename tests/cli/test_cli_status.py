"""`chat status`: figures of an instance in a terminal, as JSON, again and again; with a server and without one."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from chat.cli.status import BARS, bars, in_words, span_in_words
from chat.store.administration import figures
from chat.store.administration.figures import Figures, bucket_of
from chat.store.data_directory import DataDirectory
from tests.cli.command_line import Run, stored
from tests.cli.terminal import CONTROL_C, Terminal

SPANS = ("last_minute", "last_hour", "last_day", "last_week")


def measured(data: Path, *minutes_ago: int) -> None:
    now = int(time.time() * 1_000)
    with stored(data) as connection:
        for ago in sorted(minutes_ago, reverse=True):
            at = now - ago * 60_000
            row = Figures(at=at, messages=2, requests=10, latencies={bucket_of(4): 10}, online=ago, lag_us=1_500)
            figures.take_in(connection, row, at)


def test_figures_are_added_up_by_span(run: Run, data: Path, alice: str) -> None:
    measured(data, 1, 30, 200, 3_000)
    told = run("status", "--data", data).json
    assert (told["running"], told["process"], told["answer"]) == (False, None, "no server runs on this data")
    assert [told[name]["messages"] for name in SPANS] == [2, 4, 6, 8]
    assert [told[name]["online"] for name in SPANS] == [1, 30, 200, 3_000]
    assert 3.6 < told["last_day"]["p50_ms"] < 4.4
    assert told["last_hour"]["lag_ms"] == 1.5


def test_people_get_a_table(run: Run, data: Path, alice: str) -> None:
    measured(data, 1, 300)
    out = run("status", "--data", data, terminal=True).out
    lines = [line.split() for line in out.splitlines()]
    assert "no server runs on this data" in out
    assert next(line for line in lines if line[:1] == ["Messages"])[:5] == ["Messages", "2", "2", "4", "4"]
    assert any(bar in out for bar in BARS)


def test_where_nothing_was_measured_nothing_is_told(run: Run, data: Path, alice: str) -> None:
    assert [run("status", "--data", data).json[name] for name in SPANS] == [None] * 4
    with stored(data) as connection:
        connection.execute("DROP TABLE figures")  # as before this version
    assert run("status", "--data", data).json["last_day"] is None
    assert run("status", "--data", data, terminal=True).status == 0


def test_what_cannot_be_is_told(run: Run, data: Path, alice: str) -> None:
    assert run("status", "--data", data / "nowhere").err.startswith("chat: there is no data in")
    assert run("status", "--data", data, "--every", 0).status == 2
    DataDirectory(data).database.write_bytes(b"no database at all" * 1_000)
    assert run("status", "--data", data).json["last_week"] is None


@pytest.mark.long
def test_watching_goes_on_until_it_is_ended(data: Path, alice: str, tmp_path: Path) -> None:
    measured(data, 1)
    with Terminal("status", "--data", data, "--watch", "--every", "0.5", directory=tmp_path) as terminal:
        for _ in range(2):
            terminal.expect("no server runs")
            terminal.expect("Longest pause")
        terminal.type(CONTROL_C)
        assert terminal.ending() == 0
    with Terminal("status", "--data", data, "--watch", "--every", "0.5", "--json", directory=tmp_path) as terminal:
        for _ in range(2):
            assert json.loads(terminal.expect("\n}\n") + "\n}")["running"] is False
        terminal.type(CONTROL_C)
        assert terminal.ending() == 0


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("p50_ms", None, "-"),
        ("p50_ms", 2.94, "2.9 ms"),
        ("p99_ms", 12_300.0, "12.3 s"),
        ("memory_bytes", 83_700_000, "83.7 MB"),
        ("stored_bytes", 999, "999 bytes"),
        ("messages", 12_345, "12,345"),
    ],
)
def test_values_have_their_units(field: str, value: float | None, words: str) -> None:
    assert in_words(field, value) == words


def test_charts_and_times_of_one_line() -> None:
    assert bars([0, 1, None, 8]) == f" {BARS[1]} {BARS[7]}"
    assert bars([0, None]) == ""
    assert [span_in_words(seconds) for seconds in (0, 59, 3_661, 90_000, 864_000)] == [
        "0 s",
        "59 s",
        "1 h 1 min",
        "1 d 1 h",
        "10 d",
    ]
