"""The files of an export, in a directory or in an archive, by their paths in it.

An export comes from strangers. A path is one of the files that were found when it was opened, so nothing in it can lead
anywhere else: `..`, absolute paths and symbolic links find nothing. A path may be written with `\\` (exports from
Windows) or with `%20`. Nothing is unpacked: a ZIP archive is read as it lies there, and who reads a file says how much
of it at most.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import posixpath
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final, Protocol
from urllib.parse import unquote

from chat.errors import OperatorError

FILES_MAXIMUM: Final = 5_000_000
"""Files that an export may have."""

PIECE: Final = 1 << 20
GZIP: Final = b"\x1f\x8b"
UNCOMPRESSED_TIMES: Final = 100
"""As many times its own size may a compressed archive hold; texts hold a tenth of that."""
UNCOMPRESSED_ALWAYS: Final = 1 << 28
"""Bytes that one of any size may hold."""

LINES: Final = ".jsonl"

SINGLE_FILES: Final = (LINES, ".json")
"""End the names of files that are an export by themselves: Mattermost's, and one channel of Discord's."""

BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, tarfile.TarError)
"""What reading a broken, an encrypted or an unknown archive raises."""


class ExportFiles(Protocol):
    """The files of an export, by their paths in it with `/`."""

    def names(self) -> Iterator[str]:
        """Every path, in order."""

    def find(self, path: str, beside: str = "") -> str | None:
        """The path of a file as the export writes it, `beside` another file; None where there is no such file."""

    def size(self, name: str) -> int:
        """The bytes of a file."""

    def open(self, name: str) -> IO[bytes]:
        """Open a file. Raises one of BROKEN."""

    def close(self) -> None:
        """Nothing more is read."""


class _Found:
    """Finds paths among those that there are."""

    _sizes: Mapping[str, int]

    def names(self) -> Iterator[str]:
        yield from sorted(self._sizes)

    def find(self, path: str, beside: str = "") -> str | None:
        if "://" in path:
            return None  # it lies elsewhere
        folder = posixpath.dirname(beside)
        for written in (path, unquote(path)):
            for place in (posixpath.join(folder, written.replace("\\", "/")), written.replace("\\", "/")):
                name = posixpath.normpath(place).removeprefix("/")
                if name in self._sizes:
                    return name
        return None

    def size(self, name: str) -> int:
        return self._sizes[name]


class DirectoryFiles(_Found):
    """Below a directory; symbolic links are none of its files."""

    def __init__(self, root: Path) -> None:
        self._root = root
        sizes: dict[str, int] = {}
        for folder, folders, files in os.walk(root):
            folders.sort()
            for name in files:
                place = os.path.join(folder, name)
                status = os.lstat(place)
                if stat.S_ISREG(status.st_mode):
                    sizes[os.path.relpath(place, root).replace(os.sep, "/")] = status.st_size
            if len(sizes) > FILES_MAXIMUM:
                raise OperatorError(f"{root} has more than {FILES_MAXIMUM} files")
        self._sizes = sizes

    def open(self, name: str) -> IO[bytes]:
        descriptor = os.open(self._root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        return os.fdopen(descriptor, "rb")

    def close(self) -> None:
        """Nothing is open."""


class SingleFile(_Found):
    """One file that is the whole export."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sizes = {path.name: path.stat().st_size}

    def open(self, name: str) -> IO[bytes]:
        return self._path.open("rb")

    def close(self) -> None:
        """Nothing is open."""


class ZipFiles(_Found):
    """In a ZIP archive."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except BROKEN as error:
            raise OperatorError(f"{path} is no whole ZIP archive: {error}") from error
        entries = self._zip.infolist()
        if len(entries) > FILES_MAXIMUM:
            self._zip.close()
            raise OperatorError(f"{path} has more than {FILES_MAXIMUM} files")
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            name = posixpath.normpath(entry.filename.replace("\\", "/"))
            leads_out = name.startswith(("/", "../")) or name == ".."
            if not entry.is_dir() and not leads_out and not stat.S_ISLNK(entry.external_attr >> 16):
                self._entries[name] = entry
        self._sizes = {name: entry.file_size for name, entry in self._entries.items()}

    def open(self, name: str) -> IO[bytes]:
        return self._zip.open(self._entries[name])

    def close(self) -> None:
        self._zip.close()


class TarFiles(_Found):
    """In a tar archive. One that is compressed can be read from its beginning alone: it is put uncompressed into a file
    without a name."""

    def __init__(self, path: Path) -> None:
        with contextlib.ExitStack() as opened:
            try:
                self._file = opened.enter_context(_uncompressed(path))
                self._tar = opened.enter_context(tarfile.open(fileobj=self._file, mode="r:"))
                self._entries: dict[str, tarfile.TarInfo] = {}
                for entry in self._tar:
                    name = posixpath.normpath(entry.name.replace("\\", "/"))
                    if entry.isfile() and not entry.issparse() and not name.startswith(("/", "../")):
                        self._entries[name] = entry
                    if len(self._entries) > FILES_MAXIMUM:
                        raise OperatorError(f"{path} has more than {FILES_MAXIMUM} files")
            except BROKEN as error:
                raise OperatorError(f"{path} is no whole tar archive: {error}") from error
            self._sizes = {name: entry.size for name, entry in self._entries.items()}
            opened.pop_all()  # read as long as this is

    def open(self, name: str) -> IO[bytes]:
        opened = self._tar.extractfile(self._entries[name])
        if opened is None:
            raise tarfile.ReadError(f"{name} is no file")
        return opened

    def close(self) -> None:
        self._tar.close()
        self._file.close()


def _is_compressed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(GZIP)) == GZIP


def _is_tar(path: Path) -> bool:
    return _is_compressed(path) or tarfile.is_tarfile(path)


def _uncompressed(path: Path) -> IO[bytes]:
    """The archive, to be read at any place. Raises OperatorError for one that grows without measure."""
    if not _is_compressed(path):
        return path.open("rb")
    most = max(UNCOMPRESSED_ALWAYS, UNCOMPRESSED_TIMES * path.stat().st_size)
    plain = tempfile.TemporaryFile()  # noqa: SIM115 - read as long as the archive is
    try:
        with gzip.open(path) as source:
            while plain.tell() <= most and (piece := source.read(PIECE)):
                plain.write(piece)
        if plain.tell() > most:
            raise OperatorError(f"{path} is an archive that holds far more than its size")  # noqa: TRY301
        plain.seek(0)
    except BaseException:
        plain.close()
        raise
    return plain


def open_export(path: Path) -> ExportFiles:
    """The files of an export at a path. Raises OperatorError for what is no directory, archive or single file."""
    if path.is_dir():
        return DirectoryFiles(path)
    if not path.exists():
        raise OperatorError(f"there is no {path}")
    if path.is_file() and zipfile.is_zipfile(path):
        return ZipFiles(path)
    if path.is_file() and _is_tar(path):
        return TarFiles(path)
    if path.is_file() and path.suffix.lower() in SINGLE_FILES:
        return SingleFile(path)
    raise OperatorError(f"{path} is neither a directory nor a ZIP archive, a tar archive or a .json file")
