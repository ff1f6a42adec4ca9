"""Request limits: leaky buckets, one number each.

A bucket of `limit` requests per window empties at an even pace, one request per `window / limit`. All there is to keep
of it is the moment at which it will be empty (the generic cell rate algorithm): a request moves that moment one step
on, and is refused when the moment would then lie more than a full bucket ahead. So at most `limit` requests pass at
once, and after that one per step (http.md, Request limits). Time is Trio's, in whole microseconds.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Mapping
from typing import Final

import attrs
import trio

from chat.classes import frozen

PRUNE_AT: Final = 10_000
"""With this many buckets in memory the empty ones are dropped; the next time at twice the number that was left."""

BUCKETS_LIMIT: Final = 200_000
"""Buckets in memory at most (some 40 MB): beyond it the oldest goes, empty or not."""


@frozen
class Bucket:
    """A limit of `limit` requests per `window_ms` milliseconds. `name` ends in `::member` for each member of the path
    that has its own count, as in `channel:message:create::channel_id`.
    """

    name: str
    limit: int
    window_ms: int
    exempt_from_global: bool = False
    """Its requests do not count among all of their caller (http.md, Request limits)."""
    told_to_everyone: bool = False
    """Whether the headers that tell how full the bucket is go to everybody, and not only to bots (http.md, Request
    limits)."""
    step_us: int = attrs.field(init=False)
    """Microseconds in which one request leaks away."""
    public_name: str = attrs.field(init=False)
    """The value of X-RateLimit-Bucket: the first 16 hexadecimal digits of the name's SHA-256 (http.md, Request
    limits)."""
    path_members: tuple[str, ...] = attrs.field(init=False)

    @step_us.default
    def _step_us(self) -> int:
        return self.window_ms * 1000 // self.limit

    @public_name.default
    def _public_name(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()[:16]

    @path_members.default
    def _path_members(self) -> tuple[str, ...]:
        return tuple(self.name.split("::")[1:])


GLOBAL: Final = Bucket("global", 50, 1_000)
"""Every request of an account, or of an address without one (http.md, Request limits)."""

HIGH_GLOBAL: Final = Bucket("global", 1_200, 1_000)
"""In its place, for accounts with HIGH_GLOBAL_RATE_LIMIT."""


FREE: Final = Bucket("", 1 << 40, 1_000)
"""Stands for a bucket in which nothing is counted at present."""


@frozen
class BucketLevel:
    """How full a bucket is: requests that would pass now, and seconds until it is empty."""

    remaining: int
    reset_after: float


class RateLimiter:
    """All buckets of the server. `enabled=False` lets everything pass (setting `rate_limits`).

    Afterwards `enabled` says whether anything is counted, and `chosen` what `choose` put in place of buckets.
    """

    def __init__(self, *, enabled: bool = True, now: Callable[[], float] = trio.current_time) -> None:
        self.enabled = enabled
        self.chosen: Mapping[str, Bucket | None] = {}
        self._counts_others = enabled
        self._now = now
        self._empty_at: dict[Hashable, int] = {}
        self._prune_at = PRUNE_AT

    def __len__(self) -> int:
        return len(self._empty_at)

    def take(self, bucket: Bucket, key: Hashable) -> float:
        """Put one request in; the seconds to wait (more than 0) when it does not fit, and 0 when it did.

        `key` tells the buckets of one kind apart: whose it is, and the path's members that count.
        """
        if not self.enabled:
            return 0.0
        if self.chosen:
            in_force = self.in_force(bucket)
            if in_force is None:
                return 0.0
            bucket = in_force
        now = int(self._now() * 1_000_000)
        name = (bucket.name, key)
        empty_at = max(self._empty_at.get(name, now), now) + bucket.step_us
        excess = empty_at - now - bucket.step_us * bucket.limit
        if excess > 0:
            return excess / 1_000_000
        self._empty_at[name] = empty_at
        if len(self._empty_at) > self._prune_at:
            self._prune(now)
        return 0.0

    def take_all(self, *counted: tuple[Bucket, Hashable]) -> float:
        """As `take`, for several buckets at once: a request that does not fit into all of them is counted in none. So
        refused requests cannot use up a bucket that others need."""
        if not self.enabled:
            return 0.0
        now = int(self._now() * 1_000_000)
        excess = max(
            self._empty_at.get((bucket.name, key), now) - now - bucket.step_us * (bucket.limit - 1)
            for bucket, key in ((self.in_force(each) or FREE, key) for each, key in counted)
        )
        if excess > 0:
            return excess / 1_000_000
        for bucket, key in counted:
            self.take(bucket, key)
        return 0.0

    def in_force(self, bucket: Bucket) -> Bucket | None:
        """The limit that applies for a declared bucket; None if none does."""
        if bucket.name in self.chosen:
            return self.chosen[bucket.name]
        return bucket if self._counts_others else None

    def choose(self, *, counts_others: bool, chosen: Mapping[str, Bucket | None]) -> None:
        """Count in these buckets, by the names of those in whose place they stand (None: not at all), and in all others
        or in none of them. Every bucket is empty afterwards."""
        self.chosen = dict(chosen)
        self._counts_others = counts_others
        self.enabled = counts_others or any(bucket is not None for bucket in chosen.values())
        self.clear()

    def standing(self, bucket: Bucket, key: Hashable) -> BucketLevel:
        """How full the bucket is now."""
        now = int(self._now() * 1_000_000)
        filled = max(self._empty_at.get((bucket.name, key), now) - now, 0)
        return BucketLevel(bucket.limit - math.ceil(filled / bucket.step_us), filled / 1_000_000)

    def clear(self) -> None:
        """Empty all buckets."""
        self._empty_at.clear()

    def _prune(self, now: int) -> None:
        self._empty_at = {name: empty_at for name, empty_at in self._empty_at.items() if empty_at > now}
        # Room for many more is made at once: looking through all of them for every new one would cost too much.
        while len(self._empty_at) > BUCKETS_LIMIT * 3 // 4:
            del self._empty_at[next(iter(self._empty_at))]
        self._prune_at = min(max(PRUNE_AT, 2 * len(self._empty_at)), BUCKETS_LIMIT)


def limit_headers(bucket: Bucket, standing: BucketLevel, now_ms: int) -> dict[str, str]:
    """The X-RateLimit headers of a bucket; `now_ms` is Unix time."""
    return {
        "X-RateLimit-Limit": str(bucket.limit),
        "X-RateLimit-Remaining": str(standing.remaining),
        "X-RateLimit-Reset": str(math.ceil(now_ms / 1000 + standing.reset_after)),
        "X-RateLimit-Reset-After": f"{standing.reset_after:.3f}",
        "X-RateLimit-Bucket": bucket.public_name,
    }
