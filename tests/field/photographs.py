"""Pictures as telephones and cameras make them: turned by a mark, with the place in them, with colours of their own.

Each function answers the bytes of one file. Pillow writes them, so what a reader makes of them can be held against it.
"""

import io
import struct
from collections.abc import Iterator
from typing import Final

from PIL import Image, ImageCms, PngImagePlugin

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


def turned_heic(quarters: int, size: tuple[int, int] = (400, 200)) -> bytes:
    """A HEIC whose property turns it by `quarters` quarter turns to the left, as telephones make them. `pillow_heif`
    writes no such property, so one is put behind those that it wrote."""
    import pillow_heif

    pillow_heif.register_heif_opener()
    data = bytearray(_saved(Image.new("RGB", size, RED), "HEIF"))
    turn = struct.pack(">I4sB", 9, b"irot", quarters)
    places, shelf, links = data.index(b"iloc"), data.index(b"ipco"), data.index(b"ipma")
    assert data[places + 4] == 0
    assert data[places + 8 : places + 12] == b"\x44\x40\0\x01"  # one item, its place in four bytes
    assert data[links + 4 : links + 12] == bytes(7) + b"\x01"  # short numbers of one item
    shelf_stop, links_stop = (at - 4 + int.from_bytes(data[at - 4 : at], "big") for at in (shelf, links))
    count = sum(1 for _ in _boxes(data, shelf + 4, shelf_stop))
    _add(data, places + 16, 10)
    data[links + 14] += 1
    for name, more in {b"ipma": 1, b"ipco": 9, b"iprp": 10, b"meta": 10}.items():
        _add(data, data.index(name) - 4, more)
    data[links_stop:links_stop] = bytes([0x80 | count + 1])
    data[shelf_stop:shelf_stop] = turn
    return bytes(data)


def _add(data: bytearray, place: int, more: int) -> None:
    data[place : place + 4] = (int.from_bytes(data[place : place + 4], "big") + more).to_bytes(4, "big")


def _boxes(data: bytes, start: int, stop: int) -> Iterator[bytes]:
    while start < stop:
        size, kind = struct.unpack_from(">I4s", data, start)
        yield kind
        start += size


def with_place(kind: str = "JPEG", orientation: int = 1) -> bytes:
    """A picture that tells where it was taken."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    exif[GPS] = BERLIN
    return _saved(Image.new("RGB", (400, 200), RED), kind, exif=exif)


SECRETS: Final = (b"Berlin", b"SERIAL4711", b"2024:01:01", struct.pack(">II", 52, 1), struct.pack("<II", 52, 1))
"""What `telling` puts into a picture, in one of these forms at least."""


def telling(kind: str, orientation: int, *, frames: int = 1, side: int = 48) -> bytes:
    """A picture that tells of its maker in every way that its format has: EXIF with the place and the camera's number,
    XMP, comments, times, a second picture behind the first; and that has a colour profile."""
    if kind in {"HEIF", "JXL"}:
        import pillow_heif
        import pillow_jxl  # noqa: F401 - registers itself

        pillow_heif.register_heif_opener()
    exif = Image.Exif()
    exif[ORIENTATION], exif[GPS], exif[0x132] = orientation, BERLIN, "2024:01:01 10:00:00"
    exif.get_ifd(0x8769)[0xA431] = "SERIAL4711"
    about = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">Berlin</x:xmpmeta>'
    pictures = [
        Image.radial_gradient("L").resize((side, side // 2)).rotate(30 * turn).convert("RGB") for turn in range(frames)
    ]
    if kind == "TIFF":
        exif[0x10E], exif[0x131], exif[0x2BC] = "Berlin", "SERIAL4711", about
    how: dict[str, object] = {"exif": exif.tobytes()}
    if kind != "GIF":
        how["icc_profile"] = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    if kind in {"JPEG", "WEBP", "AVIF", "HEIF"}:
        how["xmp"] = about
    if kind in {"JPEG", "GIF"}:
        how["comment"] = b"Berlin SERIAL4711"
    if kind == "PNG":
        words = PngImagePlugin.PngInfo()
        words.add_text("Comment", "Berlin")
        words.add_itxt("XML:com.adobe.xmp", about.decode(), zip=False)
        how["pnginfo"] = words
    if kind == "MPO":
        frames, pictures = 2, [*pictures, pictures[0].rotate(90)]
    if frames > 1:
        how |= {"save_all": True, "append_images": pictures[1:], "duration": 100, "loop": 3}
    return _saved(pictures[0], kind, **how)


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


def large_photograph(size: tuple[int, int] = (3_000, 4_000), quality: int = 97) -> bytes:
    """A portrait of about 12 megabytes, by its noise; it shows rings, so that one sees where it is stretched or cut."""
    noise = Image.effect_noise(size, 60)
    rings = Image.radial_gradient("L").resize(size)
    return _saved(Image.merge("RGB", (noise, rings, Image.blend(noise, rings, 0.5))), "JPEG", quality=quality)


def in_format(kind: str, size: tuple[int, int] = (300, 400)) -> bytes:
    """A small portrait in a format that Pillow writes by itself or with its plugins."""
    import pillow_heif
    import pillow_jxl  # noqa: F401 -- it registers itself

    pillow_heif.register_heif_opener()
    return _saved(Image.radial_gradient("L").resize(size).convert("RGB"), kind)


def broken(kind: str = "JPEG") -> bytes:
    """A picture with a good header, which no library can unpack."""
    data = _saved(Image.new("RGB", (400, 300), RED), kind)
    return data[: data.index(b"\xff\xda")] + bytes(64)


def _saved(picture: Image.Image, kind: str, **how: object) -> bytes:
    made = io.BytesIO()
    picture.save(made, kind, **how)
    return made.getvalue()
