"""What lies outside, fetched: media that this server passes on, and the beginnings of pages that a link shows.

A request goes to an address that has been judged (`chat.media.outside_addresses`), on a connection of its own. It says
as little as possible: no cookies, no credentials, no referrer, nothing about who asks here. It asks for no compression;
redirects are followed a few steps, each through the guard. What comes is as untrusted as an upload: bytes, seconds,
redirects and fetches at a time are bounded, and the kind of media is told by content.
"""

from __future__ import annotations

import contextlib
import functools
import ssl
import zlib
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Final
from urllib.parse import urljoin, urlsplit

import attrs
import h11
import structlog
import trio

from chat.classes import frozen
from chat.errors import ApiError
from chat.media.content_types import IMAGE_TYPES, MOVING_TYPES, SNIFFED_BYTES, content_type
from chat.media.image_header import HEADER_BYTES, image_header
from chat.media.outside_addresses import AddressGuard, JudgedTarget, OutsideRefused
from chat.media.page_encoding import parameter, text_of
from chat.media.renditions import MAY_HIDE_FRAMES
from chat.registries.error_codes import ErrorCode

HEAD_BYTES: Final = 32_768
"""The longest head of an answer."""

READ_BYTES: Final = 65_536

MEDIA_ACCEPTED: Final = "image/*, video/*, audio/*"

USER_AGENT: Final = "Mozilla/5.0 (compatible; chat)"
"""Many sites refuse requests without one; it names the program and not the instance."""

REDIRECTS: Final = 3
REDIRECTION: Final = frozenset({301, 302, 303, 307, 308})


END: Final = h11.EndOfMessage()


@frozen
class PostedBody:
    """What a POST sends; `headers` have its type."""

    content: bytes = attrs.field(repr=False)
    headers: tuple[tuple[str, str], ...]


