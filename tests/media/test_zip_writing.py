"""ZIP files that grow by whole entries: others can read them, and they go on where they were left."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.media.zip_writing import PositionLost, ZipPosition, ZipWriter, list_of

NOW = 1_763_762_400_000
GIBIBYTE = 1 << 30


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path, source = tmp_path / "a.zip", tmp_path / "source"
    source.write_bytes(b"as it lies here" * 1_000)
    writer = ZipWriter(path)
    writer.add("first/Grüße.json", b"{}" * 500, NOW)
    assert writer.add_file("second", source, NOW)
    assert not writer.add_file("never", tmp_path / "gone", NOW)
    writer.add("empty", b"", NOW)
    size = writer.finish()
    writer.close()
    assert size == path.stat().st_size
    assert path.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["first/Grüße.json", "second", "empty"]
        assert archive.testzip() is None
        assert archive.read("second") == source.read_bytes()
        first = archive.getinfo("first/Grüße.json")
        assert first.date_time == (2025, 11, 21, 22, 0, 0)
        assert first.compress_size < first.file_size == 1_000


def test_more_entries_than_sixteen_bits_count(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    writer = ZipWriter(path)
    for number in range(65_536):
        writer.add(str(number), b"", NOW)
    writer.finish()
    writer.close()
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 65_536
        assert archive.read("65535") == b""


def test_entries_beyond_four_gibibytes(tmp_path: Path) -> None:
    """What lies before them is a hole in the file."""
    path = tmp_path / "large.zip"
    with path.open("wb") as stream:
        stream.truncate(5 * GIBIBYTE)
    writer = ZipWriter(path, ZipPosition(offset=5 * GIBIBYTE))
    writer.add("far", b"away", NOW)
    assert writer.finish() > 5 * GIBIBYTE
    writer.close()
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("far").header_offset == 5 * GIBIBYTE
        assert archive.read("far") == b"away"


def test_a_position_that_the_files_do_not_reach(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    writer = ZipWriter(path)
    writer.add("entry", b"content", NOW)
    position = writer.save()
    writer.close()
    list_of(path).write_bytes(b"")
    with pytest.raises(PositionLost):
        ZipWriter(path, position)
    path.unlink()
    with pytest.raises(PositionLost):
        ZipWriter(path, position)


@given(steps=st.lists(st.tuples(st.lists(st.binary(max_size=40), max_size=3), st.binary(max_size=60)), max_size=6))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_broken_off_after_any_step(tmp_path: Path, steps: list[tuple[list[bytes], bytes]]) -> None:
    """Each step is saved; then comes something that is not, and another writer goes on at the position."""
    path, position, expected = tmp_path / "steps.zip", ZipPosition(), []
    for contents, lost in steps:
        writer = ZipWriter(path, position)
        for content in contents:
            writer.add(str(len(expected)), content, NOW)
            expected.append(content)
        position = writer.save()
        writer.add("lost", lost, NOW)
        writer.close()
        with path.open("ab") as stream:
            stream.write(lost)
    writer = ZipWriter(path, position)
    writer.finish()
    writer.close()
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert [archive.read(name) for name in archive.namelist()] == expected
