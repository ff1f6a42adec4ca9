"""Takes out of pictures and films what tells of their makers, without packing a pixel anew (media.md, Metadata).

Where a photograph was taken, when, by whom and with which camera, is nobody's business but that of who took it. What a
decoder needs stays byte for byte, with the colour profile and the orientation, so what people see is the same. What
follows the end of a picture goes too: no picture needs it. A file that is not what its first bytes say stays as it is.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from chat.media.boxes import Content
from chat.media.metadata import films, matroska, pictures, tiff
from chat.media.metadata.plan import RewritePlan, Unreadable

CLEANERS: Final[Mapping[str, Callable[[Content], RewritePlan]]] = {
    "image/jpeg": pictures.jpeg,
    "image/png": pictures.png,
    "image/gif": pictures.gif,
    "image/webp": pictures.webp,
    "image/avif": films.picture,
    "image/heic": films.picture,
    "image/heif": films.picture,
    "image/jxl": films.jpeg_xl,
    "image/tiff": tiff.picture,
    "video/mp4": films.film,
    "video/quicktime": films.film,
    "audio/mp4": films.sound,
    "video/webm": matroska.film,
    "audio/webm": matroska.film,
}
"""By the type of the content."""


def without_metadata(data: bytes, content_type: str) -> bytes:
    """A file of this type without metadata; the same bytes where there is nothing to take out."""
    plan = _plan(data, content_type)
    return data if plan is None else b"".join(plan.content())


def remove_metadata(path: Path, content_type: str, spare: Path) -> bool:
    """Take the metadata out of a file that nobody reads yet; False where there is nothing to take out. A file that gets
    shorter is written to `spare` first. For a thread. Raises OSError."""
    if content_type not in CLEANERS or not path.stat().st_size:
        return False
    with path.open("r+b", buffering=0) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        plan = _plan(data, content_type)
        if plan is None:
            return False
        if plan.moves_nothing:
            for place, piece in plan.patches():
                file.seek(place)
                file.write(piece)
            return True
        _write(plan, spare)
    spare.rename(path)
    return True


def write_without_metadata(source: Path, content_type: str, target: Path) -> bool:
    """Write a file without its metadata to `target`; False, and nothing written, where there is nothing to take out.
    For a thread. Raises OSError."""
    if content_type not in CLEANERS or not source.stat().st_size:
        return False
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        plan = _plan(data, content_type)
        if plan is None:
            return False
        _write(plan, target)
    return True


def _write(plan: RewritePlan, target: Path) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as made:
        for piece in plan.content():
            made.write(piece)


def _plan(data: Content, content_type: str) -> RewritePlan | None:
    """What is to change; None where nothing is."""
    cleaner = CLEANERS.get(content_type)
    try:
        plan = None if cleaner is None else cleaner(data)
    except (Unreadable, struct.error, IndexError):  # the last two: it ends before it makes sense
        return None
    return plan if plan is not None and plan.changes else None
