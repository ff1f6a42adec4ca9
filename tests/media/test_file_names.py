"""Names of files: harmless, recognisable, and offered so that every client can read them."""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.media.delivery import FILE_NAME_BYTES, disposition, file_name


@given(st.text(max_size=600))
def test_a_name_is_always_harmless_and_stays_as_it_is(sent: str) -> None:
    name = file_name(sent)
    assert 0 < len(name.encode()) <= FILE_NAME_BYTES
    assert not set(name) & set('/\\<>:"|?*\0\r\n')
    assert not name.startswith((".", " "))
    assert all(unicodedata.category(character) != "Cc" for character in name)
    assert file_name(name) == name


@given(st.text(max_size=300))
def test_the_header_holds_the_name_and_nothing_else(sent: str) -> None:
    name = file_name(sent)
    header = disposition("attachment", name)
    assert header.isascii()
    assert "\r" not in header
    assert "\n" not in header
    assert header.count('"') == 2
    assert unquote(header.partition("filename*=UTF-8''")[2]) == name


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("photo.png", "photo.png"),
        ("C:\\Users\\x\\photo.png", "photo.png"),
        ("a/b/../c.txt", "c.txt"),
        ("dir/", "dir"),
        ("...", "file"),
        (" . hidden", "hidden"),
        ("nul\0byte.txt", "nulbyte.txt"),
        ("e\u0301.txt", "\u00e9.txt"),
        ("x" * 400, "x" * 255),
        ("x" * 400 + "." + "y" * 30, "x" * 255),
    ],
)
def test_names(sent: str, name: str) -> None:
    assert file_name(sent) == name
