"""A process that writes without end and says on standard output, one line each, what it was told is written.

Run as `python acknowledging_writer.py DATABASE FIRST` by the test that kills it.
"""

import itertools
import os
import sqlite3
import sys

import trio

from chat.store.database import Database, open_database

WRITERS = 16


async def write_for_ever(database: Database, numbers: "itertools.count[int]") -> None:
    for number in numbers:

        def insert(connection: sqlite3.Connection, number: int = number) -> None:
            connection.execute("INSERT INTO instance (key, value) VALUES (?, ?)", (str(number), "x" * 200))

        await database.write(insert)
        os.write(1, f"{number}\n".encode())


async def main(path: str, first: int) -> None:
    numbers = itertools.count(first)
    async with open_database(path) as database, trio.open_nursery() as nursery:
        for _ in range(WRITERS):
            nursery.start_soon(write_for_ever, database, numbers)


trio.run(main, sys.argv[1], int(sys.argv[2]))