class OutsideExchange:
    """A request that was sent. `status` and `headers` (lower-case names) are the answer's."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self._ended = False

    async def ask(self, target: JudgedTarget, accepted: str = MEDIA_ACCEPTED, posted: PostedBody | None = None) -> None:
        """Send the request and read the head of the answer; raises OutsideRefused."""
        more = () if posted is None else (*posted.headers, ("Content-Length", str(len(posted.content))))
        try:
            request = h11.Request(
                method="GET" if posted is None else "POST",
                target=target.path,
                headers=[
                    ("Host", target.host_header),
                    ("Accept", accepted),
                    ("User-Agent", USER_AGENT),
                    ("Accept-Encoding", "identity"),
                    ("Connection", "close"),
                    *more,
                ],
            )
            body = [] if posted is None else [h11.Data(data=posted.content)]
            await self._stream.send_all(b"".join(self._parser.send(each) or b"" for each in (request, *body, END)))
            event = await self._next_event()
            while isinstance(event, h11.InformationalResponse):
                event = await self._next_event()
        except (trio.BrokenResourceError, h11.ProtocolError) as error:
            raise OutsideRefused("this is not HTTP") from error
        if not isinstance(event, h11.Response):
            raise OutsideRefused("there was no answer")
        self.status = event.status_code
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}

    async def read(self) -> bytes:
        """The next piece of the body; empty at its end and ever after. Raises EOFError when it breaks off."""
        if self._ended:
            return b""
        try:
            event = await self._next_event()
        except (trio.BrokenResourceError, h11.ProtocolError) as error:
            raise EOFError("the other side broke off") from error
        if isinstance(event, h11.Data):
            return bytes(event.data)
        if isinstance(event, h11.EndOfMessage):
            self._ended = True
            return b""
        raise EOFError("the other side broke off")

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)

    async def _next_event(self) -> object:
        while (event := self._parser.next_event()) is h11.NEED_DATA:
            self._parser.receive_data(bytes(await self._stream.receive_some(READ_BYTES)))
        return event


async def connected(target: JudgedTarget) -> trio.abc.Stream:
    """A connection to the very address that was judged; raises OutsideRefused."""
    try:
        stream: trio.abc.Stream = await trio.open_tcp_stream(target.address, target.port)
    except OSError as error:
        raise OutsideRefused("there is no server") from error
    if target.url.scheme == "https":
        # The certificate must be the name's, not the address's; a wrong one shows at the first byte.
        stream = trio.SSLStream(stream, _trust(), server_hostname=target.host, https_compatible=True)
    return stream


async def following(
    stack: contextlib.AsyncExitStack, guard: AddressGuard, url: str, accepted: str = MEDIA_ACCEPTED
) -> tuple[OutsideExchange, str]:
    """The answer at an address, after REDIRECTS steps at most, and the address at which it was found.

    Connections are closed with the stack.

    :raises OutsideRefused: if the guard refuses a step, there is no server, or there are too many steps.
    """
    for _ in range(1 + REDIRECTS):
        target = await guard.target(url)
        exchange = OutsideExchange(await connected(target))
        stack.push_async_callback(exchange.aclose)
        await exchange.ask(target, accepted)
        if exchange.status not in REDIRECTION:
            return exchange, url
        try:
            url = urljoin(url, exchange.headers.get("location", ""))
        except ValueError as error:
            raise OutsideRefused("the redirect is malformed") from error
    raise OutsideRefused("too many redirects")


@functools.cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


# Beginnings of pages

PAGE_BYTES: Final = 262_144
"""How much of a page is read."""

FETCH_SECONDS: Final = 8.0
PAGES_AT_A_TIME: Final = 8
PAGES_AT_A_TIME_OF_A_HOST: Final = 2
WAITING_SECONDS: Final = 15.0
"""How long a fetch waits for its turn."""

COMPRESSED_BYTES: Final = 2 * PAGE_BYTES
"""What is read of a compressed page, however little it unpacks to."""

PAGES_ACCEPTED: Final = "text/html, application/xhtml+xml, image/*, video/*, audio/*;q=0.9"


@frozen
class OutsidePage:
    """The beginning of what is at `url`, after redirects. `content_type` is the declared one, without parameters."""

    url: str
    content_type: str
    charset: str | None
    data: bytes = attrs.field(repr=False)

    def text(self) -> str:
        """The data as text; what makes no sense is replaced."""
        return text_of(self.data, self.charset)


class OutsidePages:
    """Fetches the beginnings of pages, within bounds that all callers share.

    What comes compressed, although it was not asked for, is unpacked no further than it is read.
    """

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._places = trio.CapacityLimiter(PAGES_AT_A_TIME)
        self._of_hosts: dict[str, trio.CapacityLimiter] = {}
        self._waiting: Counter[str] = Counter()

    async def fetch(self, url: str, maximum: int = PAGE_BYTES, accepted: str = PAGES_ACCEPTED) -> OutsidePage:
        """The first `maximum` bytes of what is at an address.

        :raises OutsideRefused: if there is no page, it cannot be read, or it takes too long.
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
        limiter = self._of_hosts.setdefault(host, trio.CapacityLimiter(PAGES_AT_A_TIME_OF_A_HOST))
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
            return OutsidePage(
                found_at,
                kind.partition(";")[0].strip().lower(),
                parameter(kind),
                await _beginning(exchange, maximum),
            )
        raise AssertionError("nothing on the stack swallows an exception")


async def _beginning(exchange: OutsideExchange, maximum: int) -> bytes:
    encoding = exchange.headers.get("content-encoding", "identity").strip().lower()
    if encoding in {"identity", ""}:
        unpacker = None
    elif encoding in {"gzip", "x-gzip", "deflate"}:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    else:
        raise OutsideRefused("the compression is unknown")
    found, received = bytearray(), 0
    while len(found) < maximum and received < COMPRESSED_BYTES and (piece := await exchange.read()):
        received += len(piece)
        found += piece if unpacker is None else unpacker.decompress(piece, maximum - len(found) or 1)
    return bytes(found[:maximum])


# Media that are passed on

MEDIA_BYTES: Final = 52_428_800
"""The largest file that is passed on."""

PICTURE_BYTES: Final = 26_214_400
"""The largest picture that is received whole and judged before it is passed on."""

ANSWER_SECONDS: Final = 10.0
"""By then the other side's answer must have begun, redirects included."""

PIECE_SECONDS: Final = 10.0
"""How long the next piece may take."""

WHOLE_SECONDS: Final = 300.0
"""How long a whole transfer may take, a slow client's reading included."""

TRANSFERS_AT_A_TIME: Final = 32
"""Transfers under way; one more is told to come back."""

SERVED_TYPES: Final = IMAGE_TYPES | MOVING_TYPES

log: Final = structlog.get_logger("chat.media")


