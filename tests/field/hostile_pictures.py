"""Small files that keep whoever shows them busy for minutes, or that reach for what is not theirs: drawings, pictures
that move, and pictures of very many pixels.

`DRAWINGS_REFUSED` cannot be drawn within the bounds, `DRAWINGS_DRAWN` can, without what is harmful in them.
"""

import base64
import io
import itertools
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Final

from PIL import Image

HEAD: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100" height="100" '
    'viewBox="0 0 100 100">'
)
GREEN: Final = '<rect width="100" height="100" fill="#008000"/>'
"""Lies under everything that is drawn: what was left out of a drawing shows it."""


def drawing(inside: str, *, before: str = "") -> bytes:
    """A drawing of 100 by 100 with these elements."""
    return f"{before}{HEAD}{inside}</svg>".encode()


def nested_use(levels: int = 12, each: int = 10) -> bytes:
    """Ten times ten times ten ...: 1.6 KB that a browser draws for hours."""
    groups = ['<g id="a0"><rect width="9" height="9"/></g>']
    groups += [f'<g id="a{level + 1}">' + f'<use href="#a{level}"/>' * each + "</g>" for level in range(levels)]
    return drawing(f'<defs>{"".join(groups)}</defs><use href="#a{levels}"/>')


def _entities() -> bytes:
    names = "abcdefghij"
    lines = ['<!ENTITY a "ha">']
    for earlier, name in itertools.pairwise(names):
        lines.append(f'<!ENTITY {name} "{f"&{earlier};" * 10}">')
    return drawing(f"{GREEN}<text>&j;</text>", before=f"<!DOCTYPE svg [{''.join(lines)}]>")


def _late_entity() -> bytes:
    """Declared in a file that begins as any other."""
    return f'<!-- {"-x" * 3_000} --><!DOCTYPE svg [<!ENTITY a "ha">]>'.encode() + drawing("<text>&a;</text>")


def _filtered(filters: str) -> bytes:
    return drawing(f'<filter id="f">{filters}</filter><rect width="90" height="90" filter="url(#f)"/>')


def _data_bomb() -> bytes:
    data = base64.b64encode(png(30_000)).decode()
    return drawing(f'<image width="90" height="90" href="data:image/png;base64,{data}"/>')


