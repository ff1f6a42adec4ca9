"""The process that unpacks pictures: `python -m chat.media.image_process`.

It reads jobs from standard input and answers on standard output, a line of JSON each, until its input ends. Only here
pixels of strangers' files are unpacked: the process gives itself little memory and each job little time, so a picture
that was made to do harm harms this process alone, which its parent replaces (`chat.media.image_workers`; media.md,
Renditions). What comes out carries no metadata: no place where a picture was taken leaves with it.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import io
import json
import math
import os
import resource
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from chat.classes import frozen
from chat.media.content_types import content_type
from chat.media.image_header import HEADER_BYTES, PIXELS_MAXIMUM, image_header
from chat.media.image_intake import vector_header
from chat.media.renditions import MOVING_FORMATS, ImageAnswer, ImageJob, Rendition

if TYPE_CHECKING:
    from PIL.Image import Image

MEMORY_BYTES: Final = 1 << 30
"""A picture of PIXELS_MAXIMUM takes 128 MiB unpacked, once more while it is turned, and libraries theirs."""

FILE_BYTES: Final = 1 << 26
"""The largest rendition."""

JOB_CHARACTERS: Final = 8_192

NICENESS: Final = 10
"""Messages come first."""

JOB_CPU_SECONDS: Final = 8.0
DRAWING_CPU_SECONDS: Final = 3.0
"""Processor time that a job may take, whatever else the machine does; the system ends the process that takes more."""

FRAMES_MAXIMUM: Final = 1_000
MOVING_PIXELS_MAXIMUM: Final = 4 * PIXELS_MAXIMUM
"""Pixels of all frames together. A picture that moves more is refused as an avatar and the like, and is shown still."""

DRAWING_SIDE: Final = 1_024
"""Pixels of the longer side of the bitmap that is made of a drawing when it arrives."""

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
    "image/tiff": "TIFF",
}


_PLAYED: Final = frozenset({"GIF", "PNG", "WEBP", "AVIF"})
"""Formats whose further pictures are frames of one that moves. In a JPEG or a HEIC they are other pictures."""


class Unusable(Exception):
    """There are no pixels to be had from this file, or too many."""


@contextlib.contextmanager
def _tried() -> Iterator[None]:
    """Whatever goes wrong in the block makes the file Unusable: what libraries raise for broken files is theirs."""
    try:
        yield
    except Unusable:
        raise
    except Exception as error:
        raise Unusable(type(error).__name__) from error


def render(source: Path, target: Path, rendition: Rendition) -> bool:
    """Write a rendition of one file into another; returns whether it moves.

    :raises Unusable: for a file that is no picture, is broken, or has too many pixels.
    """
    with _tried(), _opened(source, (rendition.width, rendition.height)) as image:
        moving = rendition.moving and rendition.content_type in MOVING_FORMATS and _moves_bearably(image)
        if moving:
            _write_moving(image, target, rendition)
        else:
            _write_still(image, target, rendition)
    return moving


def judge(source: Path) -> int:
    """How many frames a picture has that can be unpacked whole, within the bounds; raises Unusable as `render`."""
    with _tried(), _opened(source, None) as image:
        frames = _frames(image)
        if frames > 1 and not _moves_bearably(image):
            raise Unusable
        for frame in range(frames):
            if frame:
                image.seek(frame)
            image.load()
    return frames


def draw(source: Path, target: Path) -> tuple[int, int]:
    """Write the bitmap of a drawing into another file; returns its width and height. Raises Unusable as `render`."""
    with _tried(), _opened(source, (DRAWING_SIDE, DRAWING_SIDE)) as image:
        image.save(target, "PNG")
        return image.size


def placeholder(source: Path) -> str:
    """The ThumbHash of a picture, in base64; raises Unusable as `render`."""
    box = (PLACEHOLDER_SIDE, PLACEHOLDER_SIDE)
    with _tried(), _opened(source, box) as image:
        small = _shrunk(_upright(image), box).convert("RGBA")
        return base64.b64encode(thumbhash(*small.size, small.tobytes())).decode("ascii")


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


def _opened(source: Path, box: tuple[int, int] | None) -> Image:
    """The picture, by the format of its first bytes; nothing is unpacked yet. `box` is how large it is wanted at least;
    None: as large as it is."""
    with source.open("rb") as file:
        head = file.read(HEADER_BYTES)
    header = image_header(head)
    if header is None:
        return _drawn(source, head, box)
    if not header.is_bearable:
        raise Unusable("no picture of a bearable size")
    image: Image = _pillow().open(source, formats=[_PILLOW[content_type(head)]])
    if image.width * image.height > PIXELS_MAXIMUM:
        image.close()
        raise Unusable("more pixels than its header says")
    if box is not None:
        image.draft(None, box)  # a JPEG can be unpacked at a fraction of its size
    return image


def _drawn(source: Path, head: bytes, box: tuple[int, int] | None) -> Image:
    """The bitmap of a drawing."""
    header = vector_header(head)
    if header is None or not header.is_bearable:
        raise Unusable("no picture of a bearable size")
    from chat.media.drawings import NotDrawn, drawn

    side = DRAWING_SIDE if box is None else min(max(box), DRAWING_SIDE)
    _allow(DRAWING_CPU_SECONDS)
    try:
        bitmap = drawn(source.read_bytes(), header, (side, side))
    except NotDrawn as error:
        raise Unusable(str(error)) from error
    image: Image = _pillow().open(io.BytesIO(bitmap), formats=["PNG"])
    return image


def _frames(image: Image) -> int:
    return getattr(image, "n_frames", 1) if image.format in _PLAYED else 1


def _moves_bearably(image: Image) -> bool:
    frames = _frames(image)
    return 1 < frames <= FRAMES_MAXIMUM and frames * image.width * image.height <= MOVING_PIXELS_MAXIMUM


def _upright(image: Image) -> Image:
    """The picture, or one frame of it, as its camera was held."""
    from PIL import ImageOps

    if image.format == "JXL" and not getattr(image, "jpeg", False):
        return image  # the library has turned it, by what the format itself says
    turned = ImageOps.exif_transpose(image)
    return image if turned is None else turned


def _shrunk(image: Image, box: tuple[int, int]) -> Image:
    """The picture within the box and in the colours in which it is to be seen: grey, RGB or RGBA."""
    from chat.media.colours import GREY, in_srgb, shrinkable

    profile, was_grey = image.info.get("icc_profile"), image.mode in GREY
    image = shrinkable(image)
    if image.width > box[0] or image.height > box[1]:
        scale = min(box[0] / image.width, box[1] / image.height)
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        how = _pillow().Resampling.BOX if max(size) <= PLACEHOLDER_SIDE else None
        image = image.resize(size, how, reducing_gap=2.0)
    return in_srgb(image, profile, was_grey=was_grey)


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
        small = _shrunk(_upright(frame), box).convert("RGBA")
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


def _options(rendition: Rendition) -> dict[str, object]:
    match rendition.content_type, rendition.quality:
        case "image/webp", "lossless":
            return {"lossless": True, "quality": 60, "method": 3}
        case "image/webp", quality:
            return {"quality": 60 if quality == "low" else 85, "method": 3}
        case "image/jpeg", quality:
            return {"quality": {"low": 60, "high": 85, "lossless": 95}[quality], "optimize": True}
        case _:
            return {}


# ThumbHash: about 25 bytes that stand for a picture until it is there (the format of evanw/thumbhash). A picture is
# taken apart into brightness, two differences of colour and opacity, and the coarsest waves of each are kept (a cosine
# transform). The work grows with the pixels, so callers shrink the picture first.

SIDE_MAXIMUM: Final = 100
"""Pixels; the format's own bound."""


@frozen
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


# The process


def done(job: ImageJob) -> ImageAnswer:
    """The answer to a job: `refused` if the file is unusable."""
    try:
        source = Path(job["source"])
        match job["kind"]:
            case "placeholder":
                return {"placeholder": placeholder(source)}
            case "judge":
                return {"frames": judge(source)}
            case "draw":
                return {"size": draw(source, Path(job["target"]))}
            case _:
                return {"moving": render(source, Path(job["target"]), Rendition(**job["rendition"]))}
    except (Unusable, MemoryError, OSError) as error:
        return {"refused": type(error).__name__}


_has_time_limits = False
"""Whether this process is one of its own, which may be ended."""


def _allow(seconds: float) -> None:
    """Limit the job to `seconds` of processor time from now on; 0 removes the limit."""
    if _has_time_limits:
        signal.setitimer(signal.ITIMER_PROF, seconds)


def main() -> None:
    """Do jobs until standard input ends."""
    global _has_time_limits
    _has_time_limits = True
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)
    os.nice(NICENESS)
    while line := sys.stdin.buffer.readline(JOB_CHARACTERS):
        _allow(JOB_CPU_SECONDS)
        answer = done(json.loads(line))
        _allow(0)
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
