"""A data directory to import into, and commands that run in this process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.command_line import GUILD, Outcome, Run
from tests.cli.conftest import alice as alice
from tests.cli.conftest import data as data
from tests.cli.conftest import instance as instance
from tests.cli.conftest import run as run
from tests.imports.import_command import ImportCommand


@pytest.fixture
def importing(run: Run, alice: str, data: Path) -> ImportCommand:
    """`chat import discord` into the guild of alice."""
    return _importing(run, data)


@pytest.fixture
def elsewhere(run: Run, instance: Path, tmp_path: Path) -> ImportCommand:
    """The same in another instance."""
    other = tmp_path / "elsewhere"
    shutil.copytree(instance, other)
    return _importing(run, other)


def _importing(run: Run, data: Path) -> ImportCommand:
    def command(*arguments: object, **options: bool) -> Outcome:
        return run(*arguments, "--data", data, **options)

    return ImportCommand(command, data, GUILD)
