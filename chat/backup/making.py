"""Making a backup in a directory of backups, while a server writes to the database.

First the files that the directory lacks are taken in, which may take long; then the database is copied at one moment,
and what has come meanwhile is taken in. So a file that is deleted on the way is there already, but for one that came
and went between the two: then the database is copied again. The copy is checked as `chat check` does before it counts,
and older backups go only after that.

A file is compared with its row when it is taken in. The copy of an earlier backup stands in for one that is damaged,
where it is as the row says; the backup is not whole for all that, so that somebody hears of it and nothing whole goes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from chat import __version__
from chat.backup.checking import checked_copy, digest_of
from chat.backup.contents import (
    CHECKSUMS,
    DATABASE,
    DESCRIPTION,
    SETTINGS,
    SIGNING_KEY,
    DigestingReader,
    Tell,
    WantedFile,
    checksum_line,
    description,
    files_of_rows,
    files_on_disk,
    schema_of,
)
from chat.backup.pacing import settle_file
from chat.backup.place import Backup, BackupPlace, KnownFile, is_shared
from chat.checking.instance import FILES
from chat.classes import define, frozen
from chat.clock import Clock
from chat.errors import OperatorError
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.migrations import MIGRATIONS
from chat.store.whole_database import take_snapshot

TURNS: Final = 20
"""How often the database is copied again because files of the last copy went meanwhile; each turn takes less time."""

PIECE_BYTES: Final = 4_194_304

FILES_A_WORD: Final = 64
"""Files between two words of progress."""

MEGABYTE: Final = 1_000_000

BROKEN_TOLD: Final = 5


@frozen(kw_only=True)
class Wishes:
    """How a backup is to be made."""

    keep: int
    """Whole backups that are kept, this one among them."""
    spare_bytes: int
    """Room on the disk that it leaves free."""
    reason: str
    settings_file: Path | None = None
    """The settings, where they do not lie in the data directory."""
    known_id: str | None = None
    """What `BackupPlace.open` wants."""
    begin_anew: bool = False


@define(eq=False)
class BackupMaking:
    """One backup on its way."""

    _data: DataDirectory
    _place: BackupPlace
    _wishes: Wishes
    _clock: Clock
    _tell: Tell
    _link: bool = attrs.field(init=False, default=False)
    _known: dict[str, KnownFile] = attrs.field(init=False, factory=dict)
    _damaged: dict[str, bool] = attrs.field(init=False, factory=dict)
    """Files that are not what their rows say, and whether the copy of an earlier backup stands in for each."""
    _taken_bytes: int = attrs.field(init=False, default=0)
    """What the files that were taken in need of the disk."""

    def make(self) -> Backup:
        """Make it, and delete those that are too many.

        Raises OperatorError where it cannot be made: then nothing of it is left, and every other backup is as it was.
        A backup that the check finds wrong is kept, and says so (`Backup.problems`).
        """
        self._data.require()
        self._place.open(self._wishes.known_id, begin_anew=self._wishes.begin_anew)
        try:
            self._data.signing_key()
            with self._place.locked():
                return self._made()
        except OSError as error:
            raise OperatorError(f"cannot write to {self._place.path}: {error.strerror or error}") from error
        except sqlite3.Error as error:
            raise OperatorError(f"cannot copy the database {self._data.database}: {error}") from error

    def _made(self) -> Backup:
        number, unfinished = self._place.begin()
        try:
            self._look_around()
            self._require_room(self._database_bytes() + self._bytes_to_take())
            schema = schema_of(self._data.database)
            self._take_in(self._wanted(self._data.database, schema), "Copying files")
            missing = self._snapshot(unfinished / DATABASE, schema)
            self._copy_small_files(unfinished)
            backup = self._described(number, unfinished, schema, missing)
            path = self._place.finish(number, unfinished, backup.created_at)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        if backup.is_whole:
            self._tell("Deleting old backups", 0)
            self._place.prune(self._wishes.keep)
        else:
            self._place.prune(max(self._wishes.keep, 1))
        return attrs.evolve(backup, path=path)

    # Room

    def _look_around(self) -> None:
        self._link = self._data.path.stat().st_dev == self._place.path.stat().st_dev
        for backup in reversed(self._place.backups()):
            with contextlib.suppress(OSError, ValueError):
                self._know(self._place.manifest(backup.path))
                return

    def _know(self, manifest: Mapping[str, str]) -> None:
        """Files are known by their names: what has one is never written again."""
        for name, digest in manifest.items():
            size = self._place.size_of(digest) if is_shared(name) else None
            if size is not None:
                self._known[name] = KnownFile(digest, size)

    def _is_known(self, file: WantedFile) -> bool:
        """Whether the file need not be read again."""
        if file.name in self._damaged:
            return True
        known = self._known.get(file.name)
        if known is None or file.problem(known.size, known.digest) is not None:
            return False
        try:
            return (self._data.path / file.name).stat().st_size == known.size
        except FileNotFoundError:
            return True

    def _database_bytes(self) -> int:
        file = self._data.database
        return sum(path.stat().st_size for path in (file, file.with_name(f"{file.name}-wal")) if path.exists())

    def _bytes_to_take(self) -> int:
        """What the files will need that the directory lacks."""
        if self._link:
            return 0
        schema, total = schema_of(self._data.database), 0
        for file in self._wanted(self._data.database, schema):
            if not self._is_known(file):
                with contextlib.suppress(FileNotFoundError):
                    total += (self._data.path / file.name).stat().st_size
        return total

    def _require_room(self, needed: int) -> None:
        free, spare = shutil.disk_usage(self._place.path).free, self._wishes.spare_bytes
        if free - needed < spare:
            raise OperatorError(
                f"there is no room in {self._place.path}: a backup needs {_megabytes(needed)} and is to leave "
                f"{_megabytes(spare)} free, of {_megabytes(free)}. Make room there, or lower backup.spare_bytes"
            )

    # Contents

    def _wanted(self, database: Path, schema: int) -> list[WantedFile]:
        """The files that belong to a copy of the database, or to the database itself."""
        if schema != len(MIGRATIONS):
            return list(files_on_disk(self._data.uploads, self._data.archives))
        with contextlib.closing(connect(database, read_only=True)) as connection:
            return list(files_of_rows(connection))

    def _take_in(self, wanted: Sequence[WantedFile], words: str) -> set[str]:
        """Take in the files that the directory lacks; the names of those that are not there."""
        missing: set[str] = set()
        damaged: list[WantedFile] = []
        for done, file in enumerate(wanted):
            if done % FILES_A_WORD == 0:
                self._tell(words, 100.0 * done / len(wanted))
            if self._is_known(file):
                continue
            source = self._data.path / file.name
            with contextlib.suppress(FileNotFoundError):
                self._require_room(0 if self._link else source.stat().st_size)
            taken = self._place.take_in(source, link=self._link)
            if taken is None:
                missing.add(file.name)
                continue
            self._known[file.name] = taken
            self._taken_bytes += 0 if self._link else taken.size
            if file.problem(taken.size, taken.digest) is not None:
                damaged.append(file)
        self._stand_in_for(damaged)
        return missing

    def _stand_in_for(self, damaged: Iterable[WantedFile]) -> None:
        """Put the copies of earlier backups in place of damaged files. They are read: on one disk such a copy is the
        very file that was damaged."""
        left = {file.name: file for file in damaged}
        self._damaged |= dict.fromkeys(left, False)
        for backup in reversed(self._place.backups() if left else ()):
            manifest: Mapping[str, str] = {}
            with contextlib.suppress(OSError, ValueError):
                manifest = self._place.manifest(backup.path)
            for name in left.keys() & manifest.keys():
                copy = self._undamaged(left[name], manifest[name])
                if copy is not None:
                    self._known[name], self._damaged[name] = copy, True
                    del left[name]

    def _undamaged(self, file: WantedFile, digest: str) -> KnownFile | None:
        """The shared file of that digest, if it is what the row of `file` says."""
        size = self._place.size_of(digest)
        if size is None or file.problem(size, digest) is not None:
            return None
        with contextlib.suppress(OSError):
            if digest_of(self._place.file(digest)) == digest:
                return KnownFile(digest, size)
        return None

    def _snapshot(self, copy: Path, schema: int) -> set[str]:
        """Copy the database until all files are there that it speaks of; those that were missing before."""
        missing: set[str] = set()
        for _ in range(TURNS):
            copy.unlink(missing_ok=True)
            self._copy_database(copy)
            gone = self._take_in(self._wanted(copy, schema), "Copying files")
            if gone <= missing:
                return gone
            missing = gone
        raise OperatorError("files go faster than they can be backed up: try again")

    def _copy_database(self, copy: Path) -> None:
        def told(percent: float) -> None:
            self._tell("Copying the database", percent)
            self._require_room(0)
            settle_file(copy)

        take_snapshot(self._data.database, copy, told)
        copy.chmod(0o600)

    def _copy_small_files(self, unfinished: Path) -> None:
        settings = self._wishes.settings_file or self._data.settings
        for source, name in ((self._data.key_file, SIGNING_KEY), (settings, SETTINGS)):
            with contextlib.suppress(FileNotFoundError):
                self._write(unfinished / name, source.read_bytes())

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())

    # Its papers

    def _described(self, number: int, unfinished: Path, schema: int, missing: set[str]) -> Backup:
        """Check it, and write down what it is."""
        now_ms = self._clock.now_ms()
        names = [file.name for file in self._wanted(unfinished / DATABASE, schema) if file.name not in missing]
        shared = {name: self._known[name] for name in names if name in self._known}
        lines, own_bytes = self._own_lines(unfinished)
        lines += [checksum_line(file.digest, name) for name, file in shared.items()]
        self._write(unfinished / CHECKSUMS, b"".join(lines))
        self._tell("Checking", 0)
        problems, remarks = checked_copy(self._place, unfinished, self._tell)
        problems += [
            f"{FILES}: {name} is damaged, and the copy of an earlier backup stands in for it"
            for name in shared
            if self._damaged.get(name, False)
        ]
        if missing:
            remarks = [f"{len(missing)} files were missing before (see `chat check`)", *remarks]
        backup = Backup(
            number=number,
            path=unfinished,
            created_at=now_ms,
            version=__version__,
            schema=schema,
            bytes=own_bytes + sum(file.size for file in shared.values()),
            new_bytes=own_bytes + self._taken_bytes,
            files=len(lines),
            reason=self._wishes.reason,
            problems=tuple(problems[:BROKEN_TOLD]),
            remarks=tuple(remarks[:BROKEN_TOLD]),
        )
        more = {name: getattr(backup, name) for name in ("new_bytes", "files", "reason", "problems", "remarks")}
        self._write(unfinished / DESCRIPTION, description(now_ms, schema, backup.bytes, **more))
        return backup

    def _own_lines(self, unfinished: Path) -> tuple[list[bytes], int]:
        """The digests of the files that are this backup's alone, and their bytes."""
        lines, size = [], 0
        for name in (DATABASE, SIGNING_KEY, SETTINGS):
            with contextlib.suppress(FileNotFoundError), (unfinished / name).open("rb") as content:
                reader = DigestingReader(content)
                while reader.read(PIECE_BYTES):
                    self._tell("Checking", 0)
                lines.append(reader.line(name))
                size += os.fstat(content.fileno()).st_size
        return lines, size


def _megabytes(size: int) -> str:
    return f"{max(size, 0) / MEGABYTE:,.1f} MB"
