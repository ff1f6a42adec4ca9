"""Values of single members: snowflakes as clients write them into commands, a decimal string or a positive JSON integer
(http.md, Snowflakes), and what stands for a member that was left out."""

from __future__ import annotations

import enum
import re
from typing import Any, Final, Literal

MAXIMUM: Final = 9_223_372_036_854_775_807
"""Snowflakes fit a signed 64-bit integer (http.md, Snowflakes)."""

_DECIMAL: Final = re.compile(r"[0-9]{1,19}")


def parse_snowflake(value: Any) -> int | None:
    """The id that a member names, or None when it names none."""
    if type(value) is str and _DECIMAL.fullmatch(value):
        value = int(value)
    if type(value) is int and 0 < value <= MAXIMUM:
        return value
    return None


def parse_snowflakes(value: Any, maximum: int) -> tuple[int, ...] | None:
    """The ids of an array of at most `maximum` entries, each once, in order; None when one of them names none."""
    if type(value) is not list or len(value) > maximum:
        return None
    ids: dict[int, None] = {}
    for entry in value:
        snowflake = parse_snowflake(entry)
        if snowflake is None:
            return None
        ids[snowflake] = None
    return tuple(ids)


class Absent(enum.Enum):
    """The type of ABSENT, which is not None: null means something else."""

    ABSENT = enum.auto()


ABSENT: Final[Literal[Absent.ABSENT]] = Absent.ABSENT
"""Stands for a member that the client left out: what it would change stays as it is."""
