"""Pages fetched from real servers of this machine: sizes, time, redirects, encodings, and whose address counts."""

from __future__ import annotations

import gzip
import socket
import zlib
from collections.abc import AsyncIterator
from typing import Any

import h11
import pytest
import trio
import trio.testing

from chat.media.outside_addresses import AddressGuard, OutsideRefused
from chat.media.outside_fetching import FETCH_SECONDS, PAGE_BYTES, PAGES_AT_A_TIME_OF_A_HOST, OutsidePage, OutsidePages
from tests.messages.outside_server import Answering, outside, plain

HERE = ("127.0.0.0/8",)

HTML = (("Content-Type", "text/html"),)


def moved(place: str, status: int = 302) -> Answering:
    """An answer that sends on."""
    return plain(b"", status=status, headers=(("Location", place),))


def pages_here() -> OutsidePages:
    """Fetches from this machine too."""
    return OutsidePages(AddressGuard(HERE))


async def test_a_page_comes_with_its_place_and_kind() -> None:
    pages = {
        "/a?b=c": plain(b"<p>", headers=(("Content-Type", "Text/HTML; Charset=KOI8-R"),)),
        "/1": moved("/2"),
        "/2": moved("a?b=c", 307),
    }
    async with outside(pages) as server:
        for path in ("/a?b=c", "/1"):
            page = await pages_here().fetch(server.origin + path)
            assert page == OutsidePage(server.origin + "/a?b=c", "text/html", "KOI8-R", b"<p>")
        sent = dict(server.requests[0].headers)
        assert sent.keys() == {b"host", b"accept", b"user-agent", b"accept-encoding", b"connection"}


@pytest.mark.parametrize(
    "answer",
    [
        plain(b"x", status=404),
        plain(b"x", status=500),
        plain(b"", status=204),
        moved("/loop"),
        moved(""),
        moved("http://[::1"),
        moved("file:///etc/passwd"),
        moved("http://10.0.0.1/"),
        moved("http://169.254.169.254/latest/meta-data"),
        moved("http://[::1]:8080/"),
        moved("http://localhost.:22/"),
        moved("gopher://127.0.0.1/"),
        plain(b"x", headers=(("Content-Encoding", "br"),)),
        plain(b"no gzip at all", headers=(("Content-Encoding", "gzip"),)),
        plain(b"x", headers=(("X", "y" * 100_000),)),
    ],
)
async def test_what_is_not_to_be_had(answer: Answering) -> None:
    async with outside({"/loop": answer}) as server:
        with pytest.raises(OutsideRefused):
            await pages_here().fetch(server.origin + "/loop")


