"""Snowflakes for what had other ids elsewhere: made of the moment and of the old id, so that the same thing gets the
same one from each export.

No snowflake tells of a moment before 2015. What is older gets ids of 2015-01-01, in its own order.
"""

from __future__ import annotations

import hashlib
from typing import Final

from chat.snowflake import EPOCH_MS, LAST_MS

_BITS: Final = 22
"""Below the milliseconds."""

_OLD_BITS: Final = 8
"""The same of older ones, of which a day holds all that there were since 1970."""

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
    tail %= 1 << (_OLD_BITS if order is None else 3)
    return max(1, moment << _OLD_BITS | ((order or 0) & 0x1F) << 3 | tail)


def thing_id(key: str) -> int:
    """The id of something that has no moment, as people."""
    return max(1, _hash(key) % (1 << _THING_BITS))


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest())