@frozen
class OutsideMedia:
    """An answer from outside whose kind has been seen; `length` is None where the other side does not say.
    `is_certain` False: a picture that moves, or may, and is to be judged as a whole.

    Call `pieces`, which raises EOFError if the transfer breaks off, and then `aclose`.
    """

    content_type: str
    length: int | None
    is_certain: bool
    pieces: Callable[[], AsyncGenerator[bytes, None]]
    aclose: Callable[[], Awaitable[None]]


class ExternalMedia:
    """Fetches media for a client that shall not show itself there.

    `allowed` are networks that count as outside although they are not public (`media.private_networks_allowed`).
    """

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self.guard: Final = AddressGuard(allowed)
        self.under_way = 0
        """Transfers that are not over yet."""

    async def fetch(self, url: str) -> OutsideMedia:
        """The media at an address, as far as their kind; what remains has WHOLE_SECONDS.

        :raises ApiError: BAD_GATEWAY for any failure there; SERVICE_UNAVAILABLE when too many are fetched already.
        """
        if self.under_way >= TRANSFERS_AT_A_TIME:
            raise ApiError(ErrorCode.SERVICE_UNAVAILABLE, headers={"Retry-After": "1"})
        async with contextlib.AsyncExitStack() as stack:
            self.under_way += 1
            stack.callback(self._done)
            try:
                with trio.fail_after(ANSWER_SECONDS):
                    exchange, _ = await following(stack, self.guard, url)
                    length, head = await _judged(exchange)
            except (OutsideRefused, EOFError, trio.TooSlowError) as error:
                # Neither the client nor the log learns what was found there, or under which address.
                log.info("outside media refused", reason=type(error).__name__)
                raise ApiError(ErrorCode.BAD_GATEWAY) from None
            kind, aclose = content_type(head), stack.pop_all().aclose
            return OutsideMedia(kind, length, _is_certain(kind, head), lambda: _bounded(head, exchange), aclose)
        raise AssertionError("nothing on the stack swallows an exception")

    def _done(self) -> None:
        self.under_way -= 1


async def _judged(exchange: OutsideExchange) -> tuple[int | None, bytes]:
    """The length and the first bytes of what may be passed on."""
    if exchange.status != 200 or exchange.headers.get("content-encoding", "identity") != "identity":
        raise OutsideRefused("the answer is not a plain file")
    announced = exchange.headers.get("content-length", "")
    length = int(announced) if announced.isdecimal() and len(announced) < 16 else None
    if length is not None and length > MEDIA_BYTES:
        raise OutsideRefused("the file is too large")
    head = await _filled(b"", SNIFFED_BYTES, exchange)
    kind = content_type(head)
    if kind not in SERVED_TYPES:
        raise OutsideRefused("the file is not a picture, a film or a sound")
    if kind in IMAGE_TYPES:
        head = await _filled(head, HEADER_BYTES, exchange)
        header = image_header(head)
        if header is not None and not header.is_bearable:
            raise OutsideRefused("the picture has too many pixels")
    return length, head


async def _filled(head: bytes, size: int, exchange: OutsideExchange) -> bytes:
    """`head`, with more bytes read until there are `size` of them or the answer ends."""
    pieces, length = [head], len(head)
    while length < size and (piece := await exchange.read()):
        pieces.append(piece)
        length += len(piece)
    return b"".join(pieces)


def _is_certain(kind: str, head: bytes) -> bool:
    """Whether a client can show this, by what its first bytes say of it."""
    if kind not in IMAGE_TYPES:
        return True
    header = image_header(head)
    return header is not None and not header.animated and kind not in MAY_HIDE_FRAMES


async def _bounded(head: bytes, exchange: OutsideExchange) -> AsyncGenerator[bytes, None]:
    """All of the file. Raises EOFError where it breaks off or does not end."""
    until = trio.current_time() + WHOLE_SECONDS
    size = len(head)
    yield head
    while piece := await _next_piece(exchange):
        size += len(piece)
        if size > MEDIA_BYTES or trio.current_time() > until:
            raise EOFError("the file does not end")
        yield piece


async def _next_piece(exchange: OutsideExchange) -> bytes:
    try:
        with trio.fail_after(PIECE_SECONDS):
            return await exchange.read()
    except trio.TooSlowError as error:
        raise EOFError("the other side fell silent") from error
