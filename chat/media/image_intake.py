"""What may become an avatar, an icon, a banner, a splash or an expression: ten formats (media.md, Image intake).

Of an SVG only the root element is parsed, without entities of its own and without anything from outside (what
defusedxml forbids). What follows is never looked at, and is served so that no browser runs it (`chat.media.delivery`).
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final
from xml.parsers import expat

from chat.media.image_header import HEADER_BYTES, ImageHeader, image_header


def intake_header(content: bytes) -> ImageHeader | None:
    """The header of a whole image of one of the formats; None for everything else, and for a moving AVIF."""
    header = image_header(content, whole=True) or vector_header(content)
    if header is None or header.content_type in NOT_TAKEN or (header.content_type == "image/avif" and header.animated):
        return None
    return header


NOT_TAKEN: Final = frozenset({"image/tiff"})
"""Types of images that are accepted as attachments and nowhere else."""

# SVG

SVG: Final = "image/svg+xml"

ROOT: Final = "http://www.w3.org/2000/svg svg"
"""The name of the root element, with its namespace in front."""

DEFAULT_SIZE: Final = (300, 150)
"""Of an image that names no size (CSS 2.1, 10.3.2)."""

SIDE_MAXIMUM: Final = 100_000
PIECE_BYTES: Final = 4_096

_LENGTH: Final = re.compile(r"\s*\+?([0-9]{1,9}(?:\.[0-9]{0,9})?)\s*(px|pt|pc|mm|cm|in)?\s*", re.ASCII)
_VIEW_BOX: Final = re.compile(r"[\s,]+")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}(?:\.[0-9]{0,9})?", re.ASCII)
_PIXELS: Final = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}


class _EntityDeclared(Exception):
    """The text declares an entity."""


def vector_header(content: bytes) -> ImageHeader | None:
    """The header of an SVG that begins with these bytes (HEADER_BYTES of them count); None if it is none."""
    root: list[dict[str, str] | None] = []

    def element(name: str, attributes: dict[str, str]) -> None:
        if not root:
            root.append(attributes if name == ROOT else None)

    def entity(*declaration: object) -> None:
        raise _EntityDeclared

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = False
    parser.StartElementHandler = element
    parser.EntityDeclHandler = entity
    parser.UnparsedEntityDeclHandler = entity
    parser.ExternalEntityRefHandler = None
    try:
        for start in range(0, min(len(content), HEADER_BYTES), PIECE_BYTES):
            parser.Parse(content[start : start + PIECE_BYTES], False)
            if root:
                break
    except (expat.ExpatError, _EntityDeclared, ValueError, LookupError):  # the last two: an unknown encoding
        if not root:
            return None
    attributes = root[0] if root else None
    return None if attributes is None else ImageHeader(SVG, *_size(attributes))


def _size(attributes: dict[str, str]) -> tuple[int, int]:
    """Width and height, else those of the view box, else the default."""
    width, height = _pixels(attributes.get("width")), _pixels(attributes.get("height"))
    box = _view_box(attributes.get("viewBox", ""))
    if width is None or height is None:
        if box is None:
            box = (float(width or DEFAULT_SIZE[0]), float(height or DEFAULT_SIZE[1]))
        elif width is not None:
            box = (width, width * box[1] / box[0])
        elif height is not None:
            box = (height * box[0] / box[1], height)
        width, height = box
    return _side(width), _side(height)


def _pixels(text: str | None) -> float | None:
    match = None if text is None else _LENGTH.fullmatch(text)
    return None if match is None else float(match[1]) * _PIXELS[match[2] or ""]


def _view_box(text: str) -> tuple[float, float] | None:
    numbers = _VIEW_BOX.split(text.strip())
    if len(numbers) != 4 or any(_NUMBER.fullmatch(number) is None for number in numbers):
        return None
    width, height = float(numbers[2]), float(numbers[3])
    return (width, height) if width > 0 and height > 0 else None


def _side(length: float) -> int:
    """In whole pixels; at least one of something."""
    return 0 if length <= 0 else min(max(round(length), 1), SIDE_MAXIMUM)


# Images inside JSON: base64 alone, or a data URL, whose payload is everything after the first comma

PAYLOAD_CHARACTERS: Final = 139_810_136
"""The longest payload (media.md, Image intake)."""


class LengthRefused(Exception):
    """The payload is empty, or longer than any may be."""


class SizeRefused(Exception):
    """The payload stands for more bytes than are wanted here."""


def decoded(text: str, maximum: int) -> bytes | None:
    """The bytes behind the text; None when its payload is not base64.

    Both refusals come before anything is decoded.

    :raises LengthRefused: unless the payload has 1 to PAYLOAD_CHARACTERS characters.
    :raises SizeRefused: when there are more than `maximum` bytes.
    """
    start = text.find(",") + 1
    characters = len(text) - start
    if not 1 <= characters <= PAYLOAD_CHARACTERS:
        raise LengthRefused
    if characters * 3 // 4 > maximum + 3:
        raise SizeRefused
    if characters % 4:
        return None
    try:
        data = base64.b64decode(text[start:].encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    if len(data) > maximum:
        raise SizeRefused
    return data
