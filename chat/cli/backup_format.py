"""What a backup is: a tar file that other programs can read too.

    chat-backup.json       what it is, and of when; first
    chat.sqlite3           the database at one moment
    signing.key            the secret of the instance
    chat.toml              the settings, where there is such a file
    uploads/...            every uploaded file that the database speaks of
    archives/...           every archive that it speaks of
    SHA256SUMS             the digests of all that stands before it, as sha256sum writes them; last

A backup holds what the data directory holds: everything that there is to know of everybody. So its mode is 0600.
"""

from __future__ import annotations

import hashlib
import re
from typing import BinaryIO, Final

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
    """A line of CHECKSUMS."""
    return f"{digest}  {name}\n".encode("ascii")
