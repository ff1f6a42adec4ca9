"""`chat bench growth`: what the commonest requests cost, and how soon the server listens, as an instance grows to a
million accounts and ten million messages.

The rows are made in SQL, without entries of the search index, which nothing here asks. A figure is CPU time of the
server, all of its threads together.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from chat.bench import world
from chat.bench.gateway import observe, serving
from chat.bench.http import MESSAGE
from chat.bench.measuring import LOAD_CORE, BenchReport, Figure, MeasuredProcess, note_if_busy, started
from chat.classes import frozen
from chat.clock import SystemClock
from chat.snowflake import snowflake_at
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory

FLAT: Final = 1.3
"""A request may cost this many times what it costs in the smallest instance."""

DAY_MS: Final = 86_400_000
CONNECTIONS: Final = 8

_NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count)"
_ACCOUNTS: Final = f"""
    {_NUMBERS}
    INSERT INTO users (id, username, username_key, discriminator, created_at)
    SELECT :first + i, 'account' || i, 'account' || i, 1, :now FROM n
"""  # noqa: S608 - our own words, here and below
_MESSAGES: Final = f"""
    {_NUMBERS}
    INSERT INTO messages (id, channel_id, author_id, type, content)
    SELECT :first + i * :step, :channel, authors.user_id, 0, 'message ' || i || ' of many that were written here'
      FROM n JOIN authors ON authors.number = i % :authors
"""  # noqa: S608


@frozen
class Size:
    accounts: int
    messages: int


@frozen
class GrowthBenchPlan:
    """How large the instances are. Every cost is the median of `rounds` rounds."""

    sizes: tuple[Size, ...] = (Size(1_000, 10_000), Size(100_000, 1_000_000), Size(1_000_000, 10_000_000))
    rounds: int = 5
    seconds: float = 2.0


WHOLE: Final = GrowthBenchPlan()

QUICK: Final = GrowthBenchPlan(sizes=(Size(100, 300),), rounds=1, seconds=0.05)


def run(plan: GrowthBenchPlan) -> BenchReport:
    """Measure every size. Raises OperatorError where the server answers with an error."""
    figures: list[Figure] = []
    notes: list[str] = []
    costs: list[Mapping[str, float]] = []
    with started("chat.bench.load_generator", "http", core=LOAD_CORE) as load:
        for size in plan.sizes:
            listening, longest, measured = _measure(load, size, plan, notes)
            costs.append(measured)
            figures.append(Figure(f"listening_after_{size.messages}", listening, "s", at_most=1.0))
            figures.append(Figure(f"longest_turn_{size.messages}", longest, "ms of CPU", at_most=20.0))
            figures += [Figure(f"{name}_{size.messages}", cost, "ms of CPU") for name, cost in measured.items()]
    for name, least in costs[0].items():
        growth = max(measured[name] for measured in costs) / least
        figures.append(Figure(f"{name}_growth", growth, f"of {plan.sizes[0].messages} messages", at_most=FLAT))
    return BenchReport("growth", tuple(figures), tuple(notes))


def _measure(
    load: MeasuredProcess, size: Size, plan: GrowthBenchPlan, notes: list[str]
) -> tuple[float, float, Mapping[str, float]]:
    """Seconds until the server listens, the longest turn of its loop and the cost of each request in milliseconds."""
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
        here = world.prepare(Path(directory), world.MEMBERS)
        with contextlib.closing(connect(DataDirectory(Path(directory)).database, durable=False)) as connection:
            middle_id = _fill(connection, here, size)
        os.sync()  # a start does not wait for what was written just now
        began = time.perf_counter()
        with serving(directory) as (server, port):
            listening = time.perf_counter() - began
            observe(server)  # which begins the look
            costs: dict[str, list[float]] = {}
            for _ in range(plan.rounds):
                for name, request in _requests(here, middle_id).items():
                    result = load.ask(
                        port=port,
                        pid=server.pid,
                        seconds=plan.seconds,
                        connections=CONNECTIONS,
                        tokens=here.tokens,
                        asked=[request],
                    )
                    note_if_busy(result, name, notes)
                    costs.setdefault(name, []).append(1_000 / result["per_cpu_second"])
            longest = observe(server)["longest_turn_cpu_ms"]
        return listening, longest, {name: statistics.median(values) for name, values in costs.items()}


def _requests(here: world.World, middle_id: int) -> dict[str, dict[str, str]]:
    messages = f"/v1/channels/{here.channel_id}/messages"
    return {
        "get_own_user": {"method": "GET", "path": "/v1/users/@me"},
        "get_guild": {"method": "GET", "path": f"/v1/guilds/{here.guild_id}"},
        "read_newest": {"method": "GET", "path": messages},
        "read_middle": {"method": "GET", "path": f"{messages}?before={middle_id}"},
        "post": {"method": "POST", "path": messages, "body": MESSAGE},
    }


def _fill(connection: sqlite3.Connection, here: world.World, size: Size) -> int:
    """Make the rows, and return the id of the message in the middle."""
    now = SystemClock().now_ms()
    authors = [row[0] for row in connection.execute("SELECT user_id FROM members ORDER BY user_id")]
    connection.execute("CREATE TEMP TABLE authors (number INTEGER PRIMARY KEY, user_id INTEGER NOT NULL)")
    connection.executemany("INSERT INTO authors VALUES (?, ?)", enumerate(authors))
    step = snowflake_at(now) - snowflake_at(now - 1)
    first = snowflake_at(now - DAY_MS) - size.messages * step
    values = {"channel": here.channel_id, "step": step, "authors": len(authors), "now": now}
    with _without_queues(connection):
        connection.execute(_ACCOUNTS, values | {"count": size.accounts, "first": first - 2 * size.accounts})
        connection.execute(_MESSAGES, values | {"count": size.messages, "first": first})
    last_id = first + (size.messages - 1) * step
    connection.execute("UPDATE channels SET last_message_id = ? WHERE id = ?", (last_id, here.channel_id))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return first + size.messages // 2 * step


@contextlib.contextmanager
def _without_queues(connection: sqlite3.Connection) -> Iterator[None]:
    """In one transaction, without the triggers that note what is to be done for new rows."""
    triggers = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ('users', 'messages')"
    ).fetchall()
    connection.execute("BEGIN")
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    yield
    for _, statement in triggers:
        connection.execute(statement)
    connection.execute("COMMIT")
