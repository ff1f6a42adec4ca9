"""The files of an export, in a directory or in a ZIP archive, by their paths in it.

An export comes from strangers. A path is one of the files that were found when it was opened, so nothing in it can lead
anywhere else: `..`, absolute paths and symbolic links find nothing. A path may be written with `\\` (exports from
Windows) or with `%20`. Nothing is unpacked: an archive is read as it lies there, and who reads a file says how much of
it at most.
"""

from __future__ import annotations

import os
import posixpath
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Final, Protocol
from urllib.parse import unquote

from chat.errors import OperatorError

FILES_MAXIMUM: Final = 5_000_000
"""Files that an export may have."""

LINES: Final = ".jsonl"
"""Ends the name of a file that is an export by itself."""

BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
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
            entries = self._zip.infolist()
        except BROKEN as error:
            raise OperatorError(f"{path} is no whole ZIP archive: {error}") from error
        if len(entries) > FILES_MAXIMUM:
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


def open_export(path: Path) -> ExportFiles:
    """The files of an export at a path. Raises OperatorError for what is neither a directory nor a ZIP archive."""
    if path.is_dir():
        return DirectoryFiles(path)
    if not path.exists():
        raise OperatorError(f"there is no {path}")
    if path.is_file() and zipfile.is_zipfile(path):
        return ZipFiles(path)
    if path.is_file() and path.suffix == LINES:
        return SingleFile(path)
    raise OperatorError(f"{path} is neither a directory nor a ZIP archive")
