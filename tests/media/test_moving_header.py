"""What films and sounds tell of themselves."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.media.content_types import MOVING_TYPES, content_type
from chat.media.moving_header import MovingHeader, moving_header
from tests.growth import is_linear
from tests.image_samples import box
from tests.media.moving_samples import SAMPLES, element, mp4


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each sample is written in turn."""
    return tmp_path_factory.mktemp("moving") / "file"


def written(place: Path, data: bytes, kind: str) -> None:
    place.write_bytes(data)
    moving_header(place, kind)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_kind_is_told_and_measured(place: Path, name: str) -> None:
    kind, make, found = SAMPLES[name]
    place.write_bytes(make())
    assert content_type(make()) == kind
    assert moving_header(place, kind) == MovingHeader(*found)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("video/mp4", b""),
        ("video/mp4", box(b"ftyp", b"mp42")),
        ("video/mp4", box(b"ftyp", b"mp42") + struct.pack(">I4s", 4, b"mdat")),  # less than its own head
        ("video/mp4", box(b"ftyp", b"mp42") + box(b"free") * 10_000),
        ("video/mp4", box(b"ftyp", b"mp42") + box(b"moov", box(b"mvhd", bytes(100)))),  # a time scale of nothing
        ("video/mp4", box(b"ftyp", b"mp42") + box(b"moov", box(b"mvhd", b"\xff" * 100))),
        ("video/webm", b"\x1aE\xdf\xa3"),
        ("video/webm", b"\0" * 1_000),
        ("video/webm", element(0x18538067, element(0x1549A966, element(0x4489, b"\x7f\xf0\0\0\0\0\0\0")))),  # infinite
        ("video/webm", element(0x18538067, element(0x1549A966, element(0x4489, b"\x7f\xf8\0\0\0\0\0\0")))),  # no number
        ("audio/wav", b"RIFF\0\0\0\0WAVE" + b"data\xff\xff\xff\xff"),
        ("audio/flac", b"fLaC" + bytes(38)),
        ("audio/ogg", b"OggS"),
        ("audio/mpeg", b"ID3"),
        ("application/zip", b"PK\x03\x04"),
    ],
)
def test_what_makes_no_sense_tells_nothing(place: Path, kind: str, data: bytes) -> None:
    place.write_bytes(data)
    assert moving_header(place, kind) == MovingHeader()


def test_a_file_that_is_gone_tells_nothing(tmp_path: Path) -> None:
    assert moving_header(tmp_path / "none", "video/mp4") == MovingHeader()


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_no_damage_makes_it_fail(place: Path, name: str, data: st.DataObject) -> None:
    kind, make, _ = SAMPLES[name]
    sample = bytearray(make())
    for _ in range(data.draw(st.integers(1, 12))):
        position = data.draw(st.one_of(st.integers(0, min(len(sample), 400) - 1), st.integers(0, len(sample) - 1)))
        sample[position] = data.draw(st.integers(0, 255))
    place.write_bytes(bytes(sample[: data.draw(st.integers(0, len(sample)))]))
    found = moving_header(place, kind)
    assert all(value is None or value > 0 for value in (found.width, found.height, found.duration))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(MOVING_TYPES)), st.binary(max_size=400))
def test_no_bytes_make_it_fail(place: Path, kind: str, data: bytes) -> None:
    place.write_bytes(data)
    moving_header(place, kind)


def test_a_file_full_of_boxes_costs_what_its_first_boxes_cost(place: Path) -> None:
    def nested(count: int) -> bytes:
        data = b""
        for _ in range(count):
            data = element(0x18538067, data)[:250_000]
        return data

    makers: dict[str, list[Callable[[int], bytes]]] = {
        "video/mp4": [lambda count: mp4()[:24] + box(b"moov", box(b"trak", box(b"tkhd", bytes(90))) * count)],
        "video/webm": [nested, lambda count: element(0xEC, b"") * 10 * count],
        "audio/wav": [lambda count: b"RIFF\0\0\0\0WAVE" + b"junk\0\0\0\0" * 50 * count],
    }
    for kind, makes in makers.items():
        for make in makes:
            assert is_linear(lambda data, kind=kind: written(place, data, kind), make, 250)
