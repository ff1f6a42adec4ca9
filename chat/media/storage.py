"""The files below `uploads/` and `archives/` of the data directory.

    uploads/incoming/PID-N       what is arriving; emptied at every start
    uploads/attachments/XX/ID    stored files by their key, spread over 256 directories
    uploads/assets/XX/ID
    uploads/derived/XX/...       what was made of them (`chat.media.rendition_cache`)
    archives/ID.zip              a whole archive
    archives/ID.zip.part         one that is being made, with its list of entries in ID.zip.part.list

A file gets its name only when it is whole and on the disk, so under a name there is never half a file. Names are
numbers of ours: nothing that a client says becomes part of a path. Reads open the file for one piece at a time, so a
reader that stalls holds no descriptor and no more memory than its piece.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import re
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

import trio

from chat.classes import frozen
from chat.errors import StorageUnavailable
from chat.media.content_types import content_type
from chat.media.image_header import HEADER_BYTES, size_seen
from chat.media.metadata.removal import remove_metadata, write_without_metadata
from chat.media.zip_writing import list_of
from chat.registries.limits import IMAGE_BODIES_IN_PROGRESS
from chat.store.guard import UNGUARDED, Guard

PIECE_BYTES: Final = 131_072
"""What is read at a time."""

BUFFERED_BYTES: Final = 262_144
"""What an incoming file collects before it is written."""

THREADS: Final = 8
"""Threads that read and write files at a time."""

_KEY: Final = re.compile(r"(attachments|assets)/([0-9]{1,20})", re.ASCII)

R = TypeVar("R")


class Incoming:
    """A file on its way in; see `MediaStorage.receiving`."""

    def __init__(self, storage: MediaStorage, path: Path) -> None:
        self._storage = storage
        self._path = path
        self._file: BinaryIO | None = None
        self._buffer = bytearray()
        self._digest = hashlib.sha256()
        self._kept = False
        self.size = 0
        """Bytes so far."""
        self.head = b""
        """The first HEADER_BYTES of it."""

    @property
    def path(self) -> Path:
        """Where it lies until it is kept, as far as it was flushed."""
        return self._path

    @property
    def sha256(self) -> str:
        """Of what has been written, in hexadecimal."""
        return self._digest.hexdigest()

    async def write(self, data: bytes) -> None:
        """Add bytes. Raises StorageUnavailable when the disk takes no more."""
        self.size += len(data)
        if len(self.head) < HEADER_BYTES:
            self.head += data[: HEADER_BYTES - len(self.head)]
        self._buffer += data
        if len(self._buffer) >= BUFFERED_BYTES:
            await self.flush()

    async def flush(self) -> None:
        data, self._buffer = bytes(self._buffer), bytearray()
        await self._storage.at_work(self._append, data)

    async def content(self) -> bytes:
        """All of it at once."""
        await self.flush()
        return await self._storage.content_of(self._path)

    async def remove_metadata(self) -> None:
        """All of it has come: from now on it is the same file without what tells of its maker
        (`chat.media.metadata.removal`)."""
        data, self._buffer = bytes(self._buffer), bytearray()
        await self._storage.at_work(self._clean, data)

    async def keep(self, key: str) -> None:
        """All of it has come: from now on it is the file of that key."""
        data, self._buffer = bytes(self._buffer), bytearray()
        await self._storage.at_work(self._finish, data, self._storage.path_of(key))
        self._kept = True

    def discard(self) -> None:
        """Leave nothing behind, unless it was kept."""
        if self._file is not None:
            self._file.close()
        if not self._kept:
            self._path.unlink(missing_ok=True)

    def _append(self, data: bytes) -> None:
        if self._file is None:
            self._storage.make_directory(self._path.parent)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            self._file = os.fdopen(descriptor, "wb", buffering=0)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        self._digest.update(data)

    def _clean(self, data: bytes) -> None:
        self._append(data)
        made = self._path.with_name(f"{self._path.name}.cleaned")
        try:
            if not remove_metadata(self._path, content_type(self.head), made):
                return
        finally:
            made.unlink(missing_ok=True)
        if self._file is not None:
            self._file.close()
        self._file = self._path.open("r+b", buffering=0)
        self.head = self._file.read(HEADER_BYTES)
        self._file.seek(0)
        self._digest = hashlib.file_digest(self._file, hashlib.sha256)
        self.size = self._file.seek(0, os.SEEK_END)

    def _finish(self, data: bytes, place: Path) -> None:
        self._append(data)
        file = self._file
        if file is None:
            raise FileNotFoundError(self._path)
        os.fsync(file.fileno())
        file.close()
        self._storage.make_directory(place.parent)
        self._path.rename(place)
        _sync_directory(place.parent)


@frozen
class CleanCopy:
    """A file without metadata: width and height of a picture as it is seen; bytes and SHA-256 if it is another one."""

    size: tuple[int, int] | None
    bytes: int = 0
    content_hash: str = ""


class MediaStorage:
    """The stored files. `in_threads` False works on the loop's thread, for a virtual clock."""

    def __init__(self, directory: Path, *, in_threads: bool) -> None:
        self._directory = directory
        self._numbers = itertools.count()
        self._owner = os.getpid()  # an import works beside the server
        self.in_threads: Final = in_threads
        self._limiter = trio.CapacityLimiter(THREADS) if in_threads else None
        self.large_bodies = trio.CapacityLimiter(IMAGE_BODIES_IN_PROGRESS)
        """Request bodies of many megabytes that are in memory at a time."""

    @contextlib.asynccontextmanager
    async def receiving(self, guard: Guard = UNGUARDED) -> AsyncIterator[Incoming]:
        """A file to write into; what was not kept by the end of the block is gone. A slow step of a request, whose
        `guard` judges again after it."""
        guard.judge_again()
        incoming = Incoming(self, self._directory / "incoming" / f"{self._owner}-{next(self._numbers)}")
        try:
            yield incoming
        finally:
            with trio.CancelScope(shield=True):  # one file is closed and unlinked: a matter of microseconds
                await self.at_work(incoming.discard)

    def path_of(self, key: str) -> Path:
        """Where the file of a key lies; ValueError for what is no key."""
        match = _KEY.fullmatch(key)
        if match is None:
            raise ValueError(f"{key!r} is no key of a stored file")
        return self._directory / match[1] / f"{int(match[2]) >> 4 & 0xFF:02x}" / match[2]

    def make_directory(self, path: Path) -> None:
        """Make a directory and those above it, which only this account may enter."""
        if path not in (self._directory, self._directory.parent):
            self.make_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)

    def derived_path(self, key: str, name: str) -> Path:
        """Where a rendition of that name lies of the file of that key."""
        return self._derived_directory(key) / name

    def _derived_directory(self, key: str) -> Path:
        path = self.path_of(key)
        return self._directory / "derived" / path.parent.name / key.replace("/", "-")

    def derived_directories(self) -> Iterator[Path]:
        """The directories with the renditions of one file each; for a thread."""
        yield from (self._directory / "derived").glob("??/*")

    def source_of(self, directory: Path) -> Path:
        """The file that a directory holds renditions of."""
        try:
            return self.path_of(directory.name.replace("-", "/", 1))
        except ValueError:  # not one of ours
            return directory / "none"

    @staticmethod
    def remove_derived(directory: Path) -> None:
        """Delete the renditions of one file; for a thread."""
        shutil.rmtree(directory, ignore_errors=True)

    @contextlib.asynccontextmanager
    async def scratch(self) -> AsyncIterator[Path]:
        """A path for a file that another process writes; unless the block moves it, it is gone after it."""
        path = self._directory / "incoming" / f"{self._owner}-{next(self._numbers)}"
        await self.at_work(self.make_directory, path.parent)
        try:
            yield path
        finally:
            with trio.CancelScope(shield=True):  # one file is unlinked
                await self.at_work(functools.partial(path.unlink, missing_ok=True))

    def pieces(self, key: str, start: int, stop: int) -> AsyncGenerator[bytes, None]:
        """The bytes from `start` up to `stop`. Raises OSError when the file is gone or too short."""
        return self.pieces_of(self.path_of(key), start, stop)

    async def pieces_of(self, path: Path, start: int, stop: int) -> AsyncGenerator[bytes, None]:
        """As `pieces`, of a file by its path."""
        while start < stop:
            piece = await self._run(_read, path, start, min(PIECE_BYTES, stop - start))
            if not piece:
                raise EOFError(path.name)
            yield piece
            start += len(piece)

    async def content_of(self, path: Path) -> bytes:
        return await self._run(path.read_bytes)

    async def has(self, key: str) -> bool:
        return await self._run(self.path_of(key).is_file)

    async def delete(self, keys: Iterable[str]) -> None:
        """Delete files; one that is missing is no error."""
        wanted = list(keys)
        derived = [self._derived_directory(key) for key in wanted]
        await self.at_work(self._delete, [self.path_of(key) for key in wanted], derived)

    async def clear_incoming(self) -> None:
        """Delete what earlier processes left half received; only before anything arrives."""
        await self.at_work(_clear, self._directory / "incoming")

    async def keys(self, at_once: int) -> AsyncGenerator[list[str], None]:
        """The keys of all stored files, `at_once` at a time."""
        listing = stored_keys(self._directory)
        while batch := await self._run(lambda: list(itertools.islice(listing, at_once))):
            yield batch

    async def copy_without_metadata(self, key: str, new_key: str, content_type: str) -> CleanCopy | None:
        """The file of a key under a new key, without what tells of its maker, and what became of it: without a digest
        where there was nothing to take out and the file stays. None when it is gone.

        :raises StorageUnavailable: when the disk takes no more.
        """
        async with self.scratch() as spare:
            try:
                return await self._run(self._copy, self.path_of(key), self.path_of(new_key), content_type, spare)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise StorageUnavailable from error

    def _copy(self, source: Path, place: Path, content_type: str, spare: Path) -> CleanCopy:
        if not write_without_metadata(source, content_type, spare):
            return CleanCopy(size_seen(source, content_type))
        with spare.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
            bytes_ = os.fstat(file.fileno()).st_size
        seen = size_seen(spare, content_type)
        self.make_directory(place.parent)
        spare.rename(place)
        _sync_directory(place.parent)
        return CleanCopy(seen, bytes_, digest)

    async def computed(self, work: Callable[..., R], *arguments: Any, guard: Guard = UNGUARDED) -> R:
        """The result of a longer computation on a file's bytes, made off the loop: a slow step, as in `receiving`."""
        guard.judge_again()
        return await self._run(work, *arguments)

    async def at_work(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do something to files off the loop. Raises StorageUnavailable when the disk is at fault."""
        try:
            await self._run(work, *arguments)
        except OSError as error:
            raise StorageUnavailable from error

    async def _run(self, work: Callable[..., R], *arguments: Any) -> R:
        if self._limiter is None:
            await trio.lowlevel.checkpoint()
            return work(*arguments)
        return await trio.to_thread.run_sync(work, *arguments, limiter=self._limiter)

    @staticmethod
    def _delete(paths: list[Path], derived: list[Path]) -> None:
        for path in paths:
            path.unlink(missing_ok=True)
        for directory in derived:
            if directory.exists():
                MediaStorage.remove_derived(directory)


def _read(path: Path, start: int, count: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        return os.pread(descriptor, count, start)
    finally:
        os.close(descriptor)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _clear(directory: Path) -> None:
    if directory.is_dir():
        for path in directory.iterdir():
            path.unlink(missing_ok=True)


def stored_keys(directory: Path) -> Iterator[str]:
    """The keys of all files below `uploads/`; files of other programs have none."""
    for kind in ("attachments", "assets"):
        for path in (directory / kind).glob("??/*"):
            key = f"{kind}/{path.name}"
            if _KEY.fullmatch(key) is not None:
                yield key


# Archives

_ARCHIVE_NAME: Final = re.compile(r"([0-9]{1,20})\.zip(\.part|\.part\.list)?", re.ASCII)


@frozen
class ArchiveFile:
    """A stored archive."""

    archive_id: int
    path: Path
    is_whole: bool


@frozen
class ArchiveFiles:
    """The directory with the archives; every method is for a thread."""

    directory: Path

    def whole(self, archive_id: int) -> Path:
        return self.directory / f"{archive_id}.zip"

    def partial(self, archive_id: int) -> Path:
        """Where an archive lies while it is made."""
        return self.directory / f"{archive_id}.zip.part"

    def make_directory(self) -> None:
        """Make the directory, which only this account may enter."""
        self.directory.mkdir(mode=0o700, exist_ok=True)

    def size(self, archive_id: int) -> int | None:
        """The bytes of a whole archive; None where there is none."""
        try:
            return self.whole(archive_id).stat().st_size
        except FileNotFoundError:
            return None

    def keep(self, archive_id: int) -> None:
        """The archive that was made is whole from now on."""
        partial = self.partial(archive_id)
        partial.rename(self.whole(archive_id))
        list_of(partial).unlink(missing_ok=True)
        _sync_directory(self.directory)

    def delete(self, archive_id: int) -> None:
        """Delete all that there is of an archive."""
        partial = self.partial(archive_id)
        for path in (self.whole(archive_id), partial, list_of(partial)):
            path.unlink(missing_ok=True)

    def found(self) -> Iterator[ArchiveFile]:
        """All archives, whole or not; other files are passed over."""
        if not self.directory.is_dir():
            return
        for path in self.directory.iterdir():
            match = _ARCHIVE_NAME.fullmatch(path.name)
            if match is not None:
                yield ArchiveFile(int(match[1]), path, match[2] is None)
