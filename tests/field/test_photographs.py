"""The pictures of `tests/field/photographs.py` are what they say they are: Pillow, which wrote them, reads them so."""

import io

import pytest
from PIL import Image, ImageOps

from tests.field import photographs


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_picture_is_seen_upright_with_its_sides_exchanged_from_five_on(orientation: int) -> None:
    seen = ImageOps.exif_transpose(Image.open(io.BytesIO(photographs.turned(orientation))))
    assert seen.size == ((400, 200) if orientation < 5 else (200, 400))


def test_a_picture_with_a_place_names_it() -> None:
    exif = Image.open(io.BytesIO(photographs.with_place())).getexif()
    assert exif.get_ifd(photographs.GPS)[1] == "N"


def test_a_picture_with_exchanged_colours_carries_the_profile_that_exchanges_them() -> None:
    picture = Image.open(io.BytesIO(photographs.green_by_profile()))
    assert picture.info["icc_profile"] == photographs.exchanged_profile()
