"""A directory of backups that share their files.

    chat-backups.json              what the directory is; `id` tells it from any other
    lock                           held by the process that works there
    files/AB/DIGEST                uploads and archives of all backups, each once, by the SHA-256 of its content
    000001-20261125T184500Z/       a backup: what `chat.backup.contents` names, but for the files above
    .unfinished-000002/            one that is being made, or was broken off; it goes when the next is made

SHA256SUMS of a backup says which file belongs to which name, so it is restored without this program as well. Backups
are ordered by their number and not by their time: a clock that was wrong for a day cannot make the newest the oldest.
A file goes when no backup names it any more.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from chat.backup.contents import (
    CHECKSUMS,
    DESCRIPTION,
    DESCRIPTION_BYTES,
    PIECE_BYTES,
    STORED_NAMES,
    DigestingReader,
    checksums,
    described,
)
from chat.backup.pacing import settle
from chat.classes import define, frozen
from chat.config import Settings
from chat.errors import OperatorError, SettingsError
from chat.store.data_directory import DataDirectory

PLACE_FORMAT: Final = "chat backups 1"
MARKER: Final = "chat-backups.json"
FILES: Final = "files"
LOCK: Final = "lock"
UNFINISHED: Final = ".unfinished-"
NOT_OURS: Final = frozenset({"lost+found"})
"""What an empty disk holds."""

BESIDE: Final = "backups"
"""The directory in the data directory with what is backed up before a migration, where `backup.directory` is not
set."""

_NAME: Final = re.compile(r"([0-9]{6,12})-[0-9]{8}T[0-9]{6}Z", re.ASCII)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)

BUSY: Final = "another backup is being made in"


def directory_of(settings: Settings, data: Path) -> Path | None:
    """The directory with the backups, None where none is set; a relative one is so to the data directory.

    :raises SettingsError: where the instance keeps its own files, which would be taken for backups or backed up again.
    """
    configured = settings.backup.directory
    if configured is None:
        return None
    path, home = Path(os.path.abspath(data / configured)), Path(os.path.abspath(data))
    own = DataDirectory(home)
    if path == home or any(path.is_relative_to(taken) for taken in (own.uploads, own.archives)):
        raise SettingsError(f"setting backup.directory: expected a folder of its own, and {path} has other files")
    return path


@frozen(kw_only=True)
class Backup:
    """One backup of a directory; `bytes` are of all its files, `new_bytes` what it took of the disk itself."""

    number: int
    path: Path
    created_at: int
    version: str
    schema: int
    bytes: int
    new_bytes: int
    files: int
    reason: str
    problems: tuple[str, ...] = ()
    """What keeps it from being whole: found by the check after it was written."""
    remarks: tuple[str, ...] = ()
    """What `chat check` says of the instance itself."""

    @property
    def is_whole(self) -> bool:
        return not self.problems

    def require_whole(self) -> None:
        """Raise OperatorError unless it is whole."""
        if self.problems:
            raise OperatorError(f"the backup {self.path} is not whole: {'; '.join(self.problems)}")


@frozen
class KnownFile:
    """A file that lies in the directory already."""

    digest: str
    size: int


def stamp(now_ms: int) -> str:
    """A moment as names of backups have it."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_ms / 1_000))


