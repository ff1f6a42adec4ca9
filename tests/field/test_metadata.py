"""What tells of a picture's maker is gone from it, and nobody sees a difference: Pillow, exiftool and ffmpeg judge."""

from __future__ import annotations

import io
import json
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

from chat.media.boxes import boxes
from chat.media.content_types import content_type
from chat.media.image_header import image_header
from chat.media.metadata import tiff
from chat.media.metadata.removal import CLEANERS, remove_metadata, without_metadata, write_without_metadata
from tests.field import photographs
from tests.field.photographs import SECRETS, telling
from tests.field.programs import program
from tests.image_samples import FORMATS, MOVING, box, jxl, jxl_in_boxes
from tests.media.moving_samples import SAMPLES, mp4

PICTURES: Final = ("JPEG", "PNG", "WEBP", "AVIF", "HEIF", "MPO", "GIF", "JXL", "TIFF")
BEHIND: Final = b"PK\3\4 Berlin SERIAL4711 " + bytes(300)


def cleaned(data: bytes) -> bytes:
    return without_metadata(data, content_type(data))


def seen(data: bytes) -> list[tuple[tuple[int, int], bytes]]:
    """Every frame as a person sees it."""
    with Image.open(io.BytesIO(data)) as picture:
        frames = []
        for number in range(getattr(picture, "n_frames", 1) if picture.format != "MPO" else 1):
            picture.seek(number)
            frame = ImageOps.exif_transpose(picture.convert("RGBA") if number else picture)
            frames.append((frame.size, frame.convert("RGBA").tobytes()))
        return frames


@pytest.mark.parametrize("kind", PICTURES)
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_photograph_is_the_same_and_tells_nothing(kind: str, orientation: int) -> None:
    if kind == "JXL":
        orientation = 1  # its codestream turns it; EXIF that says otherwise counts for nothing (ISO/IEC 18181-2)
    sent = telling(kind, orientation)
    assert any(secret in sent for secret in SECRETS), "the sample has no secret"
    kept = cleaned(sent)
    assert not [secret for secret in SECRETS if secret in kept]
    assert seen(kept) == seen(sent)
    with Image.open(io.BytesIO(kept)) as picture, Image.open(io.BytesIO(sent)) as before:
        allowed = {photographs.ORIENTATION} if kind != "TIFF" else tiff.KEPT
        assert set(picture.getexif()) <= allowed
        assert picture.info.get("icc_profile") == before.info.get("icc_profile")
    header = image_header(kept, whole=True)
    assert header is not None
    assert (header.width, header.height) == seen(sent)[0][0]


@pytest.mark.parametrize("kind", sorted({*PICTURES} - {"TIFF"}))  # which has no end
def test_what_follows_the_end_of_a_picture_is_cut_off(kind: str) -> None:
    plain = cleaned(telling(kind, 6))
    assert cleaned(plain + BEHIND) == plain
    assert cleaned(plain) == plain


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP", "AVIF"])
def test_what_moves_goes_on_moving(kind: str) -> None:
    sent = telling(kind, 1, frames=3)
    kept = cleaned(sent)
    assert not [secret for secret in SECRETS if secret in kept]
    assert seen(kept) == seen(sent)
    assert len(seen(kept)) == 3
    with Image.open(io.BytesIO(kept)) as picture, Image.open(io.BytesIO(sent)) as before:
        assert picture.info.get("loop") == before.info.get("loop")
        assert picture.info.get("duration") == before.info.get("duration")


@pytest.mark.parametrize("name", [*FORMATS, *(f"moving {name}" for name in MOVING), *SAMPLES])
def test_the_samples_of_other_tests_have_nothing_to_take_out(name: str) -> None:
    if name in FORMATS:
        data = FORMATS[name][1]()
    else:
        data = MOVING[name.removeprefix("moving ")]() if name.startswith("moving ") else SAMPLES[name][1]()
    assert cleaned(data) == data


