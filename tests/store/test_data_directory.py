"""One owner, one key, and clear words when something is wrong."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from chat.errors import OperatorError
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
