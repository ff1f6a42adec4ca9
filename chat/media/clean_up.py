"""Files that can go: those that no row speaks of, and renditions that nothing has asked for in a long time. Each
function is for a thread, and counts what it finds; it deletes that unless it is only to look."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from chat.classes import frozen
from chat.media.storage import MediaStorage


@frozen
class FileCount:
    """Files, and their bytes."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: FileCount) -> FileCount:
        return FileCount(self.files + other.files, self.bytes + other.bytes)


def of_keys(storage: MediaStorage, keys: Sequence[str], *, only_look: bool) -> FileCount:
    """The files of these keys, with their renditions."""
    found = FileCount()
    for key in keys:
        path = storage.path_of(key)
        try:
            found += FileCount(1, path.stat().st_size)
            if not only_look:
                path.unlink()
                storage.remove_derived(storage.derived_path(key, "-").parent)
        except FileNotFoundError:
            continue
    return found


def of_renditions(storage: MediaStorage, used_before: float, *, only_look: bool) -> FileCount:
    """Renditions that were last used before this moment (Unix seconds), and those of files that are gone."""
    found = FileCount()
    for directory in storage.derived_directories():
        is_left_over = not storage.source_of(directory).exists()
        for file in _files(directory):
            if is_left_over or file.stat().st_mtime < used_before:
                found += FileCount(1, file.stat().st_size)
                if not only_look:
                    Path(file.path).unlink(missing_ok=True)
        if is_left_over and not only_look:
            shutil.rmtree(directory, ignore_errors=True)
    return found


def size_of_renditions(storage: MediaStorage) -> FileCount:
    """All renditions."""
    found = FileCount()
    for directory in storage.derived_directories():
        for file in _files(directory):
            found += FileCount(1, file.stat().st_size)
    return found


def _files(directory: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            yield from (entry for entry in list(entries) if entry.is_file(follow_symlinks=False))
    except OSError:  # it went meanwhile
        return
