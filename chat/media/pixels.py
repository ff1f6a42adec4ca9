"""Pictures redrawn, and boiled down to what stands for them until they are there.

Only here pixels of strangers' files are unpacked, and only in a process of its own (`chat.media.image_process`), which
has little memory and time and may be ended at any moment (media.md, Renditions). What comes out carries no metadata: no
place where a picture was taken leaves with it.
"""

from __future__ import annotations

import base64
import functools
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from chat.media.content_types import content_type
from chat.media.image_header import HEADER_BYTES, PIXELS_MAXIMUM, image_header
from chat.media.renditions import MOVING_FORMATS, Rendition
from chat.media.thumbhash import thumbhash

if TYPE_CHECKING:
    from PIL.Image import Image

FRAMES_MAXIMUM: Final = 300
MOVING_PIXELS_MAXIMUM: Final = 2 * PIXELS_MAXIMUM
"""Pixels of all frames together; a picture that moves more is shown still."""

PLACEHOLDER_SIDE: Final = 32
"""Pixels to which a picture is shrunk for its hash, which keeps seven waves of it at most."""

_PILLOW: Final = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
    "image/avif": "AVIF",
    "image/heic": "HEIF",
    "image/heif": "HEIF",
    "image/jxl": "JXL",
}


class Unusable(Exception):
    """There are no pixels to be had from this file, or too many."""


def render(source: Path, target: Path, rendition: Rendition) -> bool:
    """Write a rendition of one file into another; returns whether it moves.

    :raises Unusable: for a file that is no picture, is broken, or has too many pixels.
    """
    box = (rendition.width, rendition.height)
    try:
        with _opened(source, box) as image:
            moving = rendition.moving and rendition.content_type in MOVING_FORMATS and _moves_bearably(image)
            if moving:
                _write_moving(image, target, rendition)
            else:
                _write_still(image, target, rendition)
    except Unusable:
        raise
    except Exception as error:  # what libraries raise for broken files is theirs to choose
        raise Unusable(type(error).__name__) from error
    return moving


def placeholder(source: Path) -> str:
    """The ThumbHash of a picture, in base64; raises Unusable as `render`."""
    box = (PLACEHOLDER_SIDE, PLACEHOLDER_SIDE)
    try:
        with _opened(source, box) as image:
            small = _shrunk(_upright(image), box).convert("RGBA")
            return base64.b64encode(thumbhash(*small.size, small.tobytes())).decode("ascii")
    except Unusable:
        raise
    except Exception as error:  # as in `render`
        raise Unusable(type(error).__name__) from error


@functools.cache
def _pillow() -> Any:
    """Pillow with the formats that others add to it."""
    import PIL.Image
    import pillow_heif
    import pillow_jxl  # noqa: F401 - registers itself

    pillow_heif.register_heif_opener(thumbnails=False)
    PIL.Image.MAX_IMAGE_PIXELS = PIXELS_MAXIMUM
    warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
    return PIL.Image


def _opened(source: Path, box: tuple[int, int]) -> Image:
    """The picture, by the format that its first bytes have, whatever it calls itself; nothing is unpacked yet."""
    with source.open("rb") as file:
        head = file.read(HEADER_BYTES)
    header = image_header(head)
    if header is None or not header.is_bearable:
        raise Unusable("no picture of a bearable size")
    image: Image = _pillow().open(source, formats=[_PILLOW[content_type(head)]])
    if image.width * image.height > PIXELS_MAXIMUM:
        image.close()
        raise Unusable("more pixels than its header says")
    image.draft(None, box)  # a JPEG can be unpacked at a fraction of its size
    return image


def _moves_bearably(image: Image) -> bool:
    frames = getattr(image, "n_frames", 1)
    return 1 < frames <= FRAMES_MAXIMUM and frames * image.width * image.height <= MOVING_PIXELS_MAXIMUM


def _upright(image: Image) -> Image:
    """The picture as its camera was held."""
    from PIL import ImageOps

    turned = ImageOps.exif_transpose(image)
    return image if turned is None else turned


def _shrunk(image: Image, box: tuple[int, int]) -> Image:
    if image.mode not in {"RGB", "RGBA", "L", "LA"}:
        has_opacity = "transparency" in image.info or image.mode in {"PA", "RGBa", "La"}
        image = image.convert("RGBA" if has_opacity else "RGB")
    if image.width > box[0] or image.height > box[1]:
        scale = min(box[0] / image.width, box[1] / image.height)
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        return image.resize(size, _pillow().Resampling.BOX if max(size) <= PLACEHOLDER_SIDE else None, reducing_gap=2.0)
    return image


def _write_still(image: Image, target: Path, rendition: Rendition) -> None:
    made = _shrunk(_upright(image), (rendition.width, rendition.height))
    if rendition.content_type == "image/jpeg" and made.mode != "RGB":
        made = _on_white(made)
    made.info = {}
    made.save(target, _PILLOW[rendition.content_type], **_options(rendition))


def _write_moving(image: Image, target: Path, rendition: Rendition) -> None:
    from PIL import ImageSequence

    box = (rendition.width, rendition.height)
    loop = image.info.get("loop", 0)
    frames, durations = [], []
    for frame in ImageSequence.Iterator(image):
        durations.append(max(int(frame.info.get("duration", 100)), 10))
        small = _shrunk(frame.convert("RGBA"), box)
        small.info = {}
        frames.append(small)
    options = _options(rendition) | {"save_all": True, "append_images": frames[1:], "duration": durations, "loop": loop}
    if rendition.content_type == "image/gif":
        options["disposal"] = 2
    frames[0].save(target, _PILLOW[rendition.content_type], **options)


def _on_white(image: Image) -> Image:
    """What has no opacity shows paper where there was nothing."""
    image = image.convert("RGBA")
    paper: Image = _pillow().new("RGB", image.size, (255, 255, 255))
    paper.paste(image, mask=image.getchannel("A"))
    return paper


def _options(rendition: Rendition) -> dict[str, Any]:
    match rendition.content_type, rendition.quality:
        case "image/webp", "lossless":
            return {"lossless": True, "quality": 60, "method": 3}
        case "image/webp", quality:
            return {"quality": 60 if quality == "low" else 85, "method": 3}
        case "image/jpeg", quality:
            return {"quality": {"low": 60, "high": 85, "lossless": 95}[quality], "optimize": True}
        case _:
            return {}
