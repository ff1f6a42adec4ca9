"""Pages in every encoding that the standard has, by every label, said in every way that pages have."""

from __future__ import annotations

import pytest
from webencodings.labels import LABELS

from chat.media.outside_fetching import OutsidePage
from chat.media.page_embed import page_head
from chat.media.page_encoding import parameter, text_of

SAMPLES = {
    "big5": ("big5", "中文標題"),
    "euc-jp": ("euc_jp", "日本語の題"),
    "euc-kr": ("cp949", "한국어 제목"),
    "gb18030": ("gb18030", "中文标题"),
    "gbk": ("gbk", "中文标题"),
    "ibm866": ("cp866", "Заголовок"),
    "iso-2022-jp": ("iso2022_jp", "日本語の題"),
    "iso-8859-2": ("iso8859_2", "Żółw"),
    "iso-8859-3": ("iso8859_3", "Ĉapelo"),
    "iso-8859-4": ("iso8859_4", "Žāle"),
    "iso-8859-5": ("iso8859_5", "Заголовок"),
    "iso-8859-6": ("iso8859_6", "عنوان"),
    "iso-8859-7": ("iso8859_7", "Τίτλος"),
    "iso-8859-8": ("iso8859_8", "כותרת"),
    "iso-8859-8-i": ("iso8859_8", "כותרת"),
    "iso-8859-10": ("iso8859_10", "Ŋđš"),
    "iso-8859-13": ("iso8859_13", "Ūkis"),
    "iso-8859-14": ("iso8859_14", "Ŵyn"),
    "iso-8859-15": ("iso8859_15", "Œuvre à 5 €"),
    "iso-8859-16": ("iso8859_16", "Țară"),
    "koi8-r": ("koi8_r", "Заголовок"),
    "koi8-u": ("koi8_u", "Їжак"),
    "macintosh": ("mac_roman", "Café"),
    "shift_jis": ("cp932", "日本語の題"),
    "utf-8": ("utf_8", "Grüße, 世界"),
    "windows-874": ("cp874", "หัวข้อ"),
    "windows-1250": ("cp1250", "Żółw"),
    "windows-1251": ("cp1251", "Заголовок"),
    "windows-1252": ("cp1252", "Grüße für 5 €"),
    "windows-1253": ("cp1253", "Τίτλος"),
    "windows-1254": ("cp1254", "Şehir"),
    "windows-1255": ("cp1255", "כותרת"),
    "windows-1256": ("cp1256", "عنوان"),
    "windows-1257": ("cp1257", "Ūkis"),
    "windows-1258": ("cp1258", "Đương"),
    "x-mac-cyrillic": ("mac_cyrillic", "Заголовок"),
}
"""By the standard's name Python's codec, which wrote the page, and its title."""

UTF_16 = {"utf-16le": "utf_16_le", "utf-16be": "utf_16_be"}
UNREADABLE = {"replacement", "x-user-defined"}
"""Of which nothing is read: attacks, and bytes without a meaning."""


def title(page: bytes, content_type: str = "text/html") -> str | None:
    return page_head(OutsidePage("https://x.example/", "text/html", parameter(content_type), page).text()).title


def test_the_table_is_the_standards() -> None:
    assert SAMPLES.keys() | UTF_16.keys() | UNREADABLE == set(LABELS.values())
    assert len(LABELS) >= 228


@pytest.mark.parametrize("label", LABELS)
def test_a_page_by_each_label(label: str) -> None:
    name = LABELS[label]
    if name in UNREADABLE:
        assert "title" not in (title(b"<title>\xe9</title>", f"text/html; charset={label}") or "")
        return
    codec, said = SAMPLES.get(name, (UTF_16.get(name, ""), "Grüße"))
    page = f"<title>{said}</title>"
    for written in (label, label.upper(), f'"{label}"', f" '{label}' "):
        assert title(page.encode(codec), f"text/html;charset={written}; x=1") == said
    if name in UTF_16:  # a page that can be read to here is not in that
        assert title(f"<meta charset={label}>{page}".encode()) == said
        return
    for before in (
        f"<meta charset={label}>",
        f"<META CHARSET = '{label}' />",
        f"<meta http-equiv=Content-Type content='text/html; charset={label}'>",
        f'<meta content="text/html;charset={label}" HTTP-EQUIV="content-type">',
        f"<?xml version='1.0' encoding='{label}'?>\n<html>",
        f"<!-- <meta charset=utf-7> --><meta name=x content='charset=utf-8'><meta charset={label}>",
        f"<script charset=utf-8></script><meta charset={label}>",
    ):
        assert title(before.encode("ascii") + page.encode(codec)) == said, before


@pytest.mark.parametrize(
    ("page", "content_type", "said"),
    [
        ("<title>Grüße, 世界</title>".encode(), "text/html", "Grüße, 世界"),  # nothing named: UTF-8 where it can be
        ("<title>Grüße für 5 €</title>".encode("cp1252"), "text/html", "Grüße für 5 €"),
        ("<title>Grüße</title>".encode("cp1252"), "text/html; charset=no-such", "Grüße"),
        ("<meta charset=no-such><title>Grüße</title>".encode("cp1252"), "text/html", "Grüße"),
        ("<meta charset=iso-8859-2><title>Żółw</title>".encode("iso8859_2"), "text/html; charset=nonsense", "Żółw"),
        ("<meta charset=utf-8><title>Żółw</title>".encode("iso8859_2"), "text/html; charset=latin2", "Żółw"),
        (b"\xef\xbb\xbf" + "<meta charset=koi8-r><title>ü</title>".encode(), "text/html; charset=koi8-r", "ü"),
        ("\ufeff<title>ü</title>".encode("utf_16_le"), "text/html", "ü"),
        ("\ufeff<title>ü</title>".encode("utf_16_be"), "text/html; charset=utf-8", "ü"),
        ("<?xml version='1.0'?><title>ü</title>".encode("utf_16_le"), "text/html", "ü"),
        ("<?xml version='1.0'?><title>ü</title>".encode("utf_16_be"), "text/html", "ü"),
        (b"<title>+AGE-</title>", "text/html; charset=utf-7", "+AGE-"),
        (b"<title>abc</title>", "text/html; charset=unicode_escape", "abc"),
        (b"<meta charset=x-user-defined><title>\xe9</title>", "text/html", "é"),
        (b" " * 1_024 + "<meta charset=koi8-r><title>Grüße</title>".encode(), "text/html", "Grüße"),
    ],
)
def test_what_counts_first(page: bytes, content_type: str, said: str) -> None:
    assert title(page, content_type) == said


def test_a_page_that_is_cut_inside_a_character_is_utf_8_still() -> None:
    whole = "<title>Grüße</title>世界".encode()
    for cut in (1, 2, 3):
        assert text_of(whole[:-cut], None).startswith("<title>Grüße</title>世")


@pytest.mark.parametrize("label", sorted(set(LABELS.values())))
def test_every_encoding_reads_every_byte(label: str) -> None:
    for data in (bytes(range(256)) * 4, bytes(range(255, -1, -1)), b"\x1b$B\xff", b"<\x00?\x00x\x00\xff"):
        text_of(data, label)
