"""Pictures as telephones and cameras make them: turned by a mark, with the place in them, with colours of their own.

Each function answers the bytes of one file. Pillow writes them, so what a reader makes of them can be held against it.
"""

import io
import struct
from typing import Final

from PIL import Image, ImageCms

ORIENTATION: Final = 0x112
"""The EXIF tag that tells how a picture is turned: 1 to 8; from 5 on a person sees width and height exchanged."""
GPS: Final = 0x8825
BERLIN: Final = {1: "N", 2: (52.0, 30.0, 0.0), 3: "E", 4: (13.0, 24.0, 0.0)}
RED: Final = (200, 30, 30)


def turned(orientation: int, size: tuple[int, int] = (400, 200), kind: str = "JPEG") -> bytes:
    """A picture of `size` stored pixels with this orientation, in a format that Pillow writes with EXIF."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return _saved(Image.new("RGB", size, RED), kind, exif=exif)


def with_place(kind: str = "JPEG", orientation: int = 1) -> bytes:
    """A picture that tells where it was taken."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    exif[GPS] = BERLIN
    return _saved(Image.new("RGB", (400, 200), RED), kind, exif=exif)


def exchanged_profile() -> bytes:
    """An ICC profile in which the red of sRGB is green and its green is red."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    (tags,) = struct.unpack(">I", profile[128:132])
    offsets = {bytes(profile[at : at + 4]): at for at in range(132, 132 + 12 * tags, 12)}
    red, green = offsets[b"rXYZ"], offsets[b"gXYZ"]
    profile[red + 4 : red + 12], profile[green + 4 : green + 12] = (
        profile[green + 4 : green + 12],
        profile[red + 4 : red + 12],
    )
    return bytes(profile)


def green_by_profile(kind: str = "JPEG") -> bytes:
    """A picture whose stored pixels are red and which is to be seen green."""
    return _saved(Image.new("RGB", (256, 256), (255, 0, 0)), kind, icc_profile=exchanged_profile(), quality=95)


def _saved(picture: Image.Image, kind: str, **how: object) -> bytes:
    made = io.BytesIO()
    picture.save(made, kind, **how)
    return made.getvalue()
