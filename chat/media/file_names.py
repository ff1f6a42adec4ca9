"""Names that senders give to their files: shown and offered for saving, never used as a path here."""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import quote

FILE_NAME_BYTES: Final = 255
"""The longest name of a file that common systems take, in UTF-8."""

UNNAMED: Final = "file"

_FORBIDDEN: Final = re.compile(r'[<>:"|?*]')
_DIRECTIONS: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn text round, and so can make `gpj.exe` look like a picture."""


def file_name(sent: str) -> str:
    """A harmless name made of what was sent: no directory, no control character, not hidden, not too long."""
    last = unicodedata.normalize("NFC", sent).replace("\\", "/").rstrip("/").rpartition("/")[2]
    plain = "".join(character for character in last if _is_plain(character))
    name = _FORBIDDEN.sub("_", plain).strip().lstrip(".").strip()
    return _shortened(name) or UNNAMED


def _is_plain(character: str) -> bool:
    return unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"} and character not in _DIRECTIONS


def _shortened(name: str) -> str:
    """The name within FILE_NAME_BYTES, its ending kept."""
    if len(name.encode()) <= FILE_NAME_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending.encode()) > 16:
        stem, dot, ending = name, "", ""
    room = FILE_NAME_BYTES - len((dot + ending).encode())
    return stem.encode()[:room].decode("utf-8", "ignore") + dot + ending


def with_ending(name: str, ending: str) -> str:
    """The name of a file that was made of one with this name."""
    stem = name.rpartition(".")[0] or name
    return _shortened(f"{stem}.{ending}")


def disposition(kind: str, name: str) -> str:
    """The value of Content-Disposition: `inline` or `attachment`, with the name for all clients (RFC 6266)."""
    plain = name.encode("ascii", "replace").decode("ascii").replace('"', "_").replace("\\", "_").replace("%", "_")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
