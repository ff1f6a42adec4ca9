"""A picture's pixels as a person sees them: each mode that formats store becomes grey, RGB or RGBA, of eight bits, in
sRGB.

That is what a file without a profile means. So colours stay right in formats that carry no profile, and none has to
leave with a rendition. Only the image process imports this.
"""

from __future__ import annotations

import functools
import io
from typing import Final

from PIL import Image, ImageCms

PLAIN: Final = frozenset({"L", "RGB", "RGBA"})
SEPARATED: Final = frozenset({"CMYK", "LAB"})
"""Modes that are shrunk as they are, and whose colours are worked out from fewer pixels then."""

GREY: Final = frozenset({"1", "L", "LA", "La", "I", "I;16", "I;16L", "I;16B", "I;16N", "F"})
SIXTEEN_BITS: Final = frozenset({"I", "I;16", "I;16L", "I;16B", "I;16N"})

_CHANNELS: Final = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK", "Lab": "LAB"}
"""The mode of the pixels that a profile of a colour space speaks of."""

_TO_EIGHT_BITS: Final = [round(value / 257) for value in range(65_536)]


def shrinkable(image: Image.Image) -> Image.Image:
    """The picture in a mode of PLAIN or SEPARATED, with its opacity and in its own colours still."""
    if image.mode in SIXTEEN_BITS:
        return _eight_bits(image)
    if image.mode == "F":  # from nothing to one
        return image.point(lambda value: value * 255 + 0.5).convert("L")
    if image.has_transparency_data:
        return image if image.mode == "RGBA" else image.convert("RGBA")
    if image.mode in PLAIN or image.mode in SEPARATED:
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Of sixteen. Pillow's own conversion cuts off everything above 255."""
    wide = image.convert("I")
    grey = wide.point(_TO_EIGHT_BITS, "L")
    clear = image.info.get("transparency")
    if not isinstance(clear, int):
        return grey
    opacity = [255] * 65_536
    opacity[clear & 0xFFFF] = 0
    return Image.merge("LA", (grey, wide.point(opacity, "L"))).convert("RGBA")


def in_srgb(image: Image.Image, profile: bytes | None, *, was_grey: bool) -> Image.Image:
    """The picture, in a mode that `shrinkable` answers, in sRGB by the profile of its file: grey, RGB or RGBA.

    A profile that is broken, or of other channels than the picture has, counts as none: so browsers do it.
    """
    opacity = image.getchannel("A") if image.mode == "RGBA" else None
    channels = image.convert("RGB") if opacity is not None else image
    seen = _by_profile(channels, profile, was_grey=was_grey) if profile else None
    if seen is None:
        if image.mode == "LAB":
            return _of_lab(image)
        return image if image.mode in PLAIN else image.convert("RGB")
    if opacity is not None:
        seen.putalpha(opacity)
    return seen


def _by_profile(channels: Image.Image, profile: bytes, *, was_grey: bool) -> Image.Image | None:
    try:
        mode, transform = _transform(profile)
        if mode == "L" and was_grey and channels.mode == "RGB":
            channels = channels.getchannel("R")
        elif mode == "RGB" and channels.mode == "L":
            channels = channels.convert("RGB")
        return transform.apply(channels) if channels.mode == mode else None
    except (ImageCms.PyCMSError, OSError, ValueError, KeyError, TypeError):
        return None


@functools.lru_cache(maxsize=2)  # the frames of an animation share one
def _transform(profile: bytes) -> tuple[str, ImageCms.ImageCmsTransform]:
    source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    mode = _CHANNELS[source.profile.xcolor_space.strip()]
    return mode, ImageCms.ImageCmsTransform(source, _srgb(), mode, "RGB")


@functools.cache
def _srgb() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


def _of_lab(image: Image.Image) -> Image.Image:
    source = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
    return ImageCms.ImageCmsTransform(source, _srgb(), "LAB", "RGB").apply(image)
