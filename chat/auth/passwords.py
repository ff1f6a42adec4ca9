"""Passwords: argon2id with the second choice of RFC 9106, kept off the loop and behind queues that networks share
fairly (signing_in.md, Passwords).

One verification takes some 100 milliseconds and 64 MiB, so a flood of logins is bounded to two threads and a short
queue; those who come later are told to wait. An account that does not exist costs a verification too: the time of an
answer does not tell which addresses are known.
"""

from __future__ import annotations

import base64
import functools
import random
import unicodedata
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from importlib import resources
from typing import Final, TypeVar

import argon2
import attrs
import trio
from argon2.exceptions import InvalidHashError, VerificationError

from chat.auth.client_address import subnet_of
from chat.classes import define, frozen
from chat.errors import RateLimited
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


@frozen
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


@frozen
class Asker:
    """A caller who asks for a turn: a network, and the account where the caller is its holder."""

    network: str
    account: int | None = None

    @classmethod
    def at(cls, address: str, account: int | None = None) -> Asker:
        """The caller at an IP address."""
        return cls(subnet_of(address), account)


OURSELVES: Final = Asker("")
"""The program, for its own purposes."""


@define(eq=False)
class _Waiter:
    asker: Asker
    called: trio.Event = attrs.field(factory=trio.Event)
    has_turn: bool = False


class _Queue:
    """Those who wait, at most `most` altogether, and `most_of_one` of one asker."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._waiting: OrderedDict[str, deque[_Waiter]] = OrderedDict()
        """By network; the first network is the next to have a turn."""
        self._count = 0

    def add(self, waiter: _Waiter) -> _Waiter | None:
        """Let a caller wait; returns the one who cannot any longer for it, who may be the same."""
        network = waiter.asker.network
        own = self._waiting.get(network, deque())
        if sum(other.asker == waiter.asker for other in own) >= self._most_of_one:
            return waiter
        last = None
        if self._count >= self._most:
            largest = max(self._waiting.values(), key=len)
            if len(largest) <= len(own) + 1:  # to change places would do no good
                return waiter
            last = largest[-1]
            self.remove(last)
        self._waiting.setdefault(network, own).append(waiter)
        self._count += 1
        return last

    def take(self) -> _Waiter | None:
        """The next whose turn it is, who waits no longer."""
        if not self._waiting:
            return None
        network, waiters = next(iter(self._waiting.items()))
        waiter = waiters[0]
        self.remove(waiter)
        if waiters:
            self._waiting.move_to_end(network)
        return waiter

    def remove(self, waiter: _Waiter) -> None:
        """Let a caller wait no longer."""
        waiters = self._waiting[waiter.asker.network]
        waiters.remove(waiter)
        self._count -= 1
        if not waiters:
            del self._waiting[waiter.asker.network]


class Turns:
    """Limits how many hash at the same time; `holders` and `strangers` bound how many wait, in all and of one asker.

    There are two queues, and they take turns. Holders wait in one: an account at a network that it has signed in from,
    or signed in already. Each has a place of its own there, however many others wait. Strangers wait in the other. In
    each the networks take turns, so that a crowd from one of them holds up none but itself; where a queue is full, the
    network that has the most in it gives one up. A caller who finds no place, or loses it, is told to come back.
    """

    def __init__(self, at_once: int, *, holders: tuple[int, int], strangers: tuple[int, int]) -> None:
        self._free = at_once
        self._holders = _Queue(*holders)
        self._strangers = _Queue(*strangers)
        self._next = self._holders
        """The queue that is looked into first."""

    @asynccontextmanager
    async def turn(self, asker: Asker) -> AsyncIterator[None]:
        """Enter once it is the asker's turn.

        :raises RateLimited: when too many wait already.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(asker)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, asker: Asker) -> None:
        queue = self._strangers if asker.account is None else self._holders
        waiter = _Waiter(asker)
        refused = queue.add(waiter)
        if refused is waiter:
            raise RateLimited(1.0, "shared")
        if refused is not None:
            refused.called.set()
        try:
            await waiter.called.wait()
        except trio.Cancelled:
            if waiter.has_turn:
                self._pass_on()
            elif not waiter.called.is_set():
                queue.remove(waiter)
            raise
        if not waiter.has_turn:
            raise RateLimited(1.0, "shared")

    def _pass_on(self) -> None:
        first = self._next
        second = self._strangers if first is self._holders else self._holders
        for queue, other in ((first, second), (second, first)):
            waiter = queue.take()
            if waiter is not None:
                self._next = other
                waiter.has_turn = True
                waiter.called.set()
                return
        self._free += 1


def prepared(password: str) -> str:
    """The password as it is compared (RFC 8265 4.2.2): keyboards write the same letter in one character or in two, and
    a space in several ways. The most that this takes out of a password is one character for another."""
    if password.isascii():
        return password
    spaced = "".join(" " if unicodedata.category(each) == "Zs" else each for each in password)
    return unicodedata.normalize("NFC", spaced)


@functools.cache
def _common_passwords() -> frozenset[str]:
    text = resources.files("chat.auth").joinpath("common_passwords.txt").read_text("utf-8")
    return frozenset(text.split())


def is_too_common(password: str, names: Iterable[str | None] = ()) -> bool:
    """Whether the password is among the commonest, or is one of the account's own names, in any letter case."""
    folded = password.casefold()
    return folded in _common_passwords() or any(name is not None and folded == name.casefold() for name in names)


@frozen
class Match:
    """A password is the one behind a stored hash."""

    is_outdated: bool
    """Whether the hash was made with other parameters than today's, or of a password that was not prepared."""


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
        self._unmatched = _encoded(cost, chance.randbytes(SALT_BYTES), chance.randbytes(DIGEST_BYTES))

    async def hash(self, password: str, asker: Asker = OURSELVES, *, guard: Guard = UNGUARDED) -> str:
        """The encoded hash to store, of the password as it is prepared.

        :raises RateLimited: when too many wait already.
        """
        salt = self._chance.randbytes(SALT_BYTES)
        return await self._work(asker, guard, lambda: self._hasher.hash(prepared(password), salt=salt))

    async def verify(
        self, encoded: str | None, password: str, asker: Asker = OURSELVES, *, guard: Guard = UNGUARDED
    ) -> bool:
        """Whether the password is the one behind the stored hash; an account without one costs the same time.

        :raises RateLimited: when too many wait already.
        """
        return await self.match(encoded, password, asker, guard=guard) is not None

    async def match(
        self, encoded: str | None, password: str, asker: Asker = OURSELVES, *, guard: Guard = UNGUARDED
    ) -> Match | None:
        """As `verify`; where it is the one, whether the hash should be made anew.

        Hashes from before passwords were prepared are of what was typed, so that is tried too, where it differs; the
        same for an account that does not exist.
        """
        ways = dict.fromkeys((prepared(password), password))
        found = await self._work(asker, guard, lambda: [self._verify(encoded, way) for way in ways])
        if encoded is None or not any(found):
            return None
        return Match(is_outdated=not found[0] or self.is_outdated(encoded))

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
            self._hasher.verify(self._unmatched if encoded is None else encoded, password)
        except (VerificationError, InvalidHashError):
            return False
        return encoded is not None


def _encoded(cost: HashCost, salt: bytes, digest: bytes) -> str:
    """A stored hash that no password has, made without hashing anything."""
    parts = (base64.b64encode(part).rstrip(b"=").decode("ascii") for part in (salt, digest))
    return f"$argon2id$v=19$m={cost.memory_kib},t={cost.passes},p={cost.lanes}${'$'.join(parts)}"
