"""Reading the members of untrusted JSON objects, each under its path (guilds.md, Creation template).

Types are strict, as everywhere in request bodies: `true` is no integer, `1.0` is no integer. Null stands for the
default of a member that has one (guilds.md, Creation template).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Final

from chat.errors import InvalidFormBody
from chat.protocol.visible_text import without_nul

IDENTIFIER_DIGITS: Final = 100
"""Longer numbers name nothing; the bound keeps reading them cheap."""

INT32_MAXIMUM: Final = (1 << 31) - 1

_DIGITS: Final = re.compile(rf"[0-9]{{1,{IDENTIFIER_DIGITS}}}", re.ASCII)
_REQUIRED: Final = object()


def decimal_text(value: object) -> str | None:
    """The digits of a decimal string or of a whole number; None for everything else."""
    if type(value) is int:
        return str(value) if 0 <= value < 10**IDENTIFIER_DIGITS else None
    return value if type(value) is str and _DIGITS.fullmatch(value) else None


class Members:
    """The members of one JSON object.

    Every method raises InvalidFormBody at the member's path when it holds something else than asked for, or is missing
    and has no default.
    """

    def __init__(self, value: object, path: str) -> None:
        self._path = path
        if type(value) is not dict:
            raise InvalidFormBody.at(path, "INVALID_FORMAT")
        self._members: dict[str, Any] = value

    def any(self, name: str, default: object = _REQUIRED) -> Any:
        """The member as it came."""
        value = self._members.get(name)
        if value is None and default is _REQUIRED:
            raise self.refusal(name)
        return default if value is None else value

    def text(self, name: str, maximum: int | None = None, code: str = "STRING_LENGTH_INVALID") -> str | None:
        """Text of at most `maximum` characters; None where it is null or missing."""
        value = self.any(name, None)
        if value is not None and type(value) is not str:
            raise self.refusal(name)
        if value is not None and maximum is not None and len(value) > maximum:
            raise self.refusal(name, code)
        return None if value is None else without_nul(value)

    def truth(self, name: str) -> bool:
        """A boolean, by default false."""
        value = self.any(name, False)
        if type(value) is not bool:
            raise self.refusal(name)
        return value

    def integer(self, name: str, default: object = _REQUIRED) -> int:
        """A whole number of any size."""
        value = self.any(name, default)
        if type(value) is not int:
            raise self.refusal(name)
        return value

    def integer_within(self, name: str, maximum: int, default: object = _REQUIRED) -> int:
        """A whole number from 0 to `maximum`."""
        value = self.integer(name, default)
        if not 0 <= value <= maximum:
            raise self.refusal(name)
        return value

    def clamped_integer(self, name: str, minimum: int, maximum: int, default: int) -> int:
        """A whole number, brought between the bounds."""
        return min(max(self.integer(name, default), minimum), maximum)

    def clamped_number(self, name: str, minimum: int, maximum: int, default: int) -> int:
        """Any number, without its fraction, brought between the bounds."""
        value = self.any(name, default)
        if type(value) is int or (type(value) is float and math.isfinite(value)):
            return min(max(int(value), minimum), maximum)
        raise self.refusal(name)

    def identifier(self, name: str) -> str:
        """A decimal string or a whole number, as digits."""
        digits = decimal_text(self.any(name))
        if digits is None:
            raise self.refusal(name)
        return digits

    def optional_identifier(self, name: str) -> str | None:
        """As `identifier`; None where it is null or missing."""
        return None if self.any(name, None) is None else self.identifier(name)

    def array(self, name: str, default: object = _REQUIRED) -> list[Any]:
        """An array of anything."""
        value = self.any(name, default)
        if type(value) is not list:
            raise self.refusal(name)
        return value

    def objects(self, name: str, values: list[Any]) -> Iterator[Members]:
        """The items of an array, which are objects, each under its index."""
        for index, value in enumerate(values):
            yield Members(value, f"{self._path}.{name}.{index}")

    def refusal(self, name: str, code: str = "INVALID_FORMAT") -> InvalidFormBody:
        """What to raise about a member."""
        return InvalidFormBody.at(f"{self._path}.{name}", code)
