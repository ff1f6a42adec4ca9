"""The command line, run in this process, and a data directory for it to work on."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
import trio

from chat.auth.passwords import CHEAP, Passwords
from chat.cli.main import main
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.guilds import channels, guilds
from chat.store.guilds.channels import Channel
from chat.store.guilds.guilds import Guild
from tests.cli.command_line import ALICE, CATEGORY, CHANNEL, GUILD, PASSWORD, Outcome, Run

TERMINAL_COLUMNS = 200


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs a command with these arguments, its output going into a pipe or (`terminal`) to a person."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def run_command(*arguments: object, terminal: bool = False, stdin: str | None = None) -> Outcome:
        capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys.stdout, "isatty", lambda: terminal)
            patch.setenv("COLUMNS", str(TERMINAL_COLUMNS))
            # A command that lets others go first (`chat backup create`) would do so for the tests that come after it.
            patch.setattr(os, "nice", lambda _: 0)
            patch.setattr(os, "sched_setscheduler", lambda *_: None)
            if stdin is not None:
                patch.setattr(sys, "stdin", io.StringIO(stdin))
            with pytest.raises(SystemExit) as ending:
                main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(int(ending.value.code or 0), captured.out, captured.err)

    yield run_command
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory that is not there yet."""
    return tmp_path / "data"


@pytest.fixture(scope="session")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with alice, who owns a guild; made once, to be copied."""
    directory = DataDirectory(tmp_path_factory.mktemp("instance"))
    directory.bring_database_up_to_date()
    passwords = Passwords(random.Random(), CHEAP, in_threads=False)
    alice = Account(
        id=ALICE,
        username="alice",
        discriminator=1234,
        email="Alice@example.com",
        email_verified=True,
        password_hash=trio.run(passwords.hash, PASSWORD),
        created_at=1_700_000_000_000,
    )
    with contextlib.closing(connect(directory.database)) as connection:
        accounts.insert(connection, alice)
        guilds.insert(connection, Guild(id=GUILD, owner_id=ALICE, name="Harbour", created_at=1, member_count=0))
        channels.insert(
            connection,
            [
                Channel(id=CATEGORY, guild_id=GUILD, type=4, name="Text"),
                Channel(id=CHANNEL, guild_id=GUILD, type=0, name="quay", parent_id=CATEGORY),
            ],
        )
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return directory.path


@pytest.fixture
def alice(instance: Path, data: Path) -> str:
    """Alice's id; `data` is a directory with her account and her guild."""
    shutil.copytree(instance, data)
    return str(ALICE)
