"""Takes a request's body off the connection, within bounds, and makes plain values of it and of its query string
(http.md, Empty values). `chat.api.structuring` turns those into the classes that operations declare."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson

from chat.api.fields import Refusal
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.limits import JSON_BODY_BYTES, JSON_DEPTH_MAXIMUM

FORM_TYPE: Final = "application/x-www-form-urlencoded"

DIGITS_LIMIT: Final = 18
"""Digits of a Content-Length that are worth reading."""

Receive = Callable[[], Awaitable[Any]]
"""ASGI's: the next event of the request."""


class ClientGone(Exception):
    """The connection ended before the body did."""


async def read_body(receive: Receive, announced: str | None, limit: int = JSON_BODY_BYTES) -> bytes:
    """The whole body. `announced` is the value of Content-Length.

    :raises ApiError: PAYLOAD_TOO_LARGE as soon as it is known to exceed `limit` bytes.
    :raises ClientGone: when the connection ends first.
    """
    body = bytearray()
    async for chunk in BodyChunks(receive, announced, limit):
        body += chunk
    return bytes(body)


class BodyChunks:
    """As `read_body`, but as an asynchronous iterator over the pieces as they come; raises the same errors."""

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
    """Whether the head of a request (lower-case names) promises a body within JSON_BODY_BYTES."""
    announced = headers.get("content-length", "")
    return announced.isdecimal() and len(announced) <= DIGITS_LIMIT and int(announced) <= JSON_BODY_BYTES


def comes_in_parts(headers: Mapping[str, str]) -> bool:
    """Whether the body is a form with files."""
    return headers.get("content-type", "").lower().startswith("multipart/form-data")


def _refuse_announced(announced: str | None, limit: int) -> None:
    if announced is not None and announced.isdecimal() and (len(announced) > DIGITS_LIMIT or int(announced) > limit):
        raise _too_large()


def _too_large() -> ApiError:
    return ApiError(ErrorCode.PAYLOAD_TOO_LARGE, headers={"Connection": "close"})


MAGNITUDE_LIMIT: Final = 2.0**63
"""Numbers of at least this size that are not 64-bit integers are refused: the parser makes floats of huge integers."""

QUERY_PARAMETER_LIMIT: Final = 120
"""A query string with more parameters than this is refused."""


def parse_json(body: bytes, *, empty_strings_are_null: bool = True) -> object:
    """The value that a JSON body holds; zero bytes are an empty object.

    Empty strings, and nested objects without a member or with nothing but nulls, become null (http.md, Empty values)
    unless that is switched off.

    :raises InvalidFormBody: at `body`, for what is not JSON in UTF-8, is nested too deep, or holds a number beyond 64
        bits.
    """
    if not body:
        return {}
    try:
        return _normalise(orjson.loads(body), JSON_DEPTH_MAXIMUM, empty_strings_are_null)
    except (orjson.JSONDecodeError, Refusal):
        raise InvalidFormBody.at("body", FieldCode.INVALID_FORMAT) from None


def _normalise(value: Any, depth: int, to_null: bool) -> Any:
    """Check depth and numbers, and put null where the rules say; containers are changed in place."""
    kind = type(value)
    if kind is dict:
        if depth == 0:
            raise Refusal
        for name, member in value.items():
            value[name] = _normalise_member(member, depth - 1, to_null)
    elif kind is list:
        if depth == 0:
            raise Refusal
        for index, member in enumerate(value):
            value[index] = _normalise_member(member, depth - 1, to_null)
    elif kind is float and abs(value) >= MAGNITUDE_LIMIT:
        raise Refusal
    return value


def _normalise_member(member: Any, depth: int, to_null: bool) -> Any:
    kind = type(member)
    if kind is str:
        return None if to_null and not member else member
    if kind is dict:
        _normalise(member, depth, to_null)
        return None if to_null and all(inner is None for inner in member.values()) else member
    if kind is list or kind is float:
        return _normalise(member, depth, to_null)
    return member


def parse_query(query_string: bytes, repeated: Collection[str] = ()) -> dict[str, str | list[str] | None]:
    """The parameters of a query string. The first of equal names counts; an empty value is null (http.md, Empty
    values). Of the names in `repeated` every value counts, in a list.

    :raises InvalidFormBody: at `root`, for more than QUERY_PARAMETER_LIMIT parameters.
    """
    if not query_string:
        return {}
    try:
        pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=QUERY_PARAMETER_LIMIT)
    except ValueError:
        raise InvalidFormBody.at("root", FieldCode.INVALID_FORMAT) from None
    parameters: dict[str, str | list[str] | None] = {}
    lists: dict[str, list[str]] = {}
    for name, value in pairs:
        if name not in repeated:
            parameters.setdefault(name, value or None)
        elif value:
            lists.setdefault(name, []).append(value)
    return parameters | lists
