"""Width and height are those that a person sees, however a camera was held; Pillow and ffmpeg tell the truth."""

from __future__ import annotations

import io
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

from chat.media.exif import exif_of, orientation_of
from chat.media.image_header import image_header
from chat.media.image_intake import intake_header
from chat.media.moving_header import moving_header
from chat.media.outside_fetching import OutsidePage
from chat.media.page_embed import embed_of_file
from tests.field import photographs
from tests.field.programs import program
from tests.image_samples import jxl
from tests.media.moving_samples import mp4

SIDES = st.integers(2, 90)
WRITTEN = ("JPEG", "PNG", "WEBP", "AVIF", "MPO")
"""Formats that Pillow writes with an orientation; of the others its libraries write none."""


def as_seen(data: bytes) -> tuple[int, int]:
    return ImageOps.exif_transpose(Image.open(io.BytesIO(data))).size


@settings(max_examples=80)
@given(st.sampled_from(WRITTEN), st.integers(1, 8), SIDES, SIDES)
def test_a_turned_picture_has_the_size_that_pillow_sees(kind: str, orientation: int, width: int, height: int) -> None:
    data = photographs.turned(orientation, (width, height), kind)
    header = image_header(data, whole=True)
    assert header is not None
    assert (header.width, header.height) == as_seen(data)


@pytest.mark.parametrize("quarters", range(4))
def test_a_heic_is_turned_by_its_property(quarters: int) -> None:
    data = photographs.turned_heic(quarters)
    header = intake_header(data)
    assert header is not None
    assert (header.width, header.height) == as_seen(data) == ((400, 200) if quarters % 2 == 0 else (200, 400))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_jpeg_xl_is_turned_by_its_codestream(orientation: int) -> None:
    header = intake_header(jxl((16, 8), orientation=orientation))
    assert header is not None
    assert (header.width, header.height) == ((16, 8) if orientation < 5 else (8, 16))


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_link_to_a_portrait_shows_one(kind: str) -> None:
    data = photographs.turned(6, kind=kind)
    embed = embed_of_file("http://a.example/a", OutsidePage("http://a.example/a", "image/jpeg", None, data))
    assert embed is not None
    assert (embed["thumbnail"]["width"], embed["thumbnail"]["height"]) == (200, 400)


@given(st.integers(1, 8), st.sampled_from("<>"), st.sampled_from([(1, "B"), (3, "H"), (4, "I")]))
def test_an_orientation_is_read_in_both_orders_and_all_its_types(order: int, ends: str, kind: tuple[int, str]) -> None:
    number, letter = kind
    mark = b"II" if ends == "<" else b"MM"
    value = struct.pack(ends + letter, order).ljust(4, b"\0")
    exif = mark + struct.pack(f"{ends}HIHHHI", 42, 8, 1, 0x112, number, 1) + value + bytes(4)
    assert orientation_of(exif) == orientation_of(b"Exif\0\0" + exif) == order
    assert orientation_of(exif_of(order)) == order


@given(st.binary(max_size=80))
def test_no_bytes_make_the_reader_of_orientations_fail(data: bytes) -> None:
    for beginning in (b"", b"MM\0*\0\0\0\x08", b"II*\0\x08\0\0\0", exif_of(7)[:20]):
        assert 1 <= orientation_of(beginning + data) <= 8


@pytest.mark.parametrize("quarters", range(4))
def test_a_turned_film_has_the_size_that_ffmpeg_shows(tmp_path: Path, quarters: int) -> None:
    plain, turned, shown = tmp_path / "plain.mp4", tmp_path / "turned.mp4", tmp_path / "shown.png"
    ffmpeg = [program("ffmpeg"), "-v", "error", "-y"]
    source = ["-f", "lavfi", "-i", "color=red:s=64x32:d=0.2"]
    subprocess.run([*ffmpeg, *source, "-c:v", "mpeg4", str(plain)], check=True)
    data = bytearray(plain.read_bytes())
    matrices = ((1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0))
    a, b, c, d = (65_536 * number for number in matrices[quarters])
    struct.pack_into(">9i", data, data.index(b"tkhd") + 44, a, b, 0, c, d, 0, 0, 0, 1 << 30)
    turned.write_bytes(bytes(data))
    subprocess.run([*ffmpeg, "-i", str(turned), "-frames:v", "1", str(shown)], check=True)
    header = moving_header(turned, "video/mp4")
    assert (header.width, header.height) == as_seen(shown.read_bytes())


def test_the_size_of_a_film_is_found_behind_a_long_sound_track(tmp_path: Path) -> None:
    film = mp4(size=(640, 360), moov_last=False)
    sound = struct.pack(">I4s", 400_000, b"trak") + struct.pack(">I4s", 399_992, b"mdia") + bytes(399_984)
    at = film.index(b"trak") - 4
    moov = film.index(b"moov") - 4
    data = bytearray(film[:at] + sound + film[at:])
    struct.pack_into(">I", data, moov, struct.unpack_from(">I", data, moov)[0] + len(sound))
    (tmp_path / "film").write_bytes(bytes(data))
    assert moving_header(tmp_path / "film", "video/mp4").width == 640
