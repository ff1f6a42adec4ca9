"""Writes ZIP files (APPNOTE 6.3.9) that grow by whole entries, over restarts too.

`zipfile` keeps what it knows of every entry in memory until the end, and cannot go on with a file that another process
began. Here the list of entries grows in a second file beside the first, and a position says how much of both is whole:
a writer that opens them at that position cuts off what came after it and goes on. At the end the list goes behind the
entries, and only then is the file one that others can read.

Nothing here keeps more in memory than one piece of one entry, however many there are.
"""

from __future__ import annotations

import datetime
import os
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, Final

import attrs

from chat.classes import frozen

PIECE_BYTES: Final = 1_048_576
COMPRESSION_LEVEL: Final = 6

STORED: Final = 0
DEFLATED: Final = 8
UTF_8_NAME: Final = 0x800
VERSION_PLAIN: Final = 20
VERSION_64: Final = 45
MADE_BY: Final = 3 << 8 | VERSION_64
"""Unix: the attributes of an entry are a file mode."""

ATTRIBUTES: Final = 0o100600 << 16
CRC_PLACE: Final = 14
"""Where the checksum stands in the header of an entry."""

LIMIT_16: Final = 0xFFFF
LIMIT_32: Final = 0xFFFFFFFF

_LOCAL: Final = struct.Struct("<IHHHHHIIIHH")
_CENTRAL: Final = struct.Struct("<IHHHHHHIIIHHHHHII")
_END_64: Final = struct.Struct("<IQHHIIQQQQ")
_LOCATOR_64: Final = struct.Struct("<IIQI")
_END: Final = struct.Struct("<IHHHHIIH")


class PositionLost(Exception):
    """The files hold less than the position says: only a fresh start helps."""


@frozen
class ZipPosition:
    """How much is whole: bytes of the file, bytes of the list of its entries, and how many entries those are."""

    offset: int = 0
    listed: int = 0
    entries: int = 0


@frozen
class _ZipEntry:
    name: bytes
    method: int
    crc: int
    packed: int
    size: int
    moment: tuple[int, int]
    """Date and time as ZIP files have them."""


