"""How large a film is shown and how long films and sounds last, from their headers alone.

Files are read in a few bounded pieces wherever those headers are, or mapped; nothing is decoded. What makes no sense
gives nothing: none of these readers loops without moving on, and each has a number of steps that it may take.
"""

from __future__ import annotations

import io
import mmap
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from chat.classes import frozen
from chat.media.boxes import Box, Content, boxes, first_box

STEPS: Final = 64
"""Boxes, chunks or elements on one level that are looked at."""

PIECE_BYTES: Final = 262_144
"""What is read of a header at a time."""

SEEN: Final = "seen"
SOUND: Final = "sound"
"""Kinds of tracks."""

SOUNDS: Final[Mapping[str, str]] = {
    "video/webm": "audio/webm",
    "video/mp4": "audio/mp4",
    "video/quicktime": "audio/mp4",
}
"""What a file is that is a film by its first bytes and has nothing to be seen: browsers and telephones record so."""

SIDE_MAXIMUM: Final = 65_535
SECONDS_MAXIMUM: Final = 1_000_000
"""A film that lasts longer says something wrong."""


@frozen
class MovingHeader:
    """Pixels as they are shown, and whole seconds; None for what the file does not tell. `is_sound` is true where it is
    sure that there is nothing to be seen."""

    width: int | None = None
    height: int | None = None
    duration: int | None = None
    is_sound: bool = False


def moving_header(path: Path, content_type: str) -> MovingHeader:
    """What a stored file of this type tells of itself; for a thread."""
    reader = _READERS.get(content_type)
    if reader is None:
        return MovingHeader()
    try:
        with path.open("rb") as file:
            found = reader(file)
    except (struct.error, IndexError, ValueError, ZeroDivisionError, OverflowError, OSError):
        return MovingHeader()
    return _plausible(*found)


def is_recorded_sound(data: bytes) -> bool:
    """Whether what begins with these bytes is a WebM without a film in it."""
    try:
        return _plausible(*_matroska(io.BytesIO(data))).is_sound
    except (struct.error, IndexError, ValueError):
        return False


def _plausible(width: float, height: float, seconds: float, tracks: frozenset[str]) -> MovingHeader:
    has_size = 1 <= width <= SIDE_MAXIMUM and 1 <= height <= SIDE_MAXIMUM
    return MovingHeader(
        round(width) if has_size else None,
        round(height) if has_size else None,
        max(round(seconds), 1) if 0 < seconds <= SECONDS_MAXIMUM else None,
        SOUND in tracks and SEEN not in tracks,
    )


_Found = tuple[float, float, float, frozenset[str]]
"""Width, height, seconds, and the kinds of tracks of a file that may be a film or a sound."""

_NONE: Final[frozenset[str]] = frozenset()

# ISO base media (ISO/IEC 14496-12): MP4, QuickTime


def _iso(file: BinaryIO) -> _Found:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        movie = first_box(data, b"moov", 0, len(data))
        return (0, 0, 0, _NONE) if movie is None else _of_movie(data, movie)


def _of_movie(data: Content, movie: Box) -> _Found:
    width = height = seconds = 0.0
    tracks = set()
    for box in boxes(data, movie.content, movie.stop):
        if box.kind == b"mvhd":
            is_long = data[box.content] == 1
            place = box.content + (20 if is_long else 12)
            scale, length = struct.unpack_from(">IQ" if is_long else ">II", data, place)
            seconds = length / scale if length != (1 << (64 if is_long else 32)) - 1 else 0.0  # all ones: unknown
        elif box.kind == b"trak":
            tracks.add(_track_kind(data, box))
            header = first_box(data, b"tkhd", box.content, box.stop)
            if header is not None and not width:
                width, height = _of_track(data, header)
    return width, height, seconds, frozenset(tracks)


def _track_kind(data: Content, track: Box) -> str:
    media = first_box(data, b"mdia", track.content, track.stop)
    handler = None if media is None else first_box(data, b"hdlr", media.content, media.stop)
    return SEEN if handler is None else _HANDLERS.get(data[handler.content + 8 : handler.content + 12], SEEN)


_HANDLERS: Final = {b"soun": SOUND, b"text": "", b"sbtl": "", b"meta": "", b"tmcd": ""}
"""Kinds of tracks; chapters of a book that is read are text."""


def _of_track(data: Content, header: Box) -> tuple[float, float]:
    """Width and height, the other way round where the matrix turns the film by a quarter."""
    start = header.content + (52 if data[header.content] == 1 else 40)
    first, second = struct.unpack_from(">ii", data, start)
    width, height = struct.unpack_from(">II", data, start + 36)
    shown = (width / 65_536, height / 65_536)
    return shown[::-1] if abs(first) < abs(second) else shown