def test_a_turned_heic_stays_turned() -> None:
    sent = photographs.turned_heic(1) + BEHIND
    kept = cleaned(sent)
    assert seen(kept) == seen(sent)
    assert b"SERIAL" not in kept


def test_a_jpeg_xl_in_boxes_loses_its_notes() -> None:
    notes = box(b"Exif", bytes(4), b"SERIAL4711") + box(b"xml ", b"Berlin") + box(b"brob", b"xml SERIAL")
    plain = jxl_in_boxes(jxl(orientation=6))
    kept = cleaned(plain + notes)
    assert kept == plain
    assert cleaned(jxl()) == jxl()


def test_the_thumbnail_of_a_jpeg_goes() -> None:
    plain = photographs.turned(1)
    jfif = b"\xff\xe0" + struct.pack(">H", 16 + 12) + b"JFIF\0\1\2\0\0\1\0\1\2\2" + b"SERIAL4711.."
    further = b"\xff\xe0" + struct.pack(">H", 2 + 16) + b"JFXX\0\x10SERIAL4711"
    data = plain[:2] + jfif + further + plain[20:]
    kept = cleaned(data)
    assert b"SERIAL" not in kept
    assert seen(kept) == seen(data)


@settings(max_examples=150)
@given(st.sampled_from(PICTURES), st.data())
def test_a_damaged_picture_stays_what_it_was_to_a_decoder(kind: str, data: st.DataObject) -> None:
    """What Pillow makes of it does not change, and cleaning twice is cleaning once."""
    sent = bytearray(SAMPLED[kind])
    for _ in range(data.draw(st.integers(0, 4))):
        sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(sent[: data.draw(st.one_of(st.just(len(sent)), st.integers(0, len(sent))))])
    kept = without_metadata(cut, content_type(bytes(SAMPLED[kind])))
    assert len(kept) <= len(cut)
    assert without_metadata(kept, content_type(bytes(SAMPLED[kind]))) == kept


