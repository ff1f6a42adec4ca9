"""From the bytes that a client sent to plain values (http.md, Empty values): JSON bodies and query strings.

`chat.api.structuring` turns those into the classes that operations declare.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson

from chat.api.fields import Refusal
from chat.errors import InvalidFormBody

DEPTH_LIMIT: Final = 64
"""Arrays and objects nested deeper are refused; no documented body comes near."""

MAGNITUDE_LIMIT: Final = 2.0**63
"""Numbers of at least this size that are not 64-bit integers are refused: the parser makes floats of huge integers."""

QUERY_PARAMETER_LIMIT: Final = 120
"""A query string with more parameters is refused."""


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
        return _normalise(orjson.loads(body), DEPTH_LIMIT, empty_strings_are_null)
    except (orjson.JSONDecodeError, Refusal):
        raise InvalidFormBody.at("body", "INVALID_FORMAT") from None


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
        raise InvalidFormBody.at("root", "INVALID_FORMAT") from None
    parameters: dict[str, str | list[str] | None] = {}
    lists: dict[str, list[str]] = {}
    for name, value in pairs:
        if name not in repeated:
            parameters.setdefault(name, value or None)
        elif value:
            lists.setdefault(name, []).append(value)
    return parameters | lists
