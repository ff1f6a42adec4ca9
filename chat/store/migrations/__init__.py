"""How an old database becomes a new one: the numbered SQL files of this folder, one loop over them.

They run in one transaction with the record of it (which sqlite-utils keeps by the name behind the number), and none is
edited once released: a change is a new file at the end. `PRAGMA user_version` repeats how many have run, so that a
start on a current database asks one question and imports nothing.

Conventions of every table: identities are snowflakes; `_at` and `_until` are Unix milliseconds; truths are 0 or 1;
`json` in a comment marks a column of JSON text; `users.flags` holds an unsigned 64-bit number as a signed one.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chat.errors import OperatorError
from chat.store.connections import BUSY_TIMEOUT_SECONDS, connect

if TYPE_CHECKING:
    import sqlite_utils

Migration = Callable[["sqlite_utils.Database"], None]


def statements(script: str) -> Iterator[str]:
    """The statements of an SQL script, one by one, without their semicolons; a trigger's body stays whole."""
    statement = ""
    for line in script.splitlines(keepends=True):
        if not statement and (not line.strip() or line.startswith("--")):
            continue
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.rstrip().removesuffix(";")
            statement = ""
    if statement:
        raise ValueError(f"a statement does not end: {statement}")


def _run(file: str, database: sqlite_utils.Database) -> None:
    for statement in statements(resources.files(__package__).joinpath(file).read_text("utf-8")):
        database.execute(statement)


def _in_file(file: str) -> Migration:
    migration = partial(_run, file)
    migration.__name__ = file.partition("_")[2].removesuffix(".sql")  # type: ignore[attr-defined]
    return migration


MIGRATIONS: Final[Sequence[Migration]] = tuple(
    _in_file(file)
    for file in sorted(entry.name for entry in resources.files(__package__).iterdir() if entry.name.endswith(".sql"))
)
"""In the order in which they run; the name behind the file's number is the name in the record."""

MIGRATION_SET: Final = "chat"


def schema_version(connection: sqlite3.Connection) -> int:
    """How many migrations this database has seen."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether nothing is left to migrate; raises OperatorError for a database of a newer program."""
    version = schema_version(connection)
    known = len(MIGRATIONS)
    if version > known:
        raise OperatorError(f"the database is of a newer version of this program (schema {version}; known are {known})")
    return version == known


def prepare(
    path: Path | str,
    *,
    durable: bool = True,
    while_migrating: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
) -> None:
    """Create the database, or migrate what is there; `while_migrating` is entered only when something is to be done.

    Raises OperatorError when the file cannot be used: not a database, not writable, of a newer program.
    """
    try:
        # The settings of `connect` have SQLite read the whole schema; the version stands in the file's header.
        with contextlib.closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS)) as bare:
            if is_current(bare):
                return
        with contextlib.closing(connect(path, durable=durable)) as connection:
            if not is_current(connection):
                with while_migrating():
                    connection.execute("PRAGMA journal_mode = WAL")  # outside of any transaction, and for good
                    migrate(connection)
    except sqlite3.Error as error:
        raise OperatorError(f"cannot use the database {path}: {error}") from error


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the schema up to the last of `migrations`, all in one transaction or not at all.

    The connection must be in autocommit mode (`isolation_level=None`) and outside a transaction. Raises OperatorError
    when the database is newer than this program, or when its rows do not fit the references of the new schema.
    """
    if migrations is MIGRATIONS and is_current(connection):
        return
    # A table that others refer to cannot be rebuilt while references are enforced; they are checked as a whole instead.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        _apply(connection, migrations)
        _refuse_broken_references(connection)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("PRAGMA foreign_keys = ON")


def _apply(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    # sqlite-utils takes a tenth of a second to import, which a start on a current database does not pay.
    import sqlite_utils
    from sqlite_utils.migrations import Migrations

    steps = Migrations(MIGRATION_SET)
    for migration in migrations:
        steps()(migration)
    steps.apply(sqlite_utils.Database(connection, recursive_triggers=False))
    connection.execute(f"PRAGMA user_version = {len(migrations)}")


def _refuse_broken_references(connection: sqlite3.Connection) -> None:
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        table, _, referred, _ = broken
        raise OperatorError(f"the database cannot be migrated: a row of {table} refers to none of {referred}")
