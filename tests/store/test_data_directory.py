"""One owner, one key, and clear words when something is wrong."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from chat.errors import OperatorError
from chat.store.administration import sealed_secrets
from chat.store.connections import connect
from chat.store.data_directory import SIGNING_KEY_BYTES, DataDirectory
from chat.store.migrations import is_current

HOLDER = """
import sys
from pathlib import Path
from chat.store.data_directory import DataDirectory
with DataDirectory(Path(sys.argv[1])).locked():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    directory = DataDirectory(tmp_path / "a" / "data")
    directory.create()
    return directory


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_directory_is_made_for_its_owner_only(directory: DataDirectory) -> None:
    assert permissions(directory.path) == 0o700
    directory.create()


def test_a_file_in_its_place_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(OperatorError, match="cannot make the data directory"):
        DataDirectory(tmp_path / "data").create()


def test_a_directory_without_data_is_refused_where_data_is_needed(directory: DataDirectory) -> None:
    with pytest.raises(OperatorError, match="there is no data in"):
        directory.require()
    directory.bring_database_up_to_date()
    directory.require()


def test_a_second_process_cannot_own_it_and_learns_who_does(directory: DataDirectory) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, directory.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(OperatorError, match=f"in use by another process \\(process {holder.pid}\\)"):
            directory.locked().__enter__()
        holder.kill()
        holder.wait()
        with directory.locked():  # the kernel let go of it
            pass


def test_it_can_be_owned_again_after_it_was_let_go(directory: DataDirectory) -> None:
    for _ in range(2):
        with directory.locked(), pytest.raises(OperatorError, match="in use"):
            directory.locked().__enter__()


def test_a_directory_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="cannot write in the data directory"):
        DataDirectory(tmp_path / "missing").locked().__enter__()


def test_a_current_database_is_administered_beside_its_owner(directory: DataDirectory) -> None:
    directory.bring_database_up_to_date()
    with directory.locked():
        directory.bring_database_up_to_date()


def test_a_database_is_not_migrated_under_its_owner(directory: DataDirectory) -> None:
    with directory.locked(), pytest.raises(OperatorError, match="in use"):
        directory.bring_database_up_to_date()
    connection = connect(directory.database)
    assert not is_current(connection)
    connection.close()


def test_the_signing_key_is_made_once_and_kept_private(directory: DataDirectory) -> None:
    key = directory.signing_key()
    assert len(key) == SIGNING_KEY_BYTES
    assert permissions(directory.path / "signing.key") == 0o600
    assert directory.signing_key() == key
    assert os.listdir(directory.path) == ["signing.key"]


def test_a_signing_key_that_others_can_read_is_made_private(directory: DataDirectory) -> None:
    directory.signing_key()
    (directory.path / "signing.key").chmod(0o644)
    directory.signing_key()
    assert permissions(directory.path / "signing.key") == 0o600


def test_two_instances_have_two_keys(directory: DataDirectory, tmp_path: Path) -> None:
    assert DataDirectory(tmp_path).signing_key() != directory.signing_key()


def test_a_damaged_signing_key_is_told_in_one_line(directory: DataDirectory) -> None:
    (directory.path / "signing.key").write_bytes(b"short")
    with pytest.raises(OperatorError, match="has 5 bytes instead of 32"):
        directory.signing_key()


def test_a_signing_key_that_cannot_be_made_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="cannot use the signing key"):
        DataDirectory(tmp_path / "missing").signing_key()


def seal_something(directory: DataDirectory, kind: str) -> None:
    """One row of the kind; what it refers to does not matter here."""
    table, context, column = sealed_secrets.COLUMNS[kind]
    with contextlib.closing(connect(directory.database)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        columns = list(connection.execute(f"PRAGMA table_info({table})"))
        needed = [(name, kind) for _, name, kind, needed, default, _ in columns if needed and default is None]
        values: dict[str, object] = {name: b"1" if kind == "BLOB" else 1 for name, kind in needed}
        values[context] = 7
        values[column] = {"TEXT": "c2VhbGVk", "BLOB": b"sealed"}[next(row[2] for row in columns if row[1] == column)]
        places = ", ".join("?" * len(values))
        statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"  # noqa: S608 - our own names
        connection.execute(statement, list(values.values()))


@pytest.mark.parametrize("kind", sealed_secrets.COLUMNS)
def test_no_second_signing_key_is_made_beside_what_the_first_one_sealed(directory: DataDirectory, kind: str) -> None:
    directory.bring_database_up_to_date()
    directory.signing_key()
    seal_something(directory, kind)
    directory.key_file.unlink()
    with pytest.raises(OperatorError, match=r"signing\.key is missing.*Restore it from a backup"):
        directory.signing_key()
    assert not directory.key_file.exists()
    directory.key_file.write_bytes(bytes(SIGNING_KEY_BYTES))  # the way out that the message names
    assert directory.signing_key() == bytes(SIGNING_KEY_BYTES)


def test_every_sealed_column_of_the_schema_is_known(directory: DataDirectory) -> None:
    directory.bring_database_up_to_date()
    with contextlib.closing(connect(directory.database)) as connection:
        found = connection.execute(
            """
            SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
             WHERE columns.name LIKE 'sealed%' OR columns.name LIKE '%totp_secret'
            """
        )
        assert set(found) == {(table, column) for table, _, column in sealed_secrets.COLUMNS.values()}


def test_a_database_of_an_older_version_may_hold_sealed_secrets_too(directory: DataDirectory) -> None:
    with contextlib.closing(connect(directory.database)) as connection:
        connection.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, totp_secret TEXT)")
        connection.execute("INSERT INTO users VALUES (1, NULL)")
        assert not directory.holds_sealed_secrets()
        connection.execute("INSERT INTO users VALUES (2, 'c2VhbGVk')")
    assert directory.holds_sealed_secrets()
