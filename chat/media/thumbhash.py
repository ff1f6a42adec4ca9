"""ThumbHash: about 25 bytes that stand for a picture until it is there (the format of evanw/thumbhash).

A picture is taken apart into brightness, two differences of colour and opacity, and the coarsest waves of each are
kept (a cosine transform). The work grows with the pixels, so callers shrink the picture first: beyond SIDE_MAXIMUM the
format takes none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import attrs

SIDE_MAXIMUM: Final = 100
"""Pixels; the format's own bound."""


@attrs.frozen
class _Waves:
    """A channel: its mean, its other waves scaled to 0..1, and by how much they were scaled."""

    mean: float
    others: list[float]
    scale: float


def thumbhash(width: int, height: int, rgba: bytes) -> bytes:
    """The hash of a picture in rows of red, green, blue and opacity; ValueError for one that is too large."""
    if not (0 < width <= SIDE_MAXIMUM and 0 < height <= SIDE_MAXIMUM and len(rgba) == 4 * width * height):
        raise ValueError("no picture of a size that has a hash")
    opacity = [value / 255 for value in rgba[3::4]]
    total = sum(opacity)
    red, green, blue = (_composited(rgba[place::4], opacity, total) for place in range(3))
    is_clear = total < width * height
    longest, most = max(width, height), 5 if is_clear else 7
    across, down = (max(1, _rounded(most * side / longest)) for side in (width, height))
    brightness = [(r + g + b) / 3 for r, g, b in zip(red, green, blue, strict=True)]
    yellow_blue = [(r + g) / 2 - b for r, g, b in zip(red, green, blue, strict=True)]
    red_green = [r - g for r, g in zip(red, green, strict=True)]
    light = _waves(brightness, width, height, max(3, across), max(3, down))
    warm, tint = _waves(yellow_blue, width, height, 3, 3), _waves(red_green, width, height, 3, 3)
    clear = _waves(opacity, width, height, 5, 5) if is_clear else None
    is_wide = width > height
    first = (
        _rounded(63 * light.mean)
        | _rounded(31.5 + 31.5 * warm.mean) << 6
        | _rounded(31.5 + 31.5 * tint.mean) << 12
        | _rounded(31 * light.scale) << 18
        | is_clear << 23
    )
    second = (
        (down if is_wide else across) | _rounded(63 * warm.scale) << 3 | _rounded(63 * tint.scale) << 9 | is_wide << 15
    )
    head = first.to_bytes(3, "little") + second.to_bytes(2, "little")
    if clear is not None:
        head += bytes([_rounded(15 * clear.mean) | _rounded(15 * clear.scale) << 4])
    channels = (light, warm, tint) if clear is None else (light, warm, tint, clear)
    return head + _packed([_rounded(15 * wave) for channel in channels for wave in channel.others])


def _composited(values: bytes, opacity: Sequence[float], total: float) -> list[float]:
    """A colour, 0 to 1, laid over its own mean."""
    shown = [value * share / 255 for value, share in zip(values, opacity, strict=True)]
    mean = sum(shown) / total if total else 0.0
    return [mean * (1 - share) + value for value, share in zip(shown, opacity, strict=True)]


def _waves(channel: Sequence[float], width: int, height: int, across: int, down: int) -> _Waves:
    """The coarsest waves: first along each row, then what those come to along the columns."""
    rows = [channel[start : start + width] for start in range(0, width * height, width)]
    horizontal = [[math.cos(math.pi / width * wave * (x + 0.5)) for x in range(width)] for wave in range(across)]
    along = [[sum(map(float.__mul__, row, cosines)) for row in rows] for cosines in horizontal]
    mean, others = 0.0, []
    for wave_y in range(down):
        cosines = [math.cos(math.pi / height * wave_y * (y + 0.5)) for y in range(height)]
        wave_x = 0
        while wave_x * down < across * (down - wave_y):
            value = sum(map(float.__mul__, along[wave_x], cosines)) / (width * height)
            if wave_x or wave_y:
                others.append(value)
            else:
                mean = value
            wave_x += 1
    scale = max(map(abs, others), default=0.0)
    return _Waves(mean, [0.5 + 0.5 / scale * value for value in others] if scale else others, scale)


def _packed(numbers: Sequence[int]) -> bytes:
    """Numbers of four bits, two in a byte, the first in the lower half."""
    even = [*numbers, 0] if len(numbers) % 2 else list(numbers)
    return bytes(low | high << 4 for low, high in zip(even[::2], even[1::2], strict=True))


def _rounded(value: float) -> int:
    """To the nearest whole number, halves upwards, as the format's first program does it."""
    return math.floor(value + 0.5)
