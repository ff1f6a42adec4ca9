"""Somebody else's built web application, served in place of ours at `/` (setting `webapp_directory`).

Its files are found below their own addresses; an unknown address is its index for whoever asks for HTML, because such
applications go through addresses by themselves. The API and the pages that letters and providers lead to stay ours.
"""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

from chat.classes import frozen
from chat.errors import SettingsError

INDEX: Final = "index.html"

OURS: Final = ("v1/", "api/", "media/")
"""Addresses of programs: what is unknown there is so for the application, too."""

WELL_KNOWN: Final = ".well-known"

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "base-uri 'self'; frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What may be asked of an application that is not known here."""


@frozen
class WebappFile:
    """One file as it is sent; `tag` changes when it does."""

    content: bytes = attrs.field(repr=False)
    content_type: str
    tag: str


class Webapp:
    """The files of one application.

    :raises SettingsError: if the folder has no index.
    """

    def __init__(self, folder: Path) -> None:
        self._folder: Final = Path(os.path.realpath(folder))  # `Path.resolve` raises RuntimeError for a circle
        if not (self._folder / INDEX).is_file():
            raise SettingsError(f"setting webapp_directory: expected a folder with {INDEX}, and {folder} is none")

    def find(self, place: str, *, or_index: bool) -> WebappFile | None:
        """The file at this place, else the index if that is wanted; None where there is nothing."""
        found = None if place.startswith(OURS) else self._file(place or INDEX)
        if found is None and or_index and not place.startswith(OURS):
            return self._file(INDEX)
        return found

    def _file(self, place: str) -> WebappFile | None:
        if any(part.startswith(".") and part != WELL_KNOWN for part in place.split("/")):
            return None
        try:
            path = Path(os.path.realpath(self._folder / place))
            if not path.is_relative_to(self._folder) or not path.is_file():
                return None
            content, known = path.read_bytes(), path.stat()
        except (OSError, ValueError):  # too long a name, or one with a null character
            return None
        guessed, _ = mimetypes.guess_type(path.name)
        content_type = guessed or "application/octet-stream"
        if content_type.startswith("text/"):
            content_type += "; charset=utf-8"
        return WebappFile(content, content_type, f"{known.st_mtime_ns:x}-{known.st_size:x}")
