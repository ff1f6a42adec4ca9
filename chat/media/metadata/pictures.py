"""JPEG, PNG, GIF and WebP without what tells of their makers, and without what follows their end.

What a decoder needs stays, byte for byte: pixels, colour profiles, movement. Of EXIF the orientation stays. Everything
else goes, whether its name is known or not. A picture that is cut off in its pixels stays one that is cut off there.
"""

from __future__ import annotations

import re
import struct
import zlib
from typing import Final

from chat.media.boxes import Content
from chat.media.exif import UPRIGHT, exif_of, orientation_of
from chat.media.metadata.plan import PIECE_BYTES, RewritePlan, Unreadable, steps

EXIF_BYTES: Final = 65_536

# JPEG (ITU-T T.81, annex B)

_MARKER: Final = re.compile(rb"\xff[\x01-\xfe]", re.DOTALL)
_SCAN_END: Final = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]", re.DOTALL)
"""What ends the pixels of a scan: no stuffed zero, no marker to begin anew."""

_ALONE: Final = frozenset({0x01, *range(0xD0, 0xD8)})
"""Markers without a length."""

_FRAMES_AND_TABLES: Final = frozenset({*range(0xC0, 0xD0), 0xDB, 0xDC, 0xDD, 0xDE, 0xDF}) - {0xC8}
_SOI, _EOI, _SOS, _APP0, _APP1, _APP2, _APP14 = 0xD8, 0xD9, 0xDA, 0xE0, 0xE1, 0xE2, 0xEE
_EXIF: Final = b"Exif\0\0"
_JFIF_BYTES: Final = 16
_ADOBE_BYTES: Final = 14


def jpeg(data: Content) -> RewritePlan:
    """Frames, tables, scans, JFIF without a thumbnail, colour profile and Adobe's mark; up to the end of the image."""
    plan, position, has_pixels, is_turned = RewritePlan(data), 2, False, False
    plan.keep(0, 2)
    for _ in steps():
        start = _found(_MARKER, data, position)
        marker = None if start is None else data[start + 1]
        if start is None or (marker == _EOI and has_pixels):
            break
        position = start + 2
        if marker in _ALONE:
            continue
        if marker in (_SOI, _EOI) or start + 4 > len(data):
            raise Unreadable
        (length,) = struct.unpack_from(">H", data, start + 2)
        position += length
        if length < 2 or position > len(data):
            if has_pixels:
                break
            raise Unreadable
        if marker == _SOS:
            stop = _found(_SCAN_END, data, position)
            plan.keep(start, len(data) if stop is None else stop)
            position, has_pixels = len(data) if stop is None else stop, True
        elif marker in _FRAMES_AND_TABLES:
            plan.keep(start, position)
        elif marker == _APP1 and not is_turned and data[start + 4 : start + 10] == _EXIF:
            is_turned = True
            orientation = orientation_of(data[start + 4 : position])
            if orientation != UPRIGHT:
                new = _EXIF + exif_of(orientation)
                plan.put(struct.pack(">BBH", 0xFF, _APP1, 2 + len(new)) + new, start, position)
        else:
            _keep_application_segment(plan, data, start, position)
    if not has_pixels:
        raise Unreadable
    if start is not None:
        plan.keep(start, start + 2)
    return plan


def _keep_application_segment(plan: RewritePlan, data: Content, start: int, stop: int) -> None:
    marker, content = data[start + 1], data[start + 4 : min(start + 20, stop)]
    if marker == _APP0 and content.startswith(b"JFIF\0"):
        _shorten(plan, data, start, stop, _JFIF_BYTES, bytes(2))
    elif marker == _APP14 and content.startswith(b"Adobe"):
        _shorten(plan, data, start, stop, _ADOBE_BYTES, b"")
    elif marker == _APP2 and content.startswith(b"ICC_PROFILE\0"):
        plan.keep(start, stop)


def _shorten(plan: RewritePlan, data: Content, start: int, stop: int, length: int, end: bytes) -> None:
    """Keep a segment up to a length, the last bytes of which are `end`."""
    if stop - start - 2 < length:
        plan.keep(start, stop)
        return
    new = data[start : start + 2] + struct.pack(">H", length) + data[start + 4 : start + 2 + length - len(end)] + end
    plan.put(new, start, stop)


def _found(wanted: re.Pattern[bytes], data: Content, start: int) -> int | None:
    """Where two bytes that are wanted stand next; looked for in pieces, between which other threads have their turn."""
    while start < len(data):
        match = wanted.search(data, start, min(start + PIECE_BYTES + 1, len(data)))
        if match is not None:
            return match.start()
        start += PIECE_BYTES
    return None


# PNG, APNG (PNG specification, third edition)

_PIXEL_CHUNKS: Final = frozenset({b"IDAT", b"fdAT"})
_PNG_CHUNKS: Final = _PIXEL_CHUNKS | frozenset(
    b"IHDR PLTE tRNS gAMA cHRM sRGB iCCP sBIT bKGD hIST pHYs sPLT acTL fcTL cICP mDCV mDCv cLLI cLLi".split()
)


