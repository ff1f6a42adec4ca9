"""Drawings (SVG) become bitmaps: only the image process imports this, and gives it little time and memory.

No drawing leaves the server as it came: a few hundred bytes of it can keep a browser busy for minutes. What is drawn is
a copy that is written here, element by element: without declarations and entities, and without any reference but those
into the drawing itself and to data in it. So nothing else is read, neither from the disk nor from the network.
"""

from __future__ import annotations

from typing import Final
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import resvg_py

from chat.media.image_header import ImageHeader

BYTES_MAXIMUM: Final = 4 << 20
ELEMENTS_MAXIMUM: Final = 20_000
DEPTH_MAXIMUM: Final = 100
"""Of elements in each other; the library's own walk takes about 250."""

_WITH_PIXELS: Final = frozenset({"image", "feImage"})
"""The elements whose reference the library follows out of the drawing."""

_INSIDE: Final = ("#", "data:")
_TEXT: Final = "text"


class NotDrawn(Exception):
    """The drawing is broken, or beyond the bounds."""


def drawn(data: bytes, header: ImageHeader, box: tuple[int, int]) -> bytes:
    """A PNG of the drawing, as large as fits into the box; raises NotDrawn.

    Text is drawn with the fonts that the system has, and not at all where it has none.
    """
    copy = _Copy()
    copy.read(data)
    scale = min(box[0] / header.width, box[1] / header.height)
    width, height = (max(1, round(side * scale)) for side in (header.width, header.height))
    try:
        return resvg_py.svg_to_bytes(
            svg_string=copy.text(), width=width, height=height, skip_system_fonts=not copy.has_text
        )
    except ValueError as error:
        raise NotDrawn("the library refuses it") from error


class _Copy:
    """Writes a drawing once more, without what is not to be drawn."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._elements = 0
        self._depth = 0
        self.has_text = False

    def text(self) -> str:
        return "".join(self._pieces)

    def read(self, data: bytes) -> None:
        """Read the whole drawing; raises NotDrawn."""
        if len(data) > BYTES_MAXIMUM:
            raise NotDrawn("it is too long")
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.ordered_attributes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = None
        try:
            parser.Parse(data, True)
        except (expat.ExpatError, ValueError, LookupError) as error:  # the last two: an unknown encoding
            raise NotDrawn("it is not well-formed") from error

    def _start(self, name: str, attributes: list[str]) -> None:
        self._elements += 1
        self._depth += 1
        if self._elements > ELEMENTS_MAXIMUM or self._depth > DEPTH_MAXIMUM:
            raise NotDrawn("it has too many elements")
        local = _local(name)
        self.has_text = self.has_text or local == _TEXT
        self._pieces.append(f"<{name}")
        for key, value in zip(attributes[::2], attributes[1::2], strict=True):
            if local not in _WITH_PIXELS or _local(key) != "href" or value.strip().startswith(_INSIDE):
                self._pieces.append(f" {key}={quoteattr(value)}")
        self._pieces.append(">")

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._pieces.append(f"</{name}>")

    def _characters(self, text: str) -> None:
        self._pieces.append(escape(text))

    def _entity(self, *declaration: object) -> None:
        raise NotDrawn("it declares an entity")


def _local(name: str) -> str:
    return name.rpartition(":")[2]
