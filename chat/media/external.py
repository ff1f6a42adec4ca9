"""Media that lie elsewhere, fetched for a client that shall not show itself there.

What comes is as untrusted as an upload: its kind is told by content, compressed answers are refused, and size, seconds
and transfers at a time are bounded. Redirects are followed a few steps, each through the guard.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Final

import attrs
import structlog
import trio

from chat.errors import ApiError
from chat.media.content_types import IMAGE_TYPES, MOVING_TYPES, SNIFFED_BYTES, content_type
from chat.media.outside_addresses import Guard, OutsideRefused
from chat.media.outside_exchange import OutsideExchange, following

MEDIA_BYTES: Final = 52_428_800
"""The largest file that is passed on."""

ANSWER_SECONDS: Final = 10.0
"""By then the other side's answer must have begun, redirects included."""

PIECE_SECONDS: Final = 10.0
"""How long the next piece may take."""

WHOLE_SECONDS: Final = 300.0
"""How long a whole transfer may take, a slow client's reading included."""

AT_A_TIME: Final = 32
"""Transfers under way; one more is told to come back."""

SERVED_TYPES: Final = IMAGE_TYPES | MOVING_TYPES

log: Final = structlog.get_logger("chat.media")


@attrs.frozen
class OutsideMedia:
    """An answer from outside whose kind has been seen; `length` is None where the other side does not say.

    Whoever has it calls `pieces` (which raises EOFError where they break off) or not, and calls `aclose`.
    """

    content_type: str
    length: int | None
    pieces: Callable[[], AsyncGenerator[bytes, None]]
    aclose: Callable[[], Awaitable[None]]


class ExternalMedia:
    """Fetches. `allowed` are networks that count as outside although they are not public (setting
    `media.private_networks_allowed`)."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self.guard: Final = Guard(allowed)
        self.under_way = 0
        """Transfers that are not over yet."""

    async def fetch(self, url: str) -> OutsideMedia:
        """The media at an address, as far as their kind; what remains has WHOLE_SECONDS.

        :raises ApiError: BAD_GATEWAY for everything that is not to be had there, whatever the reason;
            SERVICE_UNAVAILABLE when too many are fetched already.
        """
        if self.under_way >= AT_A_TIME:
            raise ApiError("SERVICE_UNAVAILABLE", headers={"Retry-After": "1"})
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
                raise ApiError("BAD_GATEWAY") from None
            return OutsideMedia(content_type(head), length, lambda: _bounded(head, exchange), stack.pop_all().aclose)
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
    head = b""
    while len(head) < SNIFFED_BYTES and (piece := await exchange.read()):
        head += piece
    if content_type(head) not in SERVED_TYPES:
        raise OutsideRefused("the file is not a picture, a film or a sound")
    return length, head


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
