"""Emptying the database leaves the schema and what the instance knows of itself."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

from chat.development.seeded_world import compose, populate
from chat.store.administration import instance
from chat.store.database import open_database
from chat.store.whole_database import erase_everything
from chat.testing.server import fresh_database


def contents(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table; not how SQLite's full-text search arranges them for itself."""
    names = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name <> 'sqlite_schema'"
    ).fetchall()
    return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names}  # noqa: S608


async def test_nothing_but_the_instance_is_left(tmp_path: Path) -> None:
    world = compose(random.Random(3), 1_800_000_000_000)
    hashes = {account.id: "hash" for account in world.people}
    async with open_database(fresh_database(tmp_path / "chat.db"), inline=True, durable=False) as database:
        await database.write(lambda connection: instance.set_value(connection, "kept", "yes"))
        # An instance that was set up once stays so, whoever is erased.
        await database.write(lambda connection: instance.set_value(connection, instance.CONFIGURED, "1"))
        empty = contents(database.reader)
        await database.write(lambda connection: populate(connection, world, hashes))
        full = contents(database.reader)
        assert full != empty
        await database.write(erase_everything)
        assert contents(database.reader) == empty
        await database.write(lambda connection: populate(connection, world, hashes))
        assert contents(database.reader) == full
