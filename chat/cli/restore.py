"""`chat restore`: an instance out of a backup."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

import click

from chat.cli.backup import (
    CHECKSUMS,
    DATABASE,
    DESCRIPTION,
    FORMAT,
    NAMES,
    PIECE_BYTES,
    SIGNING_KEY,
    DigestingReader,
    Tell,
    progress_bar,
)
from chat.cli.options import data_option, json_option, print_object
from chat.errors import OperatorError

STAGE: Final = ".restoring"
LOCK: Final = "lock"
EXISTING: Final = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)

DESCRIPTION_BYTES: Final = 65_536
BROKEN: Final = "is no whole backup"


@click.command()
@click.argument("file", type=EXISTING)
@data_option
@json_option
def restore(file: Path, data: Path, as_json: bool) -> None:
    """Make a data directory out of a backup.

    FILE is what `chat backup` has written.
    The directory must be empty, or not there. It gets its contents only when all of FILE was found to be whole.
    """
    from chat.store.data_directory import DataDirectory

    directory = DataDirectory(data)
    _require_empty(data)
    was_there = data.is_dir()
    directory.create()
    with directory.locked():
        _require_empty(data)
        stage = data / STAGE
        try:
            with progress_bar() as tell:
                count = _restored(file, stage, tell)
            _put_in_place(stage, data)
        except OSError as error:
            raise OperatorError(f"cannot restore {file}: {error.strerror or error}") from error
        finally:
            shutil.rmtree(stage, ignore_errors=True)
            if not (data / DATABASE).exists():
                _leave_as_it_was(data, was_there=was_there)
    print_object({"data": str(data), "files": count}, as_json=as_json)


def _require_empty(data: Path) -> None:
    """Raise OperatorError unless there is nothing, or what a restoring that was broken off left behind."""
    try:
        left = {path.name for path in data.iterdir()} if os.path.lexists(data) else set()
    except OSError as error:
        raise OperatorError(f"cannot use {data}: {error.strerror}") from error
    if left - {STAGE, LOCK}:
        raise OperatorError(f"{data} is not empty: a backup is restored to an empty directory")


def _leave_as_it_was(data: Path, *, was_there: bool) -> None:
    with contextlib.suppress(OSError):
        (data / LOCK).unlink()
        if not was_there:
            data.rmdir()


def _restored(file: Path, stage: Path, tell: Tell) -> int:
    """Unpack all of the backup below `stage`, and check it; how many files there are. Raises OperatorError unless the
    whole file is as it was written."""
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(mode=0o700)
    total = max(1, file.stat().st_size)
    count, is_whole = 0, False
    checksums = stage / CHECKSUMS
    try:
        with file.open("rb") as stream, tarfile.open(fileobj=stream, mode="r|") as tar, checksums.open("xb") as lines:
            for member in tar:
                if is_whole or not member.isreg():
                    raise OperatorError(f"{file} {BROKEN}: {member.name!r} does not belong there")
                content = tar.extractfile(member)
                if content is None:
                    raise OperatorError(f"{file} {BROKEN}: {member.name!r} cannot be read")
                if member.name == CHECKSUMS:
                    lines.flush()
                    is_whole = _is_same(cast(BinaryIO, content), checksums)
                    if not is_whole:
                        raise OperatorError(f"{file} {BROKEN}: what is in it was changed or damaged")
                    continue
                if NAMES.fullmatch(member.name) is None:
                    raise OperatorError(f"{file} {BROKEN}: {member.name!r} does not belong there")
                if count == 0:
                    _require_description(file, member)
                lines.write(_unpack(cast(BinaryIO, content), member.name, stage))
                count += 1
                tell("Restoring", 100.0 * stream.tell() / total)
    except FileExistsError as error:
        raise OperatorError(f"{file} {BROKEN}: it has a file twice") from error
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise OperatorError(f"{file} {BROKEN}: {error}") from error
    if not is_whole:
        raise OperatorError(f"{file} {BROKEN}: its end is missing")
    _require_usable(file, stage)
    return count - 1


def _require_description(file: Path, member: tarfile.TarInfo) -> None:
    if member.name != DESCRIPTION or member.size > DESCRIPTION_BYTES:
        raise OperatorError(f"{file} is no backup of this program")


def _unpack(content: BinaryIO, name: str, stage: Path) -> bytes:
    """Write a file of the backup; its line among the digests."""
    target = stage / name
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    reader = DigestingReader(content)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        while piece := reader.read(PIECE_BYTES):
            stream.write(piece)
    return reader.line(name)


def _is_same(content: BinaryIO, file: Path) -> bool:
    with file.open("rb") as known:
        while True:
            piece = content.read(PIECE_BYTES)
            if piece != known.read(PIECE_BYTES):
                return False
            if not piece:
                return True


def _require_usable(file: Path, stage: Path) -> None:
    """Raise OperatorError unless this program can run on what was unpacked."""
    from chat.store.connections import connect
    from chat.store.data_directory import SIGNING_KEY_BYTES
    from chat.store.migrations import is_current

    try:
        description = json.loads((stage / DESCRIPTION).read_bytes())
    except (ValueError, RecursionError):  # what is no JSON, and what is nested without end
        description = None
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise OperatorError(f"{file} is a backup of another format than this program knows")
    for name in (DATABASE, SIGNING_KEY):
        if not (stage / name).is_file():
            raise OperatorError(f"{file} {BROKEN}: {name} is missing")
    if (stage / SIGNING_KEY).stat().st_size != SIGNING_KEY_BYTES:
        raise OperatorError(f"{file} {BROKEN}: its signing key is none")
    try:
        with contextlib.closing(connect(stage / DATABASE, read_only=True)) as connection:
            is_current(connection)
    except sqlite3.Error as error:
        raise OperatorError(f"{file} {BROKEN}: its database cannot be read: {error}") from error


def _put_in_place(stage: Path, data: Path) -> None:
    """Move what was unpacked to where it belongs, the database last: without it there is no instance."""
    for name in _without_what_tells_of_the_backup(stage):
        (stage / name).rename(data / name)
    (stage / DATABASE).rename(data / DATABASE)
    os.sync()


def _without_what_tells_of_the_backup(stage: Path) -> Iterator[str]:
    elsewhere = {DATABASE, DESCRIPTION, CHECKSUMS}
    yield from sorted(path.name for path in stage.iterdir() if path.name not in elsewhere)
