"""A rendition is seen as its picture is: by the profile of its file, in every mode that a format stores, and upright.

The oracle is what a person sees of two halves whose colours are known, and the libraries' own conversion of the whole
picture.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final

import PIL.Image
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import ImageCms, ImageOps

from chat.media.colours import in_srgb, shrinkable
from chat.media.image_process import placeholder, render
from chat.media.renditions import Rendition
from tests.field import photographs
from tests.image_samples import written

SIZE: Final = (128, 64)
KINDS: Final = ("image/png", "image/webp", "image/jpeg", "image/gif")
TOLERANCE: Final = 8
"""What lossy formats and profiles of 16 bits may change of a plain colour."""

Colour = tuple[int, int, int, int]


def halves(mode: str, left: object, right: object) -> PIL.Image.Image:
    """A picture of two plain halves."""
    image = PIL.Image.new(mode, SIZE, left)  # type: ignore[arg-type]
    image.paste(right, (SIZE[0] // 2, 0, *SIZE))  # type: ignore[arg-type]
    return image


def saved(image: PIL.Image.Image, form: str, **how: object) -> bytes:
    made = io.BytesIO()
    image.save(made, form, **how)
    return made.getvalue()


def sixteen_bits(left: int, right: int, **how: object) -> bytes:
    image = PIL.Image.new("I;16", SIZE, left)
    image.paste(right, (SIZE[0] // 2, 0, *SIZE))
    return saved(image, "PNG", **how)


def palette(clear: int | bytes | None) -> bytes:
    image = halves("P", 0, 1)
    image.putpalette([200, 30, 30, 30, 30, 200])
    return saved(image, "PNG", **({} if clear is None else {"transparency": clear}))


def grey_profile(gamma: float) -> bytes:
    """An ICC profile of greys that are brightened by this power (ICC.1, 8.3)."""
    curve = struct.pack(">4sIIH2x", b"curv", 0, 1, round(gamma * 256))
    white = struct.pack(">4sIiii", b"XYZ ", 0, 63_190, 65_536, 54_061)
    text = b"desc" + bytes(4) + struct.pack(">I", 5) + b"grey\0" + bytes(78)
    tags, place, table = (b"desc", text), 132 + 12 * 3, b""
    content = b""
    for name, data in ((tags[0], tags[1]), (b"wtpt", white), (b"kTRC", curve)):
        table += struct.pack(">4sII", name, place + len(content), len(data))
        content += data + bytes(-len(data) % 4)
    size = place + len(content)
    head = struct.pack(">I4xI4s4s4s12x4s", size, 0x02100000, b"mntr", b"GRAY", b"XYZ ", b"acsp")
    head = head.ljust(68, b"\0") + struct.pack(">iii", 63_190, 65_536, 54_061)
    return head.ljust(128, b"\0") + struct.pack(">I", 3) + table + content


RED, BLUE = (200, 30, 30, 255), (30, 30, 200, 255)
CLEAR = (0, 0, 0, 0)


def opaque(grey: int) -> Colour:
    return grey, grey, grey, 255


MODES: Final[dict[str, tuple[Callable[[], bytes], Colour, Colour]]] = {
    "1 PNG": (lambda: saved(halves("1", 0, 255), "PNG"), opaque(0), opaque(255)),
    "1 PNG, white is clear": (lambda: saved(halves("1", 0, 255), "PNG", transparency=255), opaque(0), CLEAR),
    "L PNG": (lambda: saved(halves("L", 40, 200), "PNG"), opaque(40), opaque(200)),
    "L PNG, a grey is clear": (lambda: saved(halves("L", 40, 200), "PNG", transparency=40), CLEAR, opaque(200)),
    "L JPEG": (lambda: saved(halves("L", 40, 200), "JPEG"), opaque(40), opaque(200)),
    "LA PNG": (lambda: saved(halves("LA", (40, 0), (200, 255)), "PNG"), CLEAR, opaque(200)),
    "P PNG": (lambda: palette(None), RED, BLUE),
    "P PNG, an entry is clear": (lambda: palette(1), RED, CLEAR),
    "P PNG, opacities": (lambda: palette(b"\x00\xff"), CLEAR, BLUE),
    "P GIF, an entry is clear": (
        lambda: saved(PIL.Image.open(io.BytesIO(palette(None))), "GIF", transparency=0), CLEAR, BLUE,
    ),
    "RGB PNG": (lambda: saved(halves("RGB", RED[:3], BLUE[:3]), "PNG"), RED, BLUE),
    "RGB PNG, a colour is clear": (
        lambda: saved(halves("RGB", RED[:3], BLUE[:3]), "PNG", transparency=RED[:3]), CLEAR, BLUE,
    ),
    "RGBA PNG": (lambda: saved(halves("RGBA", RED, CLEAR), "PNG"), RED, CLEAR),
    "RGBA WebP": (lambda: saved(halves("RGBA", RED, CLEAR), "WEBP"), RED, CLEAR),
    "RGBA AVIF": (lambda: saved(halves("RGBA", RED, CLEAR), "AVIF"), RED, CLEAR),
    "RGBA HEIC": (lambda: saved(halves("RGBA", RED, CLEAR), "HEIF", quality=90), RED, CLEAR),
    "RGBA JXL": (lambda: saved(halves("RGBA", RED, CLEAR), "JXL", lossless=True), RED, CLEAR),
    "16 bits PNG": (lambda: sixteen_bits(0x2800, 0xC8C8), opaque(40), opaque(200)),
    "16 bits PNG, a grey is clear": (lambda: sixteen_bits(0x2828, 0xC8C8, transparency=0x2828), CLEAR, opaque(200)),
    "CMYK JPEG": (
        lambda: saved(halves("CMYK", (0, 255, 255, 0), (255, 255, 0, 0)), "JPEG", quality=95),
        (255, 0, 0, 255), (0, 0, 255, 255),
    ),
    "CMYK TIFF": (
        lambda: saved(halves("CMYK", (0, 255, 255, 0), (255, 255, 0, 0)), "TIFF"), (255, 0, 0, 255), (0, 0, 255, 255),
    ),
    "Lab TIFF": (lambda: saved(halves("LAB", (255, 128, 128), (0, 128, 128)), "TIFF"), opaque(255), opaque(0)),
    "16 bits TIFF": (lambda: saved(halves("I;16", 0x2828, 0xC8C8), "TIFF"), opaque(40), opaque(200)),
    "1 TIFF": (lambda: saved(halves("1", 0, 255), "TIFF", compression="group4"), opaque(0), opaque(255)),
}  # fmt: skip
"""Files by the mode in which Pillow reads them, and the colours of their halves."""


def rendition(tmp_path: Path, data: bytes, kind: str, side: int = 32) -> PIL.Image.Image:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    render(source, target, Rendition(kind, side, side, "lossless"))
    with PIL.Image.open(target) as image:
        assert not {"icc_profile", "exif", "xmp"} & image.info.keys()
        return image.convert("RGBA")


def near(found: object, expected: Colour, kind: str) -> bool:
    if kind == "image/jpeg" and expected == CLEAR:
        expected = (255, 255, 255, 255)  # nothing on white paper
    assert isinstance(found, tuple)
    if expected[3] == 0:
        return bool(found[3] == 0)
    return all(abs(one - other) <= TOLERANCE for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODES)
def test_every_mode_is_seen_as_it_is(tmp_path: Path, name: str, kind: str) -> None:
    made, left, right = MODES[name]
    for side in (32, 128):  # smaller, and as large as it was
        image = rendition(tmp_path, made(), kind, side)
        assert image.size == (side, side // 2)
        for place, expected in ((side // 4, left), (side * 3 // 4, right)):
            assert near(image.getpixel((place, side // 4)), expected, kind), (side, image.getpixel((place, side // 4)))


def test_greys_of_sixteen_bits_are_those_of_eight(tmp_path: Path) -> None:
    """All of them, not cut off at 255, which would be white for all but one in 256."""
    image = PIL.Image.frombytes("I;16", (256, 256), struct.pack("<65536H", *range(65_536)))
    eight = shrinkable(image)
    assert eight.mode == "L"
    assert eight.tobytes() == bytes(round(value / 257) for value in range(65_536))
    floating = PIL.Image.new("F", (2, 1))
    floating.putdata([0.0, 0.5])
    assert list(shrinkable(floating).tobytes()) == [0, 128]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "AVIF", "HEIF", "JXL"])
def test_a_picture_is_seen_in_the_colours_of_its_profile(tmp_path: Path, form: str, kind: str) -> None:
    """Stored red, to be seen green."""
    jpeg = photographs.green_by_profile()
    data = as_jxl(tmp_path, jpeg) if form == "JXL" else photographs.green_by_profile(form)
    found = rendition(tmp_path, data, kind).getpixel((8, 8))
    assert near(found, (0, 255, 0, 255), kind), found


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_what_moves_is_seen_in_the_colours_of_its_profile(tmp_path: Path, form: str) -> None:
    data = written(form, (64, 64), 3, icc_profile=photographs.exchanged_profile())
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    assert render(source, target, Rendition("image/webp", 32, 32, "lossless", moving=True)) is True
    with PIL.Image.open(target) as image:
        image.seek(2)
        red, green, _ = image.convert("RGB").getpixel((8, 8))  # type: ignore[misc]
    assert green > red + 40, "stored (80, 20, 30)"


def test_a_placeholder_has_the_colours_of_the_profile(tmp_path: Path) -> None:
    tinted, plain = tmp_path / "tinted", tmp_path / "plain"
    tinted.write_bytes(photographs.green_by_profile())
    plain.write_bytes(saved(PIL.Image.new("RGB", (256, 256), (0, 255, 0)), "PNG"))
    assert placeholder(tinted)[:4] == placeholder(plain)[:4]


PROFILES: Final = {
    "exchanged": photographs.exchanged_profile(),
    "sRGB": ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
    "linear grey": grey_profile(1.0),
}
NATIVE: Final = {"exchanged": "RGB", "sRGB": "RGB", "linear grey": "L"}


@given(
    st.sampled_from(
        ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK", "LAB", "YCbCr", "HSV", "F", "I", "PA", "RGBX"]
    ),
    st.sampled_from([None, *PROFILES, "broken", "nothing"]),
    st.binary(min_size=64, max_size=64),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_mode_and_profile_comes_to_what_the_library_makes_of_the_whole(
    mode: str, name: str | None, noise: bytes
) -> None:
    image = PIL.Image.frombytes("L", (8, 8), noise).convert("RGB")
    image = image if mode in {"RGB", "LAB"} else _in_mode(image, mode)
    if mode == "LAB":
        lab = ImageCms.createProfile("LAB")
        image = ImageCms.profileToProfile(image, ImageCms.createProfile("sRGB"), lab, outputMode="LAB")
    grey = mode in {"1", "L", "LA", "I", "I;16", "F"}
    profile = {"broken": b"\0" * 200, "nothing": b""}.get(name or "", PROFILES.get(name or ""))
    plain = shrinkable(image)
    found = in_srgb(plain, profile, was_grey=grey)
    assert found.mode in {"L", "RGB", "RGBA"}
    assert found.size == image.size
    if name in PROFILES and (NATIVE[name] == "RGB" or grey) and mode not in {"CMYK", "LAB"}:
        source = ImageCms.ImageCmsProfile(io.BytesIO(PROFILES[name]))
        channels = plain.convert("RGB").convert(NATIVE[name])
        expected = ImageCms.profileToProfile(channels, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    elif mode == "LAB":
        return
    else:
        expected = plain.convert("RGB")
    assert found.convert("RGB").tobytes() == expected.tobytes()
    if plain.mode == "RGBA":
        assert found.getchannel("A").tobytes() == plain.getchannel("A").tobytes()


def _in_mode(image: PIL.Image.Image, mode: str) -> PIL.Image.Image:
    if mode == "I;16":
        return image.convert("L").convert("I").point(lambda value: value * 257).convert("I;16")
    if mode == "PA":
        return image.convert("P").convert("PA")
    return image.convert("L").convert(mode) if mode in {"LA", "F", "I"} else image.convert(mode)


def test_a_grey_picture_is_seen_by_a_grey_profile(tmp_path: Path) -> None:
    """Linear greys: half of the light is 188 on a screen."""
    data = saved(halves("L", 128, 0), "PNG", icc_profile=grey_profile(1.0))
    found = rendition(tmp_path, data, "image/png").getpixel((8, 8))
    assert near(found, opaque(188), "image/png"), found


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "AVIF", "JXL"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_format_is_seen_upright(tmp_path: Path, form: str, orientation: int) -> None:
    """HEIC has no case: what turns it is no EXIF, and its library has turned it when it opens it."""
    corners = PIL.Image.new("RGB", (64, 32), (255, 255, 255))
    corners.paste((200, 30, 30), (0, 0, 32, 16))
    upright = ImageOps.exif_transpose(PIL.Image.open(io.BytesIO(saved(corners, "PNG", exif=turned(orientation)))))
    if form == "JXL":
        data = as_jxl(tmp_path, saved(corners, "JPEG", quality=95, exif=turned(orientation)))
    else:
        data = saved(corners, form, exif=turned(orientation))
    found = rendition(tmp_path, data, "image/png", 64).convert("RGB")
    assert found.size == upright.size == ((64, 32) if orientation < 5 else (32, 64))
    for x in (found.width // 4, found.width * 3 // 4):
        for y in (found.height // 4, found.height * 3 // 4):
            one, other = found.getpixel((x, y)), upright.convert("RGB").getpixel((x, y))
            assert near((*one, 255), (*other, 255), "image/png"), (x, y, one, other)  # type: ignore[misc]


def turned(orientation: int) -> PIL.Image.Exif:
    """A new one each time: Pillow's AVIF takes out of it what it writes elsewhere."""
    exif = PIL.Image.Exif()
    exif[photographs.ORIENTATION] = orientation
    return exif


def as_jxl(tmp_path: Path, jpeg: bytes) -> bytes:
    """A JPEG packed as JPEG XL, with its profile and orientation."""
    source = tmp_path / "source.jpg"
    source.write_bytes(jpeg)
    return saved(PIL.Image.open(source), "JXL", lossless_jpeg=True)


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
@pytest.mark.parametrize("kind", ["image/webp", "image/png", "image/gif"])
def test_what_moves_is_seen_upright(tmp_path: Path, form: str, kind: str) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(written(form, (64, 32), 3, exif=turned(6)))
    assert render(source, target, Rendition(kind, 128, 128, moving=True)) is True
    with PIL.Image.open(target) as image:
        assert (image.size, image.n_frames) == ((32, 64), 3)  # type: ignore[attr-defined]
