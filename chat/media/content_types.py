"""What a file is, told from its first bytes and never from what its sender says (ASVS 5.2).

Nothing here answers with a type that a browser would run: markup and scripts are plain text.
"""

from __future__ import annotations

from typing import Final

SNIFFED_BYTES: Final = 4_096
"""How much of a file decides."""

BINARY: Final = "application/octet-stream"
TEXT: Final = "text/plain; charset=utf-8"

IMAGE_TYPES: Final = frozenset(
    {
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "image/avif",
        "image/heic",
        "image/heif",
        "image/jxl",
        "image/tiff",
    }
)
"""What is shown as an image."""

MOVING_TYPES: Final = frozenset(
    {
        "video/mp4",
        "video/quicktime",
        "video/webm",
        "audio/webm",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/flac",
        "audio/wav",
    }
)
"""What is played."""

_BEGINNINGS: Final = (
    (b"\xff\x0a", "image/jxl"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "image/jxl"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
)

_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}

_BRANDS: Final = {
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"heim": "image/heic",
    b"heis": "image/heic",
    b"hevc": "image/heic",
    b"hevx": "image/heic",
    b"hevm": "image/heic",
    b"hevs": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
    b"qt  ": "video/quicktime",
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
}
"""Brands of ISO base media files that are not `video/mp4`."""

_CODED: Final = frozenset({"image/avif", "image/heic"})

_TEXT_CONTROLS: Final = frozenset(b"\t\n\r\f\b\x1b")


def content_type(head: bytes) -> str:
    """The media type of a file that begins with these bytes (up to SNIFFED_BYTES of them count)."""
    head = head[:SNIFFED_BYTES]
    for beginning, name in _BEGINNINGS:
        if head.startswith(beginning):
            return name
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12], BINARY)
    if head[4:8] == b"ftyp":
        return _of_brands(brands(head))
    if len(head) >= 2 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2:  # an MPEG frame of layer III
        return "audio/mpeg"
    return TEXT if _is_text(head) else BINARY


def brands(head: bytes) -> list[bytes]:
    """The brands of an ISO base media file, the major one first (ISO/IEC 14496-12, 4.3)."""
    size = min(int.from_bytes(head[:4], "big"), len(head))
    return [head[8:12], *(head[start : start + 4] for start in range(16, size - 3, 4))]


def _of_brands(named: list[bytes]) -> str:
    found = _BRANDS.get(named[0], "video/mp4")
    if found == "image/heif":  # a file for any codec: the others say which
        return next((kind for kind in map(_BRANDS.get, named[1:]) if kind in _CODED), found)
    return found


def _is_text(head: bytes) -> bool:
    if any(byte < 32 and byte not in _TEXT_CONTROLS for byte in head) or b"\x7f" in head:
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4 and error.reason == "unexpected end of data"
    return True
