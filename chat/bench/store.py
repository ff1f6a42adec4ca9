"""`chat bench store`: acknowledged durable writes a second, alone and together, against one commit at a time."""

from __future__ import annotations

import functools
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

import trio

from chat.bench.measuring import BenchReport, Figure, median_ratio
from chat.classes import frozen
from chat.store.connections import connect
from chat.store.database import Database, open_database
from chat.store.guard import UNGUARDED

WRITERS: Final = (1, 64, 512)
TABLE: Final = "CREATE TABLE IF NOT EXISTS measured (id INTEGER PRIMARY KEY, content TEXT NOT NULL) STRICT"
INSERT: Final = "INSERT INTO measured (content) VALUES (?)"
CONTENT: Final = "a chat message of usual length, such as people write when they have something to say"


@frozen
class StoreBenchPlan:
    rounds: int = 5
    seconds: float = 1.0


WHOLE: Final = StoreBenchPlan()

QUICK: Final = StoreBenchPlan(rounds=1, seconds=0.2)


def run(plan: StoreBenchPlan) -> BenchReport:
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as directory:
        rates = trio.run(functools.partial(_measure, Path(directory) / "measured.sqlite3", plan))
    floors = rates[0]
    figures = [Figure("one_at_a_time", statistics.median(floors), "writes/s")]
    for writers in WRITERS:
        figures.append(Figure(f"writers_{writers}", statistics.median(rates[writers]), "writes/s"))
        figures.append(Figure(f"writers_{writers}_ratio", median_ratio(rates[writers], floors), "of one at a time"))
    return BenchReport("store", tuple(figures))


async def _measure(path: Path, plan: StoreBenchPlan) -> dict[int, list[float]]:
    """Writes a second by number of writers; 0 stands for the floor."""
    rates: dict[int, list[float]] = {number: [] for number in (0, *WRITERS)}
    async with open_database(path) as database:
        await database.write(lambda connection: connection.execute(TABLE), guard=UNGUARDED)
        for _ in range(plan.rounds):
            rates[0].append(_one_at_a_time(path, plan.seconds))
            for writers in WRITERS:
                rates[writers].append(await _together(database, writers, plan.seconds))
    return rates


def _one_at_a_time(path: Path, seconds: float) -> float:
    """A transaction for each write, on a connection with the same durability."""
    connection = connect(path, read_only=False, durable=True)
    count, began = 0, time.perf_counter()
    try:
        while time.perf_counter() - began < seconds:
            connection.execute("BEGIN IMMEDIATE")
            _insert(connection)
            connection.execute("COMMIT")
            count += 1
        return count / (time.perf_counter() - began)
    finally:
        connection.close()


async def _together(database: Database, writers: int, seconds: float) -> float:
    count, began = 0, time.perf_counter()

    async def write() -> None:
        nonlocal count
        while time.perf_counter() - began < seconds:
            await database.write(_insert, guard=UNGUARDED)
            count += 1

    async with trio.open_nursery() as nursery:
        for _ in range(writers):
            nursery.start_soon(write)
    return count / (time.perf_counter() - began)


def _insert(connection: sqlite3.Connection) -> None:
    connection.execute(INSERT, (CONTENT,))
