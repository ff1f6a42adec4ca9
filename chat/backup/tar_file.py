"""A backup as one tar file, which other programs can read too: what `chat.backup.contents` names, the description first
and the digests last. It holds all that the data directory holds, secrets included, so its mode is 0600.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, cast

from chat.backup.contents import (
    CHECKSUMS,
    DATABASE,
    DESCRIPTION,
    SETTINGS,
    SIGNING_KEY,
    DigestingReader,
    Tell,
    WantedFile,
    description,
    files_of_rows,
)
from chat.backup.pacing import settle_file
from chat.classes import frozen
from chat.errors import OperatorError
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.migrations import MIGRATIONS, is_current
from chat.store.whole_database import take_snapshot

STAGE_PREFIX: Final = ".backup-"
"""Of a directory in the data directory, in which files are kept from going while they are copied."""

TURNS: Final = 20
"""How often the database is copied again because files of the last copy went meanwhile; each turn takes less time."""


@frozen
class Written:
    """A backup in one file."""

    files: int
    missing: int
    """Files that were missing before."""
    damages: tuple[str, ...]
    """Which files are not what their rows say, and why."""


def write(directory: DataDirectory, draft: Path, tell: Tell) -> Written:
    """Write everything of an instance to `draft`. Raises OperatorError, and OSError where `draft` cannot be written."""
    with _stage(directory) as stage:
        try:
            missing = _hold(directory, stage, tell)
        except sqlite3.Error as error:
            raise OperatorError(f"cannot copy the database {directory.database}: {error}") from error
        count, damages = _write(stage, draft, tell)
        return Written(count, missing, tuple(damages))


@contextlib.contextmanager
def _stage(directory: DataDirectory) -> Iterator[Path]:
    """A directory of this backup alone; what backups that were broken off left behind goes, too."""
    try:
        for left in directory.path.glob(f"{STAGE_PREFIX}*"):
            with contextlib.suppress(BlockingIOError), _locked(left):
                shutil.rmtree(left, ignore_errors=True)
        stage = Path(tempfile.mkdtemp(prefix=STAGE_PREFIX, dir=directory.path))
    except OSError as error:
        raise OperatorError(f"cannot write in the data directory {directory.path}: {error.strerror}") from error
    try:
        with _locked(stage):
            yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _hold(directory: DataDirectory, stage: Path, tell: Tell) -> int:
    """Copy the database, and link the files that it speaks of, so that they stay; returns how many are not there.

    A file may go between the copy and the link, because what it belonged to was deleted. The next copy does not speak
    of it any more; one that is missing again has been missing all the time.
    """
    missing: set[str] = set()
    for _ in range(TURNS):
        copy = stage / DATABASE
        copy.unlink(missing_ok=True)
        take_snapshot(directory.database, copy, partial(_copying, copy, tell))
        tell("Holding files", 0)
        names = (file.name for file in _files_of(copy))
        gone = {name for name in names if not _linked(directory.path / name, stage / name)}
        if gone <= missing:
            for name in (SIGNING_KEY, SETTINGS):
                _linked(directory.path / name, stage / name)
            return len(gone)
        missing = gone
    raise OperatorError("files go faster than they can be backed up: try again")


def _copying(copy: Path, tell: Tell, percent: float) -> None:
    tell("Copying the database", percent)
    settle_file(copy)


def _files_of(copy: Path) -> Iterator[WantedFile]:
    """The files that a copy of the database speaks of."""
    with contextlib.closing(connect(copy, read_only=True)) as connection:
        if not is_current(connection):
            raise OperatorError("the database is of an older version of this program: start a server on it once")
        yield from files_of_rows(connection)


def _linked(source: Path, target: Path) -> bool:
    """Give a file a second name, or copy it where files can have one only; False when it is not there."""
    if target.exists():
        return True
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except FileNotFoundError:
        return False
    except OSError:
        try:
            shutil.copyfile(source, target)
        except FileNotFoundError:
            return False
    return True


def _wanted(stage: Path) -> Iterator[WantedFile]:
    """What goes into the backup, in order; files of earlier copies of the database that are no longer wanted do not."""
    for name in (DATABASE, SIGNING_KEY, SETTINGS):
        if (stage / name).exists():
            yield WantedFile(name)
    for file in _files_of(stage / DATABASE):
        if (stage / file.name).exists():
            yield file


def _write(stage: Path, draft: Path, tell: Tell) -> tuple[int, list[str]]:
    """Write the tar file; how many files it has, and what is wrong with those that are not what their rows say."""
    total = sum((stage / file.name).stat().st_size for file in _wanted(stage))
    damages = []
    now = time.time()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with (
        os.fdopen(descriptor, "wb") as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        tempfile.TemporaryFile(dir=stage) as checksums,
    ):

        def add(name: str, content: BinaryIO, size: int) -> None:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = size, int(now), 0o600
            tar.addfile(member, content)

        def add_digested(name: str, content: BinaryIO, size: int) -> str:
            reader = DigestingReader(content)
            add(name, cast(BinaryIO, reader), size)
            checksums.write(reader.line(name))
            return reader.sha256

        said = description(round(now * 1_000), len(MIGRATIONS), total)
        add_digested(DESCRIPTION, io.BytesIO(said), len(said))
        count = done = 0
        for file in _wanted(stage):
            with (stage / file.name).open("rb") as content:
                size = os.fstat(content.fileno()).st_size
                problem = file.problem(size, add_digested(file.name, content, size))
            if problem is not None:
                damages.append(f"{file.name} {problem}")
            count += 1
            done += size
            tell("Writing", 100.0 * done / max(1, total))
        size = checksums.tell()
        checksums.seek(0)
        add(CHECKSUMS, checksums, size)
    return count, damages
