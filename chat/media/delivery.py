"""How a file is handed out: names, ranges, validators, and headers under which a browser shows it but never runs it
(RFC 9110, sections 8.8, 13 and 14)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import attrs

from chat.media.content_types import IMAGE_TYPES

# Names that senders give to their files: shown and offered for saving, never used as a path here

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
    """The value of Content-Disposition (RFC 6266); `kind` is `inline` or `attachment`."""
    plain = name.encode("ascii", "replace").decode("ascii").replace('"', "_").replace("\\", "_").replace("%", "_")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


# Delivery

FOR_EVER: Final = "public, max-age=31536000, immutable"
"""For what lies under a name that will never mean anything else."""

GUARDED: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""On all media: no browser runs anything in them, and no other site learns their address."""

_RANGE: Final = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.ASCII)


@attrs.frozen
class File:
    """What is to be handed out."""

    content_type: str
    size: int
    etag: str
    """A strong validator, without its quotes."""
    cache_control: str
    name: str | None = None
    """Offered for saving."""


@attrs.frozen
class Delivery:
    """Status, headers, and which bytes go out (`start` up to `stop`; none when they are equal)."""

    status: int
    headers: dict[str, str]
    start: int = 0
    stop: int = 0


def delivery(file: File, request: Mapping[str, str]) -> Delivery:
    """The answer to a request with these headers (lower-case names)."""
    etag = f'"{file.etag}"'
    headers = {
        **GUARDED,
        "Content-Type": file.content_type,
        "Cache-Control": file.cache_control,
        "ETag": etag,
        "Accept-Ranges": "bytes",
    }
    kind = "inline" if file.content_type in IMAGE_TYPES else "attachment"
    headers["Content-Disposition"] = kind if file.name is None else disposition(kind, file.name)
    if matches(request.get("if-none-match"), etag):
        return Delivery(304, headers)
    wanted = request.get("range")
    if wanted is None or request.get("if-range", etag) != etag:
        return Delivery(200, headers, 0, file.size)
    match = _RANGE.fullmatch(wanted.replace(" ", ""))
    if match is None:  # several ranges, other units, nonsense: a server may answer with everything
        return Delivery(200, headers, 0, file.size)
    start, stop = _bounds(match, file.size)
    if start >= stop:
        headers["Content-Range"] = f"bytes */{file.size}"
        return Delivery(416, headers)
    headers["Content-Range"] = f"bytes {start}-{stop - 1}/{file.size}"
    return Delivery(206, headers, start, stop)


def _bounds(match: re.Match[str], size: int) -> tuple[int, int]:
    first, last, suffix = match.groups()
    if suffix is not None:
        return max(size - int(suffix), 0), size if int(suffix) else 0
    if last and int(last) < int(first):
        return 0, 0
    return int(first), min(int(last) + 1, size) if last else size


def matches(values: str | None, etag: str) -> bool:
    """Whether If-None-Match (None where there is none) names this entity tag, which has its quotes."""
    if values is None:
        return False
    return any(value.strip() in {"*", etag, f"W/{etag}"} for value in values.split(","))
