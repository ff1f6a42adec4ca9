"""Parts of forms as programs write them: whoever sends a file gets it kept, and under its name."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.media.part_header import disposition_of
from chat.testing.world import World
from tests.growth import is_linear
from tests.webhooks.surfaces import BOUNDARY, post_form

CASES = [
    ("curl", 'name="file"; filename="a.png"', "a.png"),
    ("curl, a quote", r'name="file"; filename="a\"b\\c.txt"', 'a"b\\c.txt'),
    ("a percent sign", 'name="file"; filename="100%20%22.txt"', "100%20%22.txt"),
    ("browsers, UTF-8", 'name="file"; filename="żółw 🐢.txt"', "żółw 🐢.txt"),
    ("Internet Explorer", 'name="file"; filename="C:\\Users\\x\\a.png"', "C:\\Users\\x\\a.png"),
    ("a share", 'name="file"; filename="\\\\host\\share\\a.png"', "\\host\\share\\a.png"),
    ("a folder at the end", 'name="file"; filename="C:\\dir\\"', "C:\\dir\\"),
    ("a semicolon", 'name="file"; filename="a;b=c.txt"', "a;b=c.txt"),
    ("no quotes", "name=file; filename=a b.txt", "a b.txt"),
    ("no quotes, no space", "name=file;filename=a.txt", "a.txt"),
    ("an open quote", 'name="file"; filename="a.txt', "a.txt"),
    ("capitals", 'Name="file"; FileName="a.txt"', "a.txt"),
    ("spaces around the sign", 'name = "file" ; filename = "a.txt"', "a.txt"),
    ("nothing in between", 'name="file"; ; x; filename="a.txt"', "a.txt"),
    ("no name", 'name="file"; filename=""', ""),
    ("requests of 2018", "name=\"file\"; filename*=utf-8''%C5%BC%C3%B3%C5%82w.txt", "żółw.txt"),
    (".NET", "name=file; filename=\"=?utf-8?B?xbzDs8WCdw==?=\"; filename*=utf-8''%C5%BC%C3%B3%C5%82w", "żółw"),
    (".NET, the old name alone", 'name=file; filename="=?utf-8?B?xbzDs8WCdy50eHQ=?="', "żółw.txt"),
    ("RFC 2047, Q", 'name=file; filename="=?ISO-8859-1?Q?caf=E9_au_lait.txt?="', "café au lait.txt"),
    ("RFC 2047, two words", 'name=file; filename="=?utf-8?Q?caf=C3=A9?= =?utf-8?Q?.txt?="', "café.txt"),
    ("RFC 2047, a language", 'name=file; filename="=?utf-8*en?Q?a?="', "a"),
    ("RFC 2047, broken", 'name=file; filename="=?utf-8?B?a?="', "=?utf-8?B?a?="),
    ("ISO-8859-1", "name=file; filename*=iso-8859-1'fr'caf%E9.txt", "café.txt"),
    ("its name in capitals", "name=file; filename*=UTF-8'en'%e2%82%ac%20rates", "€ rates"),
    ("the extended name first", "name=file; filename*=UTF-8''b.txt; filename=\"a.txt\"", "b.txt"),
    ("the extended name last", "name=file; filename=\"a.txt\"; filename*=UTF-8''b.txt", "b.txt"),
    ("in quotes", "name=file; filename*=\"utf-8''%E2%82%AC.txt\"", "€.txt"),
    ("without quotes in it", "name=file; filename*=%E2%82%AC.txt", "€.txt"),
    ("an unknown charset", "name=file; filename*=koi8-r''a%41.txt", "aA.txt"),
    ("not of its charset", "name=file; filename*=utf-8''caf%E9.txt", "café.txt"),
    ("empty", "name=file; filename*=", ""),
    ("empty beside a name", "name=file; filename*=; filename=a.txt", "a.txt"),
    ("JavaMail, pieces", "name=file; filename*0=\"long \"; filename*1=name.txt", "long name.txt"),
    ("encoded pieces", "name=file; filename*1*=%82%AC; filename*0*=utf-8''%E2; filename*2=.txt", "€.txt"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "header", "name"), CASES, ids=[case for case, *_ in CASES])
def test_the_name_of_a_file(case: str, header: str, name: str) -> None:
    assert disposition_of(f"form-data; {header}".encode()) == ("file", name)


def test_bytes_that_are_no_utf_8_are_latin_1() -> None:
    assert disposition_of(b'form-data; name="file"; filename="caf\xe9.txt"') == ("file", "café.txt")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (b"", None),
        (b"form-data", None),
        (b"attachment; name=a", None),
        (b'form-data; filename="a"', None),
        (b'form-data; name="a"', ("a", None)),
        (b'Form-Data; name="a"', ("a", None)),
        (b'form-data; name="a"; files="b"; x-filename="c"', ("a", None)),
    ],
)
def test_what_is_no_file(header: bytes, found: tuple[str, str | None] | None) -> None:
    assert disposition_of(header) == found


@pytest.mark.parametrize("piece", [b";", b"; ", b" ", b"a=;", b'a="', b"a", b'\\"'])
def test_a_long_header_takes_no_longer_than_others(piece: bytes) -> None:
    assert is_linear(disposition_of, lambda length: b"form-data;" + piece * (length // len(piece)), 2_500)


@given(st.text(min_size=1, max_size=60).filter(str.isprintable))
def test_every_name_comes_through_however_it_is_written(name: str) -> None:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    for parameter in (f"filename*=utf-8''{quote(name, safe='')}", f"filename*=\"UTF-8''{quote(name)}\""):
        assert disposition_of(f"form-data; name=file; {parameter}".encode()) == ("file", name)
    if "=?" not in name:
        assert disposition_of(f'form-data; name="file"; filename="{escaped}"'.encode()) == ("file", name)


@given(
    st.binary(max_size=200), st.sampled_from([b"filename", b"filename*", b"FileName*", b"filename*0", b"filename*0*"])
)
def test_no_bytes_make_a_file_into_a_field(value: bytes, parameter: bytes) -> None:
    found = disposition_of(b"form-data; name=file; " + parameter + b"=" + value)
    assert found is not None
    assert found[1] is not None


def part(header: str, body: bytes) -> bytes:
    """One part of a form, which END closes."""
    return f"--{BOUNDARY}\r\nContent-Disposition: form-data; {header}\r\n\r\n".encode() + body + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()


async def test_a_file_with_an_extended_name_alone_is_posted(chat_world: World) -> None:
    body = part("name=\"file\"; filename*=utf-8''%C5%BC%C3%B3%C5%82w.txt", b"turtle") + END
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    sent = (await post_form(chat_world.alice.rest, path, body)).expect(200)
    assert [(file["filename"], file["size"]) for file in sent["attachments"]] == [("żółw.txt", 6)]


async def test_json_that_a_browser_sends_as_a_blob_is_the_message(chat_world: World) -> None:
    body = part('name="payload_json"; filename="blob"', b'{"content": "hello"}')
    body += part('name="files[0]"; filename=".env"', b"A=1") + END
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    sent = (await post_form(chat_world.alice.rest, path, body)).expect(200)
    assert (sent["content"], [file["filename"] for file in sent["attachments"]]) == ("hello", [".env"])
