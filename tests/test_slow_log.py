"""Slow requests and slow work of the store in the log: thresholds, names, and no more lines than a log bears."""

from __future__ import annotations

import sqlite3
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from chat.observation import CAUSE, Observation, watching
from chat.slow_log import LINES_MAXIMUM, SPAN_SECONDS, SlowLog
from chat.store.database import open_database
from chat.store.guard import UNGUARDED, Guard
from chat.store.migrations import prepare
from chat.store.writer import name_of


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def seen(answered_after: float, status: int = 200) -> Observation:
    one = Observation("POST")
    one.route, one.status, one.answered_after, one.request_id = "/v1/things", status, answered_after, "r1"
    return one


async def test_a_request_counts_until_its_answer_begins() -> None:
    slow = SlowLog(request_ms=100)
    with capture_logs() as lines:
        slow.request(await seen(0.099))
        slow.request(await seen(0.1))
        slow.request(await seen(5.0, 101))
    assert lines == [
        {
            "event": "slow request",
            "log_level": "warning",
            "operation": "POST /v1/things",
            "status": 200,
            "ms": 100.0,
            "request_id": "r1",
            "account_id": None,
        }
    ]


async def test_the_beginning_of_the_answer_is_noted(autojump_clock: trio.testing.MockClock) -> None:
    one = Observation("GET", now=trio.current_time)

    async def send(_: Any) -> None:
        await trio.sleep(4)  # a client that reads slowly

    send_watched = watching(one, send)
    await trio.sleep(0.5)
    await send_watched({"type": "http.response.start", "status": 200})
    await send_watched({"type": "http.response.body", "body": b"x"})
    assert (one.answered_after, one.seconds) == (0.5, 8.5)


async def test_what_a_clock_was_moved_by_is_not_slow(autojump_clock: trio.testing.MockClock) -> None:
    """A test that moves its clock while a request is under way waits for nothing."""
    one = Observation("POST")

    async def send(_: Any) -> None:
        return None

    await trio.sleep(86_400)
    await watching(one, send)({"type": "http.response.start", "status": 200})
    with capture_logs() as lines:
        SlowLog(request_ms=3_600_000).request(one)
    assert (lines, one.seconds) == ([], 86_400)


async def test_a_flood_of_slow_work_is_cut_off_and_counted() -> None:
    clock = Clock()
    slow = SlowLog(request_ms=1, now=clock)
    with capture_logs() as lines:
        for _ in range(LINES_MAXIMUM + 7):
            slow.request(await seen(1))
        assert len(lines) == LINES_MAXIMUM
        clock.now = SPAN_SECONDS
        slow.request(await seen(1))
    assert [line["event"] for line in lines[LINES_MAXIMUM:]] == ["slow work was left out of the log", "slow request"]
    assert lines[LINES_MAXIMUM]["count"] == 7


def sleeping(connection: sqlite3.Connection, seconds: float = 0.05) -> None:
    time.sleep(seconds)


@pytest.mark.parametrize("inline", [True, False])
async def test_work_of_the_store_is_named_with_its_request(tmp_path: Path, inline: bool) -> None:
    prepare(tmp_path / "chat.sqlite3")
    told: list[tuple[str, str, Observation | None]] = []
    async with open_database(tmp_path / "chat.sqlite3", inline=inline) as database:
        database.observe_slowness(0.04, lambda work, kind, seconds, cause: told.append((work, kind, cause)))
        cause = await seen(0)
        token = CAUSE.set(cause)
        await database.write(sleeping, guard=UNGUARDED)
        await database.write(sleeping, guard=Guard(lambda connection: None, is_due=True))
        await database.write(partial(sleeping, seconds=0.0), guard=UNGUARDED)
        await database.read(partial(sleeping, seconds=0.06))
        CAUSE.reset(token)
        await database.read(sleeping)
    name = f"{__name__}.sleeping"
    assert [each for each in told if each[1] != "commit"] == [
        (name, "unit", cause),
        (name, "unit", cause),
        (name, "query", cause),
        (name, "query", None),
    ]


def test_names_are_those_of_functions() -> None:
    def unit(connection: sqlite3.Connection) -> None: ...

    expected = f"{__name__}.test_names_are_those_of_functions.unit"
    assert name_of(unit) == name_of(partial(partial(unit))) == expected
    assert name_of(Guard(lambda connection: None, is_due=True).before(unit)) == expected
