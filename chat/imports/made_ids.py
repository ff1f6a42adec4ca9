"""Snowflakes for what had other ids elsewhere: made of the moment and of the old id, so that the same thing gets the
same one from each export.

No snowflake tells of a moment before 2015. What is older gets ids of the first days of 2015, in its own order.
"""

from __future__ import annotations

import hashlib
from typing import Final

from chat.snowflake import EPOCH_MS, LAST_MS

_BITS: Final = 22
"""Below the milliseconds."""

_OLD_MS: Final = 1_104_537_600_000
"""2005, before which no service was that is read here: clocks that were wrong have less room."""

_OLD_BITS: Final = 12
"""Below the milliseconds of the ten years from 2005, which take four days of 2015."""

_WRONG_BITS: Final = 3
"""Below the milliseconds of the years before 2005, which take two seconds."""

_THING_BITS: Final = 46
"""Of ids that tell of no moment, in the first hours of 2015."""


def made_id(moment_ms: int, key: str, order: int | None = None) -> int:
    """The id of what was called `key` and happened at a moment in Unix milliseconds. `order` tells what comes first of
    the same millisecond; only its last ten bits count."""
    moment = min(max(0, moment_ms), EPOCH_MS + LAST_MS)
    tail = _hash(key)
    if moment >= EPOCH_MS:
        tail %= 1 << (_BITS if order is None else 12)
        return max(1, (moment - EPOCH_MS) << _BITS | ((order or 0) & 0x3FF) << 12 | tail)
    if moment >= _OLD_MS:
        tail = tail % (1 << _OLD_BITS) if order is None else (order & 0x1F) << 7 | tail % (1 << 7)
        return (_OLD_MS << _WRONG_BITS) + ((moment - _OLD_MS) << _OLD_BITS | tail)
    return max(1, moment << _WRONG_BITS | tail % (1 << _WRONG_BITS))


def thing_id(key: str) -> int:
    """The id of something that has no moment, as people."""
    return max(1, _hash(key) % (1 << _THING_BITS))


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest())
