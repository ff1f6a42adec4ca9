"""As much of films and sounds as tells how large they are and how long they last, written by hand."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tests.image_samples import box


def mp4(
    brand: bytes = b"mp42", *, size: tuple[int, int] = (640, 360), turned: bool = False, moov_last: bool = True
) -> bytes:
    """A film of 12.4 seconds."""
    matrix = (0, 65_536, 0, -65_536, 0, 0, 0, 0, 1 << 30) if turned else (65_536, 0, 0, 0, 65_536, 0, 0, 0, 1 << 30)
    track = bytes(40) + struct.pack(">9i", *matrix) + struct.pack(">II", size[0] << 16, size[1] << 16)
    movie = bytes(12) + struct.pack(">II", 1_000, 12_400) + bytes(80)
    moov = box(b"moov", box(b"mvhd", movie), box(b"trak", box(b"tkhd", track)))
    large = struct.pack(">I4sQ", 1, b"mdat", 16 + 300_000) + bytes(300_000)
    parts = [large, moov] if moov_last else [moov, large]
    return box(b"ftyp", brand, bytes(4)) + b"".join(parts)


def element(name: int, content: bytes) -> bytes:
    """An element of Matroska with a size of eight bytes."""
    return name.to_bytes((name.bit_length() + 7) // 8, "big") + (1 << 56 | len(content)).to_bytes(8, "big") + content


def track(kind: int) -> bytes:
    """A track of WebM: 1 is seen, 2 is heard."""
    return element(0xAE, element(0x83, bytes([kind])))


def webm(tracks: Sequence[bytes] | None = None) -> bytes:
    """A film of 3.2 seconds and 320 by 180 pixels, or with these tracks, whose segment has no size yet."""
    info = element(0x1549A966, element(0x2AD7B1, b"\x0f\x42\x40") + element(0x4489, struct.pack(">d", 3_200.0)))
    video = element(0xE0, element(0xB0, b"\x01\x40") + element(0xBA, b"\xb4"))
    all_tracks = element(0x1654AE6B, element(0xAE, video) if tracks is None else b"".join(tracks))
    return element(0x1A45DFA3, b"") + b"\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff" + info + all_tracks


def wav() -> bytes:
    """Two seconds of silence."""
    data = bytes(16_000)
    form = struct.pack("<HHIIHH", 1, 1, 8_000, 8_000, 1, 8)
    chunks = b"WAVE" + b"fmt " + struct.pack("<I", len(form)) + form + b"LIST" + struct.pack("<I", 3) + b"abc\0"
    chunks += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks


def flac() -> bytes:
    """Five seconds as its header says."""
    return b"fLaC\0\0\0\x22" + bytes(10) + (44_100 << 44 | 5 * 44_100).to_bytes(8, "big") + bytes(16)


def ogg() -> bytes:
    """Four seconds of Opus."""
    first = b"OggS\0\2" + bytes(21) + b"\x13OpusHead" + bytes(11)
    return first + b"OggS\0\4" + struct.pack("<q", 4 * 48_000) + bytes(13)


SAMPLES: Final[Mapping[str, tuple[str, Callable[[], bytes], tuple[int | None, int | None, int]]]] = {
    "mp4": ("video/mp4", mp4, (640, 360, 12)),
    "turned": ("video/mp4", lambda: mp4(turned=True), (360, 640, 12)),
    "fast start": ("video/mp4", lambda: mp4(moov_last=False), (640, 360, 12)),
    "quicktime": ("video/quicktime", lambda: mp4(b"qt  "), (640, 360, 12)),
    "m4a": ("audio/mp4", lambda: mp4(b"M4A ", size=(0, 0)), (None, None, 12)),
    "webm": ("video/webm", webm, (320, 180, 3)),
    "wav": ("audio/wav", wav, (None, None, 2)),
    "flac": ("audio/flac", flac, (None, None, 5)),
    "ogg": ("audio/ogg", ogg, (None, None, 4)),
}
"""By name: media type, file, and width, height, seconds."""
