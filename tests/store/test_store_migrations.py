"""Every earlier schema becomes the present one; a failed or impossible migration changes nothing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chat.errors import OperatorError
from chat.store.connections import connect
from chat.store.migrations import MIGRATIONS, is_current, migrate, prepare, schema_version

if TYPE_CHECKING:
    import sqlite_utils


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.sqlite3"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(path)
    yield connection
    connection.close()


def schema(connection: sqlite3.Connection) -> dict[str, str]:
    """Every table and index with its statement."""
    return dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


def tables(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]


def columns(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Every table with its columns as SQLite sees them."""
    return {table: connection.execute(f"PRAGMA table_xinfo({table})").fetchall() for table in tables(connection)}


@pytest.fixture(scope="module")
def fresh() -> Iterator[sqlite3.Connection]:
    """A database that never had another schema than the present one; it is only read."""
    connection = connect(":memory:")
    migrate(connection)
    yield connection
    connection.close()


@pytest.mark.parametrize("earlier", range(len(MIGRATIONS) + 1))
def test_a_database_of_every_earlier_version_becomes_a_present_one(
    connection: sqlite3.Connection, fresh: sqlite3.Connection, earlier: int
) -> None:
    migrate(connection, MIGRATIONS[:earlier])
    assert schema_version(connection) == earlier
    migrate(connection)
    assert is_current(connection)
    assert schema_version(connection) == len(MIGRATIONS)
    assert columns(connection) == columns(fresh)
    assert set(schema(connection)) == set(schema(fresh))


def test_a_second_migration_does_nothing(connection: sqlite3.Connection) -> None:
    migrate(connection)
    before = schema(connection)
    migrate(connection)
    migrate(connection, list(MIGRATIONS))
    assert schema(connection) == before


def test_every_table_is_strict(connection: sqlite3.Connection) -> None:
    migrate(connection)
    lax = [
        name
        for (_, name, kind, _, _, strict) in connection.execute("PRAGMA table_list")
        if kind == "table" and not strict and not name.startswith(("sqlite_", "_sqlite_"))
    ]
    assert lax == []


def test_every_reference_has_an_index_so_that_a_deletion_does_not_scan(connection: sqlite3.Connection) -> None:
    migrate(connection)
    missing = []
    for table in tables(connection):
        indexed = [
            [column for _, _, column in connection.execute(f"PRAGMA index_info({index})")]
            for _, index, *_ in connection.execute(f"PRAGMA index_list({table})").fetchall()
        ]
        keys = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]]
        references: dict[int, list[str]] = {}
        for reference, _, _, column, *_ in connection.execute(f"PRAGMA foreign_key_list({table})"):
            references.setdefault(reference, []).append(column)
        missing += [
            (table, wanted)
            for wanted in references.values()
            if not any(set(index[: len(wanted)]) == set(wanted) for index in [*indexed, keys])
        ]
    assert missing == []


def test_a_type_that_does_not_fit_is_refused(connection: sqlite3.Connection) -> None:
    migrate(connection)
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT value in INTEGER column"):
        connection.execute(
            "INSERT INTO mails (id, recipient, subject, text, kind, created_at) VALUES (1,'','','','','')"
        )


def test_a_reference_to_nothing_is_refused(connection: sqlite3.Connection) -> None:
    migrate(connection)
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        connection.execute("INSERT INTO user_settings (user_id, body) VALUES (1, '{}')")


def test_a_migration_that_fails_leaves_the_database_as_it_was(connection: sqlite3.Connection) -> None:
    def add_and_stumble(database: sqlite_utils.Database) -> None:
        database.execute("CREATE TABLE half (id INTEGER PRIMARY KEY) STRICT")
        raise ZeroDivisionError

    migrate(connection)
    before = schema(connection)
    with pytest.raises(ZeroDivisionError):
        migrate(connection, [*MIGRATIONS, add_and_stumble])
    assert schema(connection) == before
    assert is_current(connection)
    assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_a_migration_that_breaks_references_is_refused(connection: sqlite3.Connection) -> None:
    def orphan(database: sqlite_utils.Database) -> None:
        database.execute("INSERT INTO user_settings (user_id, body) VALUES (1, '{}')")

    migrate(connection)
    with pytest.raises(OperatorError, match="a row of user_settings refers to none of users"):
        migrate(connection, [*MIGRATIONS, orphan])
    assert connection.execute("SELECT count(*) FROM user_settings").fetchone() == (0,)


def test_a_database_of_a_newer_program_is_refused(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(OperatorError, match="newer version"):
        prepare(path)


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 1000)
    with pytest.raises(OperatorError, match="file is not a database"):
        prepare(path)


def test_a_database_in_a_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="unable to open database file"):
        prepare(tmp_path / "missing" / "chat.sqlite3")


def test_several_that_migrate_at_once_do_it_once(path: Path) -> None:
    connection = connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    threads = [threading.Thread(target=prepare, args=(path,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert connection.execute("SELECT count(*) FROM _sqlite_migrations").fetchone() == (len(MIGRATIONS),)
    connection.close()
