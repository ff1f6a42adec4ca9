"""`chat backup` and `chat export-user`: everything of an instance, or of one account, in one file, while its server
runs.

A backup is a tar file that other programs can read too.

    chat-backup.json       what it is, and of when; first
    chat.sqlite3           the database at one moment
    signing.key            the secret of the instance
    chat.toml              the settings, where there is such a file
    uploads/...            every uploaded file that the database speaks of
    archives/...           every archive that it speaks of
    SHA256SUMS             the digests of all that stands before it, as sha256sum writes them; last

It holds all that the data directory holds, secrets included, so its mode is 0600. What there is of an
account becomes a ZIP file, like the archives of administrators.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import click

from chat import __version__
from chat.cli.administration import Instance, administering
from chat.cli.options import FILE, data_option, instance_options, json_option, print_object
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.store.data_directory import DataDirectory


FORMAT: Final = "chat backup 1"
DESCRIPTION: Final = "chat-backup.json"
DATABASE: Final = "chat.sqlite3"
SIGNING_KEY: Final = "signing.key"
SETTINGS: Final = "chat.toml"
CHECKSUMS: Final = "SHA256SUMS"

NAMES: Final = re.compile(
    r"chat-backup\.json|chat\.sqlite3|signing\.key|chat\.toml"
    r"|uploads/(?:attachments|assets)/[0-9a-f]{2}/[0-9]{1,20}|archives/[0-9]{1,20}\.zip",
    re.ASCII,
)
"""Every name that a backup may have beside CHECKSUMS: none leads out of the directory that it is restored to."""

PIECE_BYTES: Final = 1_048_576

STAGE_PREFIX: Final = ".backup-"
"""Of a directory in the data directory, in which files are kept from going while they are copied."""

TURNS: Final = 20
"""How often the database is copied again because files of the last copy went meanwhile; each turn takes less time."""


@click.command()
@data_option
@click.argument("file", type=FILE)
@json_option
def backup(data: Path, file: Path, as_json: bool) -> None:
    """Write everything of an instance to a file.

    Database, uploads, archives, signing key and settings as they are at one moment, whether or not a server runs.
    `chat restore` makes an instance of it again. Keep FILE as you keep the data directory: it holds all its secrets.
    """
    from chat.store.data_directory import DataDirectory

    directory = DataDirectory(data)
    directory.require()
    directory.signing_key()
    with new_file(file) as draft, progress_bar() as tell, _stage(directory) as stage:
        try:
            missing = _hold(directory, stage, tell)
        except sqlite3.Error as error:
            raise OperatorError(f"cannot copy the database {directory.database}: {error}") from error
        count = _write(stage, draft, tell)
        size = draft.stat().st_size
    if missing:
        click.echo(f"chat: {missing} files were missing before (see `chat check`)", err=True)
    print_object({"file": str(file), "size": size, "files": count}, as_json=as_json)


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
    from chat.store.whole_database import take_snapshot

    missing: set[str] = set()
    for _ in range(TURNS):
        copy = stage / DATABASE
        copy.unlink(missing_ok=True)
        take_snapshot(directory.database, copy, lambda percent: tell("Copying the database", percent))
        tell("Holding files", 0)
        gone = {name for name in _files_of(copy) if not _linked(directory.path / name, stage / name)}
        if gone <= missing:
            for name in (SIGNING_KEY, SETTINGS):
                _linked(directory.path / name, stage / name)
            return len(gone)
        missing = gone
    raise OperatorError("files go faster than they can be backed up: try again")


def _files_of(copy: Path) -> Iterator[str]:
    """The paths below the data directory of the files that a copy of the database speaks of."""
    from chat.media.storage import MediaStorage
    from chat.store.administration import archives
    from chat.store.connections import connect
    from chat.store.migrations import is_current
    from chat.store.whole_database import stored_files

    with contextlib.closing(connect(copy, read_only=True)) as connection:
        if not is_current(connection):
            raise OperatorError("the database is of an older version of this program: start a server on it once")
        uploads = MediaStorage(Path("uploads"), in_threads=False)
        for file in stored_files(connection):
            yield str(uploads.path_of(file.key))
        for archive_id, _ in archives.files(connection):
            yield f"archives/{archive_id}.zip"


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


def _names(stage: Path) -> Iterator[str]:
    """What goes into the backup, in order; files of earlier copies of the database that are no longer wanted do not."""
    for name in (DATABASE, SIGNING_KEY, SETTINGS):
        if (stage / name).exists():
            yield name
    for name in _files_of(stage / DATABASE):
        if (stage / name).exists():
            yield name


def _write(stage: Path, draft: Path, tell: Tell) -> int:
    """Write the tar file; how many files it has."""
    total = sum((stage / name).stat().st_size for name in _names(stage))
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

        def add_digested(name: str, content: BinaryIO, size: int) -> None:
            reader = DigestingReader(content)
            add(name, cast(BinaryIO, reader), size)
            checksums.write(reader.line(name))

        description = _description(now, total)
        add_digested(DESCRIPTION, io.BytesIO(description), len(description))
        count = done = 0
        for name in _names(stage):
            with (stage / name).open("rb") as content:
                size = os.fstat(content.fileno()).st_size
                add_digested(name, content, size)
            count += 1
            done += size
            tell("Writing", 100.0 * done / max(1, total))
        size = checksums.tell()
        checksums.seek(0)
        add(CHECKSUMS, checksums, size)
    return count


def _description(now: float, total: int) -> bytes:
    from chat.clock import iso_timestamp
    from chat.store.migrations import MIGRATIONS

    members = {
        "format": FORMAT,
        "version": __version__,
        "schema": len(MIGRATIONS),
        "created_at": iso_timestamp(int(now * 1_000)),
        "bytes": total,
    }
    return json.dumps(members, indent=2).encode() + b"\n"


class DigestingReader:
    """A file that is read once, and the SHA-256 of what was read of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read, and take note."""
        piece = self._stream.read(size)
        self._digest.update(piece)
        return piece

    def line(self, name: str) -> bytes:
        """The line of CHECKSUMS about what was read."""
        return checksum_line(self._digest.hexdigest(), name)


def checksum_line(digest: str, name: str) -> bytes:
    return f"{digest}  {name}\n".encode("ascii")


WHOLE: Final = 100.0

Tell = Callable[[str, float], None]
"""Says what is done at the moment, and how many percent are done."""


@contextlib.contextmanager
def progress_bar() -> Iterator[Tell]:
    """A bar on standard error for as long as the block lasts."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=WHOLE)
        yield lambda words, percent: progress.update(task, description=words, completed=percent)


