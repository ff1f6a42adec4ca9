"""Who may read the data of an instance: what a command makes is closed to others, `chat check` tells what is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import Run


def test_what_a_command_makes_is_closed_whatever_the_directory_is(tmp_path: Path, run: Run) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    command = [
        sys.executable,
        "-m",
        "chat",
        "user",
        "create",
        "--username",
        "ana",
        "--email",
        "ana@example.org",
        "--data",
        str(data),
    ]
    made = subprocess.run(command, input="four unrelated words\n", capture_output=True, text=True, check=False, umask=0)
    assert made.returncode == 0, made.stderr
    entries = {entry.name: entry.stat().st_mode & 0o777 for entry in data.iterdir()}
    assert "chat.sqlite3" in entries
    assert {name: mode for name, mode in entries.items() if mode & 0o077} == {}
    assert run("check", "--data", data).out == ""


@pytest.mark.parametrize("name", ["chat.sqlite3", "chat.toml", "uploads", "archives"])
def test_what_others_can_read_is_told(run: Run, data: Path, alice: str, name: str) -> None:
    opened = data / name
    if not opened.exists():
        opened.touch() if "." in name else opened.mkdir()
    for entry in data.iterdir():
        entry.chmod(0o600 if entry.is_file() else 0o700)
    opened.chmod(0o640 if opened.is_file() else 0o755)
    data.chmod(0o700)
    assert run("check", "--data", data).out == ""  # nobody else gets to it
    data.chmod(0o755)
    ending = run("check", "--data", data)
    assert ending.out.startswith(f"access: others can read {name}")
    assert ending.out.endswith(f" in {data}: chmod -R go= {data}\n")
    assert ending.status == 1
    data.chmod(0o770)
    assert run("check", "--data", data).out == f"access: others can write to {data}: chmod -R go= {data}\n"


def test_backups_and_a_settings_file_elsewhere(run: Run, data: Path, alice: str, tmp_path: Path) -> None:
    backups, settings = tmp_path / "backups", tmp_path / "chat.toml"
    for folder in (backups, backups / "one"):
        folder.mkdir()
        folder.chmod(0o755)
    settings.write_text(f'[backup]\ndirectory = "{backups}"\n')
    settings.chmod(0o644)
    said = run("check", "--data", data, "--config", settings).out
    assert f"others can read one in {backups}" in said
    assert str(settings) not in said  # it holds no secret
    settings.write_text('[mail]\npassword = "hunter2"\n')
    said = run("check", "--data", data, "--config", settings).out
    assert said == f"access: {settings} holds secrets and can be read by others: chmod o= {settings}\n"
    settings.chmod(0o640)
    assert run("check", "--data", data, "--config", settings).out == ""
