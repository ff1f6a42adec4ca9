"""The script in front of the one file: it runs nothing that another account may have put where it unpacks."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Final

import pytest

SCRIPT: Final = Path(__file__).parents[2] / ".ci" / "binary" / "unpack.sh"
OURS, THEIRS = "ours\n", "theirs\n"
ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin"}


def program(says: str) -> bytes:
    return f"#!/bin/sh\nprintf '{says.strip()}\\n'\n".encode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The one file, whose program says that it is ours, as `.ci/build` puts it together."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as packed:
        member = tarfile.TarInfo("chat")
        member.mode, member.size = 0o700, len(program(OURS))
        packed.addfile(member, io.BytesIO(program(OURS)))
    script = SCRIPT.read_bytes().replace(b"@VERSION@", b"1").replace(b"@DIGEST@", b"0123456789abcdef")
    script = script.replace(b"@OFFSET@", b"%08d" % (len(script) + 1))
    made = tmp_path / "program"
    made.write_bytes(script + archive.getvalue())
    made.chmod(0o755)
    return made


def start(file: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**ENVIRONMENT, "XDG_CACHE_HOME": str(cache)}
    return subprocess.run([file], env=environment, capture_output=True, text=True, check=False)


def store(cache: Path) -> Path:
    return cache / "chat"


def plant(cache: Path) -> Path:
    """Another program where ours would be, marked as whole; the folder that holds it."""
    folder = store(cache) / "0123456789abcdef"
    folder.mkdir(parents=True, mode=0o700)
    store(cache).chmod(0o700)
    (folder / "chat").write_bytes(program(THEIRS))
    (folder / "chat").chmod(0o700)
    (folder / ".whole").touch()
    return folder


def test_what_lies_there_of_this_account_is_taken(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert start(file, cache).stdout == OURS
    assert store(cache).stat().st_mode & 0o777 == 0o700
    assert start(file, cache).stdout == OURS
    plant(tmp_path / "own")
    assert start(file, tmp_path / "own").stdout == THEIRS  # that it is looked at at all


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_store_that_others_may_write_to_is_refused(file: Path, tmp_path: Path, mode: int) -> None:
    plant(tmp_path)
    store(tmp_path).chmod(mode)
    ended = start(file, tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == f"chat: others can write to {store(tmp_path)}: remove it, and close it to them\n"


@pytest.mark.parametrize("open_to_others", ["", "chat"], ids=["folder", "program"])
def test_what_others_may_have_written_is_unpacked_anew(file: Path, tmp_path: Path, open_to_others: str) -> None:
    (plant(tmp_path) / open_to_others).chmod(0o777)
    assert start(file, tmp_path).stdout == OURS
    assert (store(tmp_path) / "0123456789abcdef").stat().st_mode & 0o022 == 0


@pytest.mark.parametrize("which", ["store", "folder", "program"])
def test_no_link_is_followed(file: Path, tmp_path: Path, which: str) -> None:
    folder, elsewhere = plant(tmp_path), tmp_path / "elsewhere"
    linked = {"store": store(tmp_path), "folder": folder, "program": folder / "chat"}[which]
    linked.rename(elsewhere)
    linked.symlink_to(elsewhere)
    ended = start(file, tmp_path)
    assert ended.stdout == ("" if which == "store" else OURS)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("which", ["store", "folder", "program"])
def test_what_belongs_to_another_account_is_not_run(file: Path, tmp_path: Path, which: str) -> None:
    folder = plant(tmp_path)
    os.chown({"store": store(tmp_path), "folder": folder, "program": folder / "chat"}[which], 4_242, 4_242)
    ended = start(file, tmp_path)
    assert ended.stdout == ("" if which == "store" else OURS)
    if which == "store":
        assert ended.stderr.startswith(f"chat: {store(tmp_path)} belongs to another account")
