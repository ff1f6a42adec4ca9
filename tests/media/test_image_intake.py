"""The ten formats that become avatars, icons and the like: told apart by their first bytes, measured, and no more."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.media.content_types import content_type
from chat.media.image_header import HEADER_BYTES, ImageHeader, image_header
from chat.media.image_intake import LengthRefused, SizeRefused, decoded, intake_header, vector_header
from tests.image_samples import FORMATS, MOVING, box, heif, jxl, jxl_in_boxes, svg, written


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_taken_and_measured(name: str) -> None:
    kind, sample = FORMATS[name]
    assert intake_header(sample()) == ImageHeader(kind, 16, 8, animated=name == "APNG")


@pytest.mark.parametrize("name", MOVING)
def test_what_moves_is_seen_to_move(name: str) -> None:
    header = intake_header(MOVING[name]())
    assert header is not None
    assert header.animated


@pytest.mark.parametrize(
    "avif",
    [
        heif(b"avis", b"avif", sequence=True),
        heif(b"avis"),
        heif(b"avif", b"avis", sequence=True),
        heif(b"mif1", b"avif", b"avis", sequence=True),
    ],
)
def test_an_avif_that_moves_is_none(avif: bytes) -> None:
    assert intake_header(avif) is None
    assert content_type(avif) == "image/avif"


def test_a_still_avif_may_name_the_brand_of_sequences() -> None:
    assert intake_header(heif(b"avif", b"avis", b"mif1")) == ImageHeader("image/avif", 16, 8)
    assert intake_header(written("AVIF", (64, 48), 3)) is None


@pytest.mark.parametrize(
    ("brands", "kind"),
    [
        ((b"heix",), "image/heic"),
        ((b"mif1", b"heic"), "image/heic"),
        ((b"msf1", b"hevc"), "image/heic"),
        ((b"mif1", b"avif"), "image/avif"),
        ((b"mif1",), "image/heif"),
        ((b"isom", b"avif"), "video/mp4"),
    ],
)
def test_brands_say_what_a_heif_file_holds(brands: tuple[bytes, ...], kind: str) -> None:
    assert content_type(heif(*brands)) == kind
    assert (intake_header(heif(*brands)) is None) == (kind == "video/mp4")


def test_extents_count_only_where_they_are_declared() -> None:
    outside = box(b"ftyp", b"heic", bytes(4), b"heic") + box(b"mdat", b"ispe" + bytes(16))
    assert intake_header(outside) is None
    assert intake_header(heif(b"heic", size=(70_000, 70_000))) == ImageHeader("image/heic", 70_000, 70_000)
    large = box(b"ftyp", b"heic", bytes(4)) + b"\0\0\0\1mdat" + (16 + 5).to_bytes(8, "big") + bytes(5)
    assert intake_header(large + heif(b"heic")[20:]) == ImageHeader("image/heic", 16, 8)
    assert intake_header(b"\0\0\0\0ftypheic") is None


def test_a_second_frame_far_behind_the_first_is_seen() -> None:
    """Whoever takes an image has all of it: what moves late moves too."""
    gif = written("GIF", frames=2)
    comment = b"\x21\xfe" + (b"\xff" + b"x" * 255) * (HEADER_BYTES // 255) + b"\0"
    second = gif.rindex(b"\x21\xf9")
    late = gif[:second] + comment + gif[second:]
    assert image_header(late) == ImageHeader("image/gif", 16, 8)
    assert intake_header(late) == ImageHeader("image/gif", 16, 8, animated=True)
    jpeg = written("JPEG")
    segments = (b"\xff\xe1\xff\xfe" + bytes(0xFFFC)) * (HEADER_BYTES // 65_536 + 1)
    assert intake_header(jpeg[:2] + segments + jpeg[2:]) == ImageHeader("image/jpeg", 16, 8)


def test_a_png_moves_by_its_chunk_and_not_by_its_text() -> None:
    png = written("PNG")
    text = b"\0\0\0\x0ctEXtacTL\0\0\0\5\0\0\0\0" + bytes(4)
    assert intake_header(png[:33] + text + png[33:]) == ImageHeader("image/png", 16, 8)
    assert intake_header(written("PNG", frames=1)) == ImageHeader("image/png", 16, 8)


@pytest.mark.parametrize(
    ("data", "size", "moves"),
    [
        (jxl((1, 1)), (1, 1), False),
        (jxl((512, 512)), (512, 512), False),
        (jxl((513, 8_192)), (513, 8_192), False),
        (jxl((300_000, 9)), (300_000, 9), False),
        (jxl((64, 40), in_eights=True), (64, 40), False),
        (jxl((0, 90), ratio=1), (90, 90), False),
        (jxl((0, 90), ratio=2), (108, 90), False),
        (jxl((0, 90), ratio=3), (120, 90), False),
        (jxl((0, 90), ratio=4), (135, 90), False),
        (jxl((0, 90), ratio=5), (160, 90), False),
        (jxl((0, 96), ratio=6, in_eights=True), (120, 96), False),
        (jxl((0, 90), ratio=7, moving=True), (180, 90), True),
        (jxl((16, 8), moving=True, intrinsic_size=True, preview=True), (16, 8), True),
        (jxl((16, 8), preview=True), (16, 8), False),
        (jxl_in_boxes(jxl((20, 10), moving=True)), (20, 10), True),
        (jxl_in_boxes(jxl((20, 10)), partial=True), (20, 10), False),
    ],
)
def test_jpeg_xl(data: bytes, size: tuple[int, int], moves: bool) -> None:
    assert intake_header(data) == ImageHeader("image/jxl", *size, moves)


def test_jpeg_xl_that_ends_too_soon() -> None:
    assert intake_header(b"\xff\x0a") is None
    assert intake_header(jxl_in_boxes(b"\xff\x0a")) is None
    assert intake_header(jxl_in_boxes(b"other")) is None
    assert intake_header(jxl_in_boxes(b"")[:40]) is None


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="16" height="8"', (16, 8)),
        ('width="16px" height="0.5in"', (16, 48)),
        ('width="3pt" height="1.5mm"', (4, 6)),
        ('viewBox="0 0 24 12"', (24, 12)),
        ('viewBox="0,0,0.1,0.1"', (1, 1)),
        ('width="100%" height="100%" viewBox="-5 -5 24 12"', (24, 12)),
        ('width="48" viewBox="0 0 24 12"', (48, 24)),
        ('height="48" viewBox="0 0 24 12"', (96, 48)),
        ('width="48"', (48, 150)),
        ("", (300, 150)),
        ('viewBox="0 0 0 12"', (300, 150)),
        ('viewBox="nonsense" width="1e9" height="x"', (300, 150)),
        ('width="0" height="8"', (0, 8)),
        ('width="999999999" height="999999999"', (100_000, 100_000)),
    ],
)
def test_sizes_of_drawings(attributes: str, size: tuple[int, int]) -> None:
    assert intake_header(svg(attributes)) == ImageHeader("image/svg+xml", *size)


def test_the_beginnings_that_drawings_have() -> None:
    expected = ImageHeader("image/svg+xml", 16, 8)
    public = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    for before in ("", "<?xml version='1.0' encoding='UTF-8'?>\n", "\ufeff", public, "<!-- by hand -->\n" * 500):
        assert intake_header(svg(before=before)) == expected
    assert intake_header(svg().decode().encode("utf-16")) == expected
    prefixed = b'<s:svg xmlns:s="http://www.w3.org/2000/svg" width="16" height="8"/>'
    assert intake_header(prefixed) == expected
    assert intake_header(svg(inside="<unclosed>")) == expected


@pytest.mark.parametrize(
    "text",
    [
        "<svg width='16' height='8'/>",
        "<html xmlns='http://www.w3.org/1999/xhtml'><svg xmlns='http://www.w3.org/2000/svg'/></html>",
        "<html><script>alert(1)</script></html>",
        '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"/>',
        '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg" width="&a;"/>',
        '<!DOCTYPE svg [<!ENTITY % a SYSTEM "http://127.0.0.1/"> %a;]><svg xmlns="http://www.w3.org/2000/svg"/>',
        '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><svg xmlns="http://www.w3.org/2000/svg" width="&c;"/>',
        "<?xml version='1.0' encoding='no-such'?><svg xmlns='http://www.w3.org/2000/svg'/>",
        "",
        "words",
        "<svg",
        "<!--" + "x" * HEADER_BYTES + "--><svg xmlns='http://www.w3.org/2000/svg'/>",
    ],
)
def test_what_is_no_drawing(text: str) -> None:
    assert intake_header(text.encode()) is None


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.7", b"BM" + bytes(60), b"II*\0" + bytes(60), b"\x1f\x8b\x08" + bytes(60)]
)
def test_other_formats_are_not_taken(data: bytes) -> None:
    assert intake_header(data) is None


SAMPLES = [sample() for _, sample in FORMATS.values()] + [sample() for sample in MOVING.values()]


@given(st.sampled_from(SAMPLES), st.data())
def test_no_damage_makes_it_fail(sample: bytes, data: st.DataObject) -> None:
    damaged = bytearray(sample)
    for _ in range(data.draw(st.integers(0, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    header = intake_header(cut)
    assert header is None or (header.width >= 0 and header.height >= 0)


@given(st.binary(max_size=300))
def test_no_text_makes_the_drawing_reader_fail(data: bytes) -> None:
    assert vector_header(b"<svg" + data) is None or b"svg" in data


@given(st.binary(min_size=1, max_size=200), st.sampled_from(["", "data:image/png;base64,", "data:,", "anything,"]))
def test_text_stands_for_its_bytes(data: bytes, prefix: str) -> None:
    text = prefix + base64.b64encode(data).decode()
    assert decoded(text, len(data)) == data
    if len(data) > 1:
        with pytest.raises(SizeRefused):
            decoded(text, len(data) - 1)


def test_lengths_are_refused_before_anything_is_decoded() -> None:
    for text in ("", "data:image/png;base64,", "!" * 139_810_137, "data:image/png;base64," + "!" * 139_810_137):
        with pytest.raises(LengthRefused):
            decoded(text, 1 << 40)
    with pytest.raises(SizeRefused):
        decoded("!" * 139_810_136, 10 << 20)
    assert decoded("!" * 139_810_136, 1 << 40) is None


@pytest.mark.parametrize(
    "text", ["A", "AAA", "A===", "AA AA", "AAAA\n", "AA_A", "data:image/png;base64", "data:a,b,AAAA", "ääää", "AAAA="]
)
def test_what_is_not_base64(text: str) -> None:
    assert decoded(text, 100) is None
