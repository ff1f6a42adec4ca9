"""How a file is handed out: ranges, validators, and headers under which a browser shows it but never runs it
(RFC 9110, sections 8.8, 13 and 14)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import attrs

from chat.media.content_types import IMAGE_TYPES
from chat.media.file_names import disposition

FOR_EVER: Final = "public, max-age=31536000, immutable"
"""For what lies under a name that will never mean anything else."""

GUARDED: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""On all media: nothing in them is run, whatever it is, and nobody is told under which address they lie."""

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
