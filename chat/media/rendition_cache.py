"""Renditions of stored pictures, kept on the disk for as long as there is room.

    derived/XX/attachments-ID/NAME   what was made of a file, beside what else was made of it
    derived/XX/assets-ID/NAME

Everything here can be made again: nothing is written down of it, and nothing is lost with it. A rendition goes with its
file; the least recently used go when there is no more room.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import Final

import structlog
import trio

from chat.classes import frozen
from chat.errors import StorageUnavailable
from chat.media.image_header import is_turned_webp
from chat.media.image_workers import ImageRefused, ImageWorkers
from chat.media.renditions import Rendition
from chat.media.storage import MediaStorage

KEPT_AT_A_TRIM: Final = 0.8
"""Which share of the room is left filled when there was too little."""

IN_USE_SECONDS: Final = 60.0
"""What was used so shortly before the latest of all stays: it may be on its way to a client."""

REFUSALS_REMEMBERED: Final = 4_096
"""Pictures of which no rendition can be made, so that they are not tried again and again."""

JUDGEMENTS_REMEMBERED: Final = 16_384
"""Pictures of which is known whether they move within the bounds."""

log: Final = structlog.get_logger("chat.media")


@frozen
class KeptRendition:
    path: Path
    size: int


@frozen
class _CachedRendition:
    """A file below `derived`, with its bytes and when it was used last."""

    path: Path
    size: int
    used: float


class RenditionCache:
    """Makes and keeps renditions in about `room` bytes, but for those in use."""

    def __init__(self, storage: MediaStorage, workers: ImageWorkers, room: int) -> None:
        self._storage = storage
        self._workers = workers
        self._room = room
        self._bytes = 0
        self._making: dict[tuple[str, str], trio.Event] = {}
        self._refused: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._frames: OrderedDict[str, int | None] = OrderedDict()
        self._judging: dict[str, trio.Event] = {}
        self._turned: OrderedDict[str, bool] = OrderedDict()
        self._trimming = False

    async def get(self, key: str, rendition: Rendition) -> KeptRendition | None:
        """A rendition of the file of that key; None when nothing can be made of it.

        :raises ApiError: SERVICE_UNAVAILABLE when too much is to be made already.
        """
        name = (key, rendition.name)
        path = self._storage.derived_path(*name)
        while name not in self._refused:
            found = await self._storage.computed(_kept, path)
            if found is not None:
                return found
            made = self._making.get(name)
            if made is None:
                return await self._made(name, path, rendition)
            await made.wait()
        return None

    async def frames(self, key: str) -> int | None:
        """How many frames the picture of that key has; None for one that cannot be redrawn within the bounds.

        :raises ApiError: as `get`.
        """
        while key not in self._frames:
            judged = self._judging.get(key)
            if judged is None:
                await self._judge(key)
            else:
                await judged.wait()
        return self._frames[key]

    async def is_turned_webp(self, key: str) -> bool:
        """Whether the WebP of that key is turned by its EXIF (`chat.media.image_header`)."""
        if key not in self._turned:
            self._turned[key] = await self._storage.computed(is_turned_webp, self._storage.path_of(key))
            if len(self._turned) > JUDGEMENTS_REMEMBERED:
                self._turned.popitem(last=False)
        return self._turned[key]

    async def _judge(self, key: str) -> None:
        self._judging[key] = event = trio.Event()
        try:
            found = await self._workers.judge(self._storage.path_of(key))
        except ImageRefused:
            found = None
        finally:
            del self._judging[key]
            event.set()
        if len(self._frames) >= JUDGEMENTS_REMEMBERED:
            self._frames.popitem(last=False)
        self._frames[key] = found

    async def _made(self, name: tuple[str, str], path: Path, rendition: Rendition) -> KeptRendition | None:
        self._making[name] = event = trio.Event()
        try:
            async with self._storage.scratch() as scratch:
                await self._workers.render(self._storage.path_of(name[0]), scratch, rendition)
                found = await self._storage.computed(_moved, scratch, path)
        except (ImageRefused, OSError):
            self._refused[name] = None
            if len(self._refused) > REFUSALS_REMEMBERED:
                self._refused.popitem(last=False)
            return None
        finally:
            del self._making[name]
            event.set()
        self._bytes += found.size
        if self._bytes > self._room:
            await self.trim()
        return found

    async def trim(self) -> None:
        """Delete renditions of files that are gone, and the longest unused ones until there is room."""
        if self._trimming:
            return
        self._trimming = True
        try:
            self._bytes = await self._storage.computed(_trimmed, self._storage, self._room)
        except OSError as error:
            raise StorageUnavailable from error
        finally:
            self._trimming = False


def _kept(path: Path) -> KeptRendition | None:
    try:
        os.utime(path)  # it was used
        return KeptRendition(path, path.stat().st_size)
    except OSError:
        return None


def _moved(scratch: Path, path: Path) -> KeptRendition:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    size = scratch.stat().st_size
    scratch.rename(path)
    return KeptRendition(path, size)


def _trimmed(storage: MediaStorage, room: int) -> int:
    """Bytes that are left."""
    found: list[_CachedRendition] = []
    for directory in storage.derived_directories():
        if not storage.source_of(directory).exists():
            storage.remove_derived(directory)
            continue
        with os.scandir(directory) as entries:
            for entry in entries:
                stat = entry.stat(follow_symlinks=False)
                found.append(_CachedRendition(Path(entry.path), stat.st_size, stat.st_mtime))
    total = sum(file.size for file in found)
    if total <= room:
        return total
    in_use = max(file.used for file in found) - IN_USE_SECONDS
    for file in sorted(found, key=lambda file: file.used):
        if total <= room * KEPT_AT_A_TRIM or file.used > in_use:
            break
        file.path.unlink(missing_ok=True)
        total -= file.size
    log.info("renditions deleted to make room", bytes=total)
    return total