async def test_what_is_no_http_or_ends_too_soon() -> None:
    def says(data: bytes) -> Answering:
        async def answer(_: h11.Request, stream: trio.SocketStream) -> None:
            await stream.send_all(data)

        return answer

    pages = {
        "/nothing": says(b""),
        "/garbage": says(b"\0\1\2\r\n\r\n"),
        "/half": says(b"HTTP/1.1 200 OK\r\nContent-Le"),
        "/short": says(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"),
        "/chunks": says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        "/two lengths": says(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nabc"),
    }
    async with outside({path.replace(" ", "%20"): answer for path, answer in pages.items()}) as server:
        for path in pages:
            with pytest.raises(OutsideRefused):
                await pages_here().fetch(server.origin + path.replace(" ", "%20"))
    with pytest.raises(OutsideRefused):  # nobody is there any more
        await pages_here().fetch(server.origin + "/nothing")


async def test_no_more_is_read_than_is_wanted() -> None:
    sent = 0

    async def endless(_: h11.Request, stream: trio.SocketStream) -> None:
        nonlocal sent
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while True:
            await stream.send_all(bytes(65_536))
            sent += 65_536

    async with outside({"/": endless}) as server:
        page = await pages_here().fetch(server.origin + "/", 1_000)
        assert page.data == bytes(1_000)
        assert len((await pages_here().fetch(server.origin + "/")).data) == PAGE_BYTES
        assert sent < 100_000_000


async def test_a_packed_bomb_is_unpacked_as_far_as_anybody_reads() -> None:
    bomb = gzip.compress(bytes(200_000_000), 9)
    tiny = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"\0\0\0\xff\xff" * 1_000_000  # blocks of nothing
    pages = {
        "/gzip": plain(gzip.compress(b"<title>packed</title>"), headers=(*HTML, ("Content-Encoding", "gzip"))),
        "/zlib": plain(zlib.compress(b"<title>packed</title>"), headers=(*HTML, ("Content-Encoding", "deflate"))),
        "/bomb": plain(bomb, headers=(*HTML, ("Content-Encoding", "gzip"))),
        "/tiny": plain(tiny, headers=(*HTML, ("Content-Encoding", "gzip"))),
    }
    async with outside(pages) as server:
        for path in ("/gzip", "/zlib"):
            assert (await pages_here().fetch(server.origin + path)).data == b"<title>packed</title>"
        assert (await pages_here().fetch(server.origin + "/bomb")).data == bytes(PAGE_BYTES)
        assert (await pages_here().fetch(server.origin + "/tiny")).data == b""


@pytest.mark.parametrize("pause", ["before", "in the head", "in the body"])
async def test_a_server_that_is_slow_is_given_up(pause: str, mock_clock: trio.testing.MockClock) -> None:
    begun = trio.Event()

    async def slow(_: h11.Request, stream: trio.SocketStream) -> None:
        if pause == "in the head":
            await stream.send_all(b"HTTP/1.1 200 OK\r\n")
        elif pause == "in the body":
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc")
        begun.set()
        await trio.sleep_forever()

    async with outside({"/": slow}) as server, trio.open_nursery() as nursery:
        refused = trio.Event()

        async def ask() -> None:
            with pytest.raises(OutsideRefused):
                await pages_here().fetch(server.origin + "/")
            refused.set()

        nursery.start_soon(ask)
        await begun.wait()
        mock_clock.jump(FETCH_SECONDS - 0.1)
        await trio.testing.wait_all_tasks_blocked()
        assert not refused.is_set()
        mock_clock.jump(0.2)
        await refused.wait()


async def test_a_host_is_asked_by_few_at_a_time() -> None:
    under_way = most = 0

    async def answer(_: h11.Request, stream: trio.SocketStream) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await trio.sleep(0.02)
        under_way -= 1
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    pages = pages_here()
    async with outside({"/": answer}) as server, trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(pages.fetch, server.origin + "/")
        while len(server.requests) < 8:  # noqa: ASYNC110 - nobody is told
            await trio.sleep(0.01)
    assert most == PAGES_AT_A_TIME_OF_A_HOST
    assert pages._of_hosts == {}
    assert not pages._waiting


# Whose address counts


class Names(trio.abc.HostnameResolver):
    """Answers for names, each time the next of its addresses."""

    def __init__(self, answers: dict[str, list[list[str]]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def getaddrinfo(self, host: Any, port: Any, *_: Any, **__: Any) -> Any:
        name = host.decode()
        self.asked.append(name)
        addresses = self.answers[name]
        found = addresses.pop(0) if len(addresses) > 1 else addresses[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    async def getnameinfo(self, *_: Any) -> Any:
        raise AssertionError("nobody asks for names of addresses")


@pytest.fixture
async def names() -> AsyncIterator[Names]:
    """A resolver of names in place of the machine's own."""
    resolver = Names({})
    trio.socket.set_custom_hostname_resolver(resolver)
    try:
        yield resolver
    finally:
        trio.socket.set_custom_hostname_resolver(None)


async def test_a_name_that_changes_its_mind_gains_nothing(names: Names) -> None:
    """The connection goes to the address that was judged, not to what the name stands for a moment later."""
    async with outside({"/": plain(b"secret")}) as server:
        port = server.origin.rpartition(":")[2]
        guard = AddressGuard(["127.0.0.1/32"])
        names.answers = {"good.example": [["127.0.0.1"], ["10.0.0.1"]]}
        page = await OutsidePages(guard).fetch(f"http://good.example:{port}/")
        assert page.data == b"secret"
        assert names.asked == ["good.example"], "it was looked up once"
        assert server.hosts == [f"good.example:{port}"]
        # The other way round: outside when it is judged, inside if it were asked again.
        names.answers = {"rebinding.example": [["127.0.0.2"], ["127.0.0.1"]]}
        with pytest.raises(OutsideRefused):
            await OutsidePages(AddressGuard(["127.0.0.2/32"])).fetch(f"http://rebinding.example:{port}/")
        assert len(server.requests) == 1


async def test_a_name_must_stand_for_nothing_but_public_addresses(names: Names) -> None:
    async with outside({"/": plain(b"secret"), "/on": moved("http://inside.example/")}) as server:
        port = server.origin.rpartition(":")[2]
        names.answers = {
            "inside.example": [["10.0.0.8"]],
            "both.example": [["8.8.8.8", "127.0.0.1"]],
            "none.example": [[]],
            "here.example": [["127.0.0.1"]],
        }
        for name in ("inside.example", "both.example", "none.example", "here.example"):
            with pytest.raises(OutsideRefused):
                await OutsidePages(AddressGuard()).fetch(f"http://{name}:{port}/")
        assert server.requests == []
        with pytest.raises(OutsideRefused):  # each step of a redirect is judged
            await OutsidePages(AddressGuard(HERE)).fetch(f"http://here.example:{port}/on")
        assert len(server.requests) == 1


# Encodings


@pytest.mark.parametrize(
    ("declared", "meta", "data", "text"),
    [
        (None, "", "ü€".encode(), "ü€"),
        ("utf-8", "", "ü€".encode(), "ü€"),
        ("ISO-8859-1", "", "ü€".encode("cp1252"), "ü€"),
        ("windows-1251", "", "привет".encode("cp1251"), "привет"),
        ("Shift_JIS", "", "日本".encode("cp932"), "日本"),
        ("gb2312", "", "中文".encode("gb18030"), "中文"),
        ("euc-kr", "", "한국".encode("cp949"), "한국"),
        (None, "<meta charset='koi8-r'>", "привет".encode("koi8_r"), "привет"),
        (None, "<meta charset=utf-16>", "ü".encode(), "ü"),
        ("windows-1251", "<meta charset=utf-8>", "привет".encode("cp1251"), "привет"),
        ("utf-7", "", b"+AGE-", "+AGE-"),
        ("rot13", "", b"abc", "abc"),
        ("idna", "", b"abc", "abc"),
        ("zlib", "", zlib.compress(b"abc"), zlib.compress(b"abc").decode("cp1252", "replace")),
        ("unicode_escape", "", b"\\x41", "\\x41"),
        ("nonsense", "", b"abc", "abc"),
        ("koi8-r", "", b"\xef\xbb\xbf" + "ü".encode(), "ü"),
        (None, "", b"\xff\xfe" + "ü".encode("utf-16-le"), "ü"),
        (None, "", b"\xfe\xff" + "ü".encode("utf-16-be"), "ü"),
        (None, "", b"\xff\xfd\xfc", "ÿýü"),
    ],
)
def test_pages_are_read_as_they_say(declared: str | None, meta: str, data: bytes, text: str) -> None:
    page = OutsidePage("https://x.example/", "text/html", declared, meta.encode() + data)
    assert page.text() == meta + text
