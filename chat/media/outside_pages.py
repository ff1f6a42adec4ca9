"""The beginnings of web pages and the like, fetched for what a link to them shows.

All is bounded: bytes, seconds from the name look-up to the last of them, redirects, fetches at a time in all and from
one host. What comes compressed, although nobody asked for that, is unpacked no further than anybody reads.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlsplit

import attrs
import trio

from chat.media.outside_addresses import Guard, OutsideRefused
from chat.media.outside_exchange import OutsideExchange, following
from chat.media.page_head import PAGE_BYTES

FETCH_SECONDS: Final = 8.0
AT_A_TIME: Final = 8
AT_A_TIME_OF_A_HOST: Final = 2
WAITING_SECONDS: Final = 15.0
"""How long a fetch waits for its turn."""

COMPRESSED_BYTES: Final = 2 * PAGE_BYTES
"""What is read of a compressed page, however little it unpacks to."""

ACCEPTED: Final = "text/html, application/xhtml+xml, image/*, video/*, audio/*;q=0.9"

_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_DECLARED_BYTES: Final = 1_024
"""Where a page has to say how it is encoded (HTML, 4.2.5.4)."""

_ENCODINGS: Final = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "gb18030": "gb18030",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso-2022-jp": "iso2022_jp",
    "iso-8859-1": "cp1252",
    "iso-8859-9": "cp1254",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "ks_c_5601-1987": "cp949",
    "latin1": "cp1252",
    "shift-jis": "cp932",
    "shift_jis": "cp932",
    "us-ascii": "cp1252",
    "utf-16": "utf_16_le",
    "utf-16be": "utf_16_be",
    "utf-16le": "utf_16_le",
    **{f"iso-8859-{part}": f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-{page}": f"cp{page}" for page in (*range(1250, 1259), 874)},
}
"""Names that pages give to encodings, and ours (the Encoding standard). Any other name counts as UTF-8: some of the
encodings that Python knows are traps."""


@attrs.frozen
class OutsidePage:
    """The beginning of what is found at `url`, after redirects. `content_type` is what the other side calls it, in
    lower case and without parameters."""

    url: str
    content_type: str
    charset: str | None
    data: bytes = attrs.field(repr=False)

    def text(self) -> str:
        """The data as text, in the encoding that is declared; what makes no sense there is replaced."""
        for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf_16_le"), (b"\xfe\xff", "utf_16_be")):
            if self.data.startswith(mark):
                return self.data[len(mark) :].decode(encoding, "replace")
        charset = self.charset
        if charset is None and (match := _CHARSET.search(self.data[:_DECLARED_BYTES].decode("latin-1"))) is not None:
            charset = match[1]
            if charset.lower().startswith("utf-16"):  # nobody could have read it
                charset = None
        return self.data.decode(_ENCODINGS.get((charset or "").lower(), "utf-8"), "replace")


class OutsidePages:
    """Fetches pages, within bounds that all who ask share."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._places = trio.CapacityLimiter(AT_A_TIME)
        self._of_hosts: dict[str, trio.CapacityLimiter] = {}
        self._waiting: Counter[str] = Counter()

    async def fetch(self, url: str, maximum: int = PAGE_BYTES, accepted: str = ACCEPTED) -> OutsidePage:
        """The first `maximum` bytes of what is at an address.

        :raises OutsideRefused: when there is nothing to be had, whatever the reason.
        """
        try:
            with trio.fail_after(WAITING_SECONDS + FETCH_SECONDS):
                async with self._turn(url):
                    with trio.fail_after(FETCH_SECONDS):
                        return await self._fetched(url, maximum, accepted)
        except (EOFError, trio.TooSlowError, zlib.error) as error:
            raise OutsideRefused("it cannot be read") from error

    @contextlib.asynccontextmanager
    async def _turn(self, url: str) -> AsyncIterator[None]:
        host = (urlsplit(url).hostname or "").lower()
        limiter = self._of_hosts.setdefault(host, trio.CapacityLimiter(AT_A_TIME_OF_A_HOST))
        self._waiting[host] += 1
        try:
            async with limiter, self._places:
                yield
        finally:
            self._waiting[host] -= 1
            if not self._waiting[host]:
                del self._waiting[host], self._of_hosts[host]

    async def _fetched(self, url: str, maximum: int, accepted: str) -> OutsidePage:
        async with contextlib.AsyncExitStack() as stack:
            exchange, found_at = await following(stack, self._guard, url, accepted)
            if exchange.status != 200:
                raise OutsideRefused("there is nothing")
            kind = exchange.headers.get("content-type", "")
            charset = _CHARSET.search(kind)
            return OutsidePage(
                found_at,
                kind.partition(";")[0].strip().lower(),
                None if charset is None else charset[1],
                await _beginning(exchange, maximum),
            )
        raise AssertionError("nothing on the stack swallows an exception")


async def _beginning(exchange: OutsideExchange, maximum: int) -> bytes:
    """The first bytes of an answer, unpacked."""
    encoding = exchange.headers.get("content-encoding", "identity").strip().lower()
    if encoding in {"identity", ""}:
        unpacker = None
    elif encoding in {"gzip", "x-gzip", "deflate"}:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    else:
        raise OutsideRefused("it is packed in a way that nobody asked for")
    found, received = bytearray(), 0
    while len(found) < maximum and received < COMPRESSED_BYTES and (piece := await exchange.read()):
        received += len(piece)
        found += piece if unpacker is None else unpacker.decompress(piece, maximum - len(found) or 1)
    return bytes(found[:maximum])