class ZipWriter:
    """A ZIP file at work; every method is for a thread. Raises OSError when the disk is at fault."""

    def __init__(self, path: Path, position: ZipPosition | None = None) -> None:
        """Open or make the file, and cut it to the position.

        :raises PositionLost: when there is less.
        """
        position = ZipPosition() if position is None else position
        self._file = _opened(path, position.offset)
        try:
            self._list = _opened(list_of(path), position.listed)
        except BaseException:
            self._file.close()
            raise
        self._entries = position.entries

    def add(self, name: str, content: bytes, now_ms: int) -> None:
        """One entry, compressed."""
        packer = zlib.compressobj(COMPRESSION_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = packer.compress(content) + packer.flush()
        entry = _ZipEntry(name.encode(), DEFLATED, zlib.crc32(content), len(packed), len(content), _moment(now_ms))
        offset = self._file.tell()
        self._file.write(_local_header(entry))
        self._file.write(packed)
        self._note(entry, offset)

    def add_file(self, name: str, source: Path, now_ms: int) -> bool:
        """One entry as it lies on the disk; False, and nothing added, when it is gone."""
        try:
            stream = source.open("rb")
        except FileNotFoundError:
            return False
        with stream:
            size = os.fstat(stream.fileno()).st_size
            entry = _ZipEntry(name.encode(), STORED, 0, size, size, _moment(now_ms))
            offset = self._file.tell()
            self._file.write(_local_header(entry))
            entry = attrs.evolve(entry, crc=self._copy(stream, size))
        end = self._file.tell()
        self._file.seek(offset + CRC_PLACE)
        self._file.write(struct.pack("<I", entry.crc))
        self._file.seek(end)
        self._note(entry, offset)
        return True

    def save(self) -> ZipPosition:
        """Bring all to the disk; where it ends."""
        for stream in (self._file, self._list):
            stream.flush()
            os.fsync(stream.fileno())
        return ZipPosition(self._file.tell(), self._list.tell(), self._entries)

    def finish(self) -> int:
        """The list goes behind the entries, and to the disk: the file is whole. Returns its bytes."""
        offset, size = self._file.tell(), self._list.tell()
        self._list.seek(0)
        self._copy(self._list, size)
        self._file.write(_end(offset, size, self._entries))
        self.save()
        return self._file.tell()

    def close(self) -> None:
        try:
            self._file.close()
        finally:
            self._list.close()

    def _copy(self, stream: BinaryIO, size: int) -> int:
        crc, left = 0, size
        while left:
            piece = stream.read(min(PIECE_BYTES, left))
            if not piece:
                raise OSError(f"{stream.name} became shorter while it was read")
            self._file.write(piece)
            crc = zlib.crc32(piece, crc)
            left -= len(piece)
        return crc

    def _note(self, entry: _ZipEntry, offset: int) -> None:
        self._list.write(_central_header(entry, offset))
        self._entries += 1


def list_of(path: Path) -> Path:
    """Where the list of entries lies while the file is at work."""
    return path.with_name(f"{path.name}.list")


def _opened(path: Path, size: int) -> BinaryIO:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    stream = os.fdopen(descriptor, "r+b", buffering=PIECE_BYTES)
    try:
        is_lost = os.fstat(descriptor).st_size < size
        if not is_lost:
            stream.truncate(size)
            stream.seek(size)
    except OSError:
        stream.close()
        raise
    if is_lost:
        stream.close()
        raise PositionLost
    return stream


def _moment(now_ms: int) -> tuple[int, int]:
    then = datetime.datetime.fromtimestamp(now_ms / 1_000, datetime.UTC)
    day = (max(then.year, 1980) - 1980) << 9 | then.month << 5 | then.day
    return day, then.hour << 11 | then.minute << 5 | then.second // 2


def _local_header(entry: _ZipEntry) -> bytes:
    large = entry.size >= LIMIT_32 or entry.packed >= LIMIT_32
    extra = struct.pack("<HHQQ", 1, 16, entry.size, entry.packed) if large else b""
    day, time = entry.moment
    head = _LOCAL.pack(
        0x04034B50,
        VERSION_64 if large else VERSION_PLAIN,
        UTF_8_NAME,
        entry.method,
        time,
        day,
        entry.crc,
        LIMIT_32 if large else entry.packed,
        LIMIT_32 if large else entry.size,
        len(entry.name),
        len(extra),
    )
    return head + entry.name + extra


def _central_header(entry: _ZipEntry, offset: int) -> bytes:
    large = [value for value in (entry.size, entry.packed, offset) if value >= LIMIT_32]
    extra = struct.pack(f"<HH{len(large)}Q", 1, 8 * len(large), *large) if large else b""
    day, time = entry.moment
    head = _CENTRAL.pack(
        0x02014B50,
        MADE_BY,
        VERSION_64 if large else VERSION_PLAIN,
        UTF_8_NAME,
        entry.method,
        time,
        day,
        entry.crc,
        min(entry.packed, LIMIT_32),
        min(entry.size, LIMIT_32),
        len(entry.name),
        len(extra),
        0,
        0,
        0,
        ATTRIBUTES,
        min(offset, LIMIT_32),
    )
    return head + entry.name + extra


def _end(offset: int, size: int, entries: int) -> bytes:
    """What closes the file: where the list begins, its bytes, its entries."""
    end = _END.pack(
        0x06054B50, 0, 0, min(entries, LIMIT_16), min(entries, LIMIT_16), min(size, LIMIT_32), min(offset, LIMIT_32), 0
    )
    if entries < LIMIT_16 and size < LIMIT_32 and offset < LIMIT_32:
        return end
    record = _END_64.pack(0x06064B50, _END_64.size - 12, MADE_BY, VERSION_64, 0, 0, entries, entries, size, offset)
    return record + _LOCATOR_64.pack(0x07064B50, 0, offset + size, 1) + end