# Matroska (RFC 9559): WebM

_SEGMENT, _INFO, _TRACKS, _TRACK, _VIDEO = 0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0
_TRACK_KIND: Final = 0x83
_KINDS: Final = {2: SOUND, 17: ""}
_SCALE, _DURATION, _PIXEL_WIDTH, _PIXEL_HEIGHT = 0x2AD7B1, 0x4489, 0xB0, 0xBA


def _matroska(file: BinaryIO) -> _Found:
    found: dict[int, float] = {_SCALE: 1_000_000.0}
    tracks: set[str] = set()
    _gather(file.read(PIECE_BYTES), found, tracks, depth=0)
    seconds = found.get(_DURATION, 0.0) * found[_SCALE] / 1e9
    return found.get(_PIXEL_WIDTH, 0), found.get(_PIXEL_HEIGHT, 0), seconds, frozenset(tracks)


def _gather(data: bytes, found: dict[int, float], tracks: set[str], depth: int) -> None:
    """Note the first value of each element that is wanted, and the kinds of all tracks."""
    position = 0
    for _ in range(STEPS):
        if position >= len(data):
            return
        name, position = _variable(data, position, keeps_marker=True)
        size, position = _variable(data, position, keeps_marker=False)
        content = data[position : position + size]
        if name in {_SEGMENT, _INFO, _TRACKS, _TRACK, _VIDEO} and depth < 4:
            if name == _TRACKS and len(content) < size:
                tracks.add(SEEN)  # the rest is out of sight
            _gather(content, found, tracks, depth + 1)
        elif name == _TRACK_KIND and len(content) == 1:
            tracks.add(_KINDS.get(content[0], SEEN))
        elif name == _DURATION:
            found.setdefault(name, struct.unpack(">f" if len(content) == 4 else ">d", content)[0])
        elif name in {_PIXEL_WIDTH, _PIXEL_HEIGHT} and len(content) <= 8:
            found.setdefault(name, int.from_bytes(content, "big"))
        elif name == _SCALE and len(content) <= 8:
            found[_SCALE] = float(int.from_bytes(content, "big"))
        position += size


def _variable(data: bytes, position: int, *, keeps_marker: bool) -> tuple[int, int]:
    """An EBML number of variable length, and the position after it. A size with all bits set is unknown: it counts as
    the length of `data`."""
    first = data[position]
    length = 9 - first.bit_length()
    if length > 8:
        raise ValueError
    value = int.from_bytes(data[position : position + length], "big")
    if not keeps_marker:
        value &= (1 << 7 * length) - 1
        if value == (1 << 7 * length) - 1:
            value = len(data)
    return value, position + length


# Sounds


def _wav(file: BinaryIO) -> _Found:
    position, rate = 12, 0
    for _ in range(STEPS):
        file.seek(position)
        kind, size = struct.unpack("<4sI", file.read(8))
        if kind == b"fmt ":
            rate = struct.unpack_from("<HHII", file.read(12))[3]
        elif kind == b"data":
            return 0, 0, size / rate, _NONE
        position += 8 + size + size % 2
    return 0, 0, 0, _NONE


def _flac(file: BinaryIO) -> _Found:
    info = file.read(42)
    rate = int.from_bytes(info[18:21], "big") >> 4
    samples = int.from_bytes(info[21:26], "big") & 0xF_FFFF_FFFF
    return 0, 0, samples / rate, _NONE


def _ogg(file: BinaryIO) -> _Found:
    """By the last page's position, in the samples of its codec (RFC 7845 for Opus: always 48,000 a second)."""
    head = file.read(512)
    place = head.find(b"\x01vorbis")
    rate = 48_000 if b"OpusHead" in head else struct.unpack_from("<I", head, place + 12)[0] if place >= 0 else 0
    end = file.seek(0, 2)
    file.seek(max(end - PIECE_BYTES // 4, 0))
    tail = file.read()
    (position,) = struct.unpack_from("<q", tail, tail.rindex(b"OggS") + 6)
    return 0, 0, position / rate, _NONE


_READERS: Final[Mapping[str, Callable[[BinaryIO], _Found]]] = {
    "video/mp4": _iso,
    "video/quicktime": _iso,
    "audio/mp4": _iso,
    "video/webm": _matroska,
    "audio/wav": _wav,
    "audio/flac": _flac,
    "audio/ogg": _ogg,
}
