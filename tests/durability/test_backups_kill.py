"""`kill -9` at each step of a backup, a restore and a migration: nothing is lost, and the next run goes through."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chat.backup.checking import checked_copy, damaged_files
from chat.backup.place import UNFINISHED, BackupPlace
from chat.backup.restoring import ASIDE, complete
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.guilds import channels, guilds
from chat.store.guilds.channels import Channel
from chat.store.guilds.guilds import Guild
from chat.store.messages import attachments
from chat.store.messages.attachments import Attachment
from chat.store.migrations import MIGRATIONS, migrate, schema_version

pytestmark = pytest.mark.long

ALICE, GUILD, CHANNEL = 3_000_000_000_000, 4_000_000_000_000, 4_000_000_000_001
STEPS_MAXIMUM = 3_000
STRIDE = 23
"""Of the steps of a migration, most of which are statements of one transaction."""

OLDER = 4
"""How many migrations an older database lacks."""


class Commands:
    """Runs commands of `chat`, whole or killed before a step."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, *arguments: object, step: int = 0, statements: bool = False) -> int:
        """The exit status."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"arguments": [*map(str, arguments)], "step": step, "statements": statements}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(json.loads(self._process.stdout.readline())["status"])


@pytest.fixture(scope="module")
def commands() -> Iterator[Commands]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.durability.killed_at_each_step"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("CHAT_")},
    )
    yield Commands(process)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(30) == 0
    assert process.stdout is not None
    process.stdout.close()


def add_file(data: Path, file_id: int) -> None:
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        row = Attachment(file_id, CHANNEL, ALICE, "a.txt", "text/plain", 8, stored=True)
        attachments.insert(connection, row)
    path = data / "uploads" / "attachments" / f"{file_id >> 4 & 0xFF:02x}" / str(file_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(f"{file_id % 100_000_000:08}".encode())


def set_name(data: Path, name: str) -> None:
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        connection.execute("UPDATE guilds SET name = ?", (name,))


def name_of(data: Path) -> str:
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        return str(connection.execute("SELECT name FROM guilds").fetchone()[0])


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """A data directory with a guild called `then`, and a file."""
    directory = DataDirectory(tmp_path / "instance")
    directory.create()
    directory.bring_database_up_to_date()
    directory.signing_key()
    with contextlib.closing(connect(directory.database)) as connection:
        accounts.insert(connection, Account(id=ALICE, username="alice", discriminator=1, created_at=1))
        guilds.insert(connection, Guild(id=GUILD, owner_id=ALICE, name="then", created_at=1, member_count=0))
        channels.insert(connection, [Channel(id=CHANNEL, guild_id=GUILD, type=0, name="quay")])
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    add_file(directory.path, 1 << 40)
    return directory.path


def each_step(
    commands: Commands,
    prepare: Callable[[], tuple[object, ...]],
    judge: Callable[[], None],
    *,
    statements: bool = False,
    stride: int = 1,
) -> int:
    """Run what `prepare` returns, killed before one step after the other, and judge what is there each time; how many
    there are. Statements count where they write."""
    for step in range(1, STEPS_MAXIMUM, stride):
        status = commands.run(*prepare(), step=step, statements=statements)
        if status == 0:
            return step
        assert status == -signal.SIGKILL, step
        try:
            judge()
        except Exception as error:
            error.add_note(f"after the kill before step {step}")
            raise
    raise AssertionError("it has no end")


def require_whole(place: BackupPlace) -> int:
    """Every backup that is there is whole; how many there are."""
    backups = place.backups()
    for backup in backups:
        assert [*damaged_files(place, backup.path, set(), lambda *_: None)] == []
        assert checked_copy(place, backup.path, lambda *_: None) == ([], [])
    return len(backups)


def test_a_backup_that_is_killed_at_any_step(commands: Commands, instance: Path, tmp_path: Path) -> None:
    data, kept, first = tmp_path / "data", tmp_path / "kept", tmp_path / "first"
    place = BackupPlace(kept)
    arguments = ("backups", "make", "--directory", kept, "--keep", 1, "--data", data)
    shutil.copytree(instance, data)
    assert commands.run(*arguments) == 0
    add_file(data, (1 << 40) + 16)
    shutil.copytree(kept, first)

    def prepare() -> tuple[object, ...]:
        shutil.rmtree(kept)
        shutil.copytree(first, kept)
        return arguments

    def judge() -> None:
        assert 1 <= require_whole(place) <= 2
        assert commands.run("check", "--data", data) == 0
        assert commands.run(*arguments) == 0
        assert require_whole(place) == 1
        assert place.backups()[-1].files == 4
        assert not [*kept.glob(f"{UNFINISHED}*")]
        assert len([path for path in (kept / "files").rglob("*") if path.is_file()]) == 2

    assert each_step(commands, prepare, judge) > 20


def test_a_restore_that_is_killed_at_any_step(commands: Commands, instance: Path, tmp_path: Path) -> None:
    data, kept = tmp_path / "data", tmp_path / "kept"
    assert commands.run("backups", "make", "--directory", kept, "--data", instance) == 0
    set_name(instance, "now")
    add_file(instance, (1 << 40) + 16)

    def prepare() -> tuple[object, ...]:
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(instance, data)
        return ("restore", kept, "--aside", "--data", data)

    def judge() -> None:
        with DataDirectory(data).locked():
            DataDirectory(data).require_no_broken_restore(complete)  # as `chat serve` does
        assert not [*data.glob(".rest*")]
        assert commands.run("check", "--data", data) == 0
        aside = [*data.glob(f"{ASIDE}*")]
        if name_of(data) == "then":
            assert name_of(aside[0]) == "now"
        else:
            assert name_of(data) == "now"
            assert aside == []
            assert commands.run("restore", kept, "--aside", "--data", data) == 0
            assert name_of(data) == "then"

    assert each_step(commands, prepare, judge) > 20

    def prepare_empty() -> tuple[object, ...]:
        shutil.rmtree(data, ignore_errors=True)
        return ("restore", kept, "--data", data)

    def judge_empty() -> None:
        if commands.run("check", "--data", data) != 0:  # as it says, the same command again
            assert commands.run("restore", kept, "--data", data) == 0
        assert commands.run("check", "--data", data) == 0
        assert name_of(data) == "then"

    assert each_step(commands, prepare_empty, judge_empty) > 15


def test_a_migration_that_is_killed_at_any_step(commands: Commands, instance: Path, tmp_path: Path) -> None:
    data, older = tmp_path / "data", tmp_path / "older"
    older.mkdir(mode=0o700)
    shutil.copy(instance / "signing.key", older)
    with contextlib.closing(connect(DataDirectory(older).database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, MIGRATIONS[:-OLDER])
        connection.execute("INSERT INTO instance (key, value) VALUES ('canary', 'sings')")

    def prepare() -> tuple[object, ...]:
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(older, data)
        return ("user", "list", "--data", data)

    def judge() -> None:
        with contextlib.closing(connect(DataDirectory(data).database, read_only=True)) as connection:
            assert schema_version(connection) in {len(MIGRATIONS) - OLDER, len(MIGRATIONS)}
            assert connection.execute("SELECT value FROM instance WHERE key = 'canary'").fetchone() == ("sings",)
        assert commands.run("user", "list", "--data", data) == 0
        place = BackupPlace(data / "backups")
        assert require_whole(place) >= 1
        assert {backup.schema for backup in place.backups()} == {len(MIGRATIONS) - OLDER}
        assert commands.run("check", "--data", data) == 0

    assert each_step(commands, prepare, judge, statements=True, stride=STRIDE) > 100
