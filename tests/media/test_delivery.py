"""Ranges and validators as such."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.media.delivery import File, delivery

FILE = File("image/png", 1_000, "tag", "private", "a.png")


@given(st.text(max_size=40) | st.from_regex(r"bytes=[0-9]{0,5}-[0-9]{0,5}", fullmatch=True))
def test_every_range_ends_in_bytes_of_the_file(wanted: str) -> None:
    answer = delivery(FILE, {"range": wanted})
    assert answer.status in {200, 206, 416}
    assert 0 <= answer.start <= answer.stop <= FILE.size
    assert (answer.start < answer.stop) == (answer.status != 416)
    assert ("Content-Range" in answer.headers) == (answer.status != 200)


@pytest.mark.parametrize("wanted", ["bytes=0-", "bytes=-1"])
def test_an_empty_file_has_no_ranges(wanted: str) -> None:
    assert delivery(File("text/plain", 0, "t", "private"), {"range": wanted}).status == 416
    whole = delivery(File("text/plain", 0, "t", "private"), {})
    assert (whole.status, whole.start, whole.stop) == (200, 0, 0)


def test_what_is_no_image_is_offered_for_saving() -> None:
    assert delivery(FILE, {}).headers["Content-Disposition"].startswith("inline;")
    for kind in ("text/plain; charset=utf-8", "application/pdf", "video/mp4", "image/svg+xml"):
        headers = delivery(File(kind, 1, "t", "private"), {}).headers
        assert headers["Content-Disposition"] == "attachment"
        assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
