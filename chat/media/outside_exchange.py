"""One GET to an address that has been judged, on a connection of its own, and the answer as it comes.

It says as little as possible: no cookies, no credentials, no referrer, nothing about who asks here. It asks for no
compression, keeps no connection and follows nothing by itself (`following` does, each step through the guard); the
head of an answer has a limit.
"""

from __future__ import annotations

import contextlib
import functools
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin

import h11
import trio

from chat.media.outside_addresses import Guard, OutsideRefused, Target

HEAD_BYTES: Final = 32_768
"""The longest head of an answer."""

READ_BYTES: Final = 65_536

ACCEPTED: Final = "image/*, video/*, audio/*"

USER_AGENT: Final = "Mozilla/5.0 (compatible; chat)"
"""Many sites refuse those who send none; it says what asks, and not which instance."""

REDIRECTS: Final = 3
REDIRECTION: Final = frozenset({301, 302, 303, 307, 308})


class OutsideExchange:
    """A request that was sent. `status` and `headers` (lower-case names) are the answer's."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self._ended = False

    async def ask(self, target: Target, accepted: str = ACCEPTED) -> None:
        """Send the request and read the head of the answer; raises OutsideRefused."""
        request = h11.Request(
            method="GET",
            target=target.path,
            headers=[
                ("Host", target.host_header),
                ("Accept", accepted),
                ("User-Agent", USER_AGENT),
                ("Accept-Encoding", "identity"),
                ("Connection", "close"),
            ],
        )
        try:
            data = (self._parser.send(request) or b"") + (self._parser.send(h11.EndOfMessage()) or b"")
            await self._stream.send_all(data)
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
        """Close the connection."""
        await trio.aclose_forcefully(self._stream)

    async def _next_event(self) -> object:
        while (event := self._parser.next_event()) is h11.NEED_DATA:
            self._parser.receive_data(bytes(await self._stream.receive_some(READ_BYTES)))
        return event


async def connected(target: Target) -> OutsideExchange:
    """A connection to the very address that was judged; raises OutsideRefused."""
    try:
        stream: trio.abc.Stream = await trio.open_tcp_stream(target.address, target.port)
    except OSError as error:
        raise OutsideRefused("nobody answers") from error
    if target.url.scheme == "https":
        # The certificate must be the name's, not the address's; a wrong one shows at the first byte.
        stream = trio.SSLStream(stream, _trust(), server_hostname=target.host, https_compatible=True)
    return OutsideExchange(stream)


async def following(
    stack: contextlib.AsyncExitStack, guard: Guard, url: str, accepted: str = ACCEPTED
) -> tuple[OutsideExchange, str]:
    """The answer at an address, after REDIRECTS steps at most, and the address at which it was found.

    Connections are closed with the stack.

    :raises OutsideRefused: where the guard refuses a step, nobody answers, or there is no end to it.
    """
    for _ in range(1 + REDIRECTS):
        target = await guard.target(url)
        exchange = await connected(target)
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
