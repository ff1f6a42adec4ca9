"""Names of files: harmless, recognisable, and offered so that every client can read them."""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.media.delivery import FILE_NAME_BYTES, disposition, file_name

NAMES = st.text(max_size=600) | st.text("./\\ \u00a0\u202ee\u0301ax\u1112\u1161<\0", max_size=300)


@given(NAMES)
def test_a_name_is_always_harmless_and_stays_as_it_is(sent: str) -> None:
    name = file_name(sent)
    assert 0 < len(name.encode()) <= FILE_NAME_BYTES
    assert not set(name) & set('/\\<>:"|?*\0\r\n')
    assert name not in {".", ".."}
    assert name == name.strip() == name.rstrip(".")
    assert unicodedata.is_normalized("NFC", name)
    assert not set(name) & set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert all(unicodedata.category(character) != "Cc" for character in name)
    assert file_name(name) == name


@given(NAMES)
def test_the_header_holds_the_name_and_nothing_else(sent: str) -> None:
    name = file_name(sent)
    header = disposition("attachment", name)
    assert header.isascii()
    assert "\r" not in header
    assert "\n" not in header
    assert header.count('"') == 2
    assert unquote(header.partition("filename*=UTF-8''")[2]) == name


@given(st.from_regex(r"\.[a-z0-9_-]{1,30}(\.[a-z0-9]{1,5})?", fullmatch=True))
def test_a_name_that_begins_with_a_dot_keeps_it(sent: str) -> None:
    assert file_name(sent) == file_name(f"/home/x/{sent}") == sent


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("photo.png", "photo.png"),
        ("C:\\Users\\x\\photo.png", "photo.png"),
        ("a/b/../c.txt", "c.txt"),
        ("dir/", "dir"),
        ("...", "file"),
        ("..", "file"),
        ("a/..", "file"),
        (". .\u00a0.", "file"),
        ("..\u202e..", "file"),
        (".env", ".env"),
        (".gitignore", ".gitignore"),
        ("config/.env", ".env"),
        ("C:\\work\\.env", ".env"),
        (".env.", ".env"),
        ("..env", "..env"),
        (" . hidden", ". hidden"),
        ("report.pdf. . ", "report.pdf"),
        ("invoice\u202egpj.exe", "invoicegpj.exe"),
        ("e\u202e\u0301.txt", "\u00e9.txt"),
        ("\u1112\u1161\u11ab.txt", "\ud55c.txt"),
        (".e\u0301nv", ".\u00e9nv"),
        ("x" * 254 + ".", "x" * 254),
        ("." + "x" * 400 + ".txt", "." + "x" * 250 + ".txt"),
        ("x" * 254 + " y", "x" * 254),
        ("nul\0byte.txt", "nulbyte.txt"),
        ("e\u0301.txt", "\u00e9.txt"),
        ("x" * 400, "x" * 255),
        ("x" * 400 + "." + "y" * 30, "x" * 255),
    ],
)
def test_names(sent: str, name: str) -> None:
    assert file_name(sent) == name
