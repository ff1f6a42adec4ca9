"""Takes a request's body off the connection, within bounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from chat.errors import ApiError

BODY_LIMIT: Final = 1_048_576
"""Bytes of a JSON body; beyond it 413 PAYLOAD_TOO_LARGE and the connection closes (http.md, Body sizes)."""

DIGITS_LIMIT: Final = 18
"""Digits of a Content-Length that are worth reading."""

Receive = Callable[[], Awaitable[Any]]
"""ASGI's: the next event of the request."""


class ClientGone(Exception):
    """The connection ended before the body did."""


async def read_body(receive: Receive, announced: str | None, limit: int = BODY_LIMIT) -> bytes:
    """The whole body. `announced` is the value of Content-Length.

    :raises ApiError: PAYLOAD_TOO_LARGE as soon as it is known to exceed `limit` bytes.
    :raises ClientGone: when the connection ends first.
    """
    _refuse_announced(announced, limit)
    body = bytearray()
    more = True
    while more:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise ClientGone
        body += event.get("body", b"")
        more = event.get("more_body", False)
        if len(body) > limit:
            raise _too_large()
    return bytes(body)


class BodyChunks:
    """As `read_body`, piece by piece as it comes (an asynchronous iterator); raises the same."""

    def __init__(self, receive: Receive, announced: str | None, limit: int) -> None:
        _refuse_announced(announced, limit)
        self._receive = receive
        self._left = limit
        self._more = True

    def __aiter__(self) -> BodyChunks:
        return self

    async def __anext__(self) -> bytes:
        while self._more:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise ClientGone
            chunk: bytes = event.get("body", b"")
            self._more = event.get("more_body", False)
            self._left -= len(chunk)
            if self._left < 0:
                raise _too_large()
            if chunk:
                return chunk
        raise StopAsyncIteration


def announces_little(headers: Mapping[str, str]) -> bool:
    """Whether the head of a request (lower-case names) promises a body within BODY_LIMIT."""
    announced = headers.get("content-length", "")
    return announced.isdecimal() and len(announced) <= DIGITS_LIMIT and int(announced) <= BODY_LIMIT


def comes_in_parts(headers: Mapping[str, str]) -> bool:
    """Whether the body is a form with files."""
    return headers.get("content-type", "").lower().startswith("multipart/form-data")


def _refuse_announced(announced: str | None, limit: int) -> None:
    if announced is not None and announced.isdecimal() and (len(announced) > DIGITS_LIMIT or int(announced) > limit):
        raise _too_large()


def _too_large() -> ApiError:
    return ApiError("PAYLOAD_TOO_LARGE", headers={"Connection": "close"})
