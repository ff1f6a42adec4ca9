"""Which rendition of a picture is asked for: its format by the ending of the address, its size, quality and whether it
moves by the query (media.md, Renditions).

Sizes come from a list, so renditions of one picture cannot fill the disk.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NotRequired, TypedDict

from chat.classes import frozen

SIZES: Final = (
    16, 20, 22, 24, 28, 32, 40, 44, 48, 56, 60, 64, 80, 96, 100, 128, 160, 240, 256, 300, 320, 480, 512, 600, 640, 1024,
    1280, 1536, 2048, 3072, 4096,
)  # fmt: skip
"""Pixels of the longer side that may be asked for (media.md, Renditions)."""

DEFAULT_SIZE: Final = 128
"""Of pictures that belong to an account or a guild, where the query names no size."""

DRAWN_BY: Final = 2
"""Goes up when the same rendition comes to look otherwise: so those that are kept are made again."""

Quality = Literal["high", "low", "lossless"]

FORMATS: Final[Mapping[str, str]] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
}
"""Endings for which a picture is redrawn; under any other it is served as it came."""

MOVING_FORMATS: Final = frozenset({"image/webp", "image/gif", "image/png"})

REDRAWN_TYPES: Final = frozenset(
    {
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "image/avif",
        "image/heic",
        "image/heif",
        "image/jxl",
        "image/svg+xml",
        "image/tiff",
    }
)
"""What can be redrawn."""

DRAWINGS: Final = frozenset({"image/svg+xml"})
"""Of these, what is never sent as it came. New ones are stored as bitmaps; such files are from before that."""


MAY_HIDE_FRAMES: Final = frozenset({"image/gif", "image/png"})
"""Formats that can say behind any number of bytes that they move: a look at the head of a file does not decide."""


class RenditionMembers(TypedDict):
    content_type: str
    width: int
    height: int
    quality: Quality
    moving: bool


class ImageJob(TypedDict):
    """What a process is asked for: `kind` is `render`, `placeholder`, `judge` or `draw`; the others are paths."""

    kind: str
    source: NotRequired[str]
    target: NotRequired[str]
    rendition: NotRequired[RenditionMembers]


class ImageAnswer(TypedDict, total=False):
    """What it answers: `refused`, or what the kind of job makes."""

    refused: str
    moving: bool
    placeholder: str
    frames: int
    size: Sequence[int]


@frozen
class Rendition:
    """A picture to be made: it fits into `width` by `height` pixels and is never larger than it was."""

    content_type: str
    width: int
    height: int
    quality: Quality = "high"
    moving: bool = False

    def members(self) -> RenditionMembers:
        """The same as a process is told it."""
        return {
            "content_type": self.content_type,
            "width": self.width,
            "height": self.height,
            "quality": self.quality,
            "moving": self.moving,
        }

    @property
    def name(self) -> str:
        """Tells it from the other renditions of the same picture, and from what was drawn otherwise once."""
        kind = self.content_type.removeprefix("image/")
        motion = "moving" if self.moving else "still"
        return f"{self.width}x{self.height}-{self.quality}-{motion}-{DRAWN_BY}.{kind}"


def next_size(pixels: int) -> int:
    """The least size of the list that is not smaller, or the largest."""
    return SIZES[min(bisect.bisect_left(SIZES, pixels), len(SIZES) - 1)]


@frozen
class Original:
    """What is known of a picture as it came. `width` and `height` None: unknown."""

    content_type: str
    width: int | None
    height: int | None
    moving: bool

    def fits(self, rendition: Rendition) -> bool:
        """Whether the picture is its own rendition."""
        if self.width is None or self.height is None or self.content_type != rendition.content_type:
            return False
        small = self.width <= rendition.width and self.height <= rendition.height
        return small and self.moving == rendition.moving and rendition.quality != "low"
