"""Scripts, style sheet and icon of the pages: read once, served under an address that changes when any of them does.

Every file lies below `/static/<digest>/`, where the digest is of all of them together. Scripts import each other by
relative address, so no build step has to rewrite them, and a browser may keep each file for ever: after an upgrade the
pages name other addresses.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import attrs

FOLDER: Final = Path(__file__).with_name("static")

CONTENT_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

DIGEST_LENGTH: Final = 16
"""Hexadecimal digits of SHA-256; enough to tell one version of the files from another."""


@attrs.frozen
class Asset:
    """One file as it is sent."""

    content: bytes = attrs.field(repr=False)
    content_type: str


@attrs.frozen
class Assets:
    """All of them, and the address of their folder."""

    files: dict[str, Asset]
    digest: str

    @property
    def folder(self) -> str:
        """Where they lie on this server: `/static/<digest>`."""
        return f"/static/{self.digest}"

    def find(self, digest: str, name: str) -> Asset | None:
        """The file, for whoever asks for this version of it."""
        return self.files.get(name) if digest == self.digest else None


def read_assets(folder: Path = FOLDER) -> Assets:
    """Read every file of a kind that pages use."""
    sha256 = hashlib.sha256()
    files = {}
    for path in sorted(folder.iterdir()):
        content_type = CONTENT_TYPES.get(path.suffix)
        if content_type is None:
            continue
        content = path.read_bytes()
        files[path.name] = Asset(content, content_type)
        sha256.update(f"{path.name}\0{len(content)}\0".encode())
        sha256.update(content)
    return Assets(files, sha256.hexdigest()[:DIGEST_LENGTH])
