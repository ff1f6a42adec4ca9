"""Which JSON numbers are integers (http.md, Validation): those without a fraction, however a program writes them. Lua,
JavaScript's neighbours and spreadsheets write 5.0."""

from __future__ import annotations

from typing import Final

EXACT_FLOATS: Final = 2.0**53
"""Beyond it a float no longer says which integer was meant."""


def whole(value: object) -> object:
    """The integer that a float without a fraction stands for; every other value as it is."""
    if type(value) is float and value.is_integer() and abs(value) <= EXACT_FLOATS:
        return int(value)
    return value