@settings(max_examples=200)
@given(st.sampled_from(sorted(CLEANERS)), st.sampled_from([b"", b"\xff\xd8", b"GIF89a"]), st.binary(max_size=300))
def test_no_bytes_make_it_fail(kind: str, beginning: bytes, rest: bytes) -> None:
    kept = without_metadata(beginning + rest, kind)
    assert without_metadata(kept, kind) == kept


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_that_is_cut_off_in_its_pixels_tells_nothing_either(kind: str) -> None:
    if kind in {"AVIF", "HEIF", "TIFF"}:
        return  # what they name is not there then; nobody can show them
    sent = telling(kind, 6, side=300)
    cut = sent[: len(sent) * 9 // 10]
    assert not [secret for secret in SECRETS if secret in cleaned(cut)]


def test_a_file_is_cleaned_in_place_or_anew(tmp_path: Path) -> None:
    for number, data in enumerate((telling("JPEG", 6), telling("HEIF", 1), mp4(), b"", b"words")):
        path, spare, other = tmp_path / f"{number}", tmp_path / "spare", tmp_path / f"{number}.copy"
        path.write_bytes(data)
        kind = content_type(data)
        assert write_without_metadata(path, kind, other) is (cleaned(data) != data)
        assert remove_metadata(path, kind, spare) is (cleaned(data) != data)
        assert path.read_bytes() == cleaned(data) == (other.read_bytes() if other.exists() else data)
        assert not spare.exists()


def test_much_is_not_much_work_to_look_at(tmp_path: Path) -> None:
    """What would take a thread more than some seconds is left as it is."""
    for kind, data in (
        ("image/jpeg", b"\xff\xd8" + b"\xff\xd0" * 1_200_000),
        ("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(17) + b"\0\0\0\0abcd\0\0\0\0" * 1_200_000),
        ("image/gif", b"GIF89a" + bytes(7) + b"\x2c" + bytes(10) + b"\1\0" * 1_200_000),
    ):
        assert without_metadata(data, kind) is data


def heif(*tables: bytes) -> bytes:
    """A picture with these tables of items, and something to take out."""
    kind = box(b"infe", bytes([2, 0, 0, 0]), struct.pack(">HH", 2, 0), b"uri ", b"\0")
    kinds = box(b"iinf", bytes(4), struct.pack(">H", 1), kind)
    meta = box(b"meta", bytes(4), kinds, *tables)
    return box(b"ftyp", b"heic", bytes(4)) + meta + box(b"mdat", bytes(200_000))


def places(version: int, sizes: int, *entries: bytes) -> bytes:
    return box(b"iloc", bytes([version, 0, 0, 0, sizes, 0]), struct.pack(">H", len(entries)), *entries)


TABLES: Final = {
    "a reference to more than its box holds": box(b"iref", bytes(4), box(b"cdsc", struct.pack(">HH", 2, 60_000))),
    "pieces that take no bytes": places(0, 0, *(struct.pack(">HHH", item, 0, 60_000) for item in range(5, 9))),
    "tables twice": places(0, 0) * 2,
    "properties of more items than the box holds": box(b"iprp", box(b"ipma", bytes(4), struct.pack(">I", 15_000))),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_say_more_than_they_hold_are_left(name: str) -> None:
    """Some of these would take all the memory there is, each a few bytes for many."""
    assert without_metadata(heif(), "image/heic") != heif()
    data = heif(TABLES[name])
    assert without_metadata(data, "image/heic") is data


def test_many_items_in_one_place_are_one_look() -> None:
    kinds = b"".join(
        box(b"infe", bytes([2, 0, 0, 0]), struct.pack(">HH", item, 0), b"uri ", b"\0") for item in range(19_000)
    )
    first = box(b"iinf", bytes(4), struct.pack(">H", 19_000), kinds)
    lies = [struct.pack(">HHHII", item, 0, 1, 1_000_000, 4_000_000) for item in range(19_000)]
    meta = box(b"meta", bytes(4), first, places(0, 0x44, *lies))
    data = box(b"ftyp", b"heic") + meta + box(b"mdat", bytes(5_000_000))
    assert b"uri " not in without_metadata(data, "image/heic")


def pages(*entries: tuple[int, int, int, int], count: int = 1) -> bytes:
    """A TIFF of pages with the same entries."""
    length = 2 + 12 * len(entries) + 4
    inside = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries)
    data = b"".join(
        inside + struct.pack("<I", 8 + (page + 1) * length if page + 1 < count else 0) for page in range(count)
    )
    return b"II*\0" + struct.pack("<I", 8) + data + bytes(800_000)


def test_directories_that_lead_to_themselves_are_looked_at_once() -> None:
    data = pages(*[(34_665, 4, 1, 8)] * 1_000)
    assert without_metadata(data, "image/tiff") is data


def test_pages_that_share_their_strips_are_not_counted_for_ever() -> None:
    strips = ((273, 4, 15_000, 2_000), (279, 4, 15_000, 2_000), (305, 2, 8, 100_000))
    one = pages(*strips)
    assert len(without_metadata(one, "image/tiff")) == len(one)
    many = pages(*strips, count=20)
    assert without_metadata(many, "image/tiff") is many


# Films


def film(tmp_path: Path, name: str, *options: str) -> Path:
    """A film that tells where it was made, in a form that its ending names."""
    path = tmp_path / name
    source = ["-f", "lavfi", "-i", "testsrc=s=64x48:d=0.4", "-f", "lavfi", "-i", "sine=d=0.4"]
    told = {"title": "Berlin", "location": "+52.5200+013.4050/", "make": "SERIAL4711", "comment": "Berlin"}
    noted = [part for name, value in told.items() for part in ("-metadata", f"{name}={value}")]
    noted += ["-metadata", "creation_time=2024-01-01T10:00:00Z"]
    subprocess.run([program("ffmpeg"), "-v", "error", *source, *noted, *options, str(path)], check=True)
    return path


FILMS: Final[Mapping[str, tuple[str, ...]]] = {
    "plain.mp4": ("-c:v", "mpeg4"),
    "keys.mp4": ("-c:v", "mpeg4", "-movflags", "use_metadata_tags"),
    "fast.mp4": ("-c:v", "mpeg4", "-movflags", "faststart"),
    "pieces.mp4": ("-c:v", "mpeg4", "-movflags", "frag_keyframe+empty_moov"),
    "telephone.mov": ("-c:v", "mpeg4"),
    "web.webm": (),
    "live.webm": ("-live", "1"),
    "matroska.mkv": (),
}


def decoded(path: Path) -> str:
    command = [program("ffmpeg"), "-v", "error", "-xerror", "-i", str(path), "-f", "framemd5", "-"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", FILMS)
def test_a_film_is_the_same_and_tells_nothing(tmp_path: Path, name: str) -> None:
    sent = film(tmp_path, name, *FILMS[name])
    data = sent.read_bytes()
    assert b"Berlin" in data
    kept = tmp_path / f"kept-{name}"
    kept.write_bytes(cleaned(data + BEHIND))
    assert decoded(kept) == decoded(sent)
    assert len(kept.read_bytes()) == len(data)
    assert not [word for word in (b"Berlin", b"52.5", b"SERIAL") if word in kept.read_bytes()]
    assert cleaned(kept.read_bytes()) == kept.read_bytes()
    shown = [program("ffprobe"), "-v", "error", "-show_entries", "format_tags:stream_tags", "-of", "json", str(kept)]
    told = subprocess.run(shown, check=True, capture_output=True, text=True).stdout
    assert not {"title", "location", "make", "comment", "creation_time"} & set(
        json.loads(told)["format"].get("tags", {})
    )
    assert "2024" not in told


def test_a_sound_keeps_title_and_artist(tmp_path: Path) -> None:
    path = film(tmp_path, "song.m4a", "-vn", "-metadata", "artist=Somebody")
    kept = cleaned(path.read_bytes())
    assert b"Somebody" in kept
    assert b"52.5" not in kept
    path.write_bytes(kept)
    assert decoded(path)


def track_of_places(place: int, length: int) -> bytes:
    """A track of a camera's places, in one sample at a place of the file."""
    table = b"".join(
        (
            box(b"stco", bytes(4), struct.pack(">II", 1, place)),
            box(b"stsz", bytes(4), struct.pack(">III", 0, 1, length)),
            box(b"stsc", bytes(4), struct.pack(">IIII", 1, 1, 1, 1)),
        )
    )
    media = box(b"mdia", box(b"hdlr", bytes(8), b"meta", bytes(12)), box(b"minf", box(b"stbl", table)))
    return box(b"trak", box(b"tkhd", bytes(84)), media)


def test_a_track_that_records_where_a_camera_was_goes_with_what_it_recorded() -> None:
    plain, secret = mp4(moov_last=False), b"lat 52.5200 lon 13.4050"
    (moov,) = (part for part in boxes(plain, 0, len(plain)) if part.kind == b"moov")
    place = len(plain) + len(track_of_places(0, 0)) + 8
    inside = plain[moov.content : moov.stop] + track_of_places(place, len(secret))
    data = plain[: moov.start] + box(b"moov", inside) + plain[moov.stop :] + box(b"mdat", secret)
    assert data[place : place + len(secret)] == secret
    kept = cleaned(data)
    assert len(kept) == len(data)
    assert secret not in kept
    assert [part.kind for part in boxes(kept, 0, len(kept))] == [b"ftyp", b"moov", b"mdat", b"mdat"]


def film_of_places(*tracks: bytes, media: bytes) -> bytes:
    return box(b"ftyp", b"mp42", bytes(4)) + box(b"moov", box(b"mvhd", bytes(100)), *tracks) + media


def track_of(chunks: Sequence[int], lengths: Sequence[int], runs: Sequence[int]) -> bytes:
    table = b"".join(
        (
            box(b"stco", bytes(4), struct.pack(f">I{len(chunks)}I", len(chunks), *chunks)),
            box(b"stsz", bytes(4), struct.pack(f">II{len(lengths)}I", 0, len(lengths), *lengths)),
            box(b"stsc", bytes(4), struct.pack(f">I{len(runs)}I", len(runs) // 3, *runs)),
        )
    )
    media = box(b"mdia", box(b"hdlr", bytes(8), b"meta", bytes(12)), box(b"minf", box(b"stbl", table)))
    return box(b"trak", box(b"tkhd", bytes(84)), media)


def test_places_in_many_pieces_are_found_in_one_pass() -> None:
    count = 50_000
    place = len(film_of_places(track_of([0] * count, [1] * count, (1, 1, 1)), media=box(b"mdat") * count)) + 8
    chunks = range(place, place + count)
    data = film_of_places(
        track_of(chunks, [1] * count, (1, 1, 1)), media=box(b"mdat") * count + box(b"mdat", b"x" * count)
    )
    kept = without_metadata(data, "video/mp4")
    assert len(kept) == len(data)
    assert not kept[place:].strip(b"\0")


def test_runs_of_chunks_that_begin_anew_are_left() -> None:
    runs = (1, 1, 1, 3, 1, 1) * 10
    data = film_of_places(track_of([5_000] * 2, [1] * 40, runs), media=box(b"mdat", b"x" * 9_000))
    assert without_metadata(data, "video/mp4") is data


def test_a_film_of_more_boxes_than_are_looked_at_is_left_whole() -> None:
    data = film_of_places(box(b"udta", b"Berlin"), media=box(b"moof") * 200_000 + box(b"mdat", b"pixels"))
    assert without_metadata(data, "video/mp4") is data


@pytest.mark.parametrize("tag", [330, 33_421, 50_706])
def test_the_raw_photograph_of_a_camera_stays(tag: int) -> None:
    data = bytearray(telling("TIFF", 6))
    place = struct.unpack_from("<I", data, 4)[0]
    last = place + 2 + 12 * (struct.unpack_from("<H", data, place)[0] - 1)
    struct.pack_into("<H", data, last, tag)
    assert cleaned(bytes(data)) == data


def test_the_raw_film_of_a_camera_stays() -> None:
    data = box(b"ftyp", b"crx ", bytes(4)) + box(b"moov", box(b"uuid", b"SERIAL4711" * 2))
    assert cleaned(data) == data


# What strangers' programs find


NOTED: Final = frozenset({"EXIF:Orientation", "EXIF:YCbCrPositioning"})
"""What exiftool may find of EXIF."""


@pytest.mark.parametrize("kind", PICTURES)
def test_exiftool_finds_nothing(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "kept"
    path.write_bytes(cleaned(telling(kind, 6)))
    found = subprocess.run(
        [program("exiftool"), "-json", "-G0", "-a", "-u", str(path)], check=True, capture_output=True
    )
    told = json.loads(found.stdout)[0]
    groups = ("XMP:", "IPTC:", "MakerNotes:", "Photoshop:", "MPF:", "Trailer:", "EXIF:GPS", "EXIF:Modify")
    assert not [name for name in told if name.startswith(groups)]
    if kind != "TIFF":  # whose own tags exiftool counts as EXIF
        assert {name for name in told if name.startswith("EXIF:")} <= NOTED
    assert not [value for value in told.values() if "Berlin" in str(value) or "SERIAL" in str(value)]


SAMPLED: Final = {kind: telling(kind, 6) for kind in PICTURES}
