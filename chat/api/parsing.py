"""From the bytes that a client sent to the attrs class that an operation reads, or to the list of fields that are wrong.

Cattrs builds one function per class when the routes are compiled; its error groups become paths and codes (wire facts
3.2). Types are strict: `true` is no integer, `1.0` is no integer, text is no list. Unknown members are ignored (design 7).
"""

from __future__ import annotations

import enum
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin
from urllib.parse import unquote_to_bytes

import attrs
import orjson
from cattrs import AttributeValidationNote, BaseValidationError, Converter, IterableValidationNote
from cattrs.gen import make_dict_structure_fn

from chat.api.fields import SNOWFLAKE, Form, Omitted, Refusal, Rule
from chat.errors import FieldError, InvalidFormBody

T = TypeVar("T")

DEPTH_LIMIT: Final = 64
"""Arrays and objects nested deeper are refused; no documented body comes near."""

MAGNITUDE_LIMIT: Final = 2.0**63
"""Numbers of this size and above that are not 64-bit integers are refused: the parser makes floats of huge integers."""

Structure = Callable[[object], Any]
"""Turns parsed JSON into a declared class; raises InvalidFormBody."""


def parse_json(body: bytes, *, empty_strings_are_null: bool = True) -> object:
    """The value that a JSON body holds; zero bytes are an empty object.

    Empty strings, and nested objects without a member or with nothing but nulls, become null (wire facts 3.2) unless
    switched off.

    :raises InvalidFormBody: at `body`, for anything that is not JSON in UTF-8, is nested too deep, or holds a number
        beyond 64 bits.
    """
    if not body:
        return {}
    try:
        value = orjson.loads(body)
        return _normalise(value, DEPTH_LIMIT, empty_strings_are_null)
    except (orjson.JSONDecodeError, Refusal):
        raise InvalidFormBody.at("body", "INVALID_FORMAT") from None


def _normalise(value: Any, depth: int, to_null: bool) -> Any:
    """Check depth and numbers everywhere, and put null where the rules say; containers are changed in place."""
    if depth == 0:
        raise Refusal
    kind = type(value)
    if kind is dict:
        for name, member in value.items():
            value[name] = _normalise_member(member, depth, to_null)
    elif kind is list:
        for index, member in enumerate(value):
            value[index] = _normalise_member(member, depth, to_null)
    elif kind is float and abs(value) >= MAGNITUDE_LIMIT:
        raise Refusal
    return value


def _normalise_member(member: Any, depth: int, to_null: bool) -> Any:
    kind = type(member)
    if kind is str:
        return None if to_null and not member else member
    if kind is dict:
        _normalise(member, depth - 1, to_null)
        return None if to_null and all(inner is None for inner in member.values()) else member
    if kind is list or kind is float:
        return _normalise(member, depth - 1, to_null)
    return member
