"""Media that lie elsewhere, fetched for a client that shall not show itself there.

What comes is as untrusted as an upload: its kind is told by content, compressed answers are refused, and size, seconds
and requests at a time are bounded. Redirects are followed a few steps, each through the guard.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

import attrs
import structlog
import trio

from chat.errors import ApiError
from chat.media.content_types import IMAGE_TYPES, MOVING_TYPES, SNIFFED_BYTES, content_type
from chat.media.outside_addresses import Guard, OutsideRefused, Target

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

MEDIA_BYTES: Final = 52_428_800
"""The largest file that is passed on."""

ANSWER_SECONDS: Final = 10.0
"""By then the other side's answer must have begun, redirects included."""

PIECE_SECONDS: Final = 10.0
"""How long the next piece may take."""

WHOLE_SECONDS: Final = 300.0
"""How long a whole transfer may take, a slow client's reading included."""

PIECE_BYTES: Final = 65_536
REDIRECTS: Final = 3
AT_A_TIME: Final = 32
"""Transfers under way; one more is told to come back."""

REDIRECTION: Final = frozenset({301, 302, 303, 307, 308})
SERVED_TYPES: Final = IMAGE_TYPES | MOVING_TYPES

log: Final = structlog.get_logger("chat.media")


@attrs.frozen
class OutsideMedia:
    """An answer from outside whose kind has been seen; `length` is None where the other side does not say.

    Whoever has it reads `pieces` or not, and calls `aclose`.
    """

    content_type: str
    length: int | None
    pieces: AsyncGenerator[bytes, None]
    aclose: Callable[[], Awaitable[None]]


class ExternalMedia:
    """Fetches. `allowed` are networks that count as outside although they are not public (setting
    `media.private_networks_allowed`)."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._guard = Guard(allowed)
        self._under_way = 0

    async def fetch(self, url: str) -> OutsideMedia:
        """The media at an address, as far as their kind; what remains has WHOLE_SECONDS.

        :raises ApiError: BAD_GATEWAY for everything that is not to be had there, whatever the reason;
            SERVICE_UNAVAILABLE when too many are fetched already.
        """
        if self._under_way >= AT_A_TIME:
            raise ApiError("SERVICE_UNAVAILABLE", headers={"Retry-After": "1"})
        httpx = await _library()
        stack = contextlib.AsyncExitStack()
        self._under_way += 1
        stack.callback(self._done)
        try:
            with trio.fail_after(ANSWER_SECONDS):
                return await self._begun(httpx, stack, url)
        except (OutsideRefused, trio.TooSlowError, httpx.HTTPError, httpx.InvalidURL) as error:
            # Neither the client nor the log learns what was found there, or under which address.
            log.info("outside media refused", reason=type(error).__name__)
            raise ApiError("BAD_GATEWAY") from None
        finally:
            await stack.aclose()  # what a success takes along is no longer on it

    def _done(self) -> None:
        self._under_way -= 1

    async def _begun(self, httpx: ModuleType, stack: contextlib.AsyncExitStack, url: str) -> OutsideMedia:
        for _ in range(1 + REDIRECTS):
            target = await self._guard.target(url)
            response = await stack.enter_async_context(_asked(httpx, target))
            if response.status_code not in REDIRECTION:
                kind, length, pieces = await _judged(httpx, response)
                return OutsideMedia(kind, length, pieces, stack.pop_all().aclose)
            url = urljoin(url, response.headers.get("location", ""))
        raise OutsideRefused("too many redirects")


@contextlib.asynccontextmanager
async def _asked(httpx: ModuleType, target: Target) -> AsyncIterator[Response]:
    """One request on a connection of its own, to the address that was judged."""
    client: AsyncClient = httpx.AsyncClient(
        verify=_trust(),
        trust_env=False,
        follow_redirects=False,
        timeout=PIECE_SECONDS,
        limits=httpx.Limits(max_connections=1, max_keepalive_connections=0),
    )
    headers = {"Host": target.host_header, "Accept": "image/*, video/*, audio/*", "Accept-Encoding": "identity"}
    async with client:
        request = httpx.Request(
            "GET",
            target.pinned_url,
            headers=headers,
            # The certificate must be the name's, not the address's.
            extensions={"sni_hostname": target.host, "timeout": httpx.Timeout(PIECE_SECONDS).as_dict()},
        )
        response = await client.send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()


async def _judged(httpx: ModuleType, response: Response) -> tuple[str, int | None, AsyncGenerator[bytes, None]]:
    if response.status_code != 200 or response.headers.get("content-encoding", "identity") != "identity":
        raise OutsideRefused("the answer is not a plain file")
    announced = response.headers.get("content-length", "")
    length = int(announced) if announced.isdecimal() and len(announced) < 16 else None
    if length is not None and length > MEDIA_BYTES:
        raise OutsideRefused("the file is too large")
    pieces = response.aiter_raw(PIECE_BYTES)
    head = b""
    async for piece in pieces:
        head += piece
        if len(head) >= SNIFFED_BYTES:
            break
    kind = content_type(head)
    if kind not in SERVED_TYPES:
        raise OutsideRefused("the file is not a picture, a film or a sound")
    return kind, length, _bounded(httpx, head, pieces)


async def _bounded(httpx: ModuleType, head: bytes, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """All of the file. Raises EOFError where it breaks off or does not end."""
    size = len(head)
    until = trio.current_time() + WHOLE_SECONDS
    yield head
    try:
        async for piece in pieces:
            size += len(piece)
            if size > MEDIA_BYTES or trio.current_time() > until:
                raise EOFError("the file does not end")
            yield piece
    except httpx.HTTPError as error:
        raise EOFError("the other side broke off") from error


async def _library() -> ModuleType:
    """httpx, which takes a tenth of a second to import the first time."""
    return await trio.to_thread.run_sync(importlib.import_module, "httpx")


@functools.cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()