@contextlib.contextmanager
def new_file(file: Path) -> Iterator[Path]:
    """A path for the block to write, which becomes `file` at its end; nothing is left of a block that fails. Raises
    OperatorError if there is such a file already, and if the disk is at fault."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.part")
    if os.path.lexists(file):
        raise OperatorError(f"{file} exists already")
    try:
        yield draft
        _give_name(draft, file)
    except OSError as error:
        raise OperatorError(f"cannot write {file}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def _give_name(draft: Path, file: Path) -> None:
    descriptor = os.open(draft, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(draft, file)  # never in the place of another file
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        draft.rename(file)


@click.command("export-user")
@instance_options
@click.argument("name", metavar="ID")
@click.argument("file", type=FILE)
@click.option("--include-attachments", is_flag=True, help="The files that the account uploaded, too.")
@administering()
async def export_user(instance: Instance, name: str, file: Path, include_attachments: bool) -> dict[str, object]:
    """Write what there is of an account to a file.

    FILE becomes a ZIP file like the archives of administrators.
    ID is an id, a username, a tag (alice#0001) or a mail address. A server may run meanwhile.
    """

    account = instance.accounts.find(name)
    with new_file(file) as draft, progress_bar() as tell:
        size = await _export(instance, account.id, draft, tell, include_attachments=include_attachments)
    return {"id": str(account.id), "username": account.username, "file": str(file), "size": size}


async def _export(instance: Instance, user_id: int, draft: Path, tell: Tell, *, include_attachments: bool) -> int:
    """Write the file; its bytes."""
    from chat.domain.administration.archive_building import ArchiveBuild, NoRoom, Wish
    from chat.media.storage import MediaStorage
    from chat.media.zip_writing import ZipWriter, list_of
    from chat.registries.jobs import ArchiveSubject

    storage = MediaStorage(instance.directory.uploads, in_threads=False)
    wish = Wish(kind=ArchiveSubject.USER, subject_id=user_id, include_attachments=include_attachments)
    build = ArchiveBuild(wish, storage.path_of)
    began_at = instance.clock.now_ms()
    state = await instance.database.read(build.begun)
    writer = ZipWriter(draft)
    try:
        while not build.is_done(state):
            tell(build.step_name(state), build.percent(state))
            page = await instance.database.read(partial(build.read, state=state))
            state = build.write(writer, state, page, spare_bytes=0, folder=draft.parent, now_ms=instance.clock.now_ms())
        return build.finish(writer, state, began_at=began_at, now_ms=instance.clock.now_ms())
    except NoRoom as error:
        raise OperatorError(str(error)) from error
    finally:
        writer.close()
        list_of(draft).unlink(missing_ok=True)