@define(eq=False)
class BackupPlace:
    """A directory of backups. Everything in here is for a process of its own, or a thread."""

    path: Path

    # Opening

    @property
    def place_id(self) -> str | None:
        """What tells this directory from others; None where it holds no backups. Raises OperatorError."""
        try:
            with (self.path / MARKER).open("rb") as stream:
                marker = json.loads(stream.read(DESCRIPTION_BYTES))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise OperatorError(f"cannot read the backup directory {self.path}: {error.strerror}") from error
        except (ValueError, RecursionError):
            marker = None
        if not isinstance(marker, dict) or marker.get("format") != PLACE_FORMAT:
            raise OperatorError(f"{self.path / MARKER} is of another format than this program knows")
        return str(marker.get("id"))

    def open(self, known_id: str | None, *, begin_anew: bool = False) -> str:
        """Make sure that this is the directory for the instance's backups; its id.

        `known_id` is that of the directory that earlier backups went to, None before the first. Raises OperatorError
        where that one is not here any more (its disk is not mounted), where the directory holds something else, and
        where it cannot be made.
        """
        found = self.place_id
        if known_id is not None and found != known_id and not begin_anew:
            what = "holds no backups" if found is None else "holds the backups of something else"
            raise OperatorError(
                f"the backup directory {self.path} {what}: is its disk mounted? "
                "`chat backups make --begin-anew` starts with a new one there"
            )
        if found is not None:
            return found
        try:
            # Only the last part is made: what lies above may be a disk that is not there.
            self.path.mkdir(mode=0o700, exist_ok=True)
            others = {entry.name for entry in self.path.iterdir()} - NOT_OURS - {LOCK, f"{MARKER}.draft"}
            if others:
                raise OperatorError(f"the backup directory {self.path} holds something else: name an empty one")
            place_id = secrets.token_hex(16)
            self._write(self.path / MARKER, json.dumps({"format": PLACE_FORMAT, "id": place_id}).encode() + b"\n")
        except OSError as error:
            raise OperatorError(f"cannot use the backup directory {self.path}: {error.strerror}") from error
        return place_id

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Alone in the directory for as long as the block runs. Raises OperatorError while another process is."""
        try:
            descriptor = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise OperatorError(f"cannot write in the backup directory {self.path}: {error.strerror}") from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OperatorError(f"{BUSY} {self.path}") from None
            except OSError as error:
                # A network file system without locks: the data directory is locked or the schedule is one process's.
                if error.errno not in {errno.ENOLCK, errno.ENOTSUP}:
                    raise OperatorError(f"cannot lock the backup directory {self.path}: {error.strerror}") from error
            yield
        finally:
            os.close(descriptor)

    # Reading

    def backups(self) -> list[Backup]:
        """Every backup, the oldest first; what cannot be read is not among them. Raises OperatorError where the
        directory cannot be read."""
        try:
            names = [entry.name for entry in self.path.iterdir() if _NAME.fullmatch(entry.name)]
        except OSError as error:
            raise OperatorError(f"cannot read the backup directory {self.path}: {error.strerror}") from error
        found = (self._backup(self.path / name) for name in names)
        return sorted((backup for backup in found if backup is not None), key=lambda backup: backup.number)

    @staticmethod
    def _backup(path: Path) -> Backup | None:
        try:
            with (path / DESCRIPTION).open("rb") as stream:
                members = described(stream.read(DESCRIPTION_BYTES))
            if members is None or not (path / CHECKSUMS).is_file():
                return None
            return Backup(
                number=int(path.name.partition("-")[0]),
                path=path,
                created_at=round(datetime.fromisoformat(members["created_at"]).timestamp() * 1_000),
                version=str(members["version"]),
                schema=int(members["schema"]),
                bytes=int(members["bytes"]),
                new_bytes=int(members["new_bytes"]),
                files=int(members["files"]),
                reason=str(members["reason"]),
                problems=tuple(map(str, members.get("problems", ()))),
                remarks=tuple(map(str, members.get("remarks", ()))),
            )
        except (OSError, KeyError, TypeError, ValueError):
            return None

    @staticmethod
    def manifest(path: Path) -> dict[str, str]:
        """The digests of a backup's files by their names. Raises ValueError and OSError."""
        with (path / CHECKSUMS).open("rb") as stream:
            return {name: digest for digest, name in checksums(stream)}

    def file(self, digest: str) -> Path:
        """Where a shared file lies."""
        return self.path / FILES / digest[:2] / digest

    def size_of(self, digest: str) -> int | None:
        """The bytes of a shared file; None where it is not there."""
        try:
            return self.file(digest).stat().st_size
        except FileNotFoundError:
            return None

    # Writing

    def begin(self) -> tuple[int, Path]:
        """Under the lock: clear away what was broken off; the number of the next backup, and a directory to make it
        in."""
        numbers = [0]
        for entry in self.path.iterdir():
            if entry.name.startswith(UNFINISHED):
                shutil.rmtree(entry, ignore_errors=True)
            elif match := _NAME.fullmatch(entry.name):
                numbers.append(int(match[1]))
        number = max(numbers) + 1
        path = self.path / f"{UNFINISHED}{number:06}"
        path.mkdir(mode=0o700)
        return number, path

    def take_in(self, source: Path, *, link: bool) -> KnownFile | None:
        """Under the lock: make a file one of the shared ones, durably; None where it is not there.

        Files of the data directory are never written again, so on the same disk (`link`) a second name will do: a copy
        would be lost with the same disk.
        """
        try:
            with source.open("rb") as content:
                if link:
                    return self._linked(source, content)
                return self._copied(content)
        except FileNotFoundError:
            return None

    def _linked(self, source: Path, content: Any) -> KnownFile | None:
        reader = DigestingReader(content)
        while reader.read(PIECE_BYTES):
            pass
        digest, size = reader.sha256, os.fstat(content.fileno()).st_size
        target = self.file(digest)
        if self.size_of(digest) != size:
            make_directory(target.parent, self.path)
            target.unlink(missing_ok=True)
            try:
                os.link(source, target)
            except FileNotFoundError:
                raise
            except OSError:  # a file system without links
                content.seek(0)
                return self._copied(content)
        return KnownFile(digest, size)

    def _copied(self, content: Any) -> KnownFile:
        draft = self.path / FILES / f"{os.getpid()}.part"
        make_directory(draft.parent, self.path)
        reader = DigestingReader(content)
        try:
            with draft.open("wb") as stream:
                draft.chmod(0o600)
                while piece := reader.read(PIECE_BYTES):
                    stream.write(piece)
                size = stream.tell()
                settle(stream.fileno(), stream.flush)
            target = self.file(reader.sha256)
            if self.size_of(reader.sha256) != size:
                make_directory(target.parent, self.path)
                draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        return KnownFile(reader.sha256, size)

    def finish(self, number: int, unfinished: Path, now_ms: int) -> Path:
        """Under the lock: from now on the backup is there; its path."""
        for directory in (*(self.path / FILES).glob("??"), self.path / FILES, unfinished):
            with contextlib.suppress(FileNotFoundError):
                sync_directory(directory)
        path = self.path / f"{number:06}-{stamp(now_ms)}"
        unfinished.rename(path)
        sync_directory(self.path)
        return path

    def prune(self, keep: int) -> list[Backup]:
        """Under the lock: delete all but the newest `keep` whole backups, and of those that are not whole all but one
        that is newer than these; then the files that no backup names. What went.

        Without a whole backup newer than what is wrong nothing that is whole goes."""
        backups = self.backups()
        whole = [backup for backup in backups if backup.is_whole]
        broken = [backup for backup in backups if not backup.is_whole]
        newest = max((backup.number for backup in whole), default=0)
        is_wrong_now = bool(broken) and broken[-1].number > newest
        goes = broken[:-1] if is_wrong_now else [*broken, *whole[:-keep]]
        for backup in goes:
            self.remove(backup)
        self.clear_files()
        return goes

    def remove(self, backup: Backup) -> None:
        """Under the lock: delete a backup; one that is half deleted is not there any more."""
        gone = self.path / f"{UNFINISHED}gone-{backup.path.name}"
        backup.path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def clear_files(self) -> int:
        """Under the lock: delete the shared files that no backup names; how many. A backup whose names cannot be read
        might need any of them: then nothing is deleted."""
        wanted: set[str] = set()
        for entry in self.path.iterdir():
            if _NAME.fullmatch(entry.name):
                try:
                    wanted.update(self.manifest(entry).values())
                except (OSError, ValueError):
                    return 0
        count = 0
        for path in (self.path / FILES).glob("*"):
            for file in path.glob("*") if path.is_dir() else [path]:
                if file.name not in wanted:
                    file.unlink(missing_ok=True)
                    count += 1
        return count

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        draft = path.with_name(f"{path.name}.draft")
        with draft.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
        sync_directory(path.parent)


def is_shared(name: str) -> bool:
    """Whether a file of a backup lies among the shared ones."""
    return STORED_NAMES.fullmatch(name) is not None


def make_directory(path: Path, above: Path) -> None:
    """Make a directory and those between it and `above`, which only this account may enter."""
    if path != above:
        make_directory(path.parent, above)
        path.mkdir(mode=0o700, exist_ok=True)


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
