"""A data directory out of a backup, whole or not at all.

Everything is unpacked and checked below `.restoring` first. Then that directory is called `.restored`, and from this
moment on the restore is done even if the process ends: what is left is moving names, which the next start of the server
or the next `chat restore` carries out again from where it stood.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import sqlite3
import tarfile
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

from chat.backup.contents import (
    CHECKSUMS,
    DATABASE,
    DESCRIPTION,
    DESCRIPTION_BYTES,
    NAMES,
    PIECE_BYTES,
    SETTINGS,
    SIGNING_KEY,
    DigestingReader,
    Tell,
    described,
)
from chat.backup.place import Backup, BackupPlace, is_shared, sync_directory
from chat.classes import frozen
from chat.errors import OperatorError
from chat.store.connections import connect
from chat.store.data_directory import RESTORED, RESTORING, SIGNING_KEY_BYTES, DataDirectory
from chat.store.migrations import MIGRATIONS, schema_version

LOCK: Final = "lock"
PLAN: Final = "plan.json"
MOVED: Final = "moved-aside"
ASIDE: Final = "replaced-"
PAPERS: Final = frozenset({DESCRIPTION, CHECKSUMS, PLAN, MOVED})
"""What belongs to the restore and not to the instance."""

BROKEN: Final = "is no whole backup"


class BackupSource(Protocol):
    """Where a backup is read from."""

    @property
    def name(self) -> str:
        """How it is called in a sentence."""

    def unpack(self, stage: Path, tell: Tell) -> int:
        """Put its files and papers below `stage`; how many files there are. Raises OperatorError unless all of it is as
        it was written."""


@frozen
class TarFile:
    """What `chat backup FILE` has written."""

    file: Path

    @property
    def name(self) -> str:
        return str(self.file)

    def unpack(self, stage: Path, tell: Tell) -> int:
        """See Source."""
        file, checksums = self.file, stage / CHECKSUMS
        total = max(1, file.stat().st_size)
        count, is_whole = 0, False
        try:
            with (
                file.open("rb") as stream,
                tarfile.open(fileobj=stream, mode="r|") as tar,
                checksums.open("xb") as lines,
            ):
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
                    lines.write(_unpacked(cast(BinaryIO, content), member.name, stage).line(member.name))
                    count += 1
                    tell("Restoring", 100.0 * stream.tell() / total)
        except FileExistsError as error:
            raise OperatorError(f"{file} {BROKEN}: it has a file twice") from error
        except (tarfile.TarError, EOFError, ValueError) as error:
            raise OperatorError(f"{file} {BROKEN}: {error}") from error
        if not is_whole:
            raise OperatorError(f"{file} {BROKEN}: its end is missing")
        return count - 1


@frozen
class OfDirectory:
    """A backup of a directory of backups."""

    place: BackupPlace
    backup: Backup

    @property
    def name(self) -> str:
        return str(self.backup.path)

    def unpack(self, stage: Path, tell: Tell) -> int:
        """See Source."""
        path = self.backup.path
        try:
            manifest = self.place.manifest(path)
        except ValueError as error:
            raise OperatorError(f"{path} {BROKEN}: {error}") from error
        is_near = self.place.path.stat().st_dev == stage.stat().st_dev
        needed = sum((path / name).stat().st_size for name in manifest if not is_shared(name))
        if not is_near:
            needed = self.backup.bytes
        if shutil.disk_usage(stage).free < needed:
            raise OperatorError(f"there is no room for {path}: it needs {needed} bytes")
        for number, (name, digest) in enumerate(manifest.items()):
            tell("Restoring", 100.0 * number / len(manifest))
            source = self.place.file(digest) if is_shared(name) else path / name
            try:
                with source.open("rb") as content:
                    found = _unpacked(content, name, stage, link=source if is_near and is_shared(name) else None)
            except FileNotFoundError:
                raise OperatorError(f"{path} {BROKEN}: {name} is missing") from None
            if found.sha256 != digest:
                raise OperatorError(f"{path} {BROKEN}: {name} was changed or damaged")
        shutil.copyfile(path / DESCRIPTION, stage / DESCRIPTION)
        return len(manifest)


def restore(
    source: BackupSource, data: Path, tell: Tell, *, aside: str | None = None, stays: frozenset[str]
) -> int | None:
    """Make a data directory out of a backup; how many files there are. None where an earlier restore to it was broken
    off at its end: that one is finished instead.

    It must be empty, unless `aside` names a directory in it that takes what is there, but for what `stays` and for the
    settings. Raises OperatorError where it is not empty, where the backup is not whole, and where this program cannot
    run on it; then everything is as it was.
    """
    directory = DataDirectory(data)
    if aside is None:
        _require_empty(data)
    was_there = data.is_dir()
    directory.create()
    with directory.locked():
        if complete(data) and aside is None:
            return None
        if aside is None:
            _require_empty(data)
        stage = data / RESTORING
        try:
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir(mode=0o700)
            count = source.unpack(stage, tell)
            _require_usable(source.name, stage)
            (stage / PLAN).write_text(json.dumps({"aside": aside, "stays": sorted(stays)}), "utf-8")
            os.sync()
            stage.rename(data / RESTORED)
            sync_directory(data)
            complete(data)
        except OSError as error:
            raise OperatorError(f"cannot restore {source.name}: {error.strerror or error}") from error
        finally:
            shutil.rmtree(stage, ignore_errors=True)
            if not (data / DATABASE).exists() and not (data / RESTORED).exists():
                _leave_as_it_was(data, was_there=was_there)
    return count


def complete(data: Path) -> bool:
    """Under the lock of the data directory: carry out what is left of a restore that was broken off after everything
    was checked; whether there was one. May be broken off itself, and done again."""
    placed = data / RESTORED
    if not placed.is_dir():
        shutil.rmtree(data / RESTORING, ignore_errors=True)  # of one that was broken off before
        return False
    plan = json.loads((placed / PLAN).read_text("utf-8"))
    if plan["aside"] is not None and not (placed / MOVED).exists():
        _move_aside(data, data / plan["aside"], frozenset(plan["stays"]))
        (placed / MOVED).touch()
    if (data / SETTINGS).exists():
        (placed / SETTINGS).unlink(missing_ok=True)
    names = {path.name for path in placed.iterdir()} - PAPERS - {DATABASE}
    # The database last: without it there is no instance.
    for name in (*sorted(names), DATABASE):
        if (placed / name).exists():
            (placed / name).rename(data / name)
    os.sync()
    # In one step, so that no half of it is taken for a restore.
    shutil.rmtree(data / RESTORING, ignore_errors=True)
    placed.rename(data / RESTORING)
    shutil.rmtree(data / RESTORING, ignore_errors=True)
    return True


def _move_aside(data: Path, target: Path, stays: frozenset[str]) -> None:
    target.mkdir(mode=0o700, exist_ok=True)
    staying = stays | {LOCK, RESTORED, RESTORING, SETTINGS}
    found = {path.name for path in data.iterdir()} - staying
    # The database first: from then on there is no instance to be served half.
    for name in sorted(found, key=lambda name: (not name.startswith(DATABASE), name)):
        if not name.startswith(ASIDE):
            (data / name).rename(target / name)
    sync_directory(data)


def _require_empty(data: Path) -> None:
    """Raise OperatorError unless there is nothing, or what a restore that was broken off left behind."""
    try:
        left = {path.name for path in data.iterdir()} if os.path.lexists(data) else set()
    except OSError as error:
        raise OperatorError(f"cannot use {data}: {error.strerror}") from error
    if left - {RESTORING, LOCK} and RESTORED not in left:
        raise OperatorError(f"{data} is not empty: a backup is restored to an empty directory")


def _leave_as_it_was(data: Path, *, was_there: bool) -> None:
    with contextlib.suppress(OSError):
        (data / LOCK).unlink()
        if not was_there:
            data.rmdir()


def _require_description(file: Path, member: tarfile.TarInfo) -> None:
    if member.name != DESCRIPTION or member.size > DESCRIPTION_BYTES:
        raise OperatorError(f"{file} is no backup of this program")


def _unpacked(content: BinaryIO, name: str, stage: Path, *, link: Path | None = None) -> DigestingReader:
    """Write a file of the backup, or give `link` a second name there; what was read of it."""
    target = stage / name
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    reader = DigestingReader(content)
    if link is not None:
        with contextlib.suppress(OSError):
            os.link(link, target)
            while reader.read(PIECE_BYTES):
                pass
            return reader
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        while piece := reader.read(PIECE_BYTES):
            stream.write(piece)
    return reader


def _is_same(content: BinaryIO, file: Path) -> bool:
    with file.open("rb") as known:
        while True:
            piece = content.read(PIECE_BYTES)
            if piece != known.read(PIECE_BYTES):
                return False
            if not piece:
                return True


def _require_usable(name: str, stage: Path) -> None:
    """Raise OperatorError unless this program can run on what was unpacked."""
    description = described((stage / DESCRIPTION).read_bytes())
    if description is None:
        raise OperatorError(f"{name} is a backup of another format than this program knows")
    for file in (DATABASE, SIGNING_KEY):
        if not (stage / file).is_file():
            raise OperatorError(f"{name} {BROKEN}: {file} is missing")
    if (stage / SIGNING_KEY).stat().st_size != SIGNING_KEY_BYTES:
        raise OperatorError(f"{name} {BROKEN}: its signing key is none")
    try:
        with contextlib.closing(connect(stage / DATABASE, read_only=True)) as connection:
            schema = schema_version(connection)
    except sqlite3.Error as error:
        raise OperatorError(f"{name} {BROKEN}: its database cannot be read: {error}") from error
    if schema > len(MIGRATIONS):
        version = description.get("version")
        raise OperatorError(
            f"{name} was made by version {version} (schema {schema}; this program knows up to {len(MIGRATIONS)}): "
            f"install version {version} or a newer one, and restore with that"
        )


def aside_name(data: Path, stamp: str) -> str:
    """A name for a directory that takes what is in the data directory."""
    names = (f"{ASIDE}{stamp}{'' if number == 1 else f'-{number}'}" for number in itertools.count(1))
    return next(name for name in names if not (data / name).exists())
