"""What single values of the wire look like: a Python type, with words of JSON Schema that narrow it.

    Snowflake                                     an id
    Annotated[str, length(100)]                   text of at most 100 characters
    Annotated[list[Message], items(maximum=25)]   a list of at most 25
    Annotated[int, one_of(MessageType)]           a number of the registry

A type checker sees the Python type; the documents have the rest (`chat.api.schemas.declared`).
"""

from __future__ import annotations

import enum
from typing import Annotated, Any, NamedTuple, TypedDict


class Rule(NamedTuple):
    """Words of JSON Schema beside those of the type; an `enum` stands in place of the type."""

    words: tuple[tuple[str, Any], ...]


GROUPED = Rule(())
"""Keeps the members of a union together where it stands in another union."""


class Nameless(TypedDict):
    """The base of objects that have no name in the documents: each is written out where it stands."""


def length(maximum: int | None = None, minimum: int | None = None) -> Rule:
    """Text of this many characters."""
    return _rule(minLength=minimum, maxLength=maximum)


def matching(pattern: str) -> Rule:
    """Text that the pattern finds something in."""
    return _rule(pattern=pattern)


def within(minimum: int | None = None, maximum: int | None = None) -> Rule:
    """A number within bounds, both included."""
    return _rule(minimum=minimum, maximum=maximum)


def items(maximum: int) -> Rule:
    """A list of at most this many."""
    return _rule(maxItems=maximum)


def about(text: str) -> Rule:
    """What a member means, where its name keeps it from being written with a text below."""
    return _rule(description=text)


def among(*values: int | str) -> Rule:
    """One of these values."""
    return Rule((("enum", values),))


def one_of(registry: type[enum.Enum]) -> Rule:
    """A value of the registry."""
    return Rule((("enum", tuple(member.value for member in registry)),))


def _rule(**words: Any) -> Rule:
    return Rule(tuple((word, value) for word, value in words.items() if value is not None))


Snowflake = Annotated[str, matching("^(0|[1-9][0-9]{0,18})$")]
"""An id as decimal digits."""

Bits = Annotated[str, matching("^(0|[1-9][0-9]{0,19})$")]
"""A mask of 64 bits as decimal digits."""

Timestamp = Annotated[str, _rule(format="date-time", pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
"""ISO 8601 in UTC, with milliseconds."""

Date = Annotated[str, _rule(format="date")]
Address = Annotated[str, _rule(format="uri-reference")]
Email = Annotated[str, length(254)]
Asset = Annotated[str, matching("^(a_)?[A-Za-z0-9_-]{1,64}$")]
"""The hash that an image is found by; `a_` marks moving ones."""

Count = Annotated[int, within(0)]
Color = Annotated[int, within(0, 0xFFFFFF)]
Name = Annotated[str, length(256)]
Discriminator = Annotated[str, matching("^[0-9]{4}$")]
