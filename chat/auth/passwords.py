"""Passwords: argon2id with the second choice of RFC 9106, kept off the loop and behind a short queue.

One verification takes some 100 milliseconds and 64 MiB, so a flood of logins is bounded to two threads and a short
queue; who comes later is told to wait (signing_in.md, Passwords). An account that does not exist costs a
verification too: the time of an answer tells nobody which addresses are known.
"""

from __future__ import annotations

import base64
import functools
import random
from collections.abc import Callable, Iterable
from importlib import resources
from typing import Final, TypeVar

import argon2
import attrs
import trio
from argon2.exceptions import InvalidHashError, VerificationError

from chat.auth.turns import OURSELVES, Asker, Turns
from chat.store.guard import UNGUARDED, Guard

T = TypeVar("T")

CONCURRENT_HASHES: Final = 2
"""Threads that hash at the same time."""

WAITING_STRANGERS: Final = 20
"""Strangers' requests that may wait for one of them, some two seconds' work; further ones get 429 RATE_LIMITED."""

WAITING_OF_NETWORK: Final = 5
"""Those among them from one network."""

WAITING_HOLDERS: Final = 64
"""Requests that may wait of accounts at networks which they have signed in from."""

WAITING_OF_HOLDER: Final = 2
"""Those among them of one account at one network."""

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
    """Hashes and verifies: slow steps, after which the `guard` of the request judges again.

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
        self.turns: Final = Turns(
            CONCURRENT_HASHES,
            holders=(WAITING_HOLDERS, WAITING_OF_HOLDER),
            strangers=(WAITING_STRANGERS, WAITING_OF_NETWORK),
        )
        self._nobodys = _encoded(cost, chance.randbytes(SALT_BYTES), chance.randbytes(DIGEST_BYTES))

    async def hash(self, password: str, asker: Asker = OURSELVES, *, guard: Guard = UNGUARDED) -> str:
        """The encoded hash to store.

        :raises RateLimited: when too many wait already.
        """
        salt = self._chance.randbytes(SALT_BYTES)
        return await self._work(asker, guard, lambda: self._hasher.hash(password, salt=salt))

    async def verify(
        self, encoded: str | None, password: str, asker: Asker = OURSELVES, *, guard: Guard = UNGUARDED
    ) -> bool:
        """Whether the password is the one behind the stored hash; an account without one costs the same time.

        :raises RateLimited: when too many wait already.
        """
        return await self._work(asker, guard, lambda: self._verify(encoded, password))

    def is_outdated(self, encoded: str) -> bool:
        """Whether the stored hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(encoded)

    async def _work(self, asker: Asker, guard: Guard, work: Callable[[], T]) -> T:
        guard.judge_again()
        async with self.turns.turn(asker):
            if self._limiter is None:
                return work()
            return await trio.to_thread.run_sync(work, limiter=self._limiter)

    def _verify(self, encoded: str | None, password: str) -> bool:
        try:
            self._hasher.verify(self._nobodys if encoded is None else encoded, password)
        except (VerificationError, InvalidHashError):
            return False
        return encoded is not None


def _encoded(cost: HashCost, salt: bytes, digest: bytes) -> str:
    """A stored hash that no password has, made without hashing anything."""
    parts = (base64.b64encode(part).rstrip(b"=").decode("ascii") for part in (salt, digest))
    return f"$argon2id$v=19$m={cost.memory_kib},t={cost.passes},p={cost.lanes}${'$'.join(parts)}"
