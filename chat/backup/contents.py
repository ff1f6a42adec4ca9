"""What a backup holds, as a file or in a directory of backups: the names, the description, the digests.

chat-backup.json       what it is, and of when
chat.sqlite3           the database at one moment
signing.key            the secret of the instance
chat.toml              the settings, where there is such a file
uploads/...            every uploaded file that the database speaks of
archives/...           every archive that it speaks of
SHA256SUMS             the digests of all that, as sha256sum writes them
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from chat import __version__
from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.media.storage import ArchiveFiles, MediaStorage, stored_keys
from chat.store.administration import archives
from chat.store.connections import connect
from chat.store.migrations import schema_version
from chat.store.whole_database import stored_files

FORMAT: Final = "chat backup 1"
DESCRIPTION: Final = "chat-backup.json"
DATABASE: Final = "chat.sqlite3"
SIGNING_KEY: Final = "signing.key"
SETTINGS: Final = "chat.toml"
CHECKSUMS: Final = "SHA256SUMS"

STORED_NAMES: Final = re.compile(
    r"uploads/(?:attachments|assets)/[0-9a-f]{2}/[0-9]{1,20}|archives/[0-9]{1,20}\.zip", re.ASCII
)
"""The names of uploads and archives below the data directory."""

NAMES: Final = re.compile(
    rf"chat-backup\.json|chat\.sqlite3|signing\.key|chat\.toml|{STORED_NAMES.pattern}",
    re.ASCII,
)
"""Every name that a backup may have beside CHECKSUMS: none leads out of the directory that it is restored to."""

PIECE_BYTES: Final = 1_048_576

DESCRIPTION_BYTES: Final = 65_536

Tell = Callable[[str, float], None]
"""Says what is done at the moment, and how many percent are done."""


def description(now_ms: int, schema: int, size: int, **more: Any) -> bytes:
    """The content of DESCRIPTION: `schema` is that of the database, `size` the bytes of all files."""
    members = {
        "format": FORMAT,
        "version": __version__,
        "schema": schema,
        "created_at": iso_timestamp(now_ms),
        "bytes": size,
        **more,
    }
    return json.dumps(members, indent=2).encode() + b"\n"


def described(content: bytes) -> Mapping[str, Any] | None:
    """What a description says; None if the bytes are not a description in this format."""
    try:
        members = json.loads(content)
    except (ValueError, RecursionError):  # what is no JSON, and what is nested without end
        return None
    return members if isinstance(members, dict) and members.get("format") == FORMAT else None


@frozen
class WantedFile:
    """A file that belongs into a backup: its path below the data directory, and what its row knows of the content.

    `size` is in bytes; `digest` is the SHA-256 or how that begins. None is what no row knows.
    """

    name: str
    size: int | None = None
    digest: str | None = None

    def problem(self, size: int, digest: str) -> str | None:
        """How a content of that size and SHA-256 differs from what the row says; None where it does not."""
        if self.size not in {None, size}:
            return f"has {size} bytes instead of {self.size}"
        if not digest.startswith(self.digest or ""):
            return "was changed or damaged"
        return None


def files_of_rows(connection: sqlite3.Connection) -> Iterator[WantedFile]:
    """The files that a database of this program's schema speaks of."""
    uploads = MediaStorage(Path("uploads"), in_threads=False)
    for file in stored_files(connection):
        yield WantedFile(str(uploads.path_of(file.key)), file.size, file.digest)
    for archive_id, size in archives.files(connection):
        yield WantedFile(f"archives/{archive_id}.zip", size)


def files_on_disk(uploads: Path, archive_directory: Path) -> Iterator[WantedFile]:
    """All files that lie there, for a database of another schema, which cannot be asked."""
    storage = MediaStorage(Path("uploads"), in_threads=False)
    for key in stored_keys(uploads):
        yield WantedFile(str(storage.path_of(key)))
    for file in ArchiveFiles(archive_directory).found():
        if file.is_whole:
            yield WantedFile(f"archives/{file.archive_id}.zip")


def schema_of(database: Path) -> int:
    """The schema of a database file. Raises sqlite3.Error."""
    with contextlib.closing(connect(database, read_only=True)) as connection:
        return schema_version(connection)


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

    @property
    def sha256(self) -> str:
        """Of what was read, in hexadecimal."""
        return self._digest.hexdigest()

    def line(self, name: str) -> bytes:
        """The line of CHECKSUMS about what was read."""
        return checksum_line(self.sha256, name)


def checksum_line(digest: str, name: str) -> bytes:
    return f"{digest}  {name}\n".encode("ascii")


_CHECKSUM_LINE: Final = re.compile(rb"([0-9a-f]{64})  ([ -~]{1,200})\n")


def checksums(content: BinaryIO) -> Iterator[tuple[str, str]]:
    """The digests and names of CHECKSUMS. Raises ValueError for a line of another form, and for a name that no
    backup has."""
    for line in content:
        match = _CHECKSUM_LINE.fullmatch(line)
        if match is None:
            raise ValueError("a line of its digests cannot be read")
        digest, name = match[1].decode("ascii"), match[2].decode("ascii")
        if NAMES.fullmatch(name) is None:
            raise ValueError(f"{name!r} does not belong there")
        yield digest, name
