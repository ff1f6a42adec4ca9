"""The files of archives, below `archives/` of the data directory.

    ID.zip             a whole archive
    ID.zip.part        one that is being made, with its list of entries in ID.zip.part.list

A file gets its name only when it is whole and on the disk, so under a whole name there is never half an archive.
Everything here is for a thread.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from chat.media.zip_writing import list_of

_NAME: Final = re.compile(r"([0-9]{1,20})\.zip(\.part|\.part\.list)?", re.ASCII)


@attrs.frozen
class ArchiveFile:
    """What there is of an archive."""

    archive_id: int
    path: Path
    is_whole: bool


class ArchiveFiles:
    """The directory with the archives."""

    def __init__(self, directory: Path) -> None:
        self.directory: Final = directory

    def whole(self, archive_id: int) -> Path:
        """Where an archive lies."""
        return self.directory / f"{archive_id}.zip"

    def partial(self, archive_id: int) -> Path:
        """Where an archive lies while it is made."""
        return self.directory / f"{archive_id}.zip.part"

    def make_directory(self) -> None:
        """Make the directory, for nobody else to look into."""
        self.directory.mkdir(mode=0o700, exist_ok=True)

    def size(self, archive_id: int) -> int | None:
        """The bytes of a whole archive; None where there is none."""
        try:
            return self.whole(archive_id).stat().st_size
        except FileNotFoundError:
            return None

    def keep(self, archive_id: int) -> None:
        """What was made is whole from now on."""
        partial = self.partial(archive_id)
        partial.rename(self.whole(archive_id))
        list_of(partial).unlink(missing_ok=True)
        descriptor = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def delete(self, archive_id: int) -> None:
        """Delete all that there is of an archive."""
        partial = self.partial(archive_id)
        for path in (self.whole(archive_id), partial, list_of(partial)):
            path.unlink(missing_ok=True)

    def found(self) -> Iterator[ArchiveFile]:
        """What there is; what others put there is not ours."""
        if not self.directory.is_dir():
            return
        for path in self.directory.iterdir():
            match = _NAME.fullmatch(path.name)
            if match is not None:
                yield ArchiveFile(int(match[1]), path, match[2] is None)