def png(data: Content) -> RewritePlan:
    """Pixels, palette, transparency, colours and movement; up to IEND."""
    plan, position, has_pixels, is_turned = RewritePlan(data), 8, False, False
    plan.keep(0, 8)
    if data[12:16] != b"IHDR":
        raise Unreadable
    for _ in steps():
        if position + 8 > len(data):
            break
        length, kind = struct.unpack_from(">I4s", data, position)
        stop = position + 12 + length
        if not kind.isalpha() or (stop > len(data) and kind not in _PIXEL_CHUNKS):
            break
        has_pixels = has_pixels or kind == b"IDAT"
        if kind == b"IEND":
            plan.put(_png_chunk(b"IEND", b""), position, stop)
            break
        if kind == b"eXIf" and not is_turned:
            is_turned = True
            orientation = orientation_of(data[position + 8 : position + 8 + min(length, EXIF_BYTES)])
            if orientation != UPRIGHT:
                plan.put(_png_chunk(b"eXIf", exif_of(orientation)), position, stop)
        elif kind in _PNG_CHUNKS:
            plan.keep(position, min(stop, len(data)))
        position = stop
    if not has_pixels:
        raise Unreadable
    return plan


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", zlib.crc32(kind + content))


# GIF (GIF89a)

_GIF_BLOCK: Final = re.compile(rb"[\x21\x2c\x3b]", re.DOTALL)
_IMAGE, _EXTENSION, _TRAILER, _CONTROL, _APPLICATION = 0x2C, 0x21, 0x3B, 0xF9, 0xFF
_APPLICATIONS: Final = frozenset({b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012"})
"""How often it runs, and its colour profile."""


def gif(data: Content) -> RewritePlan:
    """Frames, their times, the number of rounds, the colour profile; up to the trailer."""
    plan, position, frames = RewritePlan(data), 13 + _colour_table_bytes(data[10]), 0
    plan.keep(0, min(position, len(data)))
    for _ in steps():
        marker = data[position] if position < len(data) else _TRAILER
        if marker == _TRAILER:
            break
        if marker == _IMAGE and position + 10 < len(data):
            stop = _behind_blocks(data, position + 11 + _colour_table_bytes(data[position + 9]))
            plan.keep(position, stop)
            frames += 1
        elif marker == _EXTENSION and position + 2 < len(data):
            stop = _behind_blocks(data, position + 2)
            label = data[position + 1]
            if label == _CONTROL or (label == _APPLICATION and data[position + 3 : position + 14] in _APPLICATIONS):
                plan.keep(position, stop)
        else:  # nothing that has a meaning: decoders pass over it
            found = _found(_GIF_BLOCK, data, position + 1)
            stop = len(data) if found is None else found
        position = stop
    if not frames:
        raise Unreadable
    if position < len(data):
        plan.keep(position, position + 1)
    return plan


def _behind_blocks(data: Content, position: int) -> int:
    for _ in steps():
        if position >= len(data) or not data[position]:
            break
        position += 1 + data[position]
    return min(position + 1, len(data))


def _colour_table_bytes(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


# WebP (RFC 9649)

_EXTENDED: Final = b"VP8X"
_HAS_EXIF, _HAS_XMP = 0x08, 0x04
_FRAME_CHUNKS: Final = frozenset({b"ALPH", b"VP8 ", b"VP8L"})
_WEBP_CHUNKS: Final = _FRAME_CHUNKS | frozenset({b"ICCP", b"ANIM"})


def webp(data: Content) -> RewritePlan:
    """Pixels, colour profile, movement; up to the end that it names."""
    plan = RewritePlan(data)
    (told,) = struct.unpack_from("<I", data, 4)
    end = min(8 + told + told % 2, len(data))
    is_extended, orientation = data[12:16] == _EXTENDED, UPRIGHT
    if not is_extended and data[12:16] not in _FRAME_CHUNKS:
        raise Unreadable
    chunks = list(_chunks(data, 12, end))
    for kind, start, stop in chunks:
        if kind == b"EXIF" and is_extended:
            orientation = orientation_of(data[start + 8 : min(stop, start + 8 + EXIF_BYTES)])
            break
    is_turned, body = False, RewritePlan(data)
    for kind, start, stop in chunks:
        if kind == _EXTENDED and start == 12:
            flags = data[20] & ~(_HAS_EXIF | _HAS_XMP) | (_HAS_EXIF if orientation != UPRIGHT else 0)
            body.put(data[12:20] + bytes([flags]) + data[21:stop], start, stop)
        elif kind == b"EXIF" and orientation != UPRIGHT and not is_turned:
            is_turned = True
            new = exif_of(orientation)
            body.put(struct.pack("<4sI", b"EXIF", len(new)) + new, start, stop)
        elif kind == b"ANMF":
            _keep_frame(body, data, start, stop)
        elif kind in _WEBP_CHUNKS:
            body.keep(start, stop)
    size = told + told % 2 - (end - 12 - body.size)  # of a picture that is cut off still that of the whole
    plan.put(struct.pack("<4sI4s", b"RIFF", size + size % 2, b"WEBP"), 0, 12)
    plan.extend(body)
    return plan


def _keep_frame(plan: RewritePlan, data: Content, start: int, stop: int) -> None:
    inside = list(_chunks(data, start + 24, stop))
    kept = [(first, last) for kind, first, last in inside if kind in _FRAME_CHUNKS]
    if len(kept) == len(inside):
        plan.keep(start, stop)
        return
    size = 16 + sum(last - first for first, last in kept)
    plan.put(struct.pack("<4sI", b"ANMF", size) + data[start + 8 : start + 24], start, start + 24)
    for first, last in kept:
        plan.keep(first, last)


def _chunks(data: Content, position: int, end: int) -> list[tuple[bytes, int, int]]:
    found = []
    for _ in steps():
        if position + 8 > end:
            break
        kind, length = struct.unpack_from("<4sI", data, position)
        stop = position + 8 + length + length % 2
        found.append((kind, position, min(stop, end)))
        position = stop
    return found