DRAWINGS_REFUSED: Final[Mapping[str, Callable[[], bytes]]] = {
    "nested use": nested_use,
    "nested use of a few": lambda: nested_use(25, 2),
    "entities": _entities,
    "an entity declared late": _late_entity,
    "a file as an entity": lambda: drawing(
        "<text>&x;</text>", before='<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    ),
    "a deep tree": lambda: drawing("<g>" * 5_000 + "</g>" * 5_000),
    "too many paths": lambda: drawing('<path d="M0 0L100 100L30 20z"/>' * 100_000),
    "large paths upon each other": lambda: drawing('<path d="M0 0L100 100L30 20L9 80z"/>' * 19_000),
    "groups of half opacity": lambda: drawing('<g opacity="0.9">' * 60 + GREEN + "</g>" * 60),
    "a wide morphology": lambda: _filtered('<feMorphology operator="dilate" radius="50"/>'),
    "much turbulence": lambda: _filtered('<feTurbulence baseFrequency="0.05" numOctaves="99999999"/>'),
    "900 million pixels in data": _data_bomb,
    "no end": lambda: drawing(GREEN)[:-6],
    "not well-formed": lambda: drawing(f"{GREEN}<g></rect>"),
}

DRAWINGS_DRAWN: Final[Mapping[str, Callable[[], bytes]]] = {
    "a file": lambda: drawing(f'{GREEN}<image width="100" height="100" href="file:///etc/passwd"/>'),
    "a page": lambda: drawing(f'{GREEN}<image width="100" height="100" xlink:href="http://127.0.0.1:9/x.png"/>'),
    "a style sheet elsewhere": lambda: drawing(
        f'{GREEN}<style>@import url("http://127.0.0.1:9/x.css");</style>',
        before='<?xml-stylesheet href="http://127.0.0.1:9/x.css"?>',
    ),
    "a script": lambda: drawing(f"{GREEN}<script>while (true) {{}}</script>"),
    "a page inside": lambda: drawing(
        f'{GREEN}<foreignObject width="100" height="100"><body xmlns="http://www.w3.org/1999/xhtml">'
        '<iframe src="http://127.0.0.1:9/"/></body></foreignObject>'
    ),
    "a pattern of itself": lambda: drawing(
        f'{GREEN}<pattern id="p" width="9" height="9"><rect width="9" height="9" fill="url(#p)"/></pattern>'
        '<rect width="90" height="90" fill="url(#p)"/>'
    ),
    "a mask of itself": lambda: drawing(
        f'{GREEN}<mask id="m"><rect width="9" height="9" mask="url(#m)"/></mask><rect width="9" mask="url(#m)"/>'
    ),
    "a marker of itself": lambda: drawing(
        f'{GREEN}<marker id="k" markerWidth="9" markerHeight="9"><path d="M0 0h9" marker-end="url(#k)"/></marker>'
        '<path d="M0 0h90" marker-end="url(#k)"/>'
    ),
    "a use of itself": lambda: drawing(f'{GREEN}<g id="g"><use href="#g"/></g>'),
    "a wide blur": lambda: drawing(
        f'{GREEN}<filter id="f"><feGaussianBlur stdDeviation="100000"/></filter>'
        '<g filter="url(#f)"><path d="M0 0h9v9z"/></g>'
    ),
    "text without end": lambda: drawing(f'{GREEN}<text x="9" y="9" font-family="nowhere">{"x" * 5_000}</text>'),
}


def png(side: int) -> bytes:
    """A whole PNG of few bytes and side times side black pixels."""
    rows = zlib.compress(bytes((1 + (side + 7) // 8) * side))
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return _png(header, _chunk(b"IDAT", rows))


def _png(header: bytes, *chunks: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + b"".join(chunks) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def gif(frames: int = 1_000, side: int = 4_000) -> bytes:
    """Frames of one colour each, in two bits a pixel at most."""
    first = io.BytesIO()
    Image.new("P", (side, side)).save(first, "GIF")
    data = first.getvalue()
    start = data.index(b",", 13)
    frame = b"\x21\xf9\x04\x00\x02\x00\x00\x00" + data[start:-1]
    return data[:start] + frame * frames + b";"


def grown_gif() -> bytes:
    """A GIF of 8 by 8 whose second frame is 65,535 by 65,535."""
    small = bytearray(gif(2, 8))
    at = small.rindex(b",", 0, len(small) - 12)
    small[at + 5 : at + 9] = b"\xff\xff\xff\xff"
    return bytes(small)


def apng(frames: int = 1_000, side: int = 4_000, before: bytes = b"") -> bytes:
    """The same as an APNG; `before` are chunks in front of the one that says that it moves."""
    rows = zlib.compress(bytes((1 + (side + 7) // 8) * side), 9)
    chunks = [before, _chunk(b"acTL", struct.pack(">II", frames, 0))]
    number = 0
    for frame in range(frames):
        control = struct.pack(">IIIIIHHBB", number, side, side, 0, 0, 1, 20, 0, 0)
        chunks.append(_chunk(b"fcTL", control))
        number += 1
        if frame:
            chunks.append(_chunk(b"fdAT", struct.pack(">I", number) + rows))
            number += 1
        else:
            chunks.append(_chunk(b"IDAT", rows))
    return _png(struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0), *chunks)


def late_apng() -> bytes:
    """An APNG that says only behind 300 KB that it moves."""
    return apng(40, 4_000, before=_chunk(b"tEXt", b"Comment\0" + b"x" * 300_000))


def webp(frames: int = 1_000, side: int = 4_000) -> bytes:
    """The same as an animated WebP."""
    still = io.BytesIO()
    Image.new("RGB", (side, side)).save(still, "WEBP", lossless=True)
    image = still.getvalue()[12:]
    extent = (side - 1).to_bytes(3, "little") * 2
    frame = bytes(6) + extent + (20).to_bytes(3, "little") + b"\x02" + image
    extended = b"VP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + extent
    control = b"ANIM" + struct.pack("<I", 6) + bytes(6)
    body = b"WEBP" + extended + control + (b"ANMF" + struct.pack("<I", len(frame)) + frame) * frames
    return b"RIFF" + struct.pack("<I", len(body)) + body


MOVES_TOO_MUCH: Final[Mapping[str, Callable[[], bytes]]] = {
    "GIF": lambda: gif(1_000, 4_000 // 4),
    "GIF of many frames": lambda: gif(10_000, 8),
    "GIF that grows": grown_gif,
    "APNG": lambda: apng(500),
    "APNG that says so late": late_apng,
    "WebP": lambda: webp(300),
}
"""None is larger than a few megabytes."""

TOO_LARGE: Final[Mapping[str, Callable[[], bytes]]] = {
    "PNG": lambda: png(30_000),
    "GIF": lambda: gif(1, 8).replace(b"\x08\x00\x08\x00", b"\xff\xff\xff\xff", 1),
}
