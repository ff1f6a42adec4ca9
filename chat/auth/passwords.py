"""Passwords: argon2id with the second choice of RFC 9106, kept off the loop and behind a short queue.

One verification takes some 100 milliseconds and 64 MiB, so a flood of logins is bounded to two threads and a queue of
five; who comes later is told to wait (design 6; reliability 11.2). An account that does not exist costs a verification
too: the time of an answer tells nobody which addresses are known.
"""

from __future__ import annotations

import base64
import functools
import random
from collections.abc import Iterable
from importlib import resources
from typing import Final

import argon2
import attrs
import trio
from argon2.exceptions import InvalidHashError, VerificationError

from chat.errors import RateLimited
from chat.store.guard import judge_again

CONCURRENT_HASHES: Final = 2
"""Threads that hash at the same time."""

WAITING_HASHES: Final = 5
"""Requests that may wait for one of them; further ones get 429 RATE_LIMITED."""

SHORTEST: Final = 8
LONGEST: Final = 256


@attrs.frozen
class HashCost:
    """Parameters of argon2id: `memory_kib` KiB, `passes` over them, `lanes` in parallel."""

    memory_kib: int
    passes: int
    lanes: int


STRONG: Final = HashCost(memory_kib=65_536, passes=3, lanes=4)
"""RFC 9106, second recommended option."""

CHEAP: Final = HashCost(memory_kib=8, passes=1, lanes=1)
"""For throw-away instances and tests: no protection at all."""


SALT_BYTES: Final = 16
DIGEST_BYTES: Final = 32


@functools.cache
def _common_passwords() -> frozenset[str]:
    text = resources.files("chat.auth").joinpath("common_passwords.txt").read_text("utf-8")
    return frozenset(text.split())


def is_too_common(password: str, names: Iterable[str | None] = ()) -> bool:
    """Whether the password is among the commonest, or is one of the account's own names, in any letter case."""
    folded = password.casefold()
    return folded in _common_passwords() or any(name is not None and folded == name.casefold() for name in names)


class Passwords:
    """Hashes and verifies.

    `in_threads=False` works on the loop's thread: for a virtual clock, which would jump ahead while a thread works, and
    together with CHEAP only.
    """

    def __init__(self, chance: random.Random, cost: HashCost = STRONG, *, in_threads: bool = True) -> None:
        self._chance = chance
        self._hasher = argon2.PasswordHasher(
            time_cost=cost.passes,
            memory_cost=cost.memory_kib,
            parallelism=cost.lanes,
            salt_len=SALT_BYTES,
            hash_len=DIGEST_BYTES,
            type=argon2.Type.ID,
        )
        self._limiter = trio.CapacityLimiter(CONCURRENT_HASHES) if in_threads else None
        self._nobodys = _encoded(cost, chance.randbytes(SALT_BYTES), chance.randbytes(DIGEST_BYTES))

    async def hash(self, password: str) -> str:
        """The encoded hash to store.

        :raises RateLimited: when too many wait already.
        """
        judge_again()
        salt = self._chance.randbytes(SALT_BYTES)
        if self._limiter is None:
            return self._hasher.hash(password, salt=salt)
        _refuse_when_full(self._limiter)
        return await trio.to_thread.run_sync(lambda: self._hasher.hash(password, salt=salt), limiter=self._limiter)

    async def verify(self, encoded: str | None, password: str) -> bool:
        """Whether the password is the one behind the stored hash; an account without one costs the same time.

        :raises RateLimited: when too many wait already.
        """
        judge_again()
        if self._limiter is None:
            return self._verify(encoded, password)
        _refuse_when_full(self._limiter)
        return await trio.to_thread.run_sync(self._verify, encoded, password, limiter=self._limiter)

    def is_outdated(self, encoded: str) -> bool:
        """Whether the stored hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(encoded)

    def _verify(self, encoded: str | None, password: str) -> bool:
        try:
            self._hasher.verify(self._nobodys if encoded is None else encoded, password)
        except (VerificationError, InvalidHashError):
            return False
        return encoded is not None


def _refuse_when_full(limiter: trio.CapacityLimiter) -> None:
    if limiter.statistics().tasks_waiting >= WAITING_HASHES:
        raise RateLimited(1.0, "shared")


def _encoded(cost: HashCost, salt: bytes, digest: bytes) -> str:
    """A stored hash that no password has, made without hashing anything."""
    parts = (base64.b64encode(part).rstrip(b"=").decode("ascii") for part in (salt, digest))
    return f"$argon2id$v=19$m={cost.memory_kib},t={cost.passes},p={cost.lanes}${'$'.join(parts)}"
